//! Which runs were there, and what did each of them write down?

use crate::{AnswerError, Collection, Result, RunStanding, Window, is_attended};
use orb_page::RunId;
use orb_store::{AckRow, CatalogueReader, ProjectDir, RunCounters, RunRecord};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Read as _, Seek as _, SeekFrom};

/// How much of a log is read: its end.
const LONGEST_LOG: u64 = 4 << 20;

/// A run in a list of runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListedRun {
    /// Its number.
    pub run: u32,
    /// `crawl` or `track`.
    pub kind: String,
    /// How it ended, or that it has not.
    pub state: RunStanding,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
    /// Who looked at its changes.
    pub acknowledged: Option<AckRow>,
    /// What it has done so far.
    #[serde(flatten)]
    pub counters: RunCounters,
}

impl ListedRun {
    fn of(reader: &CatalogueReader, record: &RunRecord, is_attended: bool) -> Result<Self> {
        Ok(Self {
            run: record.id.0,
            kind: record.kind.name().to_owned(),
            state: RunStanding::of(record, is_attended),
            started_at: record.started_at.to_string(),
            finished_at: record.finished_at.map(|at| at.to_string()),
            acknowledged: reader.ack(record.id)?,
            counters: RunCounters::of(&record.counters),
        })
    }
}

/// The runs before this one, or all of them, latest first: these of them.
pub fn runs(collection: &Collection, before: Option<u32>, rows: Window) -> Result<Vec<ListedRun>> {
    let is_attended = is_attended(collection.project());
    let reader = collection.catalogue();
    let records = reader.runs()?;
    let earlier = records.iter().filter(|record| before.is_none_or(|before| record.id.0 < before));
    rows.of(earlier).into_iter().map(|record| ListedRun::of(reader, record, is_attended)).collect()
}

/// One run.
pub fn run(collection: &Collection, run: u32) -> Result<ListedRun> {
    let reader = collection.catalogue();
    let record = reader.run(RunId(run))?;
    let record = record.ok_or_else(|| unknown(&collection.project().name, run))?;
    ListedRun::of(reader, &record, is_attended(collection.project()))
}

/// The log of a run; of a very long one the end. A run that wrote none has an empty one.
pub fn log_text(collection: &Collection, run: u32) -> Result<String> {
    let project = collection.project();
    if collection.catalogue().run(RunId(run))?.is_none() {
        return Err(unknown(&project.name, run));
    }
    match read_log(project, run) {
        Ok(text) => Ok(text),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(AnswerError::Failed(e.into())),
    }
}

fn read_log(project: &ProjectDir, run: u32) -> io::Result<String> {
    let mut file = std::fs::File::open(project.run(RunId(run)).join("run.log"))?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_LOG)))?;
    let mut bytes = Vec::new();
    file.take(LONGEST_LOG).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unknown(project: &str, run: u32) -> AnswerError {
    AnswerError::Unknown(format!("project {project} has no run {run}"))
}
