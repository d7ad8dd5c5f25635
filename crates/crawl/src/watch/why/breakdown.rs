//! Where did the time go, as a table?

use super::facts::Stretch;
use crate::watch::ledger::{Idle, Stage, StageResource};
use schemars::JsonSchema;
use serde::Serialize;

/// Where the time of an interval went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Breakdown {
    /// The stages that took time, in the order of a page's life.
    pub stages: Vec<StageTime>,
    /// What the driver waited for, longest first.
    pub idle: Vec<IdleTime>,
}

/// The time of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StageTime {
    /// Its name.
    pub stage: &'static str,
    /// The unit that is counted: the mean is per unit.
    pub each: &'static str,
    /// Number of durations.
    pub count: u64,
    /// In total.
    pub seconds: f64,
    /// Their share of the busy time of connections and threads; `None` for time spent in queues.
    pub share: Option<f64>,
    /// Mean, in milliseconds.
    pub mean_ms: f64,
    /// Median, in milliseconds.
    pub median_ms: f64,
    /// 95th percentile, in milliseconds.
    pub p95_ms: f64,
}

/// How long the driver waited for something.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IdleTime {
    /// The reason.
    pub why: &'static str,
    /// How long.
    pub seconds: f64,
    /// The share of the total time.
    pub share: f64,
}

impl Stretch {
    /// Where the time went, as a table.
    pub fn breakdown(&self) -> Breakdown {
        let busy = Stage::ALL.iter().filter(|s| s.part() != StageResource::Queue);
        let busy = busy.map(|s| self.tally.stage(*s).seconds()).sum::<f64>().max(1e-9);
        let stages = Stage::ALL.iter().map(|s| (s, self.tally.stage(*s))).filter(|(_, spread)| spread.count > 0);
        let row = |(stage, spread): (&Stage, &crate::watch::ledger::Spread)| StageTime {
            stage: stage.name(),
            each: stage.each(),
            count: spread.count,
            seconds: spread.seconds(),
            share: (stage.part() != StageResource::Queue).then(|| spread.seconds() / busy),
            mean_ms: spread.mean() * 1e3,
            median_ms: spread.quantile(0.5) * 1e3,
            p95_ms: spread.quantile(0.95) * 1e3,
        };
        let idle = Idle::ALL.iter().map(|i| (i.name(), self.tally.idle(*i))).filter(|(_, seconds)| *seconds > 0.0);
        let mut idle: Vec<IdleTime> =
            idle.map(|(why, seconds)| IdleTime { why, seconds, share: self.share(seconds) }).collect();
        idle.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        Breakdown { stages: stages.map(row).collect(), idle }
    }
}
