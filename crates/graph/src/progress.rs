//! How far has a build come?

use std::sync::Arc;

/// The steps of a build, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reading the pages.
    Pages,
    /// Putting their URLs in order.
    Ordering,
    /// Reading the links.
    Links,
    /// Compressing: the graph, its transpose, and the smaller ones.
    Compressing,
    /// Writing it down for good.
    Closing,
}

impl Step {
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

/// Is told now and then: the step, how much of it is done, and of how much.
pub type Watch = Arc<dyn Fn(Step, u64, u64) + Send + Sync>;

/// Tells nobody.
pub fn unwatched() -> Watch {
    Arc::new(|_, _, _| ())
}
