//! What does a worker do between joining and leaving?
//!
//! It crawls like a run of its own; beside the driver work the clerk, the post and whoever leases
//! addresses. When it is to leave, the driver ends first, then what it has is committed, and only
//! then does the clerk stop saying that we are alive: a worker that is buried before its last
//! commit has crawled its last pages for nothing.

use super::Team;
use super::addresses::AddressClerk;
use super::clerk::{Clerk, HeldShards};
use super::ender::Ender;
use super::planting::SEEDS_AGAIN;
use super::post::Post;
use super::pulse::beat_until;
use super::purse::Purse;
use crate::config::Config;
use crate::drive::clock::SteadyClock;
use crate::drive::way_out::WayOut;
use crate::indexing::Splitting;
use crate::live::LiveSettings;
use crate::record::{Recorder, RecorderRules, Revisited};
use crate::run::{CurrentRun, RunSetup, drive, start};
use crate::shared::SharedState;
use crate::track::RevisitSelection;
use crate::watch::journal::Journal;
use crate::watch::why::chronicle::Chronicle;
use crate::{CrawlError, Stop};
use orb_page::{RunId, RunKind, RunState};
use orb_project::Settings;
use orb_store::{Membership, Project, ProjectDir, RunCounters, ShardClerk, SharedProject, SharedRun, StoreError};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which known pages a run visits again.
fn revisited(run: &SharedRun) -> Option<Revisited> {
    let choice = run.choice.as_deref();
    match (run.record.kind, choice.map(RevisitSelection::of).unwrap_or_default()) {
        (RunKind::Crawl, _) => (choice == Some(SEEDS_AGAIN)).then_some(Revisited::Seeds),
        (RunKind::Track, RevisitSelection::All) => Some(Revisited::All),
        (RunKind::Track, _) => Some(Revisited::Chosen),
    }
}

/// What a life is set up from.
pub(super) struct LifeSetup<'a> {
    pub(super) config: &'a Config,
    pub(super) shared: &'a Arc<SharedState>,
    pub(super) clock: SteadyClock,
    pub(super) way_out: &'a WayOut,
    pub(super) settings: &'a Settings,
}

/// Asks others to stop when a thread is over, however it ended.
pub(super) struct StopsWhenOver<'a>(pub(super) &'a Stop);

impl Drop for StopsWhenOver<'_> {
    fn drop(&mut self) {
        self.0.ask();
    }
}

/// Uploads what is left of the text index and gives everything back; what cannot be given back runs
/// out.
fn leave(mut desk: ShardClerk, splitting: Option<Splitting>, lease: Duration) -> Result<(), StoreError> {
    if let Some(splitting) = splitting {
        hand_in(splitting, &mut desk, lease);
    }
    match desk.leave() {
        Err(StoreError::StoreAway { .. } | StoreError::Fenced { .. }) => Ok(()),
        left => left,
    }
}

/// What the threads beside the crawl need.
pub(super) struct Desks {
    pub(super) settled: crossbeam_channel::Receiver<Vec<orb_store::LetterId>>,
    pub(super) latest: u64,
    pub(super) purse: Purse,
    pub(super) ender: Ender,
    pub(super) asked: Arc<Stop>,
    pub(super) slice: Duration,
    pub(super) splitting: Option<Splitting>,
}

/// The text index that this worker makes for others, if one is wanted.
pub(super) fn start_splitting(
    dir: &ProjectDir,
    settings: &Settings,
    (run, member): (RunId, &Membership),
) -> Result<Option<Splitting>, CrawlError> {
    if !settings.index.enabled {
        return Ok(None);
    }
    let log = Journal::open(dir, run)?;
    Splitting::start(dir, &settings.index, member.splits()?, log).map(Some)
}

/// Uploads what is left of the text index; meanwhile the worker stays alive, since the dead cannot
/// add anything.
fn hand_in(splitting: Splitting, desk: &mut ShardClerk, lease: Duration) {
    std::thread::scope(|threads| {
        let finishing = threads.spawn(move || splitting.finish());
        // If it is buried after all, its pages are read from the archive.
        let _ = beat_until(desk, ("uploading what it has indexed", lease), |_| finishing.is_finished());
    });
}

