//! What is a run for, and how did it end?

use serde::Serialize;

/// What a run is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunKind {
    /// Collect what is not known yet.
    #[default]
    Crawl,
    /// Revisit what is known, and collect what is new.
    Track,
}

impl RunKind {
    /// The name stored with the run.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Track => "track",
        }
    }

    /// The kind of a run with this name.
    pub fn of(name: &str) -> Self {
        if name == Self::Track.name() { Self::Track } else { Self::Crawl }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Everything in scope was visited.
    Done,
    /// A budget is exhausted; the next crawl starts a new run.
    Budget,
    /// Stopped by the user; the next crawl resumes this run.
    Stopped,
}

impl RunState {
    /// The name stored with the run.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Budget => "budget",
            Self::Stopped => "stopped",
        }
    }
}
