//! How soon does a server answer over a collection of a million pages?
//!
//! `orb serve` is asked over loopback on connections that are kept: every screen, the API, small
//! requests as fast as they come, and two hundred viewers of a run that goes on. Times are those to
//! the first byte. The machine's other work is in them, so the throughput is also given per second
//! of the server's own processor time.

mod beside;
mod client;
mod home;

use super::verdict::{FigureTarget, TargetVerdict};
use super::web::BenchWeb;
use super::{BenchOptions, PartReport};
use anyhow::{Context, Result, ensure};
use client::{BenchServer, KeptLine};
use std::path::Path;
use std::time::{Duration, Instant};

/// Requests of a screen, after the first.
const ASKED: usize = 60;
/// How long small requests are sent, and over how many connections.
const RUSH: (Duration, usize) = (Duration::from_secs(5), 8);
/// Viewers of a run, and how long they watch.
const VIEWERS: (usize, Duration) = (200, Duration::from_secs(15));

/// Screens: their names and their paths; `{n}` is another page each time.
const SCREENS: &[(&str, &str)] = &[
    ("home, 50 projects", "/"),
    ("project", "/p/large"),
    ("runs", "/p/large/runs"),
    ("report of a run", "/p/large/runs/2"),
    ("report, unchanged", "/p/large/runs/2?flag=SAM"),
    ("changes", "/p/large/changes"),
    ("pages", "/p/large/pages"),
    ("pages of a rare kind", "/p/large/pages?kind=HTTP_ERROR"),
    ("pages of no kind", "/p/large/pages?kind=TIMEOUT"),
    ("page", "/p/large/pages/{n}"),
    ("queue", "/p/large/queue"),
    ("intake", "/p/large/intake"),
    ("hosts", "/p/large/hosts"),
    ("host", "/p/large/hosts/7"),
    ("health", "/p/large/health"),
    ("health: broken links", "/p/large/health/broken_link"),
    ("health: no title", "/p/large/health/missing_title"),
    ("structure", "/p/large/structure"),
    ("structure of hosts", "/p/large/structure?of=hosts&by=harmonic"),
    ("settings", "/p/bench/settings"),
    ("SQL", "/p/large/sql"),
    ("log", "/p/bench/runs/1/log"),
    ("search", "/p/bench/search?q=page"),
    ("content", "/p/bench/pages/{small}/content"),
    ("difference", "/p/bench/pages/{small}/diff?from=1&to=2"),
    ("words", "/p/bench/words/page"),
    ("map of the best pages", "/p/large/graph"),
    ("map around a page", "/p/large/graph?around={n}&hops=1"),
    ("live, run over", "/p/bench/runs/2/live"),
    ("rules", "/p/bench/rules"),
    ("steps", "/p/bench/steps"),
    ("compare", "/p/bench/compare"),
    ("exports", "/p/large/exports"),
    ("check", "/p/large/check"),
    ("new", "/new"),
    ("plan", "/plan"),
    ("schedule", "/schedule"),
    ("machines", "/machines"),
    ("users", "/users"),
    ("me", "/me"),
];

/// The API: what, its path, and the wanted 99th percentile in milliseconds.
const API: &[(&str, &str, f64)] = &[
    ("API: page by id", "/api/v1/projects/large/pages/{n}", 10.0),
    ("API: changes, 100", "/api/v1/projects/large/changes?limit=100", 30.0),
    ("API: health rows, 100", "/api/v1/projects/large/health/broken_link?limit=100", 30.0),
    ("API: search", "/api/v1/projects/bench/search?q=page", 30.0),
    ("API: links in", "/api/v1/projects/large/pages/{n}/links?direction=in", 50.0),
    ("API: state of a project", "/api/v1/projects/large", 10.0),
    ("metrics", "/metrics", 50.0),
];

/// Runs the measurements in a home of their own, or in the one that was given.
pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let own = std::env::temp_dir().join(format!("orb-bench-{}-served", std::process::id()));
    let dir = wish.home.as_deref().unwrap_or(&own);
    let report = home::prepare(wish, dir).and_then(|()| serve(wish, dir));
    if wish.home.is_none() {
        std::fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    report
}