impl LifeSetup<'_> {
    pub(super) fn play(
        &self,
        project: Project,
        store: SharedProject,
        (run, member): (&SharedRun, &Membership),
        desks: Desks,
    ) -> Result<RunState, CrawlError> {
        let LifeSetup { config, shared, clock, way_out, settings } = *self;
        let (dir, id) = (project.dir().clone(), run.record.id);
        let live = LiveSettings::begin(&dir, settings);
        let chronicle = Chronicle::open(&dir, id, config.bounds());
        let current = CurrentRun::shared(id, run.record.kind);
        let rules = RecorderRules { revisited: revisited(run), ..config.recorder(id) };
        let recorder = Recorder::new(project, Arc::clone(shared), rules, RunCounters::default(), clock)?;
        let setup = RunSetup {
            config,
            shared,
            clock,
            chronicle: &chronicle,
            roots: &[],
            way_out,
            render: None,
            live: &live,
            dir: &dir,
        };
        let Desks { settled, latest, purse, ender, asked, slice, splitting } = desks;
        let (driver, crew) = start(recorder, setup, &current)?;
        let (held, home) = (Arc::new(HeldShards::default()), Stop::new());
        let items = driver.errand.recorder.clone();
        let clerk = Clerk {
            desk: member.clerk()?,
            store,
            shared: Arc::clone(shared),
            clock,
            recorder: items.clone(),
            held: Arc::clone(&held),
            run: id,
            asked,
            seed: latest,
            purse,
            ender,
            known: BTreeSet::new(),
            fetched: (0, Instant::now()),
            skew: None,
            home: Arc::clone(&home),
            lease: member.lease(),
        };
        let post = Post { mailbox: member.mailbox()?, held, recorder: items, settled, stop: Arc::clone(&shared.stop) };
        let desk = member.addresses(settings.frontier.delay.0)?;
        let leases = AddressClerk { desk, shared: Arc::clone(shared), clock, slice };
        let household = Household { clerk, post, leases };
        let (driven, crew_home, desk) =
            household.beside((&shared.stop, &home), || drive(driver, setup, id), || crew.go_home());
        if let Err(CrawlError::Store(fenced @ StoreError::Fenced { .. })) = desk {
            // Whatever else has failed, this incarnation is over.
            return Err(fenced.into());
        }
        let state = driven?;
        // The recorder knows best why it has ended.
        crew_home?;
        leave(desk?, splitting, member.lease())?;
        Ok(shared.team.as_ref().and_then(Team::ended).unwrap_or(state))
    }
}

/// Who works on threads beside the driver.
struct Household {
    clerk: Clerk,
    post: Post,
    leases: AddressClerk,
}

impl Household {
    /// Works while something is driven, and sees everything home: what the two have come to, and
    /// the clerk's desk.
    fn beside<D, H>(
        self,
        (stop, home): (&Stop, &Stop),
        drive: impl FnOnce() -> D,
        go_home: impl FnOnce() -> H,
    ) -> (D, H, Result<ShardClerk, CrawlError>) {
        let Self { clerk, post, mut leases } = self;
        std::thread::scope(|threads| {
            let _home = StopsWhenOver(home);
            let clerk = threads.spawn(|| {
                let _over = StopsWhenOver(stop);
                clerk.run()
            });
            let post = threads.spawn(|| {
                let _over = StopsWhenOver(stop);
                post.run()
            });
            let leasing = threads.spawn(|| {
                let _over = StopsWhenOver(stop);
                let leased = leases.run();
                (leases, leased)
            });
            let driven = drive();
            stop.ask();
            let posted = post.join().map_err(|_| CrawlError::Panicked("post"));
            let leased = leasing.join().map_err(|_| CrawlError::Panicked("lease")).and_then(|(leases, leased)| {
                leases.leave();
                Ok(leased?)
            });
            // The recorder ends when the post and the clerk do not send to it any more.
            let crew_home = go_home();
            home.ask();
            let desk = clerk.join().map_err(|_| CrawlError::Panicked("clerk"));
            let desk = desk.and_then(|desk| Ok(desk?)).and_then(|desk| posted.and_then(|p| Ok(p?)).map(|()| desk));
            (driven, crew_home, desk.and_then(|desk| leased.map(|()| desk)))
        })
    }
}
