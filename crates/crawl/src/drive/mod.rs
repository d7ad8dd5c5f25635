//! Who asks the frontier what comes next, and has it fetched?
//!
//! The driver holds no pages. It asks the frontier for leases while there are free connections and
//! room in the pipeline, spawns a task for each, and otherwise waits for whatever the frontier says
//! it waits for. Tasks report back through [`Errand::attend`].

pub(crate) mod budget;
pub(crate) mod clock;
pub(crate) mod governor;
pub(crate) mod on_wire;
#[cfg(test)]
mod tests;
pub(crate) mod way_out;

use crate::drive::budget::Limits;
use crate::drive::clock::SteadyClock;
use crate::drive::governor::Governor;
use crate::drive::on_wire::OnWire;
use crate::read::sessions::Sessions;
use crate::record::Item;
use crate::render::{DrawnExtras, FrontierDoor, RenderDesk};
use crate::shared::SharedState;
use crate::watch::ledger::{Idle, Stage};
use crossbeam_channel::{Receiver, Sender};
use orb_fetch::Fetchers;
use orb_frontier::{After, FetchEnd, Next, StoreRead, retry_after};
use orb_page::{HostId, Lease, Outcome, Purpose, Response, RunState, Timings, Truncation};
use orb_store::{HostFact, Queues, StoreError};
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// As long as so many responses wait to be read, no connection is opened just to fetch faster.
const UNREAD: usize = 64;

/// A response for a reading thread.
pub(crate) struct Work {
    /// What was leased.
    pub lease: Lease,
    /// Its rank in its host's queue.
    pub rank: u64,
    /// What came back.
    pub outcome: Outcome,
    /// What a browser has added to it.
    pub drawn: Option<Box<DrawnExtras>>,
    /// When it was queued for reading.
    pub since: Instant,
}

/// What a fetching task needs.
pub(crate) struct Errand {
    /// State shared by all threads.
    pub shared: Arc<SharedState>,
    /// The time.
    pub clock: SteadyClock,
    /// The session ids of hosts.
    pub sessions: Arc<Sessions>,
    /// The protocols and their line.
    pub fetchers: Arc<Fetchers>,
    /// Who renders pages, if anybody does.
    pub render: Option<Arc<RenderDesk>>,
    /// To the reading threads.
    pub readers: Sender<Work>,
    /// To the recorder.
    pub recorder: Sender<Item>,
    /// Number of running tasks.
    pub active: AtomicUsize,
}

/// The driver of one run.
pub(crate) struct Driver<Q> {
    /// What its tasks need.
    pub errand: Arc<Errand>,
    /// The queues, read on threads that may block.
    pub queues: Q,
    /// Where those threads say that the store failed.
    pub failures: (Sender<StoreError>, Receiver<StoreError>),
    /// Limits on concurrent tasks and on bandwidth.
    pub governor: Arc<Governor>,
    /// Budgets besides pages.
    pub limits: Limits,
    /// The tasks of this run; those that are left when it ends are aborted.
    pub tasks: Mutex<JoinSet<()>>,
}

