//! How does a run go, from its first page to its last?
//!
//! ```text
//! driver ──lease──▶ fetching tasks ──responses──▶ reading threads ──readings──▶ recorder
//!    ▲                                                                            │
//!    └────────────────── frontier ◀──────────────── commit ◀──────────────────────┘
//! ```
//! This file sets up the parts, starts them in the order of the page's life and shuts them down
//! again. A run that was stopped or killed is resumed under its old number; a run that was done or
//! had exhausted its budget is followed by a new one.

use crate::CrawlError;
use crate::config::{Config, agent};
use crate::drive::clock::SteadyClock;
use crate::drive::way_out::WayOut;
use crate::drive::{Driver, Errand};
use crate::indexing::{Indexing, mark};
use crate::intake::{self, CallTaker};
use crate::live::{LiveParts, LiveSettings};
use crate::read::desk::{ReadingDesk, spawn_readers};
use crate::read::sessions::{MAX_HOSTS, Sessions};
use crate::record::Recorder;
use crate::render::{BrowserProgram, RenderDesk};
use crate::scope::SharedScope;
use crate::shared::{SharedState, Stop};
use crate::steps::{Later, Roots, areas, walk};
use crate::track::RevisitSelection;
use crate::track::forecast::{VisitAllowance, choose, write_dues};
use crate::track::looks::Noises;
use crate::watch::journal::Journal;
use crate::watch::progress::{Pause, Progress};
use crate::watch::summary::Summary;
use crate::watch::why::chronicle::Chronicle;
use crossbeam_channel::unbounded;
use hashbrown::{HashMap, HashSet};
use orb_answers::{BEGUN, RESUMED};
use orb_fetch::{Protocol, why_not_public};
use orb_frontier::Frontier;
use orb_page::{Moment, PageId, RunId, RunKind, RunState, UrlKey};
use orb_project::Settings;
use orb_project::units::Pace;
use orb_store::{
    ArchiveReader, KnownPage, Project, ProjectDir, ProjectOptions, QueueLengths, RunCounters, RunRecord, RunStatus,
    StoreError,
};
use orb_urls::Address;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Opens a project to crawl it under these settings.
pub fn open_project(dir: &ProjectDir, settings: &Settings) -> Result<Project, StoreError> {
    let (warc_size, index_memory) = (Some(settings.store.warc_size.0), Some(settings.store.index_memory.0));
    Project::open_with(dir, &ProjectOptions { warc_size, index_memory, ..ProjectOptions::default() })
}

/// A crawl to run.
pub struct Crawl {
    /// The project, opened for writing.
    pub project: Project,
    /// The user's settings.
    pub settings: Settings,
    /// Whether to collect or to revisit.
    pub kind: RunKind,
    /// Which known pages to revisit.
    pub choice: RevisitSelection,
    /// Where to start.
    pub seeds: Vec<Address>,
    /// How to ask it to stop.
    pub stop: Arc<Stop>,
    /// Where it reports its progress.
    pub progress: Arc<Progress>,
    /// What can be fetched; [`orb_fetch::PROTOCOLS`] unless the program brings its own.
    pub protocols: &'static [Protocol],
    /// The browser, if pages are rendered.
    pub browser: Option<BrowserProgram>,
}

/// The current run: a new one, or a resumed one.
pub(crate) struct CurrentRun {
    id: RunId,
    kind: RunKind,
    counters: RunCounters,
    unclean: bool,
    settings_before: Option<String>,
    /// Whether the run before it has reached none of its seeds: they are asked again.
    tries_again: bool,
}

impl CurrentRun {
    /// A run of several machines: each counts what it does itself.
    pub(crate) fn shared(id: RunId, kind: RunKind) -> Self {
        Self { id, kind, counters: RunCounters::default(), unclean: false, settings_before: None, tries_again: false }
    }

    /// The line that opens its log.
    fn opening(&self) -> String {
        let pages = self.counters.pages;
        match (pages, self.unclean) {
            (0, false) => BEGUN.to_owned(),
            (_, false) => format!("{RESUMED}{pages} pages"),
            (_, true) => format!("{RESUMED}{pages} pages; it had been interrupted"),
        }
    }
}

