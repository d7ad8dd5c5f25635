//! What do pages cost in a project that has grown this far?

use crate::crawler::{Crawler, Shape, spent};
use orb_store::{Home, Project};
use rustix::time::ClockId;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ORDINARY: Shape = Shape { links: 45, new: 5 };
const RICH: Shape = Shape { links: 60, new: 40 };
const MILLION: u64 = 1_000_000;
const SEEDS: u64 = 20_000;

/// A project and its crawler.
pub(crate) struct Grown {
    project: Project,
    crawler: Crawler,
    dir: PathBuf,
    /// Time spent on compaction and the number of URLs known at the last size, and the cost per URL
    /// since.
    merged: (Duration, u64),
    merging: f64,
}

/// The cost of some pages.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    pages: u64,
    cpu: Duration,
    /// Time of threads other than the committing and the compacting ones.
    moving: Duration,
    /// Time spent on reading queues, looking up keys, and committing.
    parts: [Duration; 3],
    written: u64,
    /// Bytes read from disk.
    from_disk: u64,
    read: u64,
}

/// The cost per ordinary page at one size.
pub(crate) struct Figures {
    pub(crate) known: u64,
    cost: Cost,
    /// Microseconds of compaction.
    merging: f64,
    rss: u64,
    peak: u64,
    files: [u64; 2],
}

impl Grown {
    /// Opens the project in a home, or creates it.
    pub(crate) fn open(home: &Path) -> Self {
        let dir = Home::open(home).unwrap().project("grown").unwrap();
        let begun = (Instant::now(), spent(ClockId::ProcessCPUTime));
        let mut project = Project::open(&dir).unwrap();
        let (took, worked) = (begun.0.elapsed(), spent(ClockId::ProcessCPUTime) - begun.1);
        let (known, took, worked) = (project.urls_known(), took.as_secs_f64(), worked.as_secs_f64());
        eprintln!("opened with {known} known in {took:.1} s, {worked:.1} s of work");
        let crawler = Crawler::new(&mut project, SEEDS);
        let mut grown = Self { project, crawler, dir: dir.dir, merged: (Duration::ZERO, 0), merging: 0.0 };
        // The tables in memory are warmed piece by piece after a start.
        for _ in 0..known.div_ceil(900_000) {
            grown.crawler.visit_batch(&mut grown.project, ORDINARY);
        }
        grown.merged = (merging(), grown.known());
        grown
    }

    pub(crate) fn known(&self) -> u64 {
        self.project.urls_known()
    }

    /// Visits pages until this many URLs are known.
    pub(crate) fn grow_to(&mut self, size: u64) {
        let begun = Instant::now();
        while self.known() < size {
            let shape = if self.known() < MILLION { ORDINARY } else { RICH };
            self.crawler.visit_batch(&mut self.project, shape);
        }
        eprintln!("grown to {size} in {:.0} s", begun.elapsed().as_secs_f64());
        // Background work left by the growth must not count towards the measured pages.
        settle();
        self.share_out();
        for _ in 0..2 {
            self.crawler.visit_batch(&mut self.project, ORDINARY);
        }
    }

    /// Measures a window of ordinary pages.
    pub(crate) fn measure(&mut self, window: Option<u64>) -> Figures {
        let known = self.known();
        let pages = window.unwrap_or((known / 200).max(100_000));
        let cost = self.spell(pages.div_ceil(1_000));
        eprintln!("{:.2} pages read from queues for one visited", cost.read as f64 / cost.pages as f64);
        self.figures(known, &cost)
    }