impl<Q: Queues<Error = StoreError> + Clone + 'static> Driver<Q> {
    /// Drives until there is nothing left, a budget is exhausted, or the user asks to stop.
    pub(crate) async fn drive(&self) -> Result<RunState, StoreError> {
        let shared = &self.errand.shared;
        let ending = loop {
            if shared.stop.is_set() {
                break RunState::Stopped;
            }
            if let Ok(failure) = self.failures.1.try_recv() {
                return Err(failure);
            }
            if self.limits.are_spent(shared.progress.bytes()) {
                break RunState::Budget;
            }
            if let Some((why, wait)) = self.is_full() {
                self.pause(why, wait).await;
                continue;
            }
            // Before the frontier is asked: what is recorded meanwhile may give it new work.
            let epoch = shared.team.as_ref().map_or(0, crate::worker::Team::epoch);
            if shared.team.as_ref().is_some_and(|team| team.is_barred(shared.progress.bytes())) {
                if let Some(state) = self.stand_by(epoch).await {
                    break state;
                }
                continue;
            }
            let (next, why) = self.next();
            if let Some(state) = self.act(next, why, epoch).await {
                break state;
            }
        };
        self.drain().await;
        let mut left = std::mem::take(&mut *self.tasks());
        left.shutdown().await;
        Ok(ending)
    }

    /// Starts a task.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.errand.active.fetch_add(1, Ordering::Relaxed);
        let mut tasks = self.tasks();
        // Nobody else asks for those that have ended.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the frontier says, and why it waits if it does.
    fn next(&self) -> (Next, Idle) {
        let Errand { shared, fetchers, readers, clock, .. } = &*self.errand;
        let unread = readers.len() >= UNREAD;
        let mut frontier = shared.frontier();
        frontier.allow_connections(fetchers.line().connection_limit());
        frontier.spare_connections(unread);
        let next = frontier.next(clock.now());
        let why = match next {
            Next::Wait(_) | Next::Busy if unread => Idle::Backlog,
            Next::Wait(_) | Next::Busy => frontier.holdup().into(),
            _ => Idle::Commit,
        };
        (next, why)
    }

    /// Why nothing more may be requested, if so, and for how long at most.
    fn is_full(&self) -> Option<(Idle, Duration)> {
        let Errand { fetchers, shared, active, .. } = &*self.errand;
        let held = self.governor.holds_back(fetchers.line(), &shared.progress, active.load(Ordering::Relaxed));
        held.or_else(|| shared.pipeline.is_full().then_some((Idle::Backlog, Duration::from_secs(1))))
    }

    /// Does what the frontier says, or waits for the reason it gives; a returned state means the
    /// run is over.
    async fn act(&self, next: Next, why: Idle, epoch: u64) -> Option<RunState> {
        let shared = &self.errand.shared;
        match next {
            Next::Lease(lease, rank) => {
                shared.hurry.set(false);
                self.spawn(Arc::clone(&self.errand).attend(lease, rank));
            }
            Next::Read(read) => self.read(read),
            Next::Resolve { host, name, port } => {
                self.spawn(Arc::clone(&self.errand).resolve(host, name, port));
            }
            Next::Drop(dropped) => {
                // A commit takes one page out of the pipeline for every item it records.
                shared.pipeline.enter(0);
                self.errand.record(Item::Dropped(dropped));
            }
            Next::Alias(lease, rank) => {
                shared.pipeline.enter(0);
                self.errand.record(Item::Alias(Box::new(lease), rank));
            }
            Next::Fail(lease, rank, failure) => {
                let at = self.errand.clock.now();
                shared.pipeline.enter(0);
                let outcome = Outcome { at, timings: Timings::default(), result: Err(failure) };
                let _ = self.errand.readers.send(Work { lease, rank, outcome, drawn: None, since: Instant::now() });
            }
            Next::Wait(until) => {
                let rest = until.since(self.errand.clock.now());
                self.pause(why, rest.min(Duration::from_millis(500))).await;
            }
            Next::Busy => self.pause(why, Duration::from_secs(1)).await,
            Next::Starved => self.starve().await,
            // Pages still in the pipeline may have links that the frontier does not know yet.
            Next::Finished | Next::BudgetSpent if !shared.is_settled() => self.starve().await,
            Next::Finished if shared.team.is_some() => return self.rest(epoch, None).await,
            Next::BudgetSpent if shared.team.is_some() => return self.rest(epoch, Some(Idle::Tickets)).await,
            Next::Finished => return Some(RunState::Done),
            Next::BudgetSpent => return Some(RunState::Budget),
        }
        None
    }

    /// Nothing may be fetched until more of the budget is drawn: lets what is under way end.
    async fn stand_by(&self, epoch: u64) -> Option<RunState> {
        if self.errand.active.load(Ordering::Relaxed) > 0 {
            self.pause(Idle::Answers, Duration::from_millis(100)).await;
            return None;
        }
        if !self.errand.shared.is_settled() {
            self.starve().await;
            return None;
        }
        self.rest(epoch, Some(Idle::Tickets)).await
    }

    /// Nothing is left here, or nothing may be fetched for want of budget: other machines may still
    /// send something. Tells the recorder once, and waits until the run is over for all of them.
    async fn rest(&self, epoch: u64, spent: Option<Idle>) -> Option<RunState> {
        let team = self.errand.shared.team.as_ref()?;
        if let Some(state) = team.ended() {
            return Some(state);
        }
        if spent.is_some() {
            team.want_tickets();
        }
        if team.rests(epoch) {
            self.errand.record(Item::Idle { epoch, short: spent.is_some() });
        }
        self.pause(spent.unwrap_or(Idle::Machines), Duration::from_secs(1)).await;
        None
    }

    /// Reads the store for the frontier, on a thread of its own: neither sockets nor the frontier
    /// wait for the disk.
    fn read(&self, read: StoreRead) {
        let (errand, queues, failures) = (Arc::clone(&self.errand), self.queues.clone(), self.failures.0.clone());
        tokio::task::spawn_blocking(move || {
            let answer = loop {
                match read.answer(&queues) {
                    // The queues are unreadable until there is disk space again, which the recorder
                    // waits for.
                    Err(StoreError::NoSpace { .. }) if errand.shared.stop.wait(Duration::from_secs(1)) => return,
                    Err(StoreError::NoSpace { .. }) => {}
                    answer => break answer,
                }
            };
            match answer {
                Ok(answer) => errand.shared.frontier().answered(answer, errand.clock.now()),
                Err(failure) => drop(failures.send(failure)),
            }
            errand.shared.wake.notify_one();
        });
    }

    /// Nothing can be fetched until what arrived is read and committed: makes the recorder hurry,
    /// and waits for it.
    async fn starve(&self) {
        // One flush per starvation: the recorder keeps hurrying until the next lease.
        if !self.errand.shared.hurry.set(true) {
            self.errand.record(Item::Flush);
        }
        let unread = !self.errand.shared.pipeline.is_empty();
        self.pause(if unread { Idle::Backlog } else { Idle::Commit }, Duration::from_secs(1)).await;
    }

    /// Waits for an event, or for this long, and records the reason.
    async fn pause(&self, why: Idle, at_most: Duration) {
        let began = Instant::now();
        let _ = tokio::time::timeout(at_most, self.errand.shared.wake.notified()).await;
        self.errand.shared.progress.ledger().note_idle(why, began.elapsed());
    }

    /// Lets requests in flight finish, but not for long: a user who stops a run does not want to
    /// wait for a slow server.
    async fn drain(&self) {
        let patience = tokio::time::Instant::now() + Duration::from_secs(3);
        while self.errand.active.load(Ordering::Relaxed) > 0 {
            if self.errand.shared.stop.is_set() && tokio::time::Instant::now() >= patience {
                break;
            }
            self.pause(Idle::Answers, Duration::from_millis(100)).await;
        }
    }
}

