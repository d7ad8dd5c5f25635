//! What is written down about the last run that was started here?

use super::{LaunchKind, now};
use orb_page::RunId;
use orb_project::ProjectDir;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The longest reason that is kept, in bytes.
const LONGEST: usize = 4_000;

/// A run that was started here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LaunchRecord {
    /// What it does.
    pub(crate) kind: LaunchKind,
    /// Who asked for it.
    pub(crate) by: String,
    /// When.
    pub(crate) at: String,
    /// Its process.
    pub(crate) pid: u32,
    /// Its number, once it has one.
    pub(crate) run: Option<u32>,
    /// When it ended.
    pub(crate) ended_at: Option<String>,
    /// The exit code; `None` if it runs, or was killed.
    pub(crate) code: Option<i32>,
    /// What it said last, in one line.
    pub(crate) told: Option<String>,
}

/// Who asked for a run.
#[derive(Serialize, Deserialize)]
struct RunAsker {
    by: String,
    at: String,
}

impl LaunchRecord {
    pub(super) fn new(kind: LaunchKind, by: &str, pid: u32) -> Self {
        Self { kind, by: by.to_owned(), at: now(), pid, run: None, ended_at: None, code: None, told: None }
    }

    /// Where the process writes what it has to say.
    pub(super) fn told_at(project: &ProjectDir) -> PathBuf {
        project.dir.join("launch.log")
    }

    /// The last run that was started here, if any.
    pub(crate) fn read(project: &ProjectDir) -> Option<Self> {
        serde_json::from_slice(&fs::read(project.dir.join("launch.json")).ok()?).ok()
    }

    /// Writes it down; a run continues without it.
    pub(super) fn keep(&self, project: &ProjectDir) {
        keep(&project.dir.join("launch.json"), self);
    }

    /// Writes down who asked for the run.
    pub(super) fn keep_asker(&self, project: &ProjectDir, run: u32) {
        let dir = project.run(RunId(run));
        // If the directory cannot be made, the file cannot be written, which is logged.
        let _ = fs::create_dir_all(&dir);
        keep(&dir.join("asked.json"), &RunAsker { by: self.by.clone(), at: self.at.clone() });
    }

    /// Whether it ended otherwise than done, or stopped as it was asked.
    pub(crate) fn has_failed(&self) -> bool {
        self.ended_at.is_some() && !matches!(self.code, Some(0 | 3 | 130))
    }
}

/// Who asked for a run; `None` if nobody did in this way.
pub(crate) fn asked_by(project: &ProjectDir, run: u32) -> Option<String> {
    let text = fs::read(project.run(RunId(run)).join("asked.json")).ok()?;
    serde_json::from_slice::<RunAsker>(&text).ok().map(|asker| asker.by)
}

/// What a process said last, in one line and without the program's name.
pub(crate) fn last_words(path: &Path) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(LONGEST)..]).into_owned();
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.strip_prefix("orb: ").unwrap_or(line).to_owned())
}

fn keep(path: &Path, what: &impl Serialize) {
    let new = path.with_extension("new");
    let text = serde_json::to_vec(what).map_err(io::Error::other);
    let kept = text.and_then(|text| fs::write(&new, text)).and_then(|()| fs::rename(&new, path));
    if let Err(error) = kept {
        tracing::warn!("cannot write {}: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_what_was_said() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("log");
        assert_eq!(last_words(&path), None);
        fs::write(&path, "warning\norb: project.toml:2:3: no such key\n\n").unwrap();
        assert_eq!(last_words(&path).as_deref(), Some("project.toml:2:3: no such key"));
        fs::write(&path, format!("{}\nend", "ä".repeat(5_000))).unwrap();
        assert_eq!(last_words(&path).as_deref(), Some("end"));
    }
}
