//! What does the user see while a crawl runs?
//!
//! On a terminal a few lines that are redrawn; elsewhere a plain line now and then. A separate
//! thread reads the crawl's progress; the crawl never waits for it.

use crate::args::{Common, ProgressStyle};
use crate::meter::bar;
use crate::out;
use orb_crawl::{OpenedCrawl, Snapshot, Stage};
use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A display that runs beside a crawl.
pub(crate) struct Display {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What the display measures progress against.
#[derive(Clone)]
struct Goal {
    project: String,
    pages: Option<u64>,
    bytes: Option<u64>,
    seconds: Option<f64>,
}

impl Display {
    /// Starts the display the user asked for.
    pub(crate) fn start(common: &Common, crawl: &OpenedCrawl<'_>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let live = common.progress == ProgressStyle::Auto && terminal;
        if common.quiet || common.progress == ProgressStyle::None {
            return Self { thread: None };
        }
        let (frontier, progress) = (&crawl.settings().frontier, Arc::clone(crawl.progress()));
        let goal = Goal {
            project: crawl.name().to_owned(),
            pages: frontier.max_pages,
            bytes: frontier.max_bytes.map(|b| b.0),
            seconds: frontier.max_time.map(|t| t.0.as_secs_f64()),
        };
        let (done, ended) = channel();
        let thread = std::thread::spawn(move || {
            let bar = live.then(bar);
            let every = Duration::from_millis(if live { 200 } else { 5_000 });
            let mut looks: VecDeque<Snapshot> = VecDeque::new();
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let now = progress.snapshot();
                let rate = rates(looks.front(), &now);
                match &bar {
                    Some(bar) => bar.set_message(screen(&goal, &now, rate)),
                    None => plain(&goal, &now, rate),
                }
                looks.push_back(now);
                if looks.len() > if live { 15 } else { 1 } {
                    looks.pop_front();
                }
            }
            if let Some(bar) = bar {
                bar.disable_steady_tick();
                bar.finish_and_clear();
            }
        });
        Self { thread: Some((done, thread)) }
    }

    /// Removes the display.
    pub(crate) fn finish(self) {
        if let Some((done, thread)) = self.thread {
            drop(done);
            let _ = thread.join();
        }
    }
}

/// Pages and bytes per second since an earlier snapshot, or since the beginning.
fn rates(last: Option<&Snapshot>, now: &Snapshot) -> (f64, f64) {
    let (fetched, bytes, seconds) = last.map_or((0, 0, 0.0), |l| (l.fetched, l.bytes, l.seconds));
    let span = (now.seconds - seconds).max(0.001);
    #[expect(clippy::cast_precision_loss, reason = "rates for people")]
    ((now.fetched - fetched) as f64 / span, (now.bytes - bytes) as f64 / span)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate that is shown")]
fn headline(now: &Snapshot, (pages, bytes): (f64, f64)) -> String {
    format!(
        "{} pages  {pages:.1}/s  {}/s  queue {}  active {}  errors {}",
        out::grouped(now.counters.pages),
        out::bytes(bytes as u64),
        out::grouped(now.queued),
        now.active,
        out::grouped(now.counters.errors),
    )
}

fn screen(goal: &Goal, now: &Snapshot, rate: (f64, f64)) -> String {
    let mut lines = vec![
        format!("crawl {}  {}", goal.project, out::seconds(now.counters.seconds.max(now.seconds))),
        format!("  {}", headline(now, rate)),
    ];
    lines.extend(limit(now).map(|limit| format!("  {limit}")));
    lines.push(format!("  {}", hosts(now, 3)));
    lines.extend(times(now).map(|times| format!("  {times}")));
    lines.extend(eta(goal, now).map(|eta| format!("  {eta}")));
    lines.extend(indexing(now).map(|line| format!("  {line}")));
    lines.extend(pause(now).or_else(|| now.schedule.clone()).map(|p| format!("  {p}")));
    lines.join("\n")
}

fn plain(goal: &Goal, now: &Snapshot, rate: (f64, f64)) {
    let mut line = format!("{:>7.1}s  {}", now.seconds, headline(now, rate));
    let paused = pause(now).or_else(|| now.schedule.clone());
    let more = [limit(now), Some(hosts(now, 2)), eta(goal, now), indexing(now), paused];
    for more in more.into_iter().flatten() {
        line.push_str("  ");
        line.push_str(&more);
    }
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// What keeps it from being faster, in a phrase, and the rate politeness allows.
fn limit(now: &Snapshot) -> Option<String> {
    let facts = now.facts.as_ref()?;
    let first = facts.advice().into_iter().next().filter(|a| a.share > 0.0 && now.pause.is_none());
    let allowed = facts.allowed.filter(|rate| *rate > 0.0).map(|rate| format!("politeness allows {rate:.1}/s"));
    let parts: Vec<String> = first.map(|a| format!("limit: {}", a.phrase)).into_iter().chain(allowed).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The recent mean durations of the stages of a page's life.
fn times(now: &Snapshot) -> Option<String> {
    let tally = &now.facts.as_ref()?.recent.tally;
    let shown = [Stage::Dns, Stage::Connect, Stage::Tls, Stage::Wait, Stage::Body, Stage::Read];
    let shown = shown.iter().map(|s| (s.name(), tally.stage(*s))).filter(|(_, spread)| spread.count > 0);
    let mut parts: Vec<String> = shown.map(|(name, spread)| format!("{name} {}", out::brief(spread.mean()))).collect();
    let commit = [Stage::Archive, Stage::Catalogue, Stage::Index].map(|s| tally.stage(s).mean()).iter().sum::<f64>();
    if commit > 0.0 {
        parts.push(format!("commit {}", out::brief(commit)));
    }
    (!parts.is_empty()).then(|| format!("times: {}", parts.join(", ")))
}

/// The number of active hosts, and the main reasons why others are not.
fn hosts(now: &Snapshot, most: usize) -> String {
    let mut text = format!("hosts: {} active", out::grouped(now.waiting.active as u64));
    for (why, hosts, example) in now.waiting.reasons.iter().take(most) {
        text.push_str(&format!(", {} {why} ({})", out::grouped(*hosts as u64), out::clip(example, 40)));
    }
    text
}

/// When the budget will be exhausted, at the rate so far.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn eta(goal: &Goal, now: &Snapshot) -> Option<String> {
    let done = &now.counters;
    let spent = done.seconds.max(now.seconds);
    let share = |part: f64, whole: f64| (part / whole.max(1.0)).min(1.0);
    let shares = [
        goal.pages.map(|max| (share(done.pages as f64, max as f64), format!("{} pages", out::grouped(max)))),
        goal.bytes.map(|max| (share(done.bytes as f64, max as f64), out::bytes(max))),
        goal.seconds.map(|max| (share(spent, max), out::seconds(max))),
    ];
    let (share, budget) = shares.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0))?;
    if share <= 0.0 {
        return None;
    }
    Some(format!("{:.0} % of {budget}, {} left", share * 100.0, out::seconds(spent * (1.0 - share) / share)))
}

/// How far the index has come with reading what it lacks from the archive.
fn indexing(now: &Snapshot) -> Option<String> {
    now.indexing.map(|(done, all)| format!("indexing {} of {} pages", out::grouped(done), out::grouped(all)))
}

fn pause(now: &Snapshot) -> Option<String> {
    now.pause.map(|why| format!("PAUSED: {}", why.text()))
}
