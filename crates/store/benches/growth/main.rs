//! Does a page cost more when more is known?
//!
//! `cargo bench -p orb-store --bench growth -- [--sizes 1,10,33,50] [--window PAGES] [--home DIR]`: grows one project through the store's own front
//! door to so many million known URLs and measures, at each size, a window of ordinary pages (45 links, 5 of them new, batches of a thousand, hosts in
//! turn; a hundred thousand, or one for every hundred known URLs): processor time a page, bytes handed to the disk, memory. The first million comes from ordinary pages, so that there are as many
//! visits as a crawl has by then; from there on it grows by pages with 40 new links, which leave the same index. With many more, hosts would hardly
//! get on in their queues, and all of them would read on for the first time within one window. No archive is written: its bytes are
//! the pages' own. With `--home` the project stays there, as a process that was killed would leave it, and the next call goes on with it.
//!
//! The index merges its tables in the background, seldom and much at a time: a window would meet such a merge or not. So what its threads
//! spent since the size before is shared out over all URLs found since then, and a page is charged with its new ones. All tables are
//! merged at some 27 and some 55 million. The thread that moves the catalogue's log works several times in a window, and is charged as it is.
//!
//! It fails where the last size costs more than 1.3 times the processor time of the first, a page more than 30 kB, or the process more than 1 GB.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench that cannot go on fails, and prints"
)]

mod crawler;
mod web;

use crawler::{Crawler, Shape, spent};
use orb_store::{Home, Project};
use rustix::time::ClockId;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ORDINARY: Shape = Shape { links: 45, new: 5 };
const MILLION: u64 = 1_000_000;
const RICH: Shape = Shape { links: 60, new: 40 };

/// What the command line asks for.
struct Wish {
    sizes: Vec<u64>,
    window: u64,
    home: Option<PathBuf>,
}

/// The cost of ordinary pages at one size.
struct Figures {
    known: u64,
    cpu: f64,
    /// What of it was spent on merging tables, and on moving the log.
    merging: f64,
    moving: f64,
    /// What of it was spent on reading queues, looking keys up, and committing.
    parts: [f64; 3],
    written: f64,
    rss: u64,
    peak: u64,
    files: [u64; 2],
}

fn main() -> ExitCode {
    let wish = Wish::read();
    let tmp = tempfile::tempdir().unwrap();
    let home = wish.home.clone().unwrap_or_else(|| tmp.path().to_owned());
    let dir = Home::open(&home).unwrap().project("grown").unwrap();
    let begun = Instant::now();
    let mut project = Project::open(&dir).unwrap();
    let (took, known) = (begun.elapsed().as_secs_f64(), project.index().known());
    eprintln!(
        "opened with {known} known in {took:.1} s, {:.1} s of work",
        spent(ClockId::ProcessCPUTime).as_secs_f64()
    );
    let mut crawler = Crawler::new(&mut project, 20_000);
    println!(
        "| known URLs | CPU µs a page | of it queues | looking up | committing | moving the log | merging | written kB a page | RSS MB | peak MB | crawl.db MB | frontier MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut figures = Vec::new();
    // The tables in memory are filled piece by piece after a start.
    for _ in 0..project.index().known().div_ceil(900_000) {
        crawler.visit_batch(&mut project, ORDINARY);
    }
    let mut before = Background::now(&project, &crawler);
    for size in &wish.sizes {
        let begun = Instant::now();
        while project.index().known() < *size {
            let shape = if project.index().known() < MILLION { ORDINARY } else { RICH };
            crawler.visit_batch(&mut project, shape);
        }
        eprintln!("grown to {size} in {:.0} s", begun.elapsed().as_secs_f64());
        let one = measure(&mut project, &mut crawler, (wish.window, &mut before), &dir.dir);
        println!("{one}");
        figures.push(one);
    }
    if wish.home.is_some() {
        // Left as a crash leaves it: neither closed nor fingerprinted.
        std::process::exit(0);
    }
    verdict(&figures)
}

impl Wish {
    fn read() -> Self {
        let mut wish = Self { sizes: vec![1_000_000, 5_000_000], window: 100_000, home: None };
        let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
        while let Some(flag) = args.next() {
            let value = args.next().unwrap_or_default();
            match flag.as_str() {
                "--sizes" => wish.sizes = value.split(',').map(millions).collect(),
                "--window" => wish.window = value.parse().unwrap(),
                "--home" => wish.home = Some(value.into()),
                _ => panic!("unknown flag {flag}"),
            }
        }
        wish
    }
}

fn millions(text: &str) -> u64 {
    (text.parse::<f64>().unwrap() * 1e6) as u64
}

/// What the threads in the background have spent, and how many URLs were known then.
struct Background {
    merging: Duration,
    others: Duration,
    known: u64,
}

impl Background {
    fn now(project: &Project, crawler: &Crawler) -> Self {
        let merging = merging();
        let others = spent(ClockId::ProcessCPUTime).saturating_sub(spent(ClockId::ThreadCPUTime));
        Self { merging, others: others.saturating_sub(crawler.elsewhere + merging), known: project.index().known() }
    }
}

/// What the threads of the index that merge tables have spent: they live as long as it does, and are named after its library.
fn merging() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let read = |thread: &Path, file: &str| std::fs::read_to_string(thread.join(file)).unwrap_or_default();
    let mergers = threads.filter(|thread| read(thread, "comm").starts_with("fjall"));
    let nanos = |text: String| text.split(' ').next().and_then(|spent| spent.parse().ok()).unwrap_or(0);
    Duration::from_nanos(mergers.map(|thread| nanos(read(&thread, "schedstat"))).sum())
}

