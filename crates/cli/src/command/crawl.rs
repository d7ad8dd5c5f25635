//! `orb crawl`: how is a crawl started or resumed?

use crate::args::{Common, CrawlArgs, OrderArg, Render, ScopeName};
use crate::failure::{CommandFailure, complain};
use crate::live::Display;
use crate::{metrics, out, signals};
use anyhow::Context as _;
use orb_crawl::track::RevisitSelection;
use orb_crawl::{Crawl, CrawlError, Progress, Stop, Summary, open_project};
use orb_page::{RunKind, RunState};
use orb_project::{OrderName, Settings, Wrong};
use orb_store::{CatalogueReader, Home, ProjectDir, StoreError};
use orb_urls::scope::Mode;
use orb_urls::{Address, Canonicaliser};
use std::collections::HashSet;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the command line asks for, parsed and validated.
pub(crate) struct CrawlRequest {
    /// The project.
    pub(crate) name: String,
    /// Its settings.
    pub(crate) settings: Settings,
    /// The settings to save: budgets given as flags apply to one command only.
    pub(crate) kept: Settings,
    /// Whether to collect or to revisit.
    pub(crate) kind: RunKind,
    /// Which known pages to revisit.
    pub(crate) choice: RevisitSelection,
    /// Its seeds.
    pub(crate) seeds: Vec<Address>,
    /// The project file that was given.
    pub(crate) file: Option<PathBuf>,
    /// Whether to continue although archive files are damaged.
    pub(crate) despite_damage: bool,
    /// The listener for metrics.
    pub(crate) metrics: Option<TcpListener>,
}

impl CrawlRequest {
    /// What a project does by itself: what its file says.
    pub(crate) fn kept(home: &Home, name: &str, kind: RunKind) -> Result<Self, CommandFailure> {
        let project = home.find(name)?;
        let missing = || anyhow::anyhow!("project {name} has no settings; orb project edit {name} writes them");
        let settings = Settings::kept(&project)?.ok_or_else(missing)?;
        let seeds = addresses(&Canonicaliser::new(settings.urls), &settings.seeds)?;
        if seeds.is_empty() && settings.steps.is_empty() {
            return Err(anyhow::anyhow!("project {name} has no seeds; orb project edit {name} gives it some").into());
        }
        let kept = settings.clone();
        let choice = if settings.track.budget.is_some() { RevisitSelection::Due } else { RevisitSelection::All };
        Ok(Self {
            name: name.to_owned(),
            settings,
            kept,
            kind,
            choice,
            seeds,
            file: None,
            despite_damage: false,
            metrics: None,
        })
    }
}

pub(crate) fn run(common: &Common, args: &CrawlArgs) -> Result<(), CommandFailure> {
    if matches!(args.render, Some(Render::Auto | Render::Always)) {
        return Err(CommandFailure::Usage("this version does not render pages; leave out --render".into()));
    }
    let metrics = args.metrics.as_deref().map(metrics::listen).transpose()?;
    let is_new = !common.home.exists();
    let home = Home::open(&common.home)?;
    let begun = request(&home, args).and_then(|request| {
        let seed = request.seeds.first().map(Address::to_string).unwrap_or_default();
        Ok((seed, crawl(common, &home, CrawlRequest { metrics, ..request })?))
    });
    let (seed, summary) = match begun {
        Err(refused) if is_new => {
            home.discard_if_empty();
            return Err(refused);
        }
        begun => begun?,
    };
    finish(common, &summary)?;
    reached(&home, &summary, &seed)
}

/// Crawls and shows progress. A refused request leaves nothing behind.
pub(crate) fn crawl(common: &Common, home: &Home, mut request: CrawlRequest) -> Result<Summary, CommandFailure> {
    let found = home.find(&request.name).ok();
    sensible(found.as_ref(), &request.settings)?;
    let file = request.file.take().unwrap_or_else(|| home.path().join(&request.name).join("project.toml"));
    let variable = |name: &str| std::env::var(name).ok();
    request.settings.reveal(&variable).map_err(|wrong| placed(&file, wrong))?;
    let is_new = found.is_none() && !home.path().join(&request.name).exists();
    let name = request.name.clone();
    let result = collect(common, home, request)?;
    if is_new && result.as_ref().is_err_and(is_refused) {
        home.remove(&name)?;
    }
    match result {
        Err(CrawlError::Wrong(wrong)) => Err(placed(&file, wrong)),
        result => Ok(result?),
    }
}

