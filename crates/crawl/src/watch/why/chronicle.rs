//! Who observes a run while it runs, and records what it sees?
//!
//! A thread samples ledger, frontier, queues and connections twice a second. The samples go to the
//! display and, once a second, into `runs/<n>/why.json`, which is replaced atomically, so another
//! process never reads half of it and sees what is at most about a second old. The file is derived
//! and disposable: it is not synced, a run continues without it if it cannot be written, and if it
//! cannot be read it is started again. A resumed run adds to what the file says. Beside it, `pace`
//! keeps how the run developed.

use super::facts::{Bounds, HostWait, SlowHost, Sockets, SpeedFacts, Stretch, WaitingHosts};
use crate::drive::Errand;
use crate::drive::clock::SteadyClock;
use crate::shared::SharedState;
use crate::watch::ledger::Idle;
use crate::watch::machine;
use crate::watch::pace::{PaceRecorder, PaceSample};
use crate::watch::progress::{Pause, Progress, Waiting};
use orb_frontier::Why;
use orb_page::{Moment, RunId};
use orb_store::{HostRecord, ProjectDir, QueueLengths, StoreError};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Sampling interval.
const TICK: Duration = Duration::from_millis(500);

/// Samples between two writes of the file.
const WRITE_EVERY: u64 = 2;

/// Samples between two searches for the longest queues.
const SEARCH_EVERY: u64 = 4;

/// Samples that make up the recent past.
const RECENT: usize = 20;

/// Maximum hosts with long queues that are listed.
const HOSTS: usize = 20;

/// Keeps a run's facts.
pub(crate) struct Chronicle {
    place: PathBuf,
    run: RunId,
    bounds: Bounds,
    /// What was recorded before this process resumed the run.
    earlier: Stretch,
    cpu_at_start: f64,
    load_at_start: Option<(u64, u64)>,
    looks: Mutex<SampleHistory>,
}

struct SampleHistory {
    number: u64,
    recent: VecDeque<Stretch>,
    hosts: Vec<HostWait>,
    /// The limits at the last sample.
    bounds: Option<Bounds>,
    pace: PaceRecorder,
}

/// What is sampled.
struct SampledRun<'a> {
    shared: &'a SharedState,
    queues: &'a dyn QueueLengths<Error = StoreError>,
    sockets: Sockets,
    /// The current limits.
    bounds: Bounds,
    now: Moment,
}

impl SampledRun<'_> {
    /// Why a host waits, in words: if nothing of its own delays it, what delays everybody.
    fn reason(&self, why: Why) -> &'static str {
        match why {
            Why::InFlight if self.bounds.delay == 0.0 => "as many requests under way as per_host allows",
            Why::Ready => match self.shared.progress.ledger().latest() {
                Some(Idle::Connections) => "waiting for a free connection",
                Some(Idle::Bandwidth) => "waiting for bandwidth",
                Some(Idle::Schedule) => "waiting for an hour of the schedule",
                Some(Idle::Backlog) => "waiting for pages to be read and recorded",
                _ => why.text(),
            },
            why => why.text(),
        }
    }
}

impl Chronicle {
    /// Opens the chronicle of a run that starts or is resumed.
    pub(crate) fn open(project: &ProjectDir, run: RunId, bounds: Bounds) -> Arc<Self> {
        let earlier = SpeedFacts::read(project, run).map(|facts| facts.whole).unwrap_or_default();
        Arc::new(Self {
            place: SpeedFacts::place(project, run),
            run,
            bounds,
            earlier,
            cpu_at_start: machine::cpu_seconds(),
            load_at_start: machine::load(),
            looks: Mutex::new(SampleHistory {
                number: 0,
                recent: VecDeque::new(),
                hosts: Vec::new(),
                bounds: None,
                pace: PaceRecorder::open(project, run),
            }),
        })
    }

