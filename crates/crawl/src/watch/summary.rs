//! How did the run go, in numbers?

use crate::indexing::IndexAccount;
use orb_page::{RunId, RunKind, RunState};
use orb_store::RunCounters;
use schemars::JsonSchema;
use serde::Serialize;

/// The object that `--json` ends with.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The project.
    pub project: String,
    /// The run.
    pub run: u32,
    /// `crawl` or `track`.
    pub kind: &'static str,
    /// How it ended.
    #[schemars(with = "String")]
    pub state: RunState,
    /// Its counters.
    #[serde(flatten)]
    pub counters: RunCounters,
    /// Pages per second, over the run's working time.
    pub pages_per_second: f64,
    /// Why pages remain in the queue, if any do: reason, hosts, an example.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// Servers whose SSH keys were seen for the first time, and are pinned from now on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_keys: Vec<String>,
    /// The state of the text index, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexAccount>,
}

impl Summary {
    /// The summary of a run that has ended.
    pub fn new(project: String, run: RunId, kind: RunKind, state: RunState, counters: RunCounters) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let pages_per_second = if counters.seconds > 0.0 { counters.pages as f64 / counters.seconds } else { 0.0 };
        Self {
            project,
            run: run.0,
            kind: kind.name(),
            state,
            counters,
            pages_per_second,
            waiting: Vec::new(),
            host_keys: Vec::new(),
            index: None,
        }
    }
}
