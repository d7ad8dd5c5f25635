//! What did a run write down while it worked?

use crate::{AnswerError, Collection, Result};
use orb_page::RunId;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};

/// Maximum bytes of one line.
const LONGEST: u64 = 1 << 16;

/// A part of the log of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunLog {
    /// The run.
    pub run: u32,
    /// The lines, oldest first.
    pub lines: Vec<LogLine>,
    /// Where to continue: the lines after this one. `None` at the end.
    pub next: Option<u64>,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogLine {
    /// Its number, from 1.
    pub number: u64,
    /// Its text, which begins with the time.
    pub text: String,
}

/// The lines of a run's log that contain a text, after a line, at most so many.
pub fn run_log(collection: &Collection, run: u32, contains: Option<&str>, after: u64, limit: usize) -> Result<RunLog> {
    let unknown = || AnswerError::Unknown(format!("project {} has no run {run}", collection.name()));
    collection.catalogue().run(RunId(run))?.ok_or_else(unknown)?;
    let failed = |e: std::io::Error| AnswerError::Failed(e.into());
    let mut log = RunLog { run, lines: Vec::new(), next: None };
    let file = match File::open(collection.project().run(RunId(run)).join("run.log")) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(log),
        Err(e) => return Err(failed(e)),
    };
    let mut input = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.by_ref().take(LONGEST).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if number <= after || contains.is_some_and(|wanted| !text.contains(wanted)) {
            continue;
        }
        if log.lines.len() == limit {
            log.next = log.lines.last().map(|last| last.number);
            break;
        }
        log.lines.push(LogLine { number, text });
    }
    Ok(log)
}
