//! What does a page cost in the store?
//!
//! `cargo bench -p orb-store --bench commit -- [PAGES] [NEW] [BATCH]`: commits PAGES pages of 40
//! links each, NEW of them to unknown URLs, BATCH pages per commit, including the archive, and
//! prints the CPU time per page for each step; then opens the project without its index. Records
//! are encoded beforehand, as the crawl does in other threads; the bench `encode` measures that.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails, and prints")]

use orb_page::{Body, Discovered, HostId, LinkKind, Links, Moment, PageId, PageKind, RunKind, UrlKey, Visit};
use orb_store::{Batch, Encoder, Exchange, FinishedVisit, Home, HostFact, NewHost, Project, QueuePlace};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LINKS: u64 = 40;
const HOSTS: u64 = 200;

fn main() {
    let arguments: Vec<u64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (pages, new, batch) =
        (argument(&arguments, 0, 20_000), argument(&arguments, 1, 5), argument(&arguments, 2, 1_000));
    let tmp = tempfile::tempdir().unwrap();
    let dir = Home::open(tmp.path()).unwrap().project("bench").unwrap();
    let mut project = Project::open(&dir).unwrap();
    let run = project.begin_run(RunKind::Crawl, "{}").unwrap();
    let mut world = World::new(&mut project, run);
    let mut spent = Spent::default();
    let start = Instant::now();
    for first in (0..pages).step_by(usize::try_from(batch).unwrap()) {
        let (mut b, lookups) = world.batch(&project, first, batch.min(pages - first), new);
        spent.seen += lookups;
        b.visits.iter_mut().for_each(|visit| visit.records.push(world.record()));
        let before = cpu();
        project.commit(&mut b).unwrap();
        spent.commit += cpu() - before;
    }
    let per = |d: Duration| d.as_secs_f64() * 1e6 / pages as f64;
    println!("{pages} pages, {LINKS} links each, {new} new, batches of {batch}: known URLs {}", project.urls_known());
    println!(
        "commit  {:6.1} µs CPU a page (all threads), seen test {:.1} µs a page",
        per(spent.commit),
        per(spent.seen)
    );
    println!(
        "wall    {:6.1} s, peak RSS {} MB, queued {}",
        start.elapsed().as_secs_f64(),
        peak_rss(),
        project.queued()
    );
    let known = project.urls_known();
    project.close().unwrap();
    std::fs::remove_dir_all(dir.frontier()).unwrap();
    let start = Instant::now();
    let project = Project::open(&dir).unwrap();
    let rate = known as f64 / start.elapsed().as_secs_f64();
    println!("rebuild {:6.2} s, {rate:.0} URLs/s, {:?}", start.elapsed().as_secs_f64(), project.start().index);
    drop(project);
    let start = Instant::now();
    let project = Project::open(&dir).unwrap();
    println!(
        "reopen  {:6.2} s, {:?}, peak RSS {} MB",
        start.elapsed().as_secs_f64(),
        project.start().index,
        peak_rss()
    );
    drop(project);
    let size = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().len() as f64 / pages as f64;
    println!("crawl.db {:.0} bytes a page", size(dir.catalogue()));
}

fn argument(list: &[u64], i: usize, default: u64) -> u64 {
    list.get(i).copied().unwrap_or(default)
}

#[derive(Default)]
struct Spent {
    commit: Duration,
    seen: Duration,
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

fn peak_rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) / 1024
}

struct World {
    run: orb_page::RunId,
    by: Arc<str>,
    encoder: Encoder,
    html: Body,
    next_url: u64,
}

impl World {
    fn new(project: &mut Project, run: orb_page::RunId) -> Self {
        let mut batch = Batch { run, ..Batch::default() };
        for h in 1..=HOSTS {
            let id = HostId(u32::try_from(h).unwrap());
            batch.hosts.push(NewHost {
                id,
                scheme: "http".into(),
                name: format!("host{h}.example.com"),
                port: 80,
                at: Moment(1),
            });
        }
        let by: Arc<str> = "bench".into();
        // Enough queued pages for the first batches.
        let mut world = Self { run, by, encoder: Encoder::default(), html: Body::Memory(html().into()), next_url: 0 };
        for page in 1..=2_000 {
            let d = world.discovered(page, None);
            batch.discovered.push(d);
        }
        project.commit(&mut batch).unwrap();
        world
    }

