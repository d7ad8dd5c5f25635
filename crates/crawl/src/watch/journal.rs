//! What is written about a run as a whole?
//!
//! `runs/<n>/report.json` holds the summary of the run and where its time went; `runs/<n>/run.log`
//! has a line for each time it was started, resumed and ended, for what went wrong, and what can be
//! said about its speed.

use crate::CrawlError;
use crate::watch::summary::Summary;
use crate::watch::why::{Advice, Breakdown, SpeedFacts};
use orb_answers::LogLevel;
use orb_page::RunKind;
use orb_page::{Moment, RunId};
use orb_store::{ProjectDir, RunCounters, replace};
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

/// The report: the summary of the run, and where its time went.
#[derive(Serialize)]
struct JournalReport<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<RevisitAccount>,
    timing: Breakdown,
    advice: Vec<Advice>,
}

/// What happened to the documents that a run was to revisit.
#[derive(Serialize)]
struct RevisitAccount {
    known: u64,
    accounted: u64,
    unaccounted: u64,
}

impl RevisitAccount {
    fn of(summary: &Summary) -> Option<Self> {
        let RunCounters { known, flags, .. } = &summary.counters;
        let accounted = flags.same + flags.updated + flags.missing + flags.error;
        let unaccounted = known.saturating_sub(accounted);
        (summary.kind == RunKind::Track.name()).then_some(Self { known: *known, accounted, unaccounted })
    }
}

/// The directory of one run.
pub(crate) struct Journal {
    dir: PathBuf,
}

impl Journal {
    /// Opens the directory, creating it if there is none.
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

    /// Adds a line about something that went wrong, and that the run continues without.
    pub(crate) fn warn(&self, line: &str) -> Result<(), CrawlError> {
        self.log(&format!("{}{line}", LogLevel::Warning.mark()))
    }

    /// Adds a line about what has ended the run.
    pub(crate) fn fail_for(&self, line: &str) -> Result<(), CrawlError> {
        self.log(&format!("{}{line}", LogLevel::Error.mark()))
    }

    /// Adds what can be said about the run's speed to the log.
    pub(crate) fn account(&self, facts: &SpeedFacts) -> Result<(), CrawlError> {
        let times = facts.whole.breakdown();
        let stages = times.stages.iter().map(|s| format!("{} {:.1} ms", s.stage, s.mean_ms));
        self.log(&format!("time, on average: {}", stages.collect::<Vec<_>>().join(", ")))?;
        let idle =
            times.idle.iter().filter(|i| i.share >= 0.005).map(|i| format!("{} {:.0} %", i.why, i.share * 100.0));
        self.log(&format!("waited for: {}", idle.collect::<Vec<_>>().join(", ")))?;
        facts.advice().iter().try_for_each(|advice| self.log(&advice.text))
    }

    /// Writes the report.
    pub(crate) fn report(&self, summary: &Summary, facts: &SpeedFacts) -> Result<(), CrawlError> {
        let account = RevisitAccount::of(summary);
        let report = JournalReport { summary, account, timing: facts.whole.breakdown(), advice: facts.advice() };
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        Ok(replace(&self.dir.join("report.json"), text.as_bytes(), ["report-written", "report-kept"])?)
    }

    fn fail(&self, source: std::io::Error) -> CrawlError {
        CrawlError::Journal { dir: self.dir.clone(), source }
    }
}
