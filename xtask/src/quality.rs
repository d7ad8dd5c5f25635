//! How good are the answers, rather than how quick?
//!
//! `main`: main content, over annotated material that is not part of the project: it lies in
//! `../shared/corpus` beside it, or where `--corpus` says. It is measured by a program of the crate
//! it belongs to, in a release build: the time a page takes is one of the figures. `markdown`: what
//! survives of a page, over two real documentations and the same material. `documents`: what is
//! read of PDFs and the like, over real ones. `search`: whether the page that answers is found,
//! over the documentations. `office`: documents that are neither pages nor PDF, against Tika.

mod documents;
mod markdown;
mod office;
mod search;
pub(crate) mod tika;

use crate::steps::{cargo, root, step};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// What can be measured.
const PARTS: &[&str] = &["main", "markdown", "documents", "search", "office"];

/// Where the corpus is, beside the project or further up.
const PLACES: &[&str] = &["../shared/corpus", "../../shared/corpus"];

/// Measures what `--only` names, or all: the main content (`--corpus PATH --worst N --learn`),
/// Markdown, documents (`--corpus PATH --worst N`) and search. What was learnt is judged on
/// pages it was not learnt from, unless `--shipped` asks for the compiled table alone.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut wish = QualityWish::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.as_slice().first()) {
            ("--learn" | "--cross", _) => wish.passed.push(arg.clone()),
            ("--shipped", _) => wish.is_shipped_alone = true,
            ("--worst", Some(count)) => wish.passed.extend([arg.clone(), count.clone()]),
            ("--corpus", Some(path)) => wish.corpus = Some(PathBuf::from(path)),
            ("--only", Some(parts)) => wish.only = parts.split(',').map(str::to_owned).collect(),
            _ => {
                bail!(
                    "unknown argument {arg}; known are --only main,markdown,documents,search,office --corpus PATH --worst N --learn --shipped"
                )
            }
        }
        if matches!(arg.as_str(), "--worst" | "--corpus" | "--only") {
            args.next();
        }
    }
    if let Some(unknown) = wish.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
        bail!("there is no part {unknown}, only {}", PARTS.join(", "));
    }
    if wish.wants("main") {
        main_content(&wish)?;
    }
    if wish.wants("markdown") {
        let corpus = wish.corpus.clone().or_else(corpus);
        step("markdown", || markdown::run(corpus.as_deref()))?;
    }
    if wish.wants("documents") {
        let corpus = wish.corpus.clone().or_else(corpus);
        step("documents", || documents::run(corpus.as_deref(), &wish.passed))?;
    }
    if wish.wants("search") {
        step("search", search::run)?;
    }
    // Only where it is asked for: it takes Java and a judge that nothing else needs.
    if wish.only.iter().any(|part| part == "office") {
        let Some(corpus) = wish.corpus.clone().or_else(corpus) else {
            bail!("no documents: give --corpus PATH, a directory with documents/");
        };
        step("office documents", || office::run(&corpus))?;
    }
    Ok(())
}

fn main_content(wish: &QualityWish) -> Result<()> {
    let Some(corpus) = wish.corpus.clone().or_else(corpus) else {
        bail!("no annotated pages: give --corpus PATH, a directory with pages.json and pages/");
    };
    step("main content", || cargo(&wish.command(&corpus).iter().map(String::as_str).collect::<Vec<_>>()))
}

/// What was asked for.
#[derive(Debug, Default)]
struct QualityWish {
    only: Vec<String>,
    corpus: Option<PathBuf>,
    is_shipped_alone: bool,
    /// Arguments for the program that measures.
    passed: Vec<String>,
}

impl QualityWish {
    fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == part)
    }

    fn command(&self, corpus: &Path) -> Vec<String> {
        let fixed = ["run", "--release", "--quiet", "-p", "orb-extract", "--example", "quality", "--"];
        let mut out: Vec<String> = fixed.map(str::to_owned).to_vec();
        out.push(corpus.display().to_string());
        out.extend(self.passed.iter().cloned());
        if !self.is_shipped_alone {
            out.push("--cross".to_owned());
        }
        out
    }
}

/// The corpus near the project.
pub(crate) fn corpus() -> Option<PathBuf> {
    PLACES.iter().map(|place| root().join(place)).find(|place| place.join("pages.json").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_is_judged_on_other_pages_unless_the_table_alone_is_wanted() {
        let mut wish = QualityWish { passed: vec!["--worst".into(), "3".into()], ..QualityWish::default() };
        let command = wish.command(Path::new("/c"));
        assert!(command.ends_with(&["/c", "--worst", "3", "--cross"].map(str::to_owned)), "{command:?}");
        wish.is_shipped_alone = true;
        assert!(!wish.command(Path::new("/c")).contains(&"--cross".to_owned()));
    }
}
