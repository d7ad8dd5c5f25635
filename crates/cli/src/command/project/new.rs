//! `orb project new`: how does a commented project file start?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use orb_project::Settings;
use orb_store::{Home, StoreError};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// `orb project new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Its name
    name: String,
    /// Where to start: a URL, or @file with one URL per line; may be repeated
    #[arg(long = "seed", value_name = "URL")]
    seeds: Vec<String>,
    /// Template
    #[arg(long, value_enum, default_value_t = Template::Plain, value_name = "TEMPLATE")]
    template: Template,
    /// Write the file here, to be run with orb crawl FILE, instead of into the home
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Kinds of projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Template {
    /// A site
    Plain,
    /// A news site, visited frequently
    News,
    /// A manual or reference, collected completely
    Docs,
    /// A site behind a log-in
    Members,
}

impl Template {
    const fn text(self) -> &'static str {
        match self {
            Self::Plain => include_str!("templates/plain.toml"),
            Self::News => include_str!("templates/news.toml"),
            Self::Docs => include_str!("templates/docs.toml"),
            Self::Members => include_str!("templates/members.toml"),
        }
    }

    /// The file of a project.
    fn filled(self, name: &str, seeds: &[String]) -> String {
        // A JSON string is a valid TOML string.
        let seeds = serde_json::Value::from(seeds);
        self.text().replace("{name}", name).replace("{seeds}", &seeds.to_string())
    }
}

pub(super) fn run(common: &Common, home: &Home, args: &NewArgs) -> Result<(), CommandFailure> {
    let name = &args.name;
    match home.find(name) {
        Ok(_) if args.output.is_none() => {
            return Err(anyhow!("project {name} already exists; orb project edit {name} changes it").into());
        }
        Err(e @ StoreError::BadName { .. }) => return Err(e.into()),
        _ => {}
    }
    let text = args.template.filled(name, &args.seeds);
    let shown = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    Settings::parse(&text, &shown)?.examine().map_err(|wrong| CommandFailure::Usage(wrong.what))?;
    let (file, how) = match &args.output {
        Some(path) => {
            write_new(path, &text)?;
            (path.clone(), path.display().to_string())
        }
        None => {
            let project = home.project(name)?;
            Settings::keep_text(&project, &text)?;
            (project.settings(), name.clone())
        }
    };
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &json!({"project": name, "file": file}))?;
    } else if !common.quiet {
        writeln!(stdout, "{}", file.display())?;
        match args.seeds.is_empty() {
            true if args.output.is_none() => writeln!(stdout, "orb project edit {name} says where to start")?,
            true => writeln!(stdout, "say in it where to start; orb crawl {how} collects")?,
            false => writeln!(stdout, "orb crawl {how} collects")?,
        }
    }
    Ok(stdout.flush()?)
}

/// Writes a file that must not exist.
fn write_new(path: &Path, text: &str) -> Result<(), CommandFailure> {
    if path.exists() {
        return Err(anyhow!("{} is there already", path.display()).into());
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    Ok(written.with_context(|| format!("cannot write {}", path.display()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_a_project_file_that_makes_sense() {
        for template in Template::value_variants() {
            let text = template.filled("a.b-1", &["http://a.test/\"x\\".into(), "@list".into()]);
            let read = Settings::parse(&text, Path::new("t.toml")).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(read.seeds, ["http://a.test/\"x\\", "@list"]);
            assert_eq!((read.name.as_deref(), read.examine()), (Some("a.b-1"), Ok(())));
            assert!(!text.contains("{name}") && !text.contains("{seeds}"), "{text}");
        }
    }

    #[test]
    fn what_is_commented_out_in_a_template_makes_sense_once_it_is_not() {
        let is_key = |line: &str| {
            let word = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| word(key))
        };
        let mut found = 0;
        for template in Template::value_variants() {
            let text = template.filled("p", &["http://a.test/".into()]);
            let lines = text.lines().map(|line| match line.strip_prefix("# ").filter(|rest| is_key(rest)) {
                Some(rest) => {
                    found += 1;
                    rest
                }
                None => line,
            });
            let whole = lines.collect::<Vec<_>>().join("\n");
            let read = Settings::parse(&whole, Path::new("t.toml")).unwrap_or_else(|e| panic!("{e}\n{whole}"));
            assert_eq!(read.examine(), Ok(()), "{whole}");
        }
        assert!(found > 10, "{found}");
    }
}