    fn discovered(&mut self, page: u64, from: Option<PageId>) -> Discovered {
        self.next_url += 1;
        let host = HostId(u32::try_from(self.next_url % HOSTS + 1).unwrap());
        let url = url_of(self.next_url);
        Discovered {
            page: PageId(page),
            key: UrlKey::of(&url),
            url,
            host,
            kind: PageKind::Frontier,
            why: None,
            depth: 3,
            redirects: 0,
            priority: 0.5,
            rank: page,
            at: Moment(1_700_000_000_000),
            by: self.by.clone(),
            step: None,
            asked: None,
            from,
        }
    }

    /// A batch of visits to pages `first + 1 ..`, and the duration of the seen tests.
    fn batch(&mut self, project: &Project, first: u64, count: u64, new: u64) -> (Batch, Duration) {
        let mut batch = Batch { run: self.run, ..Batch::default() };
        for n in first..first + count {
            let page = PageId(n + 1);
            let host = HostId(u32::try_from((n + 1) % HOSTS + 1).unwrap());
            let mut urls: Vec<String> =
                (0..LINKS - new).map(|k| url_of(mix(n * LINKS + k) % self.next_url + 1)).collect();
            let known = project.next_page_id().0 + batch.discovered.len() as u64;
            for k in 0..new {
                let d = self.discovered(known + k, Some(page));
                urls.push(d.url.clone());
                batch.discovered.push(d);
            }
            let keys: Vec<UrlKey> = urls.iter().map(|u| UrlKey::of(u)).collect();
            let visit = self.visit(page, host, &urls, &keys);
            batch.visits.push(FinishedVisit::unarchived(visit, Vec::new()));
            batch.finished.push(QueuePlace { host, rank: page.0, page });
        }
        let keys: Vec<Vec<UrlKey>> =
            batch.visits.iter().map(|v| v.visit.links.iter().map(|l| l.key).collect()).collect();
        let before = cpu();
        let seen: Vec<_> = keys.iter().map(|keys| project.pages_of(keys).unwrap()).collect();
        let lookups = cpu() - before;
        for (FinishedVisit { visit, targets, .. }, seen) in batch.visits.iter_mut().zip(seen) {
            let links = seen.iter().zip(&visit.links);
            targets.extend(links.map(|(id, l)| id.unwrap_or_else(|| PageId(number_of(visit.links.url(l))))));
        }
        for h in 1..=HOSTS {
            let id = HostId(u32::try_from(h).unwrap());
            batch.facts.push(HostFact { id, pages: count / HOSTS, ..HostFact::default() });
        }
        (batch, lookups)
    }

    fn visit(&self, page: PageId, host: HostId, urls: &[String], keys: &[UrlKey]) -> Visit {
        let mut links = Links::default();
        for (url, key) in urls.iter().zip(keys) {
            links.push(url, *key, LinkKind::A, "some words of a link");
        }
        Visit {
            depth: 3,
            kind: PageKind::Html,
            status: Some(200),
            mime: Some("text/html".into()),
            charset: Some("UTF-8".into()),
            length: 20_000,
            transferred: 20_000,
            digest: Some(std::array::from_fn(|i| (mix(page.0) >> (i % 8 * 8)) as u8)),
            simhash: Some(mix(page.0)),
            title: Some("A title of some length, as pages have".into()),
            lang: Some("en".into()),
            elapsed_ms: 12,
            links,
            ..Visit::blank(page, host, url_of(page.0), Moment(1_700_000_000_000), self.by.clone())
        }
    }

    fn record(&mut self) -> orb_store::Encoded {
        let exchange = Exchange {
            url: "http://host1.example.com/",
            key: "com,example,host1)/",
            at: Moment(1_700_000_000_000),
            recorded_as: orb_store::RecordedAs::Response,
            request_head: b"GET / HTTP/1.1\r\nHost: host1.example.com\r\n\r\n",
            head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            wire: &self.html,
            digest: Some([7; 32]),
            truncated: None,
            ip: None,
            revisit: None,
        };
        self.encoder.exchange(&exchange).unwrap()
    }
}

fn url_of(n: u64) -> String {
    format!("http://host{}.example.com/some/path/to/page-{n}.html", n % HOSTS + 1)
}

fn number_of(url: &str) -> u64 {
    url.rsplit('-').next().and_then(|s| s.strip_suffix(".html")).and_then(|s| s.parse().ok()).unwrap()
}

/// A pseudo-random number (SplitMix64).
fn mix(n: u64) -> u64 {
    let z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 5 kB, so that encoding does not dominate the measurement.
fn html() -> String {
    (0..100).map(|n| format!("<p>{} <a href=/{n}>words</a> of a page</p>", mix(n))).collect()
}
