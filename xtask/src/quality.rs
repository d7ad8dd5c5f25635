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

/// How the measuring of a part ended that missed no target.
#[derive(Debug, PartialEq, Eq)]
enum PartEnd {
    /// Measured, and judged where there is a target.
    Measured,
    /// What it takes is not on this machine.
    Skipped(&'static str),
}

/// Measures what `--only` names, or all: the main content (`--corpus PATH --worst N --learn`),
/// Markdown, documents (`--corpus PATH --worst N`), search and office documents. What was learnt is
/// judged on pages it was not learnt from, unless `--shipped` asks for the compiled table alone.
/// All parts are measured; it fails if one of them missed a target.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let wish = QualityWish::of(args)?;
    let mut failed = Vec::new();
    for part in PARTS.iter().filter(|part| wish.wants(part)) {
        match step(part, || wish.measure(part)) {
            Ok(PartEnd::Measured) => {}
            Ok(PartEnd::Skipped(why)) => println!("- skipped: {part}: {why}"),
            Err(why) => {
                println!("- MISSED: {part}: {why:#}");
                failed.push(*part);
            }
        }
    }
    if !failed.is_empty() {
        bail!("targets were missed: {}", failed.join(", "));
    }
    Ok(())
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
    fn of(args: &[String]) -> Result<Self> {
        let mut wish = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match (arg.as_str(), args.as_slice().first()) {
                ("--learn" | "--cross", _) => wish.passed.push(arg.clone()),
                ("--shipped", _) => wish.is_shipped_alone = true,
                ("--worst", Some(count)) => wish.passed.extend([arg.clone(), count.clone()]),
                ("--corpus", Some(path)) => wish.corpus = Some(PathBuf::from(path)),
                ("--only", Some(parts)) => wish.only = parts.split(',').map(str::to_owned).collect(),
                _ => bail!(
                    "unknown argument {arg}; known are --only {} --corpus PATH --worst N --learn --shipped",
                    PARTS.join(",")
                ),
            }
            if matches!(arg.as_str(), "--worst" | "--corpus" | "--only") {
                args.next();
            }
        }
        if let Some(unknown) = wish.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
            bail!("there is no part {unknown}, only {}", PARTS.join(", "));
        }
        Ok(wish)
    }

    /// Measures a part of [`PARTS`].
    fn measure(&self, part: &str) -> Result<PartEnd> {
        let corpus = self.corpus.clone().or_else(corpus);
        match part {
            "main" => self.main_content(corpus.as_deref()),
            "markdown" => markdown::run(corpus.as_deref()),
            "documents" => documents::run(corpus.as_deref(), &self.passed),
            "search" => search::run(),
            _ => office::run(corpus.as_deref()),
        }
    }

    fn main_content(&self, corpus: Option<&Path>) -> Result<PartEnd> {
        let Some(corpus) = corpus.filter(|place| place.join("pages.json").exists()) else {
            return Ok(PartEnd::Skipped(
                "no annotated pages: give --corpus PATH, a directory with pages.json and pages/",
            ));
        };
        cargo(&self.command(corpus).iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(PartEnd::Measured)
    }

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
    fn without_a_wish_every_part_is_measured_and_unknown_ones_are_refused() {
        let wish = |args: &[&str]| QualityWish::of(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert!(wish(&[]).is_ok_and(|wish| PARTS.iter().all(|part| wish.wants(part))));
        assert!(wish(&["--only", "main,office"]).is_ok_and(|wish| wish.wants("office") && !wish.wants("search")));
        assert!(wish(&["--only", "kitchen"]).is_err() && wish(&["--sideways"]).is_err());
    }

    #[test]
    fn what_is_not_there_is_skipped_by_name() {
        let nowhere = Path::new("/nowhere");
        assert!(matches!(office::run(Some(nowhere)), Ok(PartEnd::Skipped(_))));
        assert!(matches!(documents::run(Some(nowhere), &[]), Ok(PartEnd::Skipped(_))));
        assert!(matches!(QualityWish::default().main_content(Some(nowhere)), Ok(PartEnd::Skipped(_))));
    }

    #[test]
    fn what_was_learnt_is_judged_on_other_pages_unless_the_table_alone_is_wanted() {
        let mut wish = QualityWish { passed: vec!["--worst".into(), "3".into()], ..QualityWish::default() };
        let command = wish.command(Path::new("/c"));
        assert!(command.ends_with(&["/c", "--worst", "3", "--cross"].map(str::to_owned)), "{command:?}");
        wish.is_shipped_alone = true;
        assert!(!wish.command(Path::new("/c")).contains(&"--cross".to_owned()));
    }
}
