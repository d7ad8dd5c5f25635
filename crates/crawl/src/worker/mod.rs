//! How do several machines work on one collection?
//!
//! A worker joins a project on a shared store, takes its share of the shards, loads what waits
//! there and crawls it like a run of its own: the same driver, readers and recorder. What is
//! different is done by three threads beside them: the clerk (`clerk.rs`) says that we are alive
//! and moves shards, the post (`post.rs`) reads letters from other machines, and the addresses that
//! are contacted are leased (`addresses.rs`). A worker that was taken for dead throws its scratch
//! copy away and joins under a new number; nothing that it had not committed has happened.

mod addresses;
mod clerk;
mod ender;
mod planting;
mod post;
mod purse;
mod team;

pub use planting::{SharedRequest, plant, shared_settings, stop_shared, write_shared_dues};
pub(crate) use team::Team;

use crate::config::Config;
use crate::drive::clock::SteadyClock;
use crate::drive::way_out::WayOut;
use crate::indexing::Splitting;
use crate::live::LiveSettings;
use crate::read::sessions::{MAX_HOSTS, Sessions};
use crate::record::{Recorder, RecorderRules, Revisited};
use crate::run::{CurrentRun, RunSetup, drive, never_public, start};
use crate::scope::SharedScope;
use crate::shared::SharedState;
use crate::steps::{Roots, areas, walk_from};
use crate::track::RevisitSelection;
use crate::track::looks::Noises;
use crate::watch::journal::Journal;
use crate::watch::why::chronicle::Chronicle;
use crate::{CrawlError, Progress, Stop};
use addresses::AddressClerk;
use clerk::{Clerk, HeldShards};
use crossbeam_channel::unbounded;
use ender::Ender;
use orb_frontier::{Budget, Frontier, FrontierConfig};
use orb_page::{RunId, RunKind, RunState};
use orb_project::{Settings, Wrong};
use orb_store::{
    DepthRule, Home, Membership, Project, ProjectDir, ProjectOptions, RunCounters, RunStatus, SeedToPlant, ShardClerk,
    SharedAddress, SharedProject, SharedRun, SharedSeed, StoreError, WorkerCard, WorkerReport,
};
use orb_urls::Address;
use planting::refuse_unshared;
use post::Post;
use purse::Purse;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a worker waits before it looks for work again.
const PATIENCE: Duration = Duration::from_secs(1);

/// A page waits so long for others at most: every batch is an object in the archive.
const BATCH_TIME: Duration = Duration::from_secs(5);

/// A machine that works on shared projects.
pub struct ClusterWorker {
    /// Where the projects are.
    pub at: SharedAddress,
    /// The name under which it joins.
    pub name: String,
    /// The machine it is on, for projects that name theirs.
    pub machine: String,
    /// How much it takes on, compared with others.
    pub weight: u32,
    /// Where its scratch copies are.
    pub scratch: PathBuf,
    /// After how long without a sign of life it is taken for dead.
    pub lease: Duration,
    /// For how long it leases an address.
    pub slice: Duration,
    /// The address that its connections come from.
    pub source: Option<IpAddr>,
    /// How to ask it to stop.
    pub stop: Arc<Stop>,
    /// Where it reports its progress.
    pub progress: Arc<Progress>,
    /// Looks up an environment variable.
    pub variable: fn(&str) -> Option<String>,
    /// Says what it does, in a line.
    pub say: fn(&str),
}

/// What has become of a run.
pub struct SharedEnd {
    /// The project.
    pub project: String,
    /// The run.
    pub run: RunId,
    /// How it ended, or that this worker was asked to stop.
    pub state: RunState,
    /// What all machines have counted.
    pub counters: RunCounters,
}

