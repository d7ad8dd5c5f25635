//! How fast is a project's last run, and why?

use super::{Advice, Bounds, Breakdown, HostWait, SlowHost, Sockets, SpeedFacts, WaitingHosts};
use crate::watch::ledger::Stage;
use crate::watch::pace::PaceSeries;
use orb_answers::{AnswerError, RunStanding, last_run};
use orb_page::Moment;
use orb_store::{ProjectDir, ProjectLock};
use schemars::JsonSchema;
use serde::Serialize;

/// What is known about a run's speed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpeedAccount {
    /// The project.
    pub project: String,
    /// Its last run.
    pub run: u32,
    /// The state of that run.
    pub state: String,
    /// Seconds since the facts were recorded.
    pub age: f64,
    /// Seconds of work.
    pub seconds: f64,
    /// Pages per second over all of them.
    pub pages_per_second: f64,
    /// Its recent speed.
    pub now: RecentSpeed,
    /// Where the time went.
    pub timing: Breakdown,
    /// Where the last seconds went.
    pub recent: Breakdown,
    /// What the user allows and the machine has.
    pub bounds: Bounds,
    /// Connections.
    pub sockets: Sockets,
    /// Requests in flight.
    pub in_flight: u64,
    /// Pages queued.
    pub queued: u64,
    /// URLs known.
    pub known: u64,
    /// Bytes of memory in use.
    pub resident: Option<u64>,
    /// Why hosts wait, most frequent first.
    pub waiting: Vec<WaitingHosts>,
    /// The hosts with the longest queues.
    pub hosts: Vec<WaitingHost>,
    /// The hosts with the slowest responses.
    pub slowest: Vec<SlowHost>,
    /// Why the run waits as a whole.
    pub pause: Option<String>,
    /// What the schedule says at this hour, if one of its rows applies.
    pub schedule: Option<String>,
    /// What takes the time, and what would help.
    pub advice: Vec<Advice>,
    /// Seconds until the queue is empty if it goes on shrinking as it did lately; `None` if the run
    /// has ended or it cannot be told.
    pub eta_seconds: Option<f64>,
    /// How the run developed.
    pub pace: PaceSeries,
}

/// The speed of the last seconds.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct RecentSpeed {
    /// How many seconds.
    pub seconds: f64,
    /// Pages per second.
    pub pages_per_second: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Requests per second that politeness allows; `None` if it does not bound them.
    pub allowed_per_second: Option<f64>,
    /// The share of the CPU that the run uses.
    pub cpu_share: f64,
    /// The same for all processes of the machine together, if known.
    pub machine_share: Option<f64>,
    /// The share of the time in which the reading threads are busy.
    pub reading_share: f64,
}

/// A host with a long queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaitingHost {
    /// Its name.
    pub host: String,
    /// Pages queued.
    pub queued: u64,
    /// Why it is not being fetched.
    pub why: String,
    /// When that ends.
    pub until: Option<String>,
}

/// Why a project's last run is as fast as it is. Its state comes from the lock, which is more
/// reliable than what the run itself recorded.
pub fn why(project: &ProjectDir) -> Result<SpeedAccount, AnswerError> {
    let name = &project.name;
    let never = || AnswerError::NotBuilt(format!("project {name} was never crawled; run orb crawl first"));
    let last = last_run(project)?.ok_or_else(never)?;
    let state = RunStanding::of(&last, ProjectLock::is_held(project));
    let facts = SpeedFacts::read(project, last.id).ok_or_else(|| {
        let run = last.id.0;
        AnswerError::Unknown(format!("nothing is known about the speed of run {run} of {name}: it wrote nothing down"))
    })?;
    let pace = PaceSeries::read(project, last.id).unwrap_or_default();
    Ok(SpeedAccount::new(name.clone(), state.to_string(), facts, pace))
}

impl SpeedAccount {
    #[expect(clippy::cast_precision_loss, reason = "shares for people")]
    fn new(project: String, state: String, facts: SpeedFacts, pace: PaceSeries) -> Self {
        let (recent, cores, workers) = (&facts.recent, facts.bounds.cores.max(1), facts.bounds.workers.max(1));
        let reading = recent.tally.stage(Stage::Read).seconds();
        let now = RecentSpeed {
            seconds: recent.seconds,
            pages_per_second: recent.page_rate(),
            bytes_per_second: recent.byte_rate(),
            allowed_per_second: facts.allowed,
            cpu_share: recent.share(recent.cpu_seconds) / cores as f64,
            machine_share: recent.load_share(),
            reading_share: recent.share(reading) / workers as f64,
        };
        let is_running = state == SpeedFacts::RUNNING;
        Self {
            eta_seconds: pace.time_left().filter(|_| is_running),
            pace,
            project,
            run: facts.run,
            state,
            age: Moment::now().since(facts.at).as_secs_f64(),
            seconds: facts.whole.seconds,
            pages_per_second: facts.whole.page_rate(),
            now,
            timing: facts.whole.breakdown(),
            recent: recent.breakdown(),
            advice: facts.advice(),
            bounds: facts.bounds,
            sockets: facts.sockets,
            in_flight: facts.in_flight,
            queued: facts.queued,
            known: facts.known,
            resident: facts.resident,
            waiting: facts.waiting,
            hosts: facts.hosts.into_iter().map(WaitingHost::from).collect(),
            slowest: facts.slowest,
            pause: facts.pause,
            schedule: facts.schedule,
        }
    }
}

impl From<HostWait> for WaitingHost {
    fn from(wait: HostWait) -> Self {
        Self { host: wait.host, queued: wait.queued, why: wait.why, until: wait.until.map(|at| at.to_string()) }
    }
}