/// A figure with its target: what, the figure, the most or least that is wanted.
type ServedFigure = (String, f64, FigureTarget);

fn serve(wish: &BenchOptions, dir: &Path) -> Result<PartReport> {
    forget_figures(dir)?;
    let starts: Vec<BenchServer> = (0..3).map(|_| BenchServer::start(&wish.orb, dir)).collect::<Result<_>>()?;
    let start = starts.iter().map(|server| server.start).min().unwrap_or_default().as_secs_f64() * 1e3;
    drop(starts);
    let server = BenchServer::start(&wish.orb, dir)?;
    let cookie = server.log_in()?;
    let mut line = server.connect(&cookie)?;
    let mut figures = vec![("serve: start to listening in ms".to_owned(), start, FigureTarget::AtMost(100.0))];
    for _ in 0..3 {
        ok(&mut line, "/", "text/html")?;
    }
    figures.push(("serve: idle memory in MB, 50 projects".into(), server.resident()?, FigureTarget::AtMost(40.0)));
    figures.push(("serve: script and style in kB".into(), assets(&mut line)?, FigureTarget::AtMost(40.0)));
    figures.extend(counted(&mut line)?);
    let pages = pages(&mut line)?;
    let mut table =
        format!("### a collection of {pages} pages, served\n\n| | first | p50 ms | p99 ms |\n|---|---|---|---|\n");
    for (name, path) in SCREENS {
        let [first, p50, p99] = asked(&mut line, path, "text/html", pages)?;
        table += &format!("| {name} | {first:.1} | {p50:.1} | {p99:.1} |\n");
        figures.push((format!("serve: {name}, p50 ms"), p50, FigureTarget::AtMost(10.0)));
        figures.push((format!("serve: {name}, p99 ms"), p99, FigureTarget::AtMost(50.0)));
    }
    for (name, path, wanted) in API {
        let [first, p50, p99] = asked(&mut line, path, "application/json", pages)?;
        table += &format!("| {name} | {first:.1} | {p50:.1} | {p99:.1} |\n");
        figures.push((format!("serve: {name}, p99 ms"), p99, FigureTarget::AtMost(*wanted)));
    }
    figures.extend(rush(&server, &cookie)?);
    figures.extend(beside::beside(wish, (&server, &cookie), pages)?);
    figures.extend(viewers(wish, dir, (&server, &cookie))?);
    let mut rows = "\n| figure | |\n|---|---|\n".to_owned();
    for (what, figure, _) in figures.iter().filter(|figure| !figure.0.ends_with(" ms")) {
        rows += &format!("| {} | {figure:.1} |\n", what.trim_start_matches("serve: "));
    }
    let verdicts = figures.into_iter().filter_map(|(what, figure, wanted)| TargetVerdict::of(what, [figure], wanted));
    Ok(PartReport { tables: vec![table + &rows], verdicts: verdicts.collect() })
}

/// Removes the figures of an earlier bench, so that they are counted again.
fn forget_figures(dir: &Path) -> Result<()> {
    match std::fs::remove_dir_all(dir.join("large/figures")) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e.into()),
        _ => Ok(()),
    }
}

/// Gets a path, which must be there.
fn ok(line: &mut KeptLine, path: &str, accept: &str) -> Result<client::TimedReply> {
    let reply = line.get(path, accept)?;
    ensure!(reply.status == 200, "{path}: {} {}", reply.head, String::from_utf8_lossy(&reply.body));
    Ok(reply)
}

