//! How far has a build come?

use std::sync::Arc;

/// The steps of a build, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildStep {
    /// Reading the pages.
    Pages,
    /// Sorting their URLs.
    Ordering,
    /// Reading the links.
    Links,
    /// Compressing the graph, its transpose, and the smaller ones.
    Compressing,
    /// Syncing and moving it into place.
    Closing,
}

impl BuildStep {
    /// What it does, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pages => "reading pages",
            Self::Ordering => "ordering URLs",
            Self::Links => "reading links",
            Self::Compressing => "compressing",
            Self::Closing => "closing",
        }
    }
}

/// A progress callback: the step, how much of it is done, and of how much.
pub type BuildProgress = Arc<dyn Fn(BuildStep, u64, u64) + Send + Sync>;

/// A callback that ignores progress.
pub fn unwatched() -> BuildProgress {
    Arc::new(|_, _, _| ())
}
