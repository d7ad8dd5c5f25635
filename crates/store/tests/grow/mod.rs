//! How is a project grown from a generated web, so that stores can be compared, broken and
//! examined?
//!
//! Page `n` links to pages by arithmetic on `n`, so every crawl of the same seed finds the same
//! pages, in whatever batches.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, reason = "it is part of tests")]

use orb_page::{
    Body, Discovered, Flag, HostId, LinkKind, Links, Moment, PageId, PageKind, Pictured, RunId, RunKind, SkipReason,
    UrlKey, Visit,
};
use orb_store::{
    Batch, CounterDelta, DroppedPage, Encoded, Encoder, Exchange, FinishedVisit, HostFact, NewHost, Project,
    QueueLengths as _, QueuePlace, Queued, Queues, RobotsRecord,
};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Number of pages in the generated web.
pub const PAGES: u64 = 400;

pub fn host_of(n: u64) -> String {
    format!("h{}.test", n % 7)
}

pub fn url_of(n: u64) -> String {
    format!("http://{}/p/{n}", host_of(n))
}

pub fn number_of(url: &str) -> u64 {
    url.rsplit('/').next().and_then(|s| s.parse().ok()).unwrap_or(0)
}

/// The pages a page links to.
pub fn links_of(n: u64) -> Vec<u64> {
    (1..=8).map(|k| (n * 3 + k * k * 5 + 1) % PAGES).collect()
}

/// The content of a page: every tenth duplicates another.
pub fn content_of(n: u64, epoch: u32) -> String {
    let n = if n % 10 == 6 { n - 1 } else { n };
    format!("<html><title>Page {n}</title><p>{}</p>", format!("words of {n} in {epoch} ").repeat(40))
}

pub struct Recorder {
    pub project: Project,
    pub run: RunId,
    pub epoch: u32,
    encoder: Encoder,
    by: Arc<str>,
}

impl Recorder {
    /// Resumes the open run, or begins one with its seed.
    pub fn new(mut project: Project) -> Self {
        let open = project.open_run().unwrap();
        let run = match open {
            Some(run) => run.id,
            None => project.begin_run(RunKind::Crawl, "{}").unwrap(),
        };
        let mut recorder = Self { project, run, epoch: 0, encoder: Encoder::default(), by: "tester".into() };
        if recorder.project.urls_known() == 0 {
            let mut batch = recorder.empty();
            let mut names = Names::default();
            recorder.discover(&mut batch, &mut names, 0, None, 0);
            recorder.commit(&mut batch);
        }
        recorder
    }

    fn empty(&self) -> Batch {
        Batch { run: self.run, counters: CounterDelta::between(&json!({}), &json!({"commits": 1})), ..Batch::default() }
    }

    pub fn commit(&mut self, batch: &mut Batch) {
        self.project.commit(batch).unwrap();
    }

    /// Visits up to `n` queued pages and commits them.
    pub fn step(&mut self, n: usize) -> usize {
        let mut batch = self.prepare(n);
        let visits = batch.visits.len();
        if visits > 0 {
            self.commit(&mut batch);
        }
        visits
    }

    pub fn run_out(&mut self, batch: usize) {
        while self.step(batch) > 0 {}
    }

    /// What the next step would commit.
    pub fn prepare(&mut self, n: usize) -> Batch {
        let index = self.project.queues();
        let mut queued = Vec::new();
        let mut host = HostId(0);
        while let Some(next) = index.next_host(host).unwrap() {
            queued.extend(index.peek(next, None, n).unwrap().into_iter().map(|q| (next, q)));
            host = next;
        }
        queued.sort_by_key(|(_, q)| (q.rank, q.page));
        queued.truncate(n);
        let mut batch = self.empty();
        let mut names = Names::default();
        for (host, q) in queued {
            let n = number_of(&q.url);
            let place = QueuePlace { host, rank: q.rank, page: q.page };
            if n % 50 == 13 {
                batch.dropped.push(DroppedPage { place, kind: PageKind::Disallowed, why: SkipReason::Robots });
                continue;
            }
            let visit = self.visit(&mut batch, &mut names, host, &q);
            batch.finished.push(place);
            batch.facts.push(HostFact { id: host, pages: 1, backoff_ms: Some(n), ..HostFact::default() });
            batch.visits.push(visit);
        }
        if let Some(host) = batch.visits.first().map(|v| v.visit.host) {
            let robots = RobotsRecord { at: Moment(5), status: 200, text: format!("# {}", host.0), crawl_delay: None };
            batch.facts.push(HostFact { id: host, robots: Some(robots), ..HostFact::default() });
            batch.extra.push(self.encode(&format!("http://{}/robots.txt", host_of(0)), "User-agent: *\n", Moment(1)));
        }
        batch
    }