/// Whether a crawl was refused because of its settings, before the first request.
fn is_refused(error: &CrawlError) -> bool {
    matches!(error, CrawlError::Scope(_) | CrawlError::Fetch(_) | CrawlError::Settings(_) | CrawlError::Setting(_))
}

/// Opens the project and runs it.
fn collect(
    common: &Common,
    home: &Home,
    mut request: CrawlRequest,
) -> Result<Result<Summary, CrawlError>, CommandFailure> {
    let project = open_project(&home.project(&request.name)?, &request.settings)?;
    if let Some((file, what)) = project.start().archive.damaged.first().filter(|_| !request.despite_damage) {
        let path = project.dir().archive().join(file);
        return Err(StoreError::Damaged { path, what: what.clone() }.into());
    }
    request.kept.keep(project.dir())?;
    let stop = Stop::new();
    let _listening = signals::watch(Arc::clone(&stop))?;
    let progress = Arc::new(Progress::default());
    if let Some(listener) = request.metrics.take() {
        metrics::serve(listener, &request.name, Arc::clone(&progress)).context("cannot serve metrics")?;
    }
    let display = Display::start(common, &request, Arc::clone(&progress));
    let crawl = Crawl {
        project,
        settings: request.settings,
        kind: request.kind,
        choice: request.choice,
        seeds: request.seeds,
        stop,
        progress,
        protocols: orb_fetch::PROTOCOLS,
    };
    let result = crawl.run();
    display.finish();
    Ok(result)
}

/// An error with its position in the file.
fn placed(file: &Path, wrong: Wrong) -> CommandFailure {
    match Settings::blamed(file, &wrong) {
        Some(placed) => placed.into(),
        None => wrong.into(),
    }
}

/// Refuses invalid settings, with the position in the project's file if that is the culprit.
fn sensible(project: Option<&ProjectDir>, settings: &Settings) -> Result<(), CommandFailure> {
    let Err(wrong) = settings.examine() else { return Ok(()) };
    if let Some(project) = project
        && matches!(Settings::kept(project), Ok(Some(kept)) if kept.examine() == Err(wrong.clone()))
    {
        Settings::read(&project.settings())?;
    }
    Err(wrong.into())
}

/// Prints the summary of a run; for a stopped one, how to resume it.
pub(crate) fn finish(common: &Common, summary: &Summary) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, summary)?;
    } else if !common.quiet {
        print(&mut stdout, summary)?;
    }
    stdout.flush()?;
    if summary.state == RunState::Stopped {
        if !common.quiet {
            complain(&format!("stopped; everything is saved, and orb {} {} resumes it", summary.kind, summary.project));
        }
        return Err(CommandFailure::Stopped);
    }
    Ok(())
}

/// A run in which nothing at all could ever be fetched has failed, and says why.
pub(super) fn reached(home: &Home, summary: &Summary, seed: &str) -> Result<(), CommandFailure> {
    if summary.counters.pages > 0 {
        return Ok(());
    }
    let reader = CatalogueReader::open(&home.find(&summary.project)?)?;
    let never = |page: &orb_store::PageRow| page.status.is_none() && page.visits <= 1;
    let Some(page) = reader.page_by_url(seed)?.filter(never) else { return Ok(()) };
    let why = page.problem.or(page.why).or(summary.waiting.first().cloned()).unwrap_or(page.kind);
    Err(CommandFailure::Failed(anyhow::anyhow!("could not fetch {seed}: {why}")))
}

