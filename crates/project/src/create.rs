//! How does a project start?
//!
//! As a commented file, filled in from a template: in the home, or wherever the user wants it.

use crate::{ProjectError, Settings};
use orb_store::{Home, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What a project is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// A site.
    Plain,
    /// A news site, visited frequently.
    News,
    /// A manual or reference, collected completely.
    Docs,
    /// A site behind a log-in.
    Members,
}

/// A project that was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewProject {
    /// Its name.
    pub project: String,
    /// Its file.
    pub file: PathBuf,
}

impl Template {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::News, Self::Docs, Self::Members];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::News => "news",
            Self::Docs => "docs",
            Self::Members => "members",
        }
    }

    /// What it is for, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Plain => "a site",
            Self::News => "a news site, visited every hour",
            Self::Docs => "a manual or reference, collected completely",
            Self::Members => "a site behind a log-in",
        }
    }

    /// The template of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|template| template.name() == name)
    }

    /// What a project made of it begins with.
    pub fn settings(self) -> Result<Settings, ProjectError> {
        Ok(Settings::parse(&self.filled("project", &[]), Path::new("project.toml"))?)
    }

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

/// Creates a project in a home, or its file at another place.
pub fn create(
    home: &Home,
    name: &str,
    (template, seeds): (Template, &[String]),
    output: Option<&Path>,
) -> Result<NewProject, ProjectError> {
    match home.find(name) {
        Ok(_) if output.is_none() => {
            let why = format!("project {name} already exists; orb project edit {name} changes it");
            return Err(ProjectError::Refused(why));
        }
        Err(e @ StoreError::BadName { .. }) => return Err(e.into()),
        _ => {}
    }
    let text = template.filled(name, seeds);
    let shown = output.map_or_else(|| PathBuf::from(format!("{name}.toml")), Path::to_owned);
    Settings::parse(&text, &shown)?.examine().map_err(|wrong| ProjectError::Malformed(wrong.what))?;
    let file = match output {
        Some(path) => {
            write_new(path, &text)?;
            path.to_owned()
        }
        None => {
            let project = home.project(name)?;
            Settings::keep_text(&project, &text)?;
            project.settings()
        }
    };
    Ok(NewProject { project: name.to_owned(), file })
}

/// Writes a file that must not exist.
fn write_new(path: &Path, text: &str) -> Result<(), ProjectError> {
    if path.exists() {
        return Err(ProjectError::Refused(format!("{} is there already", path.display())));
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(ProjectError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_a_project_file_that_makes_sense() {
        for template in Template::ALL {
            assert!(Template::named(template.name()) == Some(template) && template.settings().is_ok());
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
        for template in Template::ALL {
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