/// What every part of a run is set up from.
#[derive(Clone, Copy)]
pub(crate) struct RunSetup<'a> {
    pub(crate) config: &'a Config,
    pub(crate) shared: &'a Arc<SharedState>,
    pub(crate) clock: SteadyClock,
    pub(crate) chronicle: &'a Arc<Chronicle>,
    /// Where the steps of the project have led to.
    pub(crate) roots: &'a [Roots],
    pub(crate) way_out: &'a WayOut,
    /// Who renders pages, if anybody does.
    pub(crate) render: Option<&'a Arc<RenderDesk>>,
    pub(crate) live: &'a Arc<LiveSettings>,
    pub(crate) dir: &'a ProjectDir,
}

/// The last line of a run's log.
fn closing(state: RunState, told: &RunCounters) -> String {
    format!("{}: {} pages, {} errors, {} queued", state.name(), told.pages, told.errors, told.frontier)
}

/// What works while the driver drives.
pub(crate) struct Crew {
    readers: Vec<JoinHandle<()>>,
    recorder: JoinHandle<Result<(Project, RunCounters), StoreError>>,
}

impl Crawl {
    /// Crawls until everything in scope is visited, a budget is exhausted or the user asks to stop.
    pub fn run(mut self) -> Result<Summary, CrawlError> {
        self.settings = self.settings.with_ways();
        if self.kind == RunKind::Crawl
            && let Some(summary) = self.nothing_left()?
        {
            return Ok(summary);
        }
        let live = LiveSettings::begin(self.project.dir(), &self.settings);
        let run = begin(&mut self.project, &self.settings, self.kind)?;
        let seeds = all_seeds(&self.project, &self.seeds)?;
        let scope = Arc::new(SharedScope::new(&self.settings.scope, &seeds)?);
        let given: Vec<Address> = self.seeds.iter().cloned().chain(areas(&self.settings).concat()).collect();
        let private = never_public(&self.project, &given)?;
        let known = self.project.sessions(MAX_HOSTS)?;
        let sessions = Arc::new(Sessions::new(self.settings.urls, known));
        let dir = self.project.dir().dir.clone();
        let mut config = Config::new(&self.settings, Arc::clone(&scope), &private, &dir, sessions)?.pinning(&dir);
        if run.kind == RunKind::Track {
            let noises = Noises::new(self.project.dir().clone());
            config = config.tracking(ArchiveReader::open(self.project.dir()), noises)?;
        }
        let way_out = WayOut::open(&config, self.protocols, &self.progress)?;
        let render = open_desk(self.browser.take(), &self.settings, &dir, &way_out)?;
        let by = (&config, &way_out, render.as_ref());
        let roots = walk(&mut self.project, &self.settings, by, (run.id, &run.counters), &self.stop)?;
        let clock = SteadyClock::start();
        let resumed = run.settings_before.is_some() || !self.settings.steps.is_empty();
        let frontier = Frontier::new(config.frontier(run.counters.pages), clock.now(), resumed);
        let indexing = start_indexing(&self.project, &self.settings)?;
        let shared = SharedState::new(frontier, self.stop, scope, self.progress, config.uncommitted());
        let shared = Arc::new(shared.feeding(indexing.as_ref().map(Indexing::feed)));
        shared.progress.note_commit(&run.counters, self.project.queued(), self.project.urls_known());
        let dir = self.project.dir().clone();
        let journal = Journal::open(&dir, run.id)?;
        journal.log(&run.opening())?;
        let chronicle = Chronicle::open(&dir, run.id, config.bounds());
        let wanted = choose_pages(&mut self.project, &self.settings, &run, self.choice)?;
        let scene = RunSetup {
            config: &config,
            shared: &shared,
            clock,
            chronicle: &chronicle,
            roots: &roots,
            way_out: &way_out,
            render: render.as_ref(),
            live: &live,
            dir: &dir,
        };

        let (mut project, mut counters, state) = pass(self.project, &self.seeds, scene, &run, &wanted)?;
        close_desk(render, way_out)?;
        if state != RunState::Stopped {
            patiently(&shared, || Ok(intake::learn(&project, run.id)?))?;
        }
        if let Some(budget) = self.settings.track.budget {
            patiently(&shared, || Ok(write_dues(&mut project, budget.a_day())?))?;
        }
        counters.frontier = project.queued();
        if indexing.is_some() {
            project.begin_checkpoint();
        }
        let index = indexing.map(|indexing| indexing.finish(&shared.progress, &|| shared.stop.is_set()));
        let account = counters.to_json();
        patiently(&shared, || Ok(project.finish_run(run.id, state, &account)?))?;
        let facts = chronicle.close(&shared, &project.queues(), clock, state.name());
        patiently(&shared, || Ok(project.finish()?))?;
        let waiting = shared.frontier().waiting(clock.now());
        let reasons = waiting.reasons.iter().map(|(why, hosts, name)| format!("{why}: {hosts} hosts, such as {name}"));
        let summary = Summary::new(dir.name, run.id, run.kind, state, counters);
        let host_keys = config.fetch.host_keys.first_seen();
        let summary = Summary { index, waiting: reasons.collect(), host_keys, ..summary };
        summary.host_keys.iter().try_for_each(|line| patiently(&shared, || journal.log(line)))?;
        if let Some(problem) = summary.index.as_ref().and_then(|index| index.problem.as_ref()) {
            patiently(&shared, || journal.warn(&format!("the text index: {problem}")))?;
        }
        patiently(&shared, || journal.log(&closing(state, &summary.counters)))?;
        patiently(&shared, || journal.account(&facts))?;
        patiently(&shared, || journal.report(&summary, &facts))?;
        Ok(summary)
    }