    /// Visits this many batches of ordinary pages.
    pub(crate) fn spell(&mut self, batches: u64) -> Cost {
        let reckoned = |crawler: &Crawler| {
            let (all, own) = (spent(ClockId::ProcessCPUTime), spent(ClockId::ThreadCPUTime));
            (all - own - crawler.elsewhere - merging(), own - crawler.made_up, crawler.parts, crawler.read, traffic())
        };
        let before = reckoned(&self.crawler);
        for _ in 0..batches {
            self.crawler.visit_batch(&mut self.project, ORDINARY);
        }
        let busy = reckoned(&self.crawler);
        settle();
        let after = reckoned(&self.crawler);
        Cost {
            pages: batches * 1_000,
            cpu: busy.1 - before.1,
            moving: after.0.saturating_sub(before.0),
            parts: std::array::from_fn(|i| busy.2[i] - before.2[i]),
            written: after.4.0 - before.4.0,
            from_disk: after.4.1 - before.4.1,
            read: busy.3 - before.3,
        }
    }

    /// Distributes the compaction time since the last size over the URLs found since then.
    fn share_out(&mut self) {
        let (now, known) = (merging(), self.known());
        let found = (known - self.merged.1).max(1);
        self.merging = now.saturating_sub(self.merged.0).as_secs_f64() * 1e6 / found as f64;
        self.merged = (now, known);
    }

    /// What a page cost, and what the process and its files take now.
    pub(crate) fn figures(&self, known: u64, cost: &Cost) -> Figures {
        Figures {
            known,
            cost: *cost,
            merging: self.merging * ORDINARY.new as f64,
            rss: status("VmRSS:"),
            peak: status("VmHWM:"),
            files: [size_of(&self.dir.join("crawl.db")), size_of(&self.dir.join("frontier"))],
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, more: Self) {
        self.pages += more.pages;
        self.cpu += more.cpu;
        self.moving += more.moving;
        self.parts = std::array::from_fn(|i| self.parts[i] + more.parts[i]);
        self.written += more.written;
        self.from_disk += more.from_disk;
        self.read += more.read;
    }
}

impl Figures {
    pub(crate) const HEADS: &str = "| known URLs | CPU µs a page | of it queues | looking up | committing | moving the log | merging | written kB a page | from the disk | RSS MB | peak MB | crawl.db MB | frontier MB |
|---|---|---|---|---|---|---|---|---|---|---|---|---|";

    /// Microseconds per page.
    fn of(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e6 / self.cost.pages as f64
    }

    /// CPU time per page, in microseconds.
    pub(crate) fn cpu(&self) -> f64 {
        self.of(self.cost.cpu + self.cost.moving) + self.merging
    }

    /// Bytes written per page.
    pub(crate) fn written(&self) -> f64 {
        self.cost.written as f64 / self.cost.pages as f64
    }

    /// Peak memory of the process so far, in megabytes.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [queues, looking, committing] = self.cost.parts.map(|part| self.of(part));
        let (cpu, moving, merging, kb) = (self.cpu(), self.of(self.cost.moving), self.merging, self.written() / 1e3);
        let disk = self.cost.from_disk as f64 / self.cost.pages as f64 / 1e3;
        let [catalogue, frontier] = self.files.map(|n| n / 1_000_000);
        write!(
            f,
            "| {} | {cpu:.1} | {queues:.1} | {looking:.1} | {committing:.1} | {moving:.1} | {merging:.1} | {kb:.1} | {disk:.1} | {} | {} | {catalogue} | {frontier} |",
            self.known, self.rss, self.peak
        )
    }
}

/// CPU time of the index's compaction threads: they live as long as it does, and are named after
/// its library.
fn merging() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let read = |thread: &Path, file: &str| std::fs::read_to_string(thread.join(file)).unwrap_or_default();
    let mergers = threads.filter(|thread| read(thread, "comm").starts_with("fjall"));
    let nanos = |text: String| text.split(' ').next().and_then(|spent| spent.parse().ok()).unwrap_or(0);
    Duration::from_nanos(mergers.map(|thread| nanos(read(&thread, "schedstat"))).sum())
}

/// Waits until the background threads are idle.
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

/// Bytes this process has written to disk and read from it.
fn traffic() -> (u64, u64) {
    (field("/proc/self/io", "write_bytes:"), field("/proc/self/io", "read_bytes:"))
}

fn status(name: &str) -> u64 {
    field("/proc/self/status", name) * 1_024 / 1_000_000
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
