//! How are a project's settings changed with an editor?
//!
//! The editor gets a copy, which replaces the project's file, or what a shared store keeps of it,
//! only if it is valid and nobody else has changed that meanwhile. A rejected text stays in the
//! copy, and the next edit continues from it.

use crate::{ProjectError, Settings, SettingsError};
use orb_store::{ProjectDir, SettingsLock, SharedAddress, SharedProject};
use std::fs;
use std::path::{Path, PathBuf};

/// A copy of a project's file, to be edited.
#[derive(Debug)]
pub struct Draft {
    name: String,
    kept: SettingsPlace,
    path: PathBuf,
    before: String,
    resumed: bool,
}

/// Where the settings are kept.
#[derive(Debug)]
enum SettingsPlace {
    Here(ProjectDir),
    There(Box<SharedAddress>),
}

impl Draft {
    /// Copies the project's file, unless an earlier edit left a draft that says something else.
    pub fn open(project: ProjectDir) -> Result<Self, ProjectError> {
        let (before, path) = (read(&project.settings())?, project.dir.join("edit.toml"));
        Self::over(project.name.clone(), SettingsPlace::Here(project), path, before)
    }

    /// The same of a project on a shared store. The copy is in this directory.
    pub fn open_shared(dir: &Path, at: &SharedAddress, name: &str) -> Result<Self, ProjectError> {
        let before = SharedProject::open(at, name)?.settings()?;
        let path = dir.join(format!("edit-{name}.toml"));
        Self::over(name.to_owned(), SettingsPlace::There(Box::new(at.clone())), path, before)
    }

    fn over(name: String, kept: SettingsPlace, path: PathBuf, before: String) -> Result<Self, ProjectError> {
        let resumed = fs::read_to_string(&path).is_ok_and(|left| left != before);
        if !resumed {
            fs::write(&path, &before).map_err(ProjectError::io("write", &path))?;
        }
        Ok(Self { name, kept, path, before, resumed })
    }

    /// The copy.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is what an earlier edit left.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The text as it is now.
    pub fn text(&self) -> Result<String, ProjectError> {
        read(&self.path)
    }

    /// Says what is wrong with a text, and where.
    pub fn check(&self, text: &str) -> Result<(), ProjectError> {
        let (path, name) = (&self.path, &self.name);
        let settings = Settings::parse(text, path)?.examined(text, path)?;
        match settings.name {
            Some(other) if other != *name => {
                let why = format!("{}: the project is called {name}, not {other}", path.display());
                Err(ProjectError::Refused(why))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the project's file by a text and removes the draft; returns whether the text is
    /// another one. A file that somebody has changed meanwhile is not replaced.
    pub fn keep(self, text: &str) -> Result<bool, ProjectError> {
        let changed = text != self.before;
        if changed {
            self.replace(text)?;
        }
        fs::remove_file(&self.path).map_err(ProjectError::io("remove", &self.path))?;
        Ok(changed)
    }

    fn replace(&self, text: &str) -> Result<(), ProjectError> {
        let refused =
            |why: String| ProjectError::Refused(format!("{why}; what you wrote is left in {}", self.path.display()));
        let project = match &self.kept {
            SettingsPlace::Here(project) => project,
            SettingsPlace::There(at) => {
                return match SharedProject::open(at, &self.name)?.replace_settings(&self.before, text)? {
                    true => Ok(()),
                    false => Err(refused(format!("the settings of project {} were changed meanwhile", self.name))),
                };
            }
        };
        let _lock = SettingsLock::take(project)?;
        let file = project.settings();
        if read(&file)? != self.before {
            return Err(refused(format!("{} was changed meanwhile", file.display())));
        }
        Ok(Settings::keep_text(project, text)?)
    }
}

/// Replaces the text of a project's file, if it is still what it was, with another that is valid.
/// Whoever is not the operator of this machine may not touch what is the operator's. A run that
/// is under way takes some of it up (`orb_crawl`), the next one all of it.
pub fn replace_settings(
    project: &ProjectDir,
    (before, text): (&str, &str),
    is_operator: bool,
) -> Result<(), ProjectError> {
    let shown = Path::new("project.toml");
    let settings = Settings::parse(text, shown)?.examined(text, shown)?;
    if let Some(other) = settings.name.as_ref().filter(|name| **name != project.name) {
        return Err(ProjectError::Refused(format!("the project is called {}, not {other}", project.name)));
    }
    if !is_operator {
        let kept = Settings::parse(before, shown).unwrap_or_else(|_| Settings::for_outsiders());
        settings.examine_outsider(&kept).map_err(|wrong| SettingsError::at(wrong, text, shown))?;
    }
    let _lock = SettingsLock::take(project)?;
    if settings_text(project)? != before {
        return Err(ProjectError::Stale);
    }
    Ok(Settings::keep_text(project, text)?)
}

/// The text of a project's file; empty if there is none.
pub fn settings_text(project: &ProjectDir) -> Result<String, ProjectError> {
    if project.settings().exists() { read(&project.settings()) } else { Ok(String::new()) }
}

fn read(path: &Path) -> Result<String, ProjectError> {
    fs::read_to_string(path).map_err(ProjectError::io("read", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_store::Home;

    #[test]
    fn a_draft_replaces_the_file_unless_somebody_else_changed_it() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let written = |text: &str| fs::write(project.settings(), text).unwrap();
        written("seeds = ['http://a.test/']\n");
        let draft = Draft::open(project.clone()).unwrap();
        assert!(!draft.is_resumed());
        let text = "seeds = ['http://b.test/']\n";
        fs::write(draft.path(), text).unwrap();
        assert!(draft.check(text).is_ok() && draft.check("name = 'q'").is_err() && draft.check("seed = 1").is_err());
        written("seeds = ['http://c.test/']\n");
        let refused = draft.keep(text).unwrap_err().to_string();
        assert!(refused.contains("was changed meanwhile; what you wrote is left in"), "{refused}");
        let draft = Draft::open(project.clone()).unwrap();
        assert!(draft.is_resumed());
        assert!(draft.keep(text).unwrap());
        assert!(settings_text(&project).unwrap().contains("http://b.test/"));
    }
}