    /// The summary of the last run, if it visited everything and nothing has been requested since.
    fn nothing_left(&self) -> Result<Option<Summary>, StoreError> {
        let Some(last) = self.project.last_run()? else { return Ok(None) };
        let keys: Vec<UrlKey> = self.seeds.iter().map(|s| UrlKey::of(s.as_str())).collect();
        let open = last.state != RunStatus::Ended(RunState::Done)
            || has_reached_nothing(&last)
            || self.project.queued() > 0
            || self.project.pages_of(&keys)?.contains(&None)
            || self.settings.judges_otherwise(&last.settings)
            || intake::has_news(&self.project)?;
        let counters = RunCounters::of(&last.counters);
        let name = self.project.dir().name.clone();
        Ok((!open).then(|| Summary::new(name, last.id, last.kind, RunState::Done, counters)))
    }
}

/// Who renders pages, with the browser started if every page needs it.
fn open_desk(
    browser: Option<BrowserProgram>,
    settings: &Settings,
    scratch: &std::path::Path,
    way_out: &WayOut,
) -> Result<Option<Arc<RenderDesk>>, CrawlError> {
    let Some(browser) = browser else { return Ok(None) };
    let desk = RenderDesk::open(browser, settings, scratch, way_out.fetchers())?;
    way_out.block_on(desk.warm_up())??;
    Ok(Some(Arc::new(desk)))
}

/// Ends the browser and gives up the line.
fn close_desk(render: Option<Arc<RenderDesk>>, way_out: WayOut) -> Result<(), CrawlError> {
    if let Some(desk) = render {
        way_out.block_on(desk.close())?;
    }
    drop(way_out);
    Ok(())
}

/// What a run visits besides what it finds.
struct WantedPages {
    /// Pages that somebody called for, the first first.
    called: Vec<Address>,
    /// The known pages that a tracking run visits, in the order of their numbers; `None` for all.
    chosen: Option<Vec<PageId>>,
}

/// Takes calls over and chooses the pages to revisit. A resumed run keeps its original choice.
fn choose_pages(
    project: &mut Project,
    settings: &Settings,
    run: &CurrentRun,
    choice: RevisitSelection,
) -> Result<WantedPages, CrawlError> {
    let taker = CallTaker { run: run.id, kind: run.kind, urls: settings.urls, room: None };
    if run.kind == RunKind::Crawl {
        return Ok(WantedPages { called: intake::take(project, taker)?, chosen: None });
    }
    let kept = project.choice(run.id)?.map(|text| RevisitSelection::of(&text));
    let choice = match kept {
        Some(RevisitSelection::Best(n)) => RevisitSelection::Best(n.saturating_sub(run.counters.known)),
        Some(kept) => kept,
        None => {
            project.keep_choice(run.id, &choice.text())?;
            choice
        }
    };
    let reader = project.reader()?;
    let before = reader.runs()?.into_iter().find(|other| other.id != run.id);
    let now = Moment::now();
    let since = before.map_or(now, |before| before.started_at);
    let allowance = VisitAllowance::of(choice, settings.track.budget.map(Pace::a_day), since, now)?;
    let called = intake::take(project, CallTaker { room: allowance.map(|allowance| allowance.room), ..taker })?;
    let allowance = allowance.map(|allowance| allowance.without(called.len() as u64));
    Ok(WantedPages { called, chosen: choose(&reader, choice, allowance, now)? })
}

/// The text index beside the crawl, if one is wanted.
fn start_indexing(project: &Project, settings: &Settings) -> Result<Option<Indexing>, CrawlError> {
    if !settings.index.enabled {
        return Ok(None);
    }
    let (batch, nonce) = project.last_batch();
    Indexing::start(project.dir(), &settings.index, agent(&settings.fetch), &mark(batch, nonce)).map(Some)
}

