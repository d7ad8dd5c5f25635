//! `orb crawl`: how is a crawl started or resumed?

use super::{deliver, with_home, worker};
use crate::args::{Common, CrawlArgs, OrderArg, Render, ScopeName};
use crate::failure::{CommandFailure, complain};
use crate::live::Display;
use crate::{out, signals};
use orb_crawl::{CrawlError, CrawlRequest, SharedAddress, SharedRequest, Summary, why_unreached};
use orb_page::{RunId, RunKind, RunState};
use orb_project::{AskedProject, Home, OrderName, RenderWhen, Settings, Wrong, check_name};
use orb_urls::Address;
use orb_urls::scope::Mode;
use std::io::Write as _;
use std::sync::Arc;

pub(crate) fn run(common: &Common, args: &CrawlArgs) -> Result<(), CommandFailure> {
    with_home(common, |home| {
        if let Some(at) = args.place.address(args.shared)? {
            let request = shared_request(home, &at, args)?;
            let seed = request.seeds.first().map(Address::to_string).unwrap_or_default();
            let Some(summary) = shared(common, request, at.clone(), args)? else { return Ok(()) };
            finish(common, &summary, THERE)?;
            return reached_there(&at, &summary, &seed);
        }
        let request = request(home, args)?;
        let seed = request.seeds.first().map(Address::to_string).unwrap_or_default();
        let summary = crawl(common, home, request)?;
        finish(common, &summary, "")?;
        reached(home, &summary, &seed)
    })
}

/// What is asked for on a shared store, which may know the project although this machine does not.
pub(super) fn shared_request(
    home: &Home,
    at: &SharedAddress,
    args: &CrawlArgs,
) -> Result<CrawlRequest, CommandFailure> {
    let name = match args.seeds.as_slice() {
        [name] if args.shared => name,
        [name] if !name.contains("://") && !name.ends_with(".toml") && home.find(name).is_err() => name,
        _ => return request(home, args),
    };
    match orb_crawl::shared_settings(at, name)? {
        Some(settings) => asked(AskedProject::with(name, settings)?, args),
        None => request(home, args),
    }
}

/// Begins a run on a shared store, or resumes it, and works on it; nothing if it is for other
/// machines.
pub(super) fn shared(
    common: &Common,
    mut request: CrawlRequest,
    at: SharedAddress,
    args: &CrawlArgs,
) -> Result<Option<Summary>, CommandFailure> {
    if !args.on.is_empty() {
        request.settings.machines.clone_from(&args.on);
    }
    let worker = worker::worker(common, at, &args.part);
    let CrawlRequest { name, settings, kept, kind, choice, seeds, .. } = &request;
    let number = args.run_number.map(RunId);
    let planted = SharedRequest { name, settings, kept, seeds, kind: *kind, choice: *choice, number };
    orb_crawl::plant(&worker.at, &planted)?;
    let machines = &settings.machines;
    if !machines.is_empty() && !machines.contains(&worker.machine) {
        complain(&format!("project {name} is planted; it runs on {}", machines.join(", ")));
        return Ok(None);
    }
    let _listening = signals::watch(Arc::clone(&worker.stop))?;
    let end = worker.work_on(name)?;
    if end.state != RunState::Stopped {
        orb_crawl::write_shared_dues(&worker.at, name, settings)?;
    }
    let summary = Summary::new(end.project, end.run, *kind, end.state, end.counters);
    Ok(Some(Summary { waiting: end.waiting, ..summary }))
}

/// Crawls and shows progress. A refused request leaves nothing behind.
pub(crate) fn crawl(common: &Common, home: &Home, request: CrawlRequest) -> Result<Summary, CommandFailure> {
    let kind = request.kind;
    let opened = request.open(home, &|name: &str| std::env::var(name).ok()).map_err(|e| match e {
        CrawlError::Store(e) => CommandFailure::from(e),
        other => other.into(),
    })?;
    let _listening = signals::watch(Arc::clone(opened.stop()))?;
    let display = Display::start(common, &opened);
    let (name, settings) = (opened.name().to_owned(), opened.settings().clone());
    let result = opened.run();
    display.finish();
    deliver::tell_end(home, (&name, &settings), kind, &result);
    Ok(result?)
}

/// What a command about a project on a shared store has besides.
pub(super) const THERE: &str = " --store URL";

