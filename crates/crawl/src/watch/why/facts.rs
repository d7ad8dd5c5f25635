//! What is known about a run's speed?
//!
//! Plain numbers without judgement, so that rules can be tested on made-up ones and any process can
//! read what another wrote.

use crate::watch::ledger::{Idle, Tally};
use orb_page::{Moment, RunId};
use orb_store::ProjectDir;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything known about why a run is as fast as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpeedFacts {
    /// The run.
    pub run: u32,
    /// When this was recorded.
    pub at: Moment,
    /// `running`, or how the run ended.
    pub state: String,
    /// The run over all its resumptions.
    pub whole: Stretch,
    /// The last few seconds.
    pub recent: Stretch,
    /// What the user allows and the machine has.
    pub bounds: Bounds,
    /// Pages queued at the last commit.
    pub queued: u64,
    /// URLs known at the last commit.
    pub known: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Hosts of which the run has fetched a page.
    pub hosts_fetched: u64,
    /// Hosts with a request in flight.
    pub hosts_active: u64,
    /// Connections.
    pub sockets: Sockets,
    /// Requests per second that politeness allows now; `None` if it does not bound them.
    pub allowed: Option<f64>,
    /// Why hosts wait, most frequent first.
    pub waiting: Vec<WaitingHosts>,
    /// The hosts with the longest queues, longest first.
    pub hosts: Vec<HostWait>,
    /// The hosts with the slowest responses, slowest first.
    pub slowest: Vec<SlowHost>,
    /// Why the run waits as a whole.
    pub pause: Option<String>,
    /// What the schedule says at this hour, if one of its rows applies.
    pub schedule: Option<String>,
    /// Bytes of memory in use.
    pub resident: Option<u64>,
}

/// What happened in an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stretch {
    /// Its length.
    pub seconds: f64,
    /// CPU time used in it.
    pub cpu_seconds: f64,
    /// How much CPU was used in it by any process, and how much there was, in the same unit.
    pub load: (u64, u64),
    /// Answers received.
    pub pages: u64,
    /// Bytes of bodies received.
    pub bytes: u64,
    /// Fetches that failed.
    pub errors: u64,
    /// Where the time went.
    pub tally: Tally,
}

/// What the user allows and the machine has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bounds {
    /// Seconds between two requests to one host.
    pub delay: f64,
    /// Maximum concurrent requests to one host.
    pub per_host: u64,
    /// Maximum connections.
    pub connections: u64,
    /// Bytes per second.
    pub bandwidth: Option<u64>,
    /// Reading threads.
    pub workers: u64,
    /// Cores.
    pub cores: u64,
}

/// Connection counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sockets {
    /// Open, opening and closing.
    pub open: u64,
    /// Idle ones.
    pub idle: u64,
    /// Closing ones.
    pub closing: u64,
    /// Requests waiting for one.
    pub waiting: u64,
}

/// Hosts that wait for the same reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WaitingHosts {
    /// The reason.
    pub why: String,
    /// How many hosts.
    pub hosts: u64,
    /// One of them.
    pub example: String,
}

/// A host with a long queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostWait {
    /// Its name, with its port if it is not the default.
    pub host: String,
    /// Pages queued.
    pub queued: u64,
    /// Why it is not being fetched.
    pub why: String,
    /// When that ends.
    pub until: Option<Moment>,
}

/// A slow host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SlowHost {
    /// Its name.
    pub host: String,
    /// Number of requests.
    pub answers: u64,
    /// Mean response time in seconds.
    pub mean: f64,
}

impl SpeedFacts {
    /// The state of a run that has not ended.
    pub const RUNNING: &'static str = "running";

    /// The file with a run's facts.
    pub fn place(project: &ProjectDir, run: RunId) -> PathBuf {
        project.run(run).join("why.json")
    }

    /// The last recorded facts of a run; `None` if there are none or they are unreadable, as in
    /// runs of earlier versions.
    pub fn read(project: &ProjectDir, run: RunId) -> Option<Self> {
        let bytes = std::fs::read(Self::place(project, run)).ok()?;
        serde_json::from_slice::<Self>(&bytes).ok().filter(|facts| facts.run == run.0)
    }

    /// The significant interval: the last seconds of a running run, otherwise all of it.
    pub fn telling(&self) -> &Stretch {
        if self.state == Self::RUNNING && self.recent.seconds >= 3.0 { &self.recent } else { &self.whole }
    }

    /// The number of hosts that wait for one of these reasons, and an example.
    pub(crate) fn held(&self, reasons: &[orb_frontier::Why]) -> (u64, Option<&str>) {
        let held = self.waiting.iter().filter(|h| reasons.iter().any(|why| why.text() == h.why));
        let hosts = held.clone().map(|h| h.hosts).sum();
        (hosts, held.map(|h| h.example.as_str()).next())
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates and shares for people")]
impl Stretch {
    /// The share of the time in which the driver could grant nothing for this reason.
    pub fn idle_share(&self, why: Idle) -> f64 {
        self.share(self.tally.idle(why))
    }

    /// Seconds as a share of the time.
    pub fn share(&self, seconds: f64) -> f64 {
        if self.seconds > 0.0 { seconds / self.seconds } else { 0.0 }
    }

    /// The share of the CPU that was in use by any process; `None` if unknown.
    pub fn load_share(&self) -> Option<f64> {
        let (busy, all) = self.load;
        (all > 0).then(|| busy as f64 / all as f64)
    }

    /// Pages per second.
    pub fn page_rate(&self) -> f64 {
        self.share(self.pages as f64)
    }

    /// Bytes per second.
    pub fn byte_rate(&self) -> f64 {
        self.share(self.bytes as f64)
    }

    /// The sum of two intervals.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            seconds: self.seconds + other.seconds,
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
            load: (self.load.0.saturating_add(other.load.0), self.load.1.saturating_add(other.load.1)),
            pages: self.pages.saturating_add(other.pages),
            bytes: self.bytes.saturating_add(other.bytes),
            errors: self.errors.saturating_add(other.errors),
            tally: self.tally.plus(&other.tally),
        }
    }

    /// The difference to an earlier snapshot.
    #[must_use]
    pub fn minus(&self, earlier: &Self) -> Self {
        Self {
            seconds: (self.seconds - earlier.seconds).max(0.0),
            cpu_seconds: (self.cpu_seconds - earlier.cpu_seconds).max(0.0),
            load: (self.load.0.saturating_sub(earlier.load.0), self.load.1.saturating_sub(earlier.load.1)),
            pages: self.pages.saturating_sub(earlier.pages),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            errors: self.errors.saturating_sub(earlier.errors),
            tally: self.tally.minus(&earlier.tally),
        }
    }
}