/// Retries an operation while the disk is full, until the user asks to stop.
fn patiently<T>(shared: &SharedState, mut what: impl FnMut() -> Result<T, CrawlError>) -> Result<T, CrawlError> {
    loop {
        match what() {
            Err(e) if e.is_full_disk() && !shared.wait_for_room(Pause::DiskFull) => return Err(e),
            Err(e) if e.is_full_disk() => {}
            other => {
                shared.progress.pause(None);
                return other;
            }
        }
    }
}

/// Drives until nothing is left; with a maximum depth, until nothing is left that a shorter path
/// would bring in.
fn pass(
    mut project: Project,
    seeds: &[Address],
    scene: RunSetup<'_>,
    run: &CurrentRun,
    wanted: &WantedPages,
) -> Result<(Project, RunCounters, RunState), CrawlError> {
    let RunSetup { config, shared, clock, .. } = scene;
    let mut so_far = run.counters.clone();
    let mut roots = scene.roots.to_vec();
    let mut later = Later::new(config.settings(), Arc::clone(&config.read.steps));
    loop {
        let mut recorder = Recorder::new(project, Arc::clone(shared), config.recorder(run.id), so_far, clock)?;
        recorder.plant(seeds, None)?;
        for Roots { step, addresses } in &roots {
            recorder.plant(addresses, Some(*step))?;
        }
        recorder.plant_called(&wanted.called)?;
        if run.kind == RunKind::Track {
            // Seeds are included: new pages are found from there.
            let chosen = wanted.chosen.as_deref();
            let is_chosen = |known: &KnownPage| {
                known.page.depth == 0 || chosen.is_none_or(|pages| pages.binary_search(&known.page.page).is_ok())
            };
            recorder.plant_known(&config.read, &mut { is_chosen })?;
        } else if run.tries_again {
            recorder.plant_known(&config.read, &mut |known: &KnownPage| known.page.depth == 0 && !known.there)?;
        }
        recorder.plant_aliases()?;
        recorder.replant(config, run.settings_before.as_deref().unwrap_or_default(), &scene.live.text())?;
        let (driver, crew) = start(recorder, scene, run)?;
        let driven = drive(driver, scene, run.id);
        let (back, mut counters) = crew.go_home()?;
        let state = driven?;
        project = back;
        if state != RunState::Done {
            return Ok((project, counters, state));
        }
        let nearer = Recorder::settle_depths(&mut project, config)?;
        let mut audit = Recorder::audit_aliases(&project, config, (run.id, run.kind), &mut counters)?;
        if let Some(batch) = &mut audit {
            patiently(shared, || Ok(project.commit(batch).map(drop)?))?;
            batch.requeued.iter().for_each(|page| shared.frontier().admitted(page.host, clock.now()));
        }
        if !nearer && audit.is_none() {
            match later.next(project.dir())? {
                Some(next) => roots.push(next),
                None => return Ok((project, counters, state)),
            }
        }
        so_far = counters;
    }
}

/// Resumes the unfinished run, or begins a new one.
fn begin(project: &mut Project, settings: &Settings, kind: RunKind) -> Result<CurrentRun, CrawlError> {
    let last = project.last_run()?;
    if let Some(last) = last.as_ref().filter(|run| run.state.is_resumed()) {
        if kind == RunKind::Track && last.kind == RunKind::Crawl {
            return Err(CrawlError::Unfinished { run: last.id.0, project: project.dir().name.clone() });
        }
        let counters = RunCounters::of(&last.counters);
        project.resume_run(last.id)?;
        let settings_before = Some(last.settings.clone());
        let unclean = last.finished_at.is_none();
        let before = project.reader()?.runs()?.into_iter().find(|other| other.id != last.id);
        let tries_again = before.as_ref().is_some_and(has_reached_nothing);
        return Ok(CurrentRun { id: last.id, kind: last.kind, counters, unclean, settings_before, tries_again });
    }
    let tries_again = last.as_ref().is_some_and(has_reached_nothing);
    let settings_before = last.map(|run| run.settings);
    let now = settings.without_passwords().to_toml();
    let id = project.begin_run(kind, settings_before.as_ref().unwrap_or(&now))?;
    Ok(CurrentRun { id, kind, counters: RunCounters::default(), unclean: false, settings_before, tries_again })
}