/// The summary of a run in words.
pub(crate) fn print(stdout: &mut impl std::io::Write, s: &Summary) -> std::io::Result<()> {
    let c = &s.counters;
    let grouped = out::grouped;
    writeln!(stdout, "project {}, run {}: {} in {}", s.project, s.run, s.state.name(), out::seconds(c.seconds))?;
    writeln!(
        stdout,
        "  {} pages ({} HTML, {} other, {} duplicates, {} redirects, {} errors), {} disallowed",
        grouped(c.pages),
        grouped(c.html),
        grouped(c.binary),
        grouped(c.duplicates),
        grouped(c.redirects),
        grouped(c.errors),
        grouped(c.disallowed),
    )?;
    writeln!(
        stdout,
        "  {} hosts, {} links, {} images, {}, {:.1} pages/s",
        grouped(c.hosts),
        grouped(c.links),
        grouped(c.images),
        out::bytes(c.bytes),
        s.pages_per_second,
    )?;
    if s.kind == RunKind::Track.name() {
        super::track::account(stdout, c)?;
    }
    match &s.index {
        Some(orb_crawl::indexing::IndexAccount { problem: Some(problem), .. }) => {
            writeln!(stdout, "  the text index lags behind ({problem}); orb index update {} ends that", s.project)?;
        }
        Some(index) if !index.current => {
            writeln!(
                stdout,
                "  the text index lags behind; orb index update {}, or the next crawl, ends that",
                s.project
            )?;
        }
        _ => {}
    }
    if c.frontier > 0 {
        writeln!(stdout, "  {} pages still queued: orb {} {} continues", grouped(c.frontier), s.kind, s.project)?;
        s.waiting.iter().try_for_each(|line| writeln!(stdout, "    {line}"))?;
    }
    Ok(())
}

/// Reads seeds, project files and flags.
pub(crate) fn request(home: &Home, args: &CrawlArgs) -> Result<CrawlRequest, CommandFailure> {
    let mut settings = Settings::default();
    let mut name = args.project.clone();
    let (mut known, mut file) = (false, None);
    let mut given: Vec<String> = Vec::new();
    for seed in &args.seeds {
        if seed.ends_with(".toml") && !seed.contains("://") {
            settings = Settings::read(Path::new(seed))?;
            name = name.or_else(|| settings.name.clone()).or_else(|| stem(seed));
            known = true;
            file = Some(PathBuf::from(seed));
        } else if !seed.contains("://") && home.find(seed).is_ok() && name.as_ref().is_none_or(|n| n == seed) {
            name = Some(seed.clone());
        } else {
            given.push(seed.clone());
        }
    }
    let canonical = Canonicaliser::new(settings.urls);
    let mut seeds = addresses(&canonical, &given)?;
    let name = match name {
        Some(name) => name,
        None => seeds.first().map(project_name).unwrap_or_default(),
    };
    if let Ok(project) = home.find(&name)
        && !known
        && let Some(kept) = Settings::kept(&project)?
    {
        settings = kept;
    }
    let listed = settings.seeds.clone();
    let typed: HashSet<&Address> = seeds.iter().collect();
    let more: Vec<Address> = addresses(&canonical, &listed)?.into_iter().filter(|a| !typed.contains(a)).collect();
    seeds.extend(more);
    settings.seeds.extend(given.into_iter().filter(|g| !listed.contains(g)));
    settings.name = Some(name.clone());
    if seeds.is_empty() && settings.steps.is_empty() {
        return Err(CommandFailure::Usage(format!("project {name} has no seeds; give a URL")));
    }
    apply(args, &mut settings);
    let kept = settings.clone();
    apply_budgets(args, &mut settings);
    let kind = RunKind::Crawl;
    let (choice, despite_damage) = (RevisitSelection::All, args.despite_damage);
    Ok(CrawlRequest { name, settings, kept, kind, choice, seeds, file, despite_damage, metrics: None })
}

/// The default project name: the seed's host, with its port if it is not the default.
fn project_name(seed: &Address) -> String {
    let port = seed.unusual_port().map(|p| format!("-{p}")).unwrap_or_default();
    let name = format!("{}{port}", seed.host()).replace(':', "-");
    name.trim_start_matches(['-', '.']).chars().take(64).collect()
}