/// Prints the summary of a run; for a stopped one, how to resume it, with what that command has
/// besides the project.
pub(crate) fn finish(common: &Common, summary: &Summary, place: &str) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, summary)?;
    } else if !common.quiet {
        print(&mut stdout, summary, place)?;
    }
    stdout.flush()?;
    if summary.state == RunState::Stopped {
        if !common.quiet {
            let again = format!("orb {} {}{place}", summary.kind, summary.project);
            complain(&match place {
                "" => format!("stopped; everything is saved, and {again} resumes it"),
                _ => format!("this worker has stopped; others go on with the run, and {again} works on it again"),
            });
        }
        return Err(CommandFailure::Stopped);
    }
    Ok(())
}

/// A run in which nothing at all could ever be fetched has failed, and says why.
pub(super) fn reached(home: &Home, summary: &Summary, seed: &str) -> Result<(), CommandFailure> {
    match why_unreached(home, summary, seed)? {
        Some(why) => Err(CommandFailure::Failed(anyhow::anyhow!("could not fetch {seed}: {why}"))),
        None => Ok(()),
    }
}

/// The same for a run on a shared store.
fn reached_there(at: &SharedAddress, summary: &Summary, seed: &str) -> Result<(), CommandFailure> {
    match orb_crawl::why_unreached_there(at, summary, seed)? {
        Some(why) => Err(CommandFailure::Failed(anyhow::anyhow!("could not fetch {seed}: {why}"))),
        None => Ok(()),
    }
}

/// The summary of a run in words.
pub(crate) fn print(stdout: &mut impl std::io::Write, s: &Summary, place: &str) -> std::io::Result<()> {
    let c = &s.counters;
    let grouped = out::grouped;
    writeln!(stdout, "project {}, run {}: {}", s.project, s.run, out::stood(s.state.name(), c.seconds))?;
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
    s.host_keys.iter().try_for_each(|line| writeln!(stdout, "  {line}"))?;
    if c.frontier > 0 {
        let (left, again) = (grouped(c.frontier), format!("orb {} {}{place}", s.kind, s.project));
        writeln!(stdout, "  {left} pages still queued: {again} continues")?;
        s.waiting.iter().try_for_each(|line| writeln!(stdout, "    {line}"))?;
    }
    Ok(())
}

/// Reads seeds, project files and flags.
pub(crate) fn request(home: &Home, args: &CrawlArgs) -> Result<CrawlRequest, CommandFailure> {
    args.project.as_deref().map_or(Ok(()), check_name)?;
    let news_server = std::env::var("NNTPSERVER").ok().filter(|server| !server.trim().is_empty());
    asked(AskedProject::of(home, &args.seeds, args.project.as_deref(), news_server.as_deref())?, args)
}

/// A request under the flags. What is invalid only because of the command line is wrong usage.
fn asked(mut asked: AskedProject, args: &CrawlArgs) -> Result<CrawlRequest, CommandFailure> {
    let mut listed = asked.settings.clone();
    listed.seeds.retain(|seed| !args.seeds.contains(seed));
    let wrong_before = listed.examine().err();
    apply(args, &mut asked.settings);
    if let Some(wrong) = asked.settings.examine().err().filter(|wrong| Some(wrong) != wrong_before.as_ref()) {
        return Err(CommandFailure::Usage(in_flags(&wrong)));
    }
    let mut request = CrawlRequest { despite_damage: args.despite_damage, ..CrawlRequest::new(asked) };
    apply_budgets(args, &mut request.settings);
    Ok(request)
}

/// An invalid setting, by the name of the flag that sets it.
fn in_flags(wrong: &Wrong) -> String {
    let key: String = wrong.key.split('[').map(|part| part.rsplit(']').next().unwrap_or_default()).collect();
    let flag = match key.as_str() {
        "scope.rules.allow" => "--allow",
        "scope.rules.deny" => "--deny",
        "search_engine.template" => "--engine",
        "fetch.accept" => "--accept",
        "fetch.cookies_file" => "--cookies",
        "fetch.dns" => "--dns",
        "fetch.proxy" => "--proxy",
        "fetch.resolve" => "--resolve",
        "fetch.user_agent" => "--user-agent",
        "seeds" => return wrong.what.clone(),
        _ => &wrong.key,
    };
    format!("{flag}: {}", wrong.what)
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
    set(&mut settings.render.when, args.render.map(render));
    settings.render.screenshots |= args.screenshots;
    settings.search_engine.template = args.engine.clone().or(settings.search_engine.template.take());
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
    // Whoever names a size means every body.
    set(&mut settings.documents.max_size, args.max_size);
    let fetch = &mut settings.fetch;
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

fn render(when: Render) -> RenderWhen {
    match when {
        Render::Never => RenderWhen::Never,
        Render::Auto => RenderWhen::Auto,
        Render::Always => RenderWhen::Always,
    }
}
