//! What did a run write down while it worked?

use crate::{AnswerError, Collection, Result};
use orb_page::RunId;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;
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

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// What happened.
    #[default]
    Info,
    /// What went wrong, and the run continues.
    Warning,
    /// What has ended the run.
    Error,
}

impl LogLevel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// What a line of this level begins with, behind the time.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Info => "",
            Self::Warning => "warning: ",
            Self::Error => "error: ",
        }
    }

    /// The level of a line.
    fn of(text: &str) -> Self {
        let said = text.split_once(' ').map_or("", |(_, said)| said);
        let is = |level: &Self| !level.mark().is_empty() && said.starts_with(level.mark());
        Self::ALL.into_iter().find(is).unwrap_or_default()
    }
}

/// What the first line of a run begins with, behind the time.
pub const BEGUN: &str = "begun";

/// The same for a run that is resumed.
pub const RESUMED: &str = "resumed after ";

/// Whether a line of a log says that its run begins or is resumed: settings and steps are behind
/// it.
pub fn is_opening(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(_, said)| said == BEGUN || said.starts_with(RESUMED))
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogLine {
    /// Its number, from 1.
    pub number: u64,
    /// How much it matters.
    pub level: LogLevel,
    /// Its text, which begins with the time.
    pub text: String,
}

/// Which lines of a log are wanted.
#[derive(Clone, Debug, Default)]
pub struct LogWish {
    /// Those that contain this.
    pub contains: Option<String>,
    /// Those that matter at least this much.
    pub level: LogLevel,
    /// Those after this line.
    pub after: u64,
    /// Not the first, but the last of them.
    pub is_tail: bool,
    /// How many at most.
    pub limit: usize,
}

impl LogWish {
    fn fits(&self, line: &LogLine) -> bool {
        let contains = self.contains.as_ref().is_none_or(|wanted| line.text.contains(wanted));
        line.number > self.after && line.level >= self.level && contains
    }
}

/// The lines of a run's log that somebody wants.
pub fn run_log(collection: &Collection, run: u32, wish: &LogWish) -> Result<RunLog> {
    let unknown = || AnswerError::Unknown(format!("project {} has no run {run}", collection.name()));
    collection.catalogue().run(RunId(run))?.ok_or_else(unknown)?;
    let failed = |e: std::io::Error| AnswerError::Failed(e.into());
    let file = match File::open(collection.project().run(RunId(run)).join("run.log")) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(RunLog { run, lines: Vec::new(), next: None }),
        Err(e) => return Err(failed(e)),
    };
    let (mut input, mut read) = (BufReader::new(file), Vec::new());
    let (mut lines, mut next) = (VecDeque::new(), None);
    for number in 1.. {
        read.clear();
        if input.by_ref().take(LONGEST).read_until(b'\n', &mut read).map_err(failed)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&read).trim_end().to_owned();
        let line = LogLine { number, level: LogLevel::of(&text), text };
        if !wish.fits(&line) {
            continue;
        }
        if lines.len() == wish.limit {
            if !wish.is_tail {
                next = lines.back().map(|last: &LogLine| last.number);
                break;
            }
            lines.pop_front();
        }
        lines.push_back(line);
    }
    Ok(RunLog { run, lines: lines.into(), next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_begins_or_goes_on() {
        let openings =
            ["begun", "resumed after 3 pages; it had been interrupted", "signed in", "begun anew", "error: begun"];
        let openings = openings.map(|said| is_opening(&format!("2026-11-18T09:00:00Z {said}")));
        assert_eq!(openings, [true, true, false, false, false]);
    }

    #[test]
    fn a_line_says_how_much_it_matters() {
        let at = "2026-11-18T09:00:00Z";
        let levels = ["crawl begins", "warning: no space", "error: refused", "the error: none", "warnings: 2"];
        let levels = levels.map(|said| LogLevel::of(&format!("{at} {said}")));
        assert_eq!(levels, [LogLevel::Info, LogLevel::Warning, LogLevel::Error, LogLevel::Info, LogLevel::Info]);
        let line = LogLine { number: 3, level: LogLevel::Warning, text: "a b".into() };
        let fits = |level, after, contains: Option<&str>| {
            LogWish { level, after, contains: contains.map(str::to_owned), ..LogWish::default() }.fits(&line)
        };
        assert!(fits(LogLevel::Info, 2, None) && fits(LogLevel::Warning, 0, Some("b")));
        assert!(
            !fits(LogLevel::Error, 0, None) && !fits(LogLevel::Info, 3, None) && !fits(LogLevel::Info, 0, Some("c"))
        );
    }
}