impl ClusterWorker {
    /// Works on one project until its run is over, or until it is asked to stop.
    pub fn work_on(&self, name: &str) -> Result<SharedEnd, CrawlError> {
        loop {
            let mut store = self.patiently(|| SharedProject::open(&self.at, name))?;
            let Some(run) = self.patiently(|| store.last_run())? else {
                return Err(CrawlError::Setting(format!("project {name} has no run")));
            };
            let (id, counters) = (run.record.id, RunCounters::of(&run.record.counters));
            let end = |state| Ok(SharedEnd { project: name.to_owned(), run: id, state, counters });
            match run.record.state {
                RunStatus::Ended(state) if run.record.finished_at.is_some() => return end(state),
                _ if self.stop.is_set() => return end(RunState::Stopped),
                _ => {}
            }
            self.incarnate(store, &run)?;
        }
    }

    /// Works on whatever has an open run and wants this machine, until it is asked to stop.
    pub fn work(&self, only: Option<&str>) -> Result<(), CrawlError> {
        while !self.stop.is_set() {
            let listed = self.patiently(|| SharedProject::list(&self.at))?;
            let fits = |machines: &[String]| machines.is_empty() || machines.contains(&self.machine);
            let next = listed
                .into_iter()
                .find(|one| one.run.is_some() && fits(&one.machines) && only.is_none_or(|only| only == one.name));
            match next {
                Some(project) => {
                    if let Err(error) = self.work_on(&project.name) {
                        self.unless_deleted(&project.name, error)?;
                    }
                }
                None => {
                    self.stop.wait(PATIENCE);
                }
            }
        }
        Ok(())
    }

    /// A project that is not there any more does not concern the others.
    fn unless_deleted(&self, name: &str, error: CrawlError) -> Result<(), CrawlError> {
        let listed = self.patiently(|| SharedProject::list(&self.at))?;
        if listed.iter().any(|one| one.name == name) {
            return Err(error);
        }
        (self.say)(&error.to_string());
        Ok(())
    }

    /// Tries again while the store does not answer.
    fn patiently<T>(&self, mut what: impl FnMut() -> Result<T, StoreError>) -> Result<T, CrawlError> {
        loop {
            match what() {
                Err(error @ StoreError::StoreAway { .. }) => {
                    (self.say)(&format!("{error}; trying again"));
                    if self.stop.wait(PATIENCE) {
                        return Err(error.into());
                    }
                }
                done => return Ok(done?),
            }
        }
    }

    /// One life: from joining to leaving, or to being taken for dead.
    fn incarnate(&self, store: SharedProject, run: &SharedRun) -> Result<(), CrawlError> {
        let card = WorkerCard {
            name: self.name.clone(),
            machine: self.machine.clone(),
            weight: self.weight,
            lease: self.lease,
        };
        let settings = settings_of(run)?;
        let member = if settings.steps.is_empty() {
            self.patiently(|| store.join(&card))?
        } else {
            // A session is a person: another machine may log in when this one has left.
            match self.patiently(|| store.join_alone(&card))? {
                Some(member) => member,
                None => {
                    self.stop.wait(PATIENCE);
                    return Ok(());
                }
            }
        };
        (self.say)(&format!("{} joins project {} as worker {}", member.name(), store.name(), member.worker().0));
        let ended = self.live(store, (run, settings), &member);
        match ended {
            Err(CrawlError::Store(StoreError::Fenced { .. })) => {
                (self.say)(&format!(
                    "worker {} was taken for dead; what it had not committed is dropped",
                    member.worker().0
                ));
                Ok(())
            }
            other => other,
        }
    }

