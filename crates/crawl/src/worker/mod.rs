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
mod life;
mod planting;
mod post;
mod pulse;
mod purse;
mod rota;
mod team;
mod walk;

pub use planting::{SharedRequest, plant, shared_settings, stop_shared, why_unreached_there, write_shared_dues};
pub(crate) use team::Team;

use crate::config::Config;
use crate::drive::clock::SteadyClock;
use crate::drive::way_out::WayOut;
use crate::indexing::Splitting;
use crate::read::sessions::{MAX_HOSTS, Sessions};
use crate::run::never_public;
use crate::scope::SharedScope;
use crate::shared::SharedState;
use crate::steps::areas;
use crate::track::looks::Noises;
use crate::{CrawlError, Progress, Stop};
use crossbeam_channel::unbounded;
use ender::Ender;
use life::{Desks, LifeSetup, StopsWhenOver, start_splitting};
use orb_frontier::{Budget, Frontier, FrontierConfig};
use orb_page::{RunId, RunKind, RunState};
use orb_project::{Settings, Wrong};
use orb_store::{
    DepthRule, Home, Membership, Project, ProjectOptions, RunCounters, RunStatus, SharedAddress, SharedListing,
    SharedProject, SharedRun, StoreError, WorkerCard,
};
use orb_urls::Address;
use planting::refuse_unshared;
use purse::Purse;
use rota::{Rota, TURN};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use walk::StepWalk;

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
    /// What hosts of this machine with queued pages were waiting for.
    pub waiting: Vec<String>,
}

/// What has become of a worker's effort on a project.
enum Spell {
    /// The run is over, or the worker was asked to stop.
    Over(Box<SharedEnd>),
    /// It has joined and left, or was taken for dead; what its hosts were waiting for.
    Lived(Vec<String>),
    /// Another worker has the project for itself.
    Busy,
}

impl ClusterWorker {
    /// Works on one project until its run is over, or until it is asked to stop.
    pub fn work_on(&self, name: &str) -> Result<SharedEnd, CrawlError> {
        self.at.examine()?;
        let mut waiting = Vec::new();
        loop {
            match self.spell(name, &self.stop)? {
                Spell::Over(end) => return Ok(SharedEnd { waiting, ..*end }),
                Spell::Busy => _ = self.stop.wait(PATIENCE),
                Spell::Lived(left) => waiting = left,
            }
        }
    }

    /// Works on whatever has an open run and wants this machine, until it is asked to stop.
    pub fn work(&self, only: Option<&str>) -> Result<(), CrawlError> {
        self.at.examine()?;
        let (mut rota, mut idle) = (Rota::default(), false);
        while !self.stop.is_set() {
            let listed = self.patiently(|| SharedProject::list(&self.at))?;
            let open = listed.iter().filter(|one| self.may_work_on(one) && only.is_none_or(|only| only == one.name));
            let Some(project) = rota.next(open, Instant::now()) else {
                if !std::mem::replace(&mut idle, true) {
                    (self.say)(&self.idleness(&listed, only));
                }
                self.stop.wait(PATIENCE);
                continue;
            };
            idle = false;
            let name = &project.name;
            match self.turn(name, only) {
                Ok(Spell::Busy) => rota.worked(name, (Instant::now(), PATIENCE)),
                Ok(_) => rota.worked(name, (Instant::now(), Duration::ZERO)),
                Err(error) if self.stop.is_set() => (self.say)(&error.to_string()),
                Err(error) => self.tell(name, error, only.is_some(), &mut rota)?,
            }
        }
        Ok(())
    }

    /// What a worker waits for that has nothing to do.
    fn idleness(&self, listed: &[SharedListing], only: Option<&str>) -> String {
        let Self { name, machine, .. } = self;
        let elsewhere = listed.iter().find(|one| only.is_none_or(|only| only == one.name) && one.run.is_some());
        match (only, elsewhere) {
            (_, Some(one)) if !one.machines.is_empty() && !one.machines.contains(machine) => {
                format!(
                    "{name} waits: project {} runs on {} alone, and this is {machine}",
                    one.name,
                    one.machines.join(", ")
                )
            }
            (Some(only), _) if listed.iter().any(|one| one.name == only) => {
                format!("{name} waits until a run of project {only} begins")
            }
            (Some(only), _) => format!("{name} waits for project {only}, which is not on the store yet"),
            (None, _) => format!("{name} waits until a run begins"),
        }
    }

    /// Whether a project has an open run that wants this machine.
    fn may_work_on(&self, project: &SharedListing) -> bool {
        project.run.is_some() && (project.machines.is_empty() || project.machines.contains(&self.machine))
    }

    /// Says once why a project cannot be worked on. That does not concern the others; nor does one
    /// that is not there any more concern whoever works on it alone.
    fn tell(&self, name: &str, error: CrawlError, alone: bool, rota: &mut Rota) -> Result<(), CrawlError> {
        let listed = self.patiently(|| SharedProject::list(&self.at))?;
        if !listed.iter().any(|one| one.name == name) {
            (self.say)(&error.to_string());
            return Ok(());
        }
        if alone {
            return Err(error);
        }
        let why = causes(&error);
        if rota.failed(name, &why, Instant::now()) {
            (self.say)(&format!("project {name} cannot be worked on, and is tried again every minute: {why}"));
        }
        Ok(())
    }