impl Errand {
    /// Fetches what a lease permits and passes it on.
    async fn attend(self: Arc<Self>, mut lease: Lease, rank: u64) {
        let (progress, began) = (&self.shared.progress, Instant::now());
        progress.note_begin();
        self.sessions.prepare(&mut lease);
        let watch = OnWire::new(&self.shared.frontier, self.clock, lease.host).shared(self.shared.team.is_some());
        let mut outcome = self.fetchers.fetch(&lease, &watch).await;
        if self.shared.team.is_some() {
            // Several machines date what they record, and their clocks may differ.
            outcome.at = self.clock.instead_of(outcome.at);
        }
        progress.ledger().note_fetch(&outcome.timings, began.elapsed());
        progress.note_end(&outcome);
        if watch.is_unsent() {
            let ended = FetchEnd { unsent: true, ..FetchEnd::default() };
            self.shared.frontier().done(&lease, &ended, self.clock.now());
            return self.finished();
        }
        // The lease is held meanwhile: what the page loads falls into its host's turn.
        let (outcome, drawn) = match &self.render {
            Some(desk) => {
                let door = (Arc::clone(&self.shared) as Arc<dyn FrontierDoor>, self.clock);
                Box::pin(desk.attend(&lease, outcome, door)).await
            }
            None => (outcome, None),
        };
        let since = Instant::now();
        let bytes = outcome.result.as_ref().map_or(0, |r| r.wire.len());
        let mut ended = ended(lease.request_url(), &outcome, self.clock.now());
        ended.respelt = self.respells(&lease, &outcome);
        ended.connection = watch.connection();
        let mut frontier = self.shared.frontier();
        let (after, fact) = frontier.done(&lease, &ended, self.clock.now());
        if let Some(fact) = fact {
            // Under the lock: once nothing of a shard is in flight it may be given away, and the
            // host's back-off has to be committed before.
            self.record(Item::Fact(fact));
        }
        drop(frontier);
        if ended.respelt && after == After::Record {
            self.sessions.stays(lease.page);
        }
        if lease.purpose == Purpose::Robots || after == After::Record {
            // Entered before it is sent, so that it cannot be committed before it was counted.
            self.shared.pipeline.enter(bytes);
            self.shared.pipeline.carry(drawn.as_ref().map_or(0, |drawn| drawn.bytes()));
            let _ = self.readers.send(Work { lease, rank, outcome, drawn, since });
        }
        self.finished();
    }

