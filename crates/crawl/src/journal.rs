//! What is written down about a run as a whole?
//!
//! `runs/<n>/report.json` holds the account of the run, `runs/<n>/run.log` a line for each time it was begun, gone on with and ended.

use crate::CrawlError;
use crate::summary::Summary;
use orb_page::{Moment, RunId};
use orb_store::ProjectDir;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

/// The directory of one run.
pub(crate) struct Journal {
    dir: PathBuf,
}

impl Journal {
    /// Opens the directory, making it if there is none.
    pub(crate) fn open(project: &ProjectDir, run: RunId) -> Result<Self, CrawlError> {
        let journal = Self { dir: project.run(run) };
        fs::create_dir_all(&journal.dir).map_err(|e| journal.fail(e))?;
        Ok(journal)
    }

    /// Adds a line to the log.
    pub(crate) fn log(&self, line: &str) -> Result<(), CrawlError> {
        let file = OpenOptions::new().create(true).append(true).open(self.dir.join("run.log"));
        file.and_then(|mut f| writeln!(f, "{} {line}", Moment::now())).map_err(|e| self.fail(e))
    }

    /// Writes the report.
    pub(crate) fn report(&self, summary: &Summary) -> Result<(), CrawlError> {
        let mut text = serde_json::to_string_pretty(summary).unwrap_or_default();
        text.push('\n');
        let (new, place) = (self.dir.join("report.json.new"), self.dir.join("report.json"));
        fs::write(&new, text).and_then(|()| fs::rename(&new, &place)).map_err(|e| self.fail(e))
    }

    fn fail(&self, source: std::io::Error) -> CrawlError {
        CrawlError::Journal { dir: self.dir.clone(), source }
    }
}