    fn live(
        &self,
        mut store: SharedProject,
        (run, mut settings): (&SharedRun, Settings),
        member: &Membership,
    ) -> Result<(), CrawlError> {
        settings.reveal(&self.variable)?;
        settings.fetch.source = self.source.or(settings.fetch.source);
        settings.crawl.batch_time.0 = settings.crawl.batch_time.0.max(BATCH_TIME);
        let dir = Home::open(&self.scratch)?.project(store.name())?;
        let options = ProjectOptions { index_memory: Some(settings.store.index_memory.0), ..ProjectOptions::default() };
        let mut project = Project::join(&dir, member, &options)?;
        self.patiently(|| project.enter_run(run))?;
        let planted = self.patiently(|| store.seeds_after(0))?;
        let latest = planted.last().map_or(0, |seed| seed.no);
        let own = planted.iter().filter(|seed| seed.step.is_none());
        let seeds: Vec<Address> = own.filter_map(|seed| Address::from_canonical(&seed.url).ok()).collect();
        let scope = Arc::new(SharedScope::new(&settings.scope, &seeds)?);
        let mut config = self.config(&settings, &project, &scope, &seeds)?;
        if run.record.kind == RunKind::Track {
            config = config.tracking(project.archive_reader()?, Noises::new(project.dir().clone()))?;
        }
        let way_out = WayOut::open(&config, orb_fetch::PROTOCOLS, &self.progress)?;
        if !settings.steps.is_empty() {
            self.walk(&mut store, (&config, &way_out), (&dir, run.record.id), &planted)?;
        }
        let clock = SteadyClock::start();
        let purse = Purse::of(run);
        let budget = Budget { pages: purse.limits_pages().then_some(0) };
        let frontier = FrontierConfig { leased: true, budget, ..config.frontier(0) };
        let (settled, to_settle) = unbounded();
        let team = Team::new(member.shards(), settled);
        if purse.limits_bytes() {
            team.allow_bytes(self.progress.bytes());
        }
        // Shards come with the first beat; until then no host is ours.
        let mut frontier = Frontier::new(frontier, clock.now(), true);
        frontier.keep_only(team.own_test(Vec::new()), clock.now());
        let progress = Arc::clone(&self.progress);
        let shared = SharedState::new(frontier, Stop::new(), Arc::clone(&scope), progress, config.uncommitted());
        let splitting = start_splitting(&dir, &settings, (run.record.id, member))?;
        let shared = Arc::new(shared.in_team(team).feeding(splitting.as_ref().map(Splitting::feed)));
        let depths = config.has_depth().then_some(DepthRule { follow_nofollow: config.read.follow_nofollow });
        let ender = Ender::new(SharedProject::open(&self.at, store.name())?, run.record.id, depths);
        let (asked, slice) = (Arc::clone(&self.stop), self.slice);
        let desks = Desks { settled: to_settle, latest, purse, ender, asked, slice, splitting };
        let scene = LifeSetup { config: &config, shared: &shared, clock, way_out: &way_out, settings: &settings };
        let state = scene.play(project, store, (run, member), desks)?;
        (self.say)(&format!("worker {} leaves: {}", member.worker().0, state.name()));
        Ok(())
    }

    /// Walks the steps of the project, alone; where they lead to is planted.
    fn walk(
        &self,
        store: &mut SharedProject,
        (config, way_out): (&Config, &WayOut),
        (dir, run): (&ProjectDir, RunId),
        planted: &[SharedSeed],
    ) -> Result<(), CrawlError> {
        let of_step = |seed: &SharedSeed| Some((seed.step?, seed.url.clone()));
        let known: Vec<(u32, String)> = planted.iter().filter_map(of_step).collect();
        let roots = walk_from(dir, config.settings(), (config, way_out, None), (run, &known), &self.stop)?;
        for Roots { step, addresses } in roots {
            let seed = |root: &Address| SeedToPlant { url: root.as_str().to_owned(), step: Some(step) };
            let seeds: Vec<SeedToPlant> = addresses.iter().map(seed).collect();
            self.patiently(|| store.add_seeds(run, &seeds))?;
        }
        Ok(())
    }

    fn config(
        &self,
        settings: &Settings,
        project: &Project,
        scope: &Arc<SharedScope>,
        seeds: &[Address],
    ) -> Result<Config, CrawlError> {
        let given: Vec<Address> = seeds.iter().cloned().chain(areas(settings).concat()).collect();
        let private = never_public(project, &given)?;
        let sessions = Arc::new(Sessions::new(settings.urls, project.sessions(MAX_HOSTS)?));
        let dir = &project.dir().dir;
        Ok(Config::new(settings, Arc::clone(scope), &private, dir, sessions)?.pinning(dir))
    }
}