    /// Whether an answer only redirects to another spelling of the page's URL, such as one with a
    /// session id. The page is then requested by that spelling.
    fn respells(&self, lease: &Lease, outcome: &Outcome) -> bool {
        let Some(response) = outcome.result.as_ref().ok().filter(|_| lease.purpose == Purpose::Page) else {
            return false;
        };
        let (respells, learnt) = self.sessions.turns(lease, response);
        if learnt.is_some() {
            self.record(Item::Fact(HostFact { id: lease.host, sessions: learnt, ..HostFact::default() }));
        }
        respells
    }

    /// Resolves a name for the frontier.
    async fn resolve(self: Arc<Self>, host: HostId, name: String, port: u16) {
        let began = Instant::now();
        let answer = self.fetchers.resolve(&name, port).await;
        self.shared.progress.ledger().note(Stage::Dns, began.elapsed());
        let mut frontier = self.shared.frontier();
        if let Some(fact) = frontier.resolved(host, answer, self.clock.now()) {
            // Even if nothing can be fetched from there: a host seen at a public address must not
            // be forgotten.
            self.record(Item::Fact(fact));
        }
        // Released first: the driver that is woken asks the frontier at once.
        drop(frontier);
        self.finished();
    }

    /// Sends something to the recorder. It is gone only if it failed, which the end of the run
    /// reports.
    pub(crate) fn record(&self, item: Item) {
        let _ = self.recorder.send(item);
    }

    fn finished(&self) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }
}

/// What the frontier needs to know about an outcome.
pub(crate) fn ended(url: &str, outcome: &Outcome, now: orb_page::Moment) -> FetchEnd {
    let t = outcome.timings;
    let elapsed = t.wait + t.body;
    match &outcome.result {
        Ok(response) => FetchEnd {
            status: Some(response.status),
            failure: (response.truncated == Some(Truncation::Disconnect)).then_some(orb_page::FailureKind::Protocol),
            retry_after: response.headers.get("retry-after").and_then(|v| retry_after(&v, now)),
            elapsed,
            turned: response.challenged || is_turned(url, response),
            ..FetchEnd::default()
        },
        Err(failure) => FetchEnd { failure: Some(failure.kind), elapsed, ..FetchEnd::default() },
    }
}

/// Whether a response is a redirect to the same page that sets a cookie, as some servers test
/// whether cookies are kept.
fn is_turned(url: &str, response: &Response) -> bool {
    let to_itself = |to: &str| to == url || (to.starts_with('/') && !to.starts_with("//") && Some(to) == path_of(url));
    (300..400).contains(&response.status)
        && response.headers.get("set-cookie").is_some()
        && response.headers.location().is_some_and(|to| to_itself(&to))
}

/// Path and query of a canonical URL.
fn path_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.find('/').map(|at| &rest[at..])
}