fn stem(file: &str) -> Option<String> {
    Path::new(file).file_stem().map(|s| s.to_string_lossy().to_lowercase())
}

/// Seeds as given: URLs, or `@file` with one URL per line.
fn addresses(canonical: &Canonicaliser, given: &[String]) -> Result<Vec<Address>, CommandFailure> {
    let mut out: Vec<Address> = Vec::new();
    let mut known: HashSet<Address> = HashSet::new();
    let mut add = |text: &str, place: &str| {
        let address = canonical.parse_seed(text).map_err(|e| {
            CommandFailure::Usage(format!("{place}'{}' is not a URL to start from: {e}", out::clip(text, 100)))
        })?;
        if known.insert(address.clone()) {
            out.push(address);
        }
        Ok::<(), CommandFailure>(())
    };
    for seed in given {
        let Some(file) = seed.strip_prefix('@') else {
            add(seed, "")?;
            continue;
        };
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read the seeds in {file}"))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                add(line, &format!("{file}:{}: ", number + 1))?;
            }
        }
    }
    Ok(out)
}

/// Overwrites a value if one was given.
fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

/// Flags override the project file.
fn apply(args: &CrawlArgs, settings: &mut Settings) {
    let scope = &mut settings.scope;
    set(&mut scope.mode, args.scope.map(mode));
    if !args.rules.is_empty() {
        scope.rules.clone_from(&args.rules);
    }
    let frontier = &mut settings.frontier;
    frontier.depth = args.depth.or(frontier.depth);
    set(&mut frontier.order, args.order.map(order));
    set(&mut frontier.delay, args.delay);
    set(&mut frontier.per_host, args.per_host.map(|n| n as usize));
    set(&mut frontier.retries, args.retries);
    frontier.ignore_robots |= args.ignore_robots;
    apply_fetch(args, settings);
    settings.store.archive &= !args.no_archive;
    settings.store.links &= !args.no_links;
    settings.index.enabled &= !args.no_index;
    set(&mut settings.crawl.workers, args.workers.map(|n| n as usize));
}

fn apply_budgets(args: &CrawlArgs, settings: &mut Settings) {
    let frontier = &mut settings.frontier;
    frontier.max_pages = args.max_pages.or(frontier.max_pages);
    frontier.max_bytes = args.max_bytes.or(frontier.max_bytes);
    frontier.max_time = args.max_time.or(frontier.max_time);
}

fn apply_fetch(args: &CrawlArgs, settings: &mut Settings) {
    let fetch = &mut settings.fetch;
    set(&mut fetch.connections, args.connections.map(|n| n as usize));
    fetch.bandwidth = args.bandwidth.or(fetch.bandwidth);
    set(&mut fetch.user_agent, args.user_agent.clone());
    fetch.proxy = args.proxy.clone().or(fetch.proxy.take());
    fetch.dns = args.dns.clone().or(fetch.dns.take());
    fetch.ca_file = args.ca_file.clone().or(fetch.ca_file.take());
    fetch.cookies_file = args.cookies.clone().or(fetch.cookies_file.take());
    if !args.resolve.is_empty() {
        fetch.resolve.clone_from(&args.resolve);
    }
    if !args.accept.is_empty() {
        fetch.accept.clone_from(&args.accept);
    }
    set(&mut fetch.max_size, args.max_size);
    set(&mut fetch.timeout, args.timeout);
    fetch.insecure |= args.insecure;
    fetch.allow_private |= args.allow_private;
}

fn mode(name: ScopeName) -> Mode {
    match name {
        ScopeName::Host => Mode::Host,
        ScopeName::Domain => Mode::Domain,
        ScopeName::Prefix => Mode::Prefix,
        ScopeName::Neighbours => Mode::Neighbours,
        ScopeName::Any => Mode::Any,
    }
}

fn order(name: OrderArg) -> OrderName {
    match name {
        OrderArg::Bfs => OrderName::Bfs,
        OrderArg::Dfs => OrderName::Dfs,
        OrderArg::Best => OrderName::Best,
        OrderArg::Random => OrderName::Random,
    }
}