/// Whether a crawl ended without a single answer: its servers were down, or the network was.
pub(crate) fn has_reached_nothing(run: &RunRecord) -> bool {
    let counters = RunCounters::of(&run.counters);
    run.kind == RunKind::Crawl && counters.pages == 0 && counters.errors > 0
}

/// The seeds given now, those of earlier runs, and their redirect targets.
fn all_seeds(project: &Project, given: &[Address]) -> Result<Vec<Address>, StoreError> {
    let known: HashSet<&Address> = given.iter().collect();
    let stored = project.seed_urls(None)?;
    let stored = stored.iter().filter_map(|url| Address::from_canonical(url).ok()).filter(|a| !known.contains(a));
    Ok(given.iter().cloned().chain(stored).collect())
}

/// The seeds whose hosts no earlier run saw at a public address: only they may turn out to be
/// private. A name that was public once and now resolves to a private address has been rebound (DNS
/// rebinding).
pub(crate) fn never_public(project: &Project, seeds: &[Address]) -> Result<Vec<Address>, StoreError> {
    let mut judged: HashMap<&str, bool> = HashMap::new();
    for seed in seeds {
        if judged.contains_key(seed.host()) {
            continue;
        }
        let mut public = false;
        for (scheme, port) in [(seed.scheme(), seed.port()), ("http", 80), ("https", 443)] {
            let known = project.host_id(scheme, seed.host(), port)?;
            let ip = known.map(|id| project.host_ip(id)).transpose()?.flatten();
            public |= ip.is_some_and(|ip| why_not_public(ip).is_none());
        }
        judged.insert(seed.host(), public);
    }
    Ok(seeds.iter().filter(|s| judged.get(s.host()) == Some(&false)).cloned().collect())
}

/// Starts recorder and readers, and returns the driver that will keep them busy.
pub(crate) fn start(
    recorder: Recorder,
    scene: RunSetup<'_>,
    run: &CurrentRun,
) -> Result<(Driver<impl QueueLengths<Error = StoreError> + Clone + use<>>, Crew), CrawlError> {
    let RunSetup { config, shared, clock, .. } = scene;
    let (to_recorder, items) = unbounded();
    let (to_readers, work) = unbounded();
    let queues = recorder.queues();
    let on_failure = Arc::clone(shared);
    let recorder = std::thread::Builder::new()
        .name("recorder".into())
        .spawn(move || {
            recorder.run(&items).inspect_err(|_| {
                on_failure.backlog.close();
                on_failure.stop.ask();
            })
        })
        .map_err(CrawlError::Threads)?;
    let recorder_too = to_recorder.clone();
    let desk = ReadingDesk { shared: Arc::clone(shared), clock, work, recorder: recorder_too, documents: None };
    let readers = spawn_readers(desk, config).map_err(CrawlError::Threads)?;
    let errand = Errand {
        shared: Arc::clone(shared),
        sessions: Arc::clone(&config.read.sessions),
        clock,
        fetchers: scene.way_out.fetchers(),
        render: scene.render.map(Arc::clone),
        readers: to_readers,
        recorder: to_recorder,
        active: AtomicUsize::new(0),
    };
    let limits = config.limits(&run.counters);
    let (errand, governor, failures) = (Arc::new(errand), scene.way_out.governor(), unbounded());
    let driver = Driver { errand, queues, failures, governor, limits, tasks: Mutex::default() };
    Ok((driver, Crew { readers, recorder }))
}

/// Drives to the end of the run; afterwards no task is left, and the readers' channel is closed.
pub(crate) fn drive<Q>(driver: Driver<Q>, scene: RunSetup<'_>, run: RunId) -> Result<RunState, CrawlError>
where
    Q: QueueLengths<Error = StoreError> + Clone + Sync + 'static,
{
    let parts = LiveParts::of(scene.config, &driver.errand, scene.way_out.governor(), Journal::open(scene.dir, run)?);
    let watcher = scene.chronicle.watch(&driver.errand, &driver.queues).map_err(CrawlError::Threads)?;
    let settings = scene.live.watch(parts).map_err(CrawlError::Threads)?;
    let driven = scene.way_out.drive(async move { driver.drive().await });
    settings.finish();
    watcher.finish();
    Ok(driven??)
}

impl Crew {
    /// Waits until everything passed on is read and recorded.
    pub(crate) fn go_home(self) -> Result<(Project, RunCounters), CrawlError> {
        for reader in self.readers {
            reader.join().map_err(|_| CrawlError::Panicked("reader"))?;
        }
        Ok(self.recorder.join().map_err(|_| CrawlError::Panicked("recorder"))??)
    }
}