/// Asks for the health of the large collection until it is counted: how long that took, and the
/// longest that anybody had to wait meanwhile.
fn counted(line: &mut KeptLine) -> Result<[ServedFigure; 2]> {
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    loop {
        for path in ["/p/large", "/p/large/health/broken_link", "/p/large/health"] {
            let reply = line.get(path, "application/json")?;
            longest = longest.max(reply.first_byte);
            let told: serde_json::Value = serde_json::from_slice(&reply.body)?;
            if told["standing"] == "current" {
                let seconds = begun.elapsed().as_secs_f64();
                let waited = longest.as_secs_f64();
                return Ok([
                    ("serve: seconds until health is counted".into(), seconds, FigureTarget::AtMost(300.0)),
                    ("serve: longest wait in s meanwhile".into(), waited, FigureTarget::AtMost(2.0)),
                ]);
            }
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// How many pages the large collection has.
fn pages(line: &mut KeptLine) -> Result<u64> {
    let reply = ok(line, "/api/v1/projects/large/stats", "application/json")?;
    let told: serde_json::Value = serde_json::from_slice(&reply.body)?;
    told["whole"]["pages"].as_u64().context("the statistics have no pages")
}

/// The bytes of the scripts and styles that a page names, in kilobytes.
fn assets(line: &mut KeptLine) -> Result<f64> {
    let page = String::from_utf8_lossy(&ok(line, "/", "text/html")?.body).into_owned();
    let named: std::collections::BTreeSet<&str> = page.split('"').filter(|part| part.starts_with("/assets/")).collect();
    let mut sum = 0;
    for asset in named {
        sum += ok(line, asset, "*/*")?.body.len();
    }
    Ok(sum as f64 / 1e3)
}

/// The first, the median and the 99th percentile of the times to the first byte, in milliseconds.
fn asked(line: &mut KeptLine, path: &str, accept: &str, pages: u64) -> Result<[f64; 3]> {
    let mut times = Vec::with_capacity(ASKED);
    for n in 0..=ASKED as u64 {
        times.push(ok(line, &filled(path, n, pages), accept)?.first_byte.as_secs_f64() * 1e3);
    }
    let first = times.remove(0);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    println!("    {path}: {:.1} ms", at(0.5));
    Ok([first, at(0.5), at(0.99)])
}

/// A path with the number of another page each time: of all parts of the collection, and none that
/// is gone.
fn filled(path: &str, n: u64, pages: u64) -> String {
    let page = (n * 7_919 * 100) % pages + 1;
    path.replace("{n}", &page.to_string()).replace("{small}", &(n % 1_000 + 1).to_string())
}

/// Small requests as fast as they come: how many a second, and per second of processor time.
fn rush(server: &BenchServer, cookie: &str) -> Result<Vec<ServedFigure>> {
    let mut figures = Vec::new();
    for (name, path, wanted) in [("", "/healthz", 5_000.0), (" with a log-in", "/api/v1/projects/small-1", 5_000.0)] {
        let (before, begun) = (server.cpu()?, Instant::now());
        let send = || -> Result<u64> {
            let (mut line, mut sent) = (server.connect(cookie)?, 0);
            while begun.elapsed() < RUSH.0 {
                ok(&mut line, path, "application/json")?;
                sent += 1;
            }
            Ok(sent)
        };
        let sent: u64 = std::thread::scope(|scope| {
            let senders: Vec<_> = (0..RUSH.1).map(|_| scope.spawn(send)).collect();
            senders.into_iter().map(|sender| sender.join().unwrap_or_else(|_| Ok(0))).sum::<Result<u64>>()
        })?;
        let (seconds, cpu) = (begun.elapsed().as_secs_f64(), server.cpu()? - before);
        let what = format!("serve: small requests{name} a second");
        figures.push((what.clone(), sent as f64 / seconds, FigureTarget::AtLeast(0.0)));
        figures.push((format!("{what} of processor time"), sent as f64 / cpu.max(0.01), FigureTarget::AtLeast(wanted)));
    }
    Ok(figures)
}

/// Viewers of a run that goes on: what they cost.
fn viewers(wish: &BenchOptions, dir: &Path, (server, cookie): (&BenchServer, &str)) -> Result<Vec<ServedFigure>> {
    let web = BenchWeb::start((1, 2_000), 2_000)?;
    let mut run = home::slow_run(wish, dir, &web)?;
    let live = live_screen((server, cookie));
    let watched = watch((server, cookie));
    let delays = delays((server, cookie));
    // It is only there to be watched.
    let _ = run.kill();
    run.wait()?;
    let (share, memory, events) = watched?;
    let [usual, longest] = delays?;
    let [_, p50, p99] = live?;
    Ok(vec![
        ("serve: live, run under way, p50 ms".into(), p50, FigureTarget::AtMost(10.0)),
        ("serve: live, run under way, p99 ms".into(), p99, FigureTarget::AtMost(50.0)),
        ("serve: from a visit to its event, median s".into(), usual, FigureTarget::AtMost(1.5)),
        ("serve: from a visit to its event, longest s".into(), longest, FigureTarget::AtMost(3.0)),
        (format!("serve: {} viewers, % of a core", VIEWERS.0), share * 100.0, FigureTarget::AtMost(5.0)),
        (format!("serve: {} viewers, MB", VIEWERS.0), memory, FigureTarget::AtMost(30.0)),
        ("serve: events a viewer and second".into(), events, FigureTarget::AtLeast(0.5)),
    ])
}

/// The times of the live screen of a run that goes on.
fn live_screen((server, cookie): (&BenchServer, &str)) -> Result<[f64; 3]> {
    let mut line = server.connect(cookie)?;
    let run = running(&mut line)?;
    asked(&mut line, &format!("/p/live/runs/{run}/live"), "text/html", 1)
}

/// The share of a core, the memory in megabytes, and the events a second of each viewer.
fn watch((server, cookie): (&BenchServer, &str)) -> Result<(f64, f64, f64)> {
    let run = running(&mut server.connect(cookie)?)?;
    let before = server.resident()?;
    let mut lines = Vec::new();
    for _ in 0..VIEWERS.0 {
        let mut line = server.connect(cookie)?;
        line.listen(&format!("/p/live/runs/{run}/events"))?;
        while !line.hear()?.starts_with("event:") {}
        lines.push(line);
    }
    let (cpu, begun) = (server.cpu()?, Instant::now());
    let count = |line: &mut KeptLine| {
        let mut events = 0_u32;
        while begun.elapsed() < VIEWERS.1 {
            events += u32::from(line.hear()?.starts_with("event:"));
        }
        anyhow::Ok(events)
    };
    let events = std::thread::scope(|scope| {
        let viewers: Vec<_> = lines.iter_mut().map(|line| scope.spawn(|| count(line))).collect();
        viewers.into_iter().map(|viewer| viewer.join().unwrap_or_else(|_| Ok(0))).sum::<Result<u32>>()
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let share = (server.cpu()? - cpu) / seconds;
    let memory = server.resident()? - before;
    Ok((share, memory, f64::from(events) / VIEWERS.0 as f64 / seconds))
}

/// How long after a visit its change is told: the median and the most of some seconds.
fn delays((server, cookie): (&BenchServer, &str)) -> Result<[f64; 2]> {
    let mut line = server.connect(cookie)?;
    line.listen("/api/v1/projects/live/events")?;
    let (begun, mut is_change, mut delays) = (Instant::now(), false, Vec::new());
    while begun.elapsed() < VIEWERS.1 {
        let heard = line.hear()?;
        match heard.trim_end().split_once(": ") {
            Some(("event", kind)) => is_change = kind == "change",
            Some(("data", data)) if is_change => {
                let told: serde_json::Value = serde_json::from_str(data)?;
                let changes = told["changes"].as_array().context("an event without changes")?;
                delays.extend(changes.iter().filter_map(|change| since(change["at"].as_str()?)));
            }
            _ => {}
        }
    }
    ensure!(!delays.is_empty(), "no change was told");
    delays.sort_by(f64::total_cmp);
    Ok([delays[delays.len() / 2], delays[delays.len() - 1]])
}

/// Seconds since a moment of the last day, written like 2026-11-15T06:30:00.125Z.
fn since(at: &str) -> Option<f64> {
    const DAY: f64 = 86_400.0;
    let parts = at.split_once('T')?.1.trim_end_matches('Z').split(':').map(|part| part.parse::<f64>().ok());
    let seconds = parts.collect::<Option<Vec<_>>>()?.into_iter().fold(0.0, |sum, part| sum * 60.0 + part);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?.as_secs_f64();
    Some((now - seconds).rem_euclid(DAY))
}

/// Waits until the slow crawl has a run.
fn running(line: &mut KeptLine) -> Result<u64> {
    for _ in 0..600 {
        let reply = line.get("/api/v1/projects/live", "application/json")?;
        let told: serde_json::Value = serde_json::from_slice(&reply.body)?;
        if told["state"] == "running" && told["pages"].as_u64().unwrap_or(0) > 0 {
            return told["run"].as_u64().context("a run without a number");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    anyhow::bail!("the crawl that is to be watched does not begin")
}
