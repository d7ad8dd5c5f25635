//! What do a server and a crawl at full speed cost each other?
//!
//! The same web is crawled alone and while the server is asked twenty times a second, in turn,
//! three rounds of each: the ratio of the times is what the crawl loses, and the times to the first
//! byte are what its neighbours wait.

use super::client::{BenchServer, KeptLine};
use super::{API, SCREENS, ServedFigure, filled, ok};
use crate::bench::BenchOptions;
use crate::bench::tools::crawl_of;
use crate::bench::verdict::FigureTarget;
use crate::bench::web::BenchWeb;
use anyhow::{Context, Result, anyhow, ensure};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Pages of the web that is crawled.
const PAGES: u32 = 60_000;
/// Rounds, and the time between two questions.
const ROUNDS: usize = 3;
const PAUSE: Duration = Duration::from_millis(50);

/// What was waited for beside a crawl.
#[derive(Default)]
struct WaitedBeside {
    /// For screens, in milliseconds.
    screens: Vec<f64>,
    /// For the API, as multiples of what is wanted when nothing else runs.
    api: Vec<f64>,
}

/// The figures of a server that is asked for these many pages while something is crawled.
pub(super) fn beside(wish: &BenchOptions, server: (&BenchServer, &str), pages: u64) -> Result<Vec<ServedFigure>> {
    let web = BenchWeb::start((1, PAGES), PAGES)?;
    let (mut waited, mut losses) = (WaitedBeside::default(), Vec::new());
    for _ in 0..ROUNDS {
        let alone = crawled(wish, &web, |crawl| Ok(crawl.wait()?.success()))?;
        let asked = crawled(wish, &web, |crawl| ask_meanwhile(crawl, server, pages, &mut waited))?;
        losses.push((asked / alone - 1.0) * 100.0);
    }
    let most = FigureTarget::AtMost;
    Ok(vec![
        ("serve: screens beside a crawl, p50 ms".into(), at(&mut waited.screens, 0.5), most(30.0)),
        ("serve: screens beside a crawl, p99 ms".into(), at(&mut waited.screens, 0.99), most(150.0)),
        ("serve: API beside a crawl, p99 as a multiple of its target".into(), at(&mut waited.api, 0.99), most(3.0)),
        ("serve: time that a crawl loses to 20 requests a second, %".into(), at(&mut losses, 0.5), most(3.0)),
    ])
}

fn at(figures: &mut [f64], share: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    let place = (figures.len().saturating_sub(1) as f64 * share).round() as usize;
    figures.get(place).copied().unwrap_or(f64::INFINITY)
}

/// Crawls in a home of its own; the seconds that it took.
fn crawled(wish: &BenchOptions, web: &BenchWeb, mut until_done: impl FnMut(&mut Child) -> Result<bool>) -> Result<f64> {
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-beside", std::process::id()));
    let begun = Instant::now();
    let mut command = Command::new(&wish.orb);
    command.args(crawl_of(web, &dir)).stdout(Stdio::null());
    let mut crawl = command.spawn().context("cannot start orb")?;
    let is_done = until_done(&mut crawl);
    let seconds = begun.elapsed().as_secs_f64();
    // Whatever went wrong, it does not go on.
    let _ = crawl.kill();
    crawl.wait()?;
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    ensure!(is_done?, "the crawl failed");
    Ok(seconds)
}

/// Asks one thing after the other until the crawl ends.
fn ask_meanwhile(
    crawl: &mut Child,
    (server, cookie): (&BenchServer, &str),
    pages: u64,
    waited: &mut WaitedBeside,
) -> Result<bool> {
    let mut line = server.connect(cookie)?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            for n in (0_u64..).take_while(|_| !over.load(Ordering::Relaxed)) {
                let next = Instant::now() + PAUSE;
                ask(&mut line, n, pages, waited)?;
                std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
            }
            anyhow::Ok(())
        });
        let ended = crawl.wait();
        over.store(true, Ordering::Relaxed);
        asking.thread().unpark();
        asking.join().map_err(|_| anyhow!("whoever asks has panicked"))??;
        Ok(ended?.success())
    })
}

/// Asks for a screen and for an answer of the API in turn.
fn ask(line: &mut KeptLine, n: u64, pages: u64, waited: &mut WaitedBeside) -> Result<()> {
    let place = usize::try_from(n / 2)?;
    let took = |line: &mut KeptLine, path: &str, accept: &str| {
        anyhow::Ok(ok(line, &filled(path, n, pages), accept)?.first_byte.as_secs_f64() * 1e3)
    };
    if n.is_multiple_of(2) {
        let (_, path) = SCREENS[place % SCREENS.len()];
        waited.screens.push(took(line, path, "text/html")?);
    } else {
        let (_, path, wanted) = API[place % API.len()];
        waited.api.push(took(line, path, "application/json")? / wanted);
    }
    Ok(())
}
