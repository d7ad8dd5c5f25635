//! `orb demo`: how does a small built-in web look, crawled, tracked and shown without a network?

use super::check::CheckArgs;
use super::crawl;
use super::report::ReportArgs;
use super::serve::ServeArgs;
use crate::args::{Common, DemoArgs, LinksArgs, ListingArgs, ProjectArgs, RowFormat, SqlArgs};
use crate::failure::CommandFailure;
use crate::{command, out};
use orb_crawl::CrawlRequest;
use orb_page::{RunKind, RunState};
use orb_project::units::HumanDuration;
use orb_project::{AskedProject, Home, Settings};
use orb_testweb::{Server, Spec};
use orb_urls::scope::Mode;
use orb_urls::{Canonicaliser, Rules};
use std::io::Write as _;
use std::time::Duration;

/// The demo's project.
const PROJECT: &str = "demo";

pub(crate) fn run(common: &Common, args: &DemoArgs) -> Result<(), CommandFailure> {
    let temporary = tempfile::tempdir()?;
    let home = args.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    // The web of an earlier demo had other ports: its pages could only fail.
    if Home::look(&home)?.find(PROJECT).is_ok() {
        let why = format!("{} has a project {PROJECT} already: keep this demo in another directory", home.display());
        return Err(CommandFailure::Failed(anyhow::anyhow!(why)));
    }
    let server = Server::spawn(Spec::demo())?;
    let common = Common {
        home: home.clone(),
        json: common.json,
        quiet: common.quiet,
        verbose: common.verbose,
        progress: common.progress,
    };
    let seed = server.url(0);
    say(&common, &format!("A web of {} hosts is served on {}. orb crawl {seed}", server.web().hosts(), server.addr()))?;
    let store = Home::open(&common.home)?;
    let summary = crawl::crawl(&common, &store, request(&seed)?)?;
    crawl::finish(&common, &summary, "")?;
    if summary.state != RunState::Done || common.json {
        return Ok(());
    }
    tour(&common, &seed)?;
    say(&common, "A day passes on this web. orb track demo")?;
    server.web().set_epoch(1);
    let summary = crawl::crawl(&common, &store, CrawlRequest { kind: RunKind::Track, ..request(&seed)? })?;
    crawl::finish(&common, &summary, "")?;
    say(&common, "orb report demo --limit 12")?;
    command::report::run(&common, &ReportArgs::brief(PROJECT, 12))?;
    say(&common, "orb check demo")?;
    command::check::run(&common, &CheckArgs::of(PROJECT))?;
    if args.serve {
        say(&common, "orb graph build demo")?;
        command::graph::build_plainly(&common, PROJECT)?;
        say(&common, "orb serve. The first page offers the built-in web for a crawl of your own.")?;
        return command::serve::run(&common, &ServeArgs::for_trying(seed));
    }
    match &args.keep {
        Some(dir) => say(&common, &format!("Everything is in {}.", dir.display())),
        None => say(&common, "Nothing was kept; orb demo --keep DIR keeps it. Now try: orb crawl https://…"),
    }
}

fn request(seed: &str) -> Result<CrawlRequest, CommandFailure> {
    let mut settings = Settings { name: Some(PROJECT.into()), seeds: vec![seed.to_owned()], ..Settings::default() };
    settings.scope.mode = Mode::Any;
    settings.frontier.delay = HumanDuration(Duration::from_millis(10));
    settings.frontier.max_crawl_delay = HumanDuration(Duration::from_millis(100));
    settings.fetch.allow_private = true;
    let seeds =
        vec![Canonicaliser::new(Rules::default()).parse_seed(seed).map_err(|e| CommandFailure::Usage(e.to_string()))?];
    Ok(CrawlRequest::new(AskedProject { name: PROJECT.to_owned(), settings, seeds, file: None }))
}

/// What to look at next.
fn tour(common: &Common, seed: &str) -> Result<(), CommandFailure> {
    say(common, "orb stats demo")?;
    command::stats::run(common, &ProjectArgs::named(PROJECT))?;
    say(common, &format!("orb links demo {seed} --out --limit 5"))?;
    let listing = ListingArgs { limit: Some(5), offset: 0 };
    let (of, url) = (ProjectArgs::named(PROJECT), Some(seed.to_owned()));
    command::links::run(common, &LinksArgs { of, url, out: true, listing, ..LinksArgs::default() })?;
    let sql = "SELECT kind, count(*) AS pages, sum(length) AS bytes FROM page GROUP BY kind ORDER BY 2 DESC";
    say(common, &format!("orb sql demo \"{sql}\""))?;
    let (sql, listing) = (Some(sql.to_owned()), ListingArgs { limit: None, offset: 0 });
    let (format, timeout) = (RowFormat::Table, HumanDuration(Duration::from_secs(60)));
    command::sql::run(
        common,
        &SqlArgs { of: ProjectArgs::named(PROJECT), sql, format, schema: false, timeout, listing },
    )
}

fn say(common: &Common, line: &str) -> Result<(), CommandFailure> {
    if common.quiet || common.json {
        return Ok(());
    }
    let mut stdout = out::stdout();
    writeln!(stdout, "\n▸ {line}")?;
    Ok(stdout.flush()?)
}