    /// Works on a project until its run is over, or until it is somebody else's turn.
    fn turn(&self, name: &str, only: Option<&str>) -> Result<Spell, CrawlError> {
        let (turn, over) = (Stop::new(), Stop::new());
        std::thread::scope(|threads| {
            threads.spawn(|| self.watch_turn(name, only, (&turn, &over)));
            let _over = StopsWhenOver(&over);
            loop {
                match self.spell(name, &turn)? {
                    Spell::Lived(_) if !turn.is_set() => {}
                    ended => return Ok(ended),
                }
            }
        })
    }

    /// Ends a turn when this worker is asked to stop, or when the turn has been long enough and
    /// there is a project that nobody works on.
    fn watch_turn(&self, name: &str, only: Option<&str>, (turn, over): (&Stop, &Stop)) {
        let mut look = Instant::now() + TURN;
        while !over.wait(Duration::from_millis(100)) {
            if self.stop.is_set() {
                return turn.ask();
            }
            if only.is_none() && Instant::now() >= look {
                look = Instant::now() + TURN / 10;
                let listed = SharedProject::list(&self.at).unwrap_or_default();
                if listed.iter().any(|one| one.name != name && one.workers == 0 && self.may_work_on(one)) {
                    return turn.ask();
                }
            }
        }
    }

    /// One life on a project, unless its run is over or another worker has it for itself.
    fn spell(&self, name: &str, asked: &Arc<Stop>) -> Result<Spell, CrawlError> {
        let mut store = self.patiently(|| SharedProject::open(&self.at, name))?;
        let Some(run) = self.patiently(|| store.last_run())? else {
            return Err(CrawlError::Setting(format!("project {name} has no run")));
        };
        let (id, counters) = (run.record.id, RunCounters::of(&run.record.counters));
        let (project, waiting) = (name.to_owned(), Vec::new());
        let end = |state| Ok(Spell::Over(Box::new(SharedEnd { project, run: id, state, counters, waiting })));
        match run.record.state {
            RunStatus::Ended(state) if run.record.finished_at.is_some() => end(state),
            _ if asked.is_set() => end(RunState::Stopped),
            _ => self.incarnate(store, &run, asked),
        }
    }

    /// Tries again while the store does not answer, and says so once for each reason.
    fn patiently<T>(&self, mut what: impl FnMut() -> Result<T, StoreError>) -> Result<T, CrawlError> {
        let mut said = String::new();
        loop {
            match what() {
                Err(error @ StoreError::StoreAway { .. }) => {
                    let why = causes(&error);
                    if why != said {
                        (self.say)(&format!("{why}; trying again until it does"));
                        said = why;
                    }
                    if self.stop.wait(PATIENCE) {
                        return Err(error.into());
                    }
                }
                done => {
                    if !said.is_empty() && done.is_ok() {
                        (self.say)("the store answers again");
                    }
                    return Ok(done?);
                }
            }
        }
    }

    /// One life: from joining to leaving, or to being taken for dead.
    fn incarnate(&self, store: SharedProject, run: &SharedRun, asked: &Arc<Stop>) -> Result<Spell, CrawlError> {
        let card = WorkerCard {
            name: self.name.clone(),
            machine: self.machine.clone(),
            weight: self.weight,
            lease: self.lease,
        };
        let mut settings = settings_of(run)?;
        settings.reveal(&self.variable)?;
        match store.probe_archive() {
            // It may come back before anything has to be written.
            Ok(()) | Err(StoreError::ArchiveAway { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let member = if settings.steps.is_empty() {
            self.patiently(|| store.join(&card))?
        } else {
            // A session is a person: another machine may log in when this one has left.
            match self.patiently(|| store.join_alone(&card))? {
                Some(member) => member,
                None => return Ok(Spell::Busy),
            }
        };
        (self.say)(&format!("{} joins project {} as worker {}", member.name(), store.name(), member.worker().0));
        match self.live(store, (run, settings), &member, asked) {
            Err(CrawlError::Store(StoreError::Fenced { .. })) => {
                (self.say)(&format!(
                    "worker {} was taken for dead; what it had not committed is dropped",
                    member.worker().0
                ));
                Ok(Spell::Lived(Vec::new()))
            }
            Err(CrawlError::Store(error @ StoreError::StoreAway { .. })) if !asked.is_set() => {
                // It went away before there was a crew that waits for it.
                (self.say)(&format!("{}; joining again", causes(&error)));
                self.stop.wait(PATIENCE);
                Ok(Spell::Lived(Vec::new()))
            }
            other => other.map(Spell::Lived),
        }
    }

    fn live(
        &self,
        mut store: SharedProject,
        (run, mut settings): (&SharedRun, Settings),
        member: &Membership,
        asked: &Arc<Stop>,
    ) -> Result<Vec<String>, CrawlError> {
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
            let walk = StepWalk { dir: &dir, config: &config, way_out: &way_out, run: run.record.id, member, asked };
            for seeds in walk.lead(&planted)? {
                self.patiently(|| store.add_seeds(run.record.id, &seeds))?;
            }
        }
        let clock = SteadyClock::showing(member.store_time());
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
        let (asked, slice) = (Arc::clone(asked), self.slice);
        let desks = Desks { settled: to_settle, latest, purse, ender, asked, slice, splitting };
        let scene = LifeSetup { config: &config, shared: &shared, clock, way_out: &way_out, settings: &settings };
        let state = scene.play(project, store, (run, member), desks)?;
        (self.say)(&format!("worker {} leaves: {}", member.worker().0, state.name()));
        let left = shared.frontier().waiting(clock.now()).reasons;
        Ok(left.iter().map(|(why, hosts, name)| format!("{why}: {hosts} hosts, such as {name}")).collect())
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

/// An error and what has led to it, in a line.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
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