/// The settings of a run.
fn settings_of(run: &SharedRun) -> Result<Settings, CrawlError> {
    let mut settings = Settings::parse(&run.record.settings, Path::new("project.toml"))?.with_ways();
    refuse_unshared(&settings)?;
    // Budgets are drawn from the store, and aliases are not learnt.
    let frontier = &mut settings.frontier;
    (frontier.max_pages, frontier.max_bytes, frontier.max_time) = (None, None, None);
    frontier.learn_aliases = false;
    settings.examine().map_err(|wrong: Wrong| CrawlError::Wrong(wrong))?;
    Ok(settings)
}

/// Which known pages a run visits again.
fn revisited(run: &SharedRun) -> Option<Revisited> {
    let choice = run.choice.as_deref().map(RevisitSelection::of).unwrap_or_default();
    let revisited = if choice == RevisitSelection::All { Revisited::All } else { Revisited::Chosen };
    (run.record.kind == RunKind::Track).then_some(revisited)
}

/// What a life is set up from.
struct LifeSetup<'a> {
    config: &'a Config,
    shared: &'a Arc<SharedState>,
    clock: SteadyClock,
    way_out: &'a WayOut,
    settings: &'a Settings,
}

/// Ends the life of a worker when one of its threads is over, however it ended.
struct StopsWhenOver<'a>(&'a Stop);

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
struct Desks {
    settled: crossbeam_channel::Receiver<Vec<orb_store::LetterId>>,
    latest: u64,
    purse: Purse,
    ender: Ender,
    asked: Arc<Stop>,
    slice: Duration,
    splitting: Option<Splitting>,
}

/// The text index that this worker makes for others, if one is wanted.
fn start_splitting(
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
        let mut beaten = Instant::now();
        while !finishing.is_finished() {
            if beaten.elapsed() >= lease / 5 {
                let report =
                    WorkerReport { why: "uploading what it has indexed".to_owned(), ..WorkerReport::default() };
                // If it is buried after all, its pages are read from the archive.
                let _ = desk.beat(&report);
                beaten = Instant::now();
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    });
}

impl LifeSetup<'_> {
    fn play(
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
        let held = Arc::new(HeldShards::default());
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
        };
        let post = Post { mailbox: member.mailbox()?, held, recorder: items, settled, stop: Arc::clone(&shared.stop) };
        let desk = member.addresses(settings.frontier.delay.0)?;
        let mut leases = AddressClerk { desk, shared: Arc::clone(shared), clock, slice };
        let stop = Arc::clone(&shared.stop);
        let (driven, desk) = std::thread::scope(|threads| {
            let clerk = threads.spawn(|| {
                let _over = StopsWhenOver(&stop);
                clerk.run()
            });
            let post = threads.spawn(|| {
                let _over = StopsWhenOver(&stop);
                post.run()
            });
            let leases_thread = threads.spawn(|| {
                let _over = StopsWhenOver(&stop);
                leases.run()
            });
            let driven = drive(driver, setup, id);
            stop.ask();
            let desk = clerk.join().map_err(|_| CrawlError::Panicked("clerk"));
            let posted = post.join().map_err(|_| CrawlError::Panicked("post"));
            let leased = leases_thread.join().map_err(|_| CrawlError::Panicked("lease"));
            let desk: Result<ShardClerk, CrawlError> =
                desk.and_then(|desk| Ok(desk?)).and_then(|desk| posted.and_then(|p| Ok(p?)).map(|()| desk));
            (driven, desk.and_then(|desk| leased.and_then(|l| Ok(l?)).map(|()| desk)))
        });
        leases.leave();
        let home = crew.go_home();
        let state = driven?;
        // The recorder knows best why it has ended.
        home?;
        leave(desk?, splitting, member.lease())?;
        Ok(shared.team.as_ref().and_then(Team::ended).unwrap_or(state))
    }
}