/// Visits ordinary pages until what the growth has left to be tidied up is done, and then measures a window of them.
fn measure(
    project: &mut Project,
    crawler: &mut Crawler,
    (window, before): (u64, &mut Background),
    dir: &Path,
) -> Figures {
    settle();
    for _ in 0..2 {
        crawler.visit_batch(project, ORDINARY);
    }
    let beside = Background::now(project, crawler).others;
    let begun = (spent(ClockId::ThreadCPUTime), crawler.made_up, written(), crawler.parts);
    let read = crawler.read;
    let known = project.index().known();
    let batches = window.max(known / 100).div_ceil(1_000);
    for _ in 0..batches {
        crawler.visit_batch(project, ORDINARY);
    }
    let cpu = spent(ClockId::ThreadCPUTime) - begun.0 - (crawler.made_up - begun.1);
    let parts = std::array::from_fn(|i| (crawler.parts[i] - begun.3[i]).as_secs_f64() * 1e6 / (batches * 1_000) as f64);
    settle();
    let after = Background::now(project, crawler);
    let pages = (batches * 1_000) as f64;
    let moving = after.others.saturating_sub(beside).as_secs_f64() * 1e6 / pages;
    let merging =
        after.merging.saturating_sub(before.merging).as_secs_f64() * 1e6 / (after.known - before.known) as f64;
    let merging = merging * ORDINARY.new as f64;
    *before = after;
    eprintln!("{:.2} pages read from queues for one visited", (crawler.read - read) as f64 / pages);
    Figures {
        known,
        cpu: cpu.as_secs_f64() * 1e6 / pages + moving + merging,
        merging,
        moving,
        parts,
        written: (written() - begun.2) as f64 / pages,
        rss: status("VmRSS:"),
        peak: status("VmHWM:"),
        files: [size_of(&dir.join("crawl.db")), size_of(&dir.join("frontier"))],
    }
}

/// Waits until the threads in the background have nothing left to do.
fn settle() {
    let mut before = spent(ClockId::ProcessCPUTime);
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = spent(ClockId::ProcessCPUTime);
        if now - before < Duration::from_millis(5) {
            return;
        }
        before = now;
    }
}

/// Bytes this process has handed to the disk.
fn written() -> u64 {
    field("/proc/self/io", "write_bytes:")
}

fn status(name: &str) -> u64 {
    field("/proc/self/status", name) / 1024
}

fn field(file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn size_of(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return std::fs::metadata(path).map_or(0, |m| m.len()) };
    entries.flatten().map(|e| size_of(&e.path())).sum()
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (cpu, kb, [catalogue, frontier]) = (self.cpu, self.written / 1e3, self.files.map(|n| n / 1_000_000));
        let (moving, merging, [queues, looking, committing]) = (self.moving, self.merging, self.parts);
        write!(
            f,
            "| {} | {cpu:.1} | {queues:.1} | {looking:.1} | {committing:.1} | {moving:.1} | {merging:.1} | {kb:.1} | {} | {} | {catalogue} | {frontier} |",
            self.known, self.rss, self.peak
        )
    }
}

/// Whether the promises hold.
fn verdict(figures: &[Figures]) -> ExitCode {
    let (Some(first), Some(last)) = (figures.first(), figures.last()) else { return ExitCode::FAILURE };
    let ratio = last.cpu / first.cpu;
    let written = figures.iter().map(|f| f.written).fold(0.0, f64::max);
    let peak = figures.iter().map(|f| f.peak).max().unwrap_or(0);
    let good = ratio <= 1.3 && written <= 30_000.0 && peak < 1_000;
    println!("\nCPU a page at {} known URLs is {ratio:.2} times that at {}: ", last.known, first.known);
    println!("{}", if good { "within the bounds" } else { "OUT OF BOUNDS (1.3 times, 30 kB a page, 1 GB)" });
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