    /// Samples the run until it is stopped.
    pub(crate) fn watch<Q>(self: &Arc<Self>, errand: &Arc<Errand>, queues: &Q) -> std::io::Result<Watcher>
    where
        Q: QueueLengths<Error = StoreError> + Clone + 'static,
    {
        let (chronicle, errand, queues) = (Arc::clone(self), Arc::clone(errand), queues.clone());
        let (end, ended) = channel();
        let look = move || {
            loop {
                let counts = errand.fetchers.line().connections();
                let sockets = Sockets {
                    open: counts.open as u64,
                    idle: counts.idle as u64,
                    closing: counts.closing as u64,
                    waiting: counts.waiting as u64,
                };
                let (shared, now) = (&*errand.shared, errand.clock.now());
                let bounds = Bounds {
                    delay: shared.frontier().delay().as_secs_f64(),
                    bandwidth: errand.fetchers.line().bandwidth().rate(),
                    connections: errand.fetchers.line().connection_limit() as u64,
                    ..chronicle.bounds.clone()
                };
                chronicle.look(&SampledRun { shared, queues: &queues, sockets, bounds, now });
                if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("chronicle".into()).spawn(look)?;
        Ok(Watcher { end, thread })
    }

    /// Records how the run ended, and logs what there is to say.
    pub(crate) fn close(
        &self,
        shared: &SharedState,
        queues: &dyn QueueLengths<Error = StoreError>,
        clock: SteadyClock,
        state: &str,
    ) -> SpeedFacts {
        let sockets = Sockets::default();
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        let bounds = looks.bounds.take().unwrap_or_else(|| self.bounds.clone());
        let scene = SampledRun { shared, queues, sockets, bounds, now: clock.now() };
        looks.hosts = Self::longest(&scene);
        let facts = SpeedFacts { state: state.to_owned(), in_flight: 0, pause: None, ..self.facts(&scene, &mut looks) };
        self.write(&facts);
        looks.pace.add(sampled(&facts));
        facts
    }

    fn look(&self, scene: &SampledRun<'_>) {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.number.is_multiple_of(SEARCH_EVERY) {
            looks.hosts = Self::longest(scene);
        }
        looks.bounds = Some(scene.bounds.clone());
        let facts = Arc::new(self.facts(scene, &mut looks));
        scene.shared.progress.note_facts(Arc::clone(&facts));
        if looks.number.is_multiple_of(WRITE_EVERY) {
            // The facts first: a resumed run adds to them, and its series must not step back.
            self.write(&facts);
            looks.pace.note(sampled(&facts));
        }
        looks.number += 1;
    }

    fn facts(&self, scene: &SampledRun<'_>, looks: &mut SampleHistory) -> SpeedFacts {
        let progress = &scene.shared.progress;
        let (waiting, allowed) = {
            let frontier = scene.shared.frontier();
            (frontier.waiting(scene.now), frontier.allowed(scene.now))
        };
        progress.note_waiting(Waiting {
            active: waiting.active,
            reasons: waiting.reasons.iter().map(|(why, hosts, name)| (why.text(), *hosts, name.clone())).collect(),
        });
        let (present, recent) = self.stretches(progress, looks);
        let seen = progress.snapshot();
        let held = |(why, hosts, example): (Why, usize, String)| WaitingHosts {
            why: scene.reason(why).to_owned(),
            hosts: hosts as u64,
            example,
        };
        let slow = |s: orb_frontier::HostLatency| SlowHost {
            host: s.name,
            answers: u64::from(s.answers),
            mean: s.mean.as_secs_f64(),
        };
        SpeedFacts {
            run: self.run.0,
            at: Moment::now(),
            state: SpeedFacts::RUNNING.to_owned(),
            whole: self.earlier.plus(&present),
            recent,
            bounds: scene.bounds.clone(),
            queued: seen.queued,
            known: seen.known,
            in_flight: seen.active as u64,
            hosts_fetched: seen.counters.hosts,
            hosts_active: waiting.active as u64,
            sockets: scene.sockets,
            allowed,
            waiting: waiting.reasons.into_iter().map(held).collect(),
            hosts: looks.hosts.clone(),
            slowest: waiting.slowest.into_iter().map(slow).collect(),
            pause: seen.pause.map(|why| Pause::text(why).to_owned()),
            schedule: seen.schedule,
            resident: machine::resident(),
        }
    }

    /// The hosts with the longest queues, and why they are not being fetched.
    fn longest(scene: &SampledRun<'_>) -> Vec<HostWait> {
        // The store is asked before and after, never under the mutex of the frontier.
        let longest = scene.queues.longest(HOSTS);
        let plights: Vec<_> = {
            let frontier = scene.shared.frontier();
            longest.iter().map(|(host, _)| frontier.plight(*host, scene.now)).collect()
        };
        let waits = longest.into_iter().zip(plights).map(|((host, queued), plight)| {
            let record = scene.queues.host(host).ok().flatten();
            // A host excluded from this run is no longer in memory, but the store knows until when.
            let gone = plight.is_some_and(|p| p.why == Why::LongWait);
            let later = record.as_ref().and_then(|r| r.not_before).filter(|_| gone);
            HostWait {
                host: record.map_or_else(|| format!("host {}", host.0), name),
                queued,
                why: plight.map_or("waiting for room on the workbench", |p| scene.reason(p.why)).to_owned(),
                until: plight.and_then(|p| p.until).or(later),
            }
        });
        waits.collect()
    }

    /// What this process has done so far, and recently.
    fn stretches(&self, progress: &Progress, looks: &mut SampleHistory) -> (Stretch, Stretch) {
        let seen = progress.snapshot();
        let present = Stretch {
            seconds: seen.seconds,
            cpu_seconds: machine::cpu_seconds() - self.cpu_at_start,
            load: self.load(),
            pages: seen.fetched,
            bytes: seen.bytes,
            errors: seen.errors,
            tally: progress.ledger().tally(),
        };
        let recent = looks.recent.front().map_or_else(|| present.clone(), |before| present.minus(before));
        looks.recent.push_back(present.clone());
        if looks.recent.len() > RECENT {
            looks.recent.pop_front();
        }
        (present, recent)
    }

    /// How much of the machine was used since the start, by any process.
    fn load(&self) -> (u64, u64) {
        let since = self.load_at_start.zip(machine::load());
        since.map_or((0, 0), |(then, now)| (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1)))
    }

    /// Replaces the facts; failing to do so does not fail the run.
    fn write(&self, facts: &SpeedFacts) {
        let new = self.place.with_extension("json.new");
        let Ok(text) = serde_json::to_vec(facts) else { return };
        if let Err(error) = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &self.place)) {
            tracing::debug!(%error, "cannot write {}", self.place.display());
        }
    }
}

/// The run at the moment of these facts.
fn sampled(facts: &SpeedFacts) -> PaceSample {
    PaceSample {
        at: facts.at,
        seconds: facts.whole.seconds,
        pages: facts.whole.pages,
        bytes: facts.whole.bytes,
        queued: facts.queued,
        known: facts.known,
        errors: facts.whole.errors,
    }
}

/// A host's name, with its port if it is not the default.
fn name(host: HostRecord) -> String {
    match (host.scheme.as_str(), host.port) {
        ("http", 80) | ("https", 443) => host.name,
        (_, port) => format!("{}:{port}", host.name),
    }
}

/// The sampling thread.
pub(crate) struct Watcher {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Watcher {
    /// Stops the thread.
    pub(crate) fn finish(self) {
        drop(self.end);
        // A failed chronicle is no reason for the run to fail.
        let _ = self.thread.join();
    }
}