    fn visit(&mut self, batch: &mut Batch, names: &mut Names, host: HostId, queued: &Queued) -> FinishedVisit {
        let (page, n, depth) = (queued.page, number_of(&queued.url), queued.depth);
        use sha2::Digest;
        let content = content_of(n, self.epoch);
        let digest: [u8; 32] = sha2::Sha256::digest(content.as_bytes()).into();
        let failed = n % 31 == 11;
        let earlier = self.project.digest_first(&digest).unwrap().or_else(|| names.digests.get(&digest).copied());
        let earlier = earlier.filter(|p| *p != page && !failed);
        if earlier.is_none() && !failed {
            names.digests.insert(digest, page);
        }
        let at = Moment(1_700_000_000_000 + i64::try_from(n).unwrap_or(0) * 1_001);
        let (mut targets, mut records) = (Vec::new(), Vec::new());
        let mut links = Links::default();
        if !failed {
            for (i, to) in links_of(n).into_iter().enumerate() {
                targets.push(self.discover(batch, names, to, Some(page), depth + 1));
                let (url, words) = (url_of(to), if i == 0 { String::new() } else { format!("to {to}") });
                links.push(&url, UrlKey::of(&url), if i % 4 == 3 { LinkKind::Img } else { LinkKind::A }, &words);
            }
            records.push(self.encode(&url_of(n), &content, at));
        }
        let visit = Visit {
            depth,
            kind: match (failed, earlier) {
                (true, _) => PageKind::Timeout,
                (_, Some(_)) => PageKind::Duplicate,
                _ => PageKind::Html,
            },
            flag: if failed { Flag::Error } else { Flag::New },
            status: (!failed).then_some(200),
            mime: Some("text/html".to_owned()),
            charset: Some("UTF-8".to_owned()),
            length: content.len() as u64,
            transferred: content.len() as u64,
            digest: (!failed).then_some(digest),
            simhash: Some(u64::MAX - n),
            title: Some(format!("Page {n}")),
            duplicate_of: earlier,
            problem: failed.then(|| "too slow".to_owned()),
            elapsed_ms: 12,
            links,
            images: vec![Pictured {
                url: url_of(n) + ".png",
                alt: Some("a".into()),
                width: Some(1),
                height: None,
                mime: None,
            }],
            ..Visit::blank(page, host, url_of(n), at, self.by.clone())
        };
        FinishedVisit { visit, targets, records }
    }

    /// The number of page `n`, assigned now if it has none.
    fn discover(&mut self, batch: &mut Batch, names: &mut Names, n: u64, from: Option<PageId>, depth: u32) -> PageId {
        let url = url_of(n);
        let key = UrlKey::of(&url);
        if let Some(page) = self.project.pages_of(&[key]).unwrap()[0].or_else(|| names.pages.get(&n).copied()) {
            return page;
        }
        let name = host_of(n);
        let known = self.project.host_id("http", &name, 80).unwrap();
        let host = known.unwrap_or_else(|| {
            *names.hosts.entry(name.clone()).or_insert_with(|| {
                let id = HostId(self.project.next_host_id().0 + u32::try_from(batch.hosts.len()).unwrap());
                batch.hosts.push(NewHost { id, scheme: "http".into(), name: name.clone(), port: 80, at: Moment(3) });
                id
            })
        });
        let page = PageId(self.project.next_page_id().0 + batch.discovered.len() as u64);
        let outside = n % 20 == 19;
        batch.discovered.push(Discovered {
            page,
            url,
            key,
            host,
            kind: if outside { PageKind::Outside } else { PageKind::Frontier },
            why: outside.then_some(SkipReason::Scope),
            depth,
            redirects: 1,
            priority: 0.25,
            rank: u64::from(depth),
            at: Moment(1_700_000_000_123),
            by: self.by.clone(),
            step: None,
            asked: None,
            from,
        });
        names.pages.insert(n, page);
        page
    }

    pub fn encode(&mut self, url: &str, content: &str, at: Moment) -> Encoded {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
            content.len()
        );
        let exchange = Exchange {
            url,
            key: &orb_urls::surt::cdx_key(url),
            at,
            recorded_as: orb_store::RecordedAs::Response,
            request_head: b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            head: head.as_bytes(),
            wire: &Body::Memory(content.to_owned().into()),
            digest: None,
            truncated: None,
            ip: Some([127, 0, 0, 1].into()),
            revisit: None,
        };
        self.encoder.exchange(&exchange).unwrap()
    }
}

/// The visits of a batch and what they found, without records, for another commit.
pub fn again(batch: &Batch) -> Batch {
    let visits = batch.visits.iter().map(|v| FinishedVisit::unarchived(v.visit.clone(), v.targets.clone()));
    Batch {
        run: batch.run,
        visits: visits.collect(),
        dropped: batch.dropped.clone(),
        finished: batch.finished.clone(),
        facts: batch.facts.clone(),
        counters: batch.counters.clone(),
        ..Batch::default()
    }
}

#[derive(Default)]
struct Names {
    pages: HashMap<u64, PageId>,
    hosts: HashMap<String, HostId>,
    digests: HashMap<[u8; 32], PageId>,
}

/// Everything a reader of the index can see, as text.
pub fn render(project: &Project) -> String {
    use std::fmt::Write as _;
    let index = project.queues();
    let mut out = format!("queued {} known {}\n", index.queued(), project.urls_known());
    for n in 0..PAGES {
        let page = project.pages_of(&[UrlKey::of(&url_of(n))]).unwrap()[0];
        let digest: [u8; 32] =
            sha2::Digest::finalize(sha2::Digest::chain_update(<sha2::Sha256 as sha2::Digest>::new(), content_of(n, 0)))
                .into();
        let _ = writeln!(out, "{n} {page:?} {:?}", project.digest_first(&digest).unwrap());
    }
    for h in 0..7 {
        let id = project.host_id("http", &host_of(h), 80).unwrap();
        let _ = writeln!(out, "host {h} {id:?}");
        if let Some(id) = id {
            let _ = writeln!(out, "{:?} queued {}", index.host(id).unwrap(), index.queued_of(id));
            for q in index.peek(id, None, 10_000).unwrap() {
                let _ = writeln!(out, "  {q:?}");
            }
        }
    }
    out
}

/// The pages of the generated web that are reachable from page 0 without passing through one that
/// is never fetched.
pub fn reachable() -> HashSet<u64> {
    let mut seen = HashSet::from([0]);
    let mut todo = vec![0];
    while let Some(n) = todo.pop() {
        if n % 20 == 19 || n % 50 == 13 || n % 31 == 11 {
            continue;
        }
        for to in links_of(n) {
            if seen.insert(to) {
                todo.push(to);
            }
        }
    }
    seen
}
