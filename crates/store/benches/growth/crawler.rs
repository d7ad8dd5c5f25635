//! Who visits the pages?
//!
//! What recorder and frontier do to the store, and nothing else: pages are taken from the queues of
//! many hosts in turn, their links looked up, new ones numbered, and a thousand visits committed
//! together. Generating and discarding data is not counted. Another thread generates it, as reading
//! threads do, so that the store's own memory is not interleaved with theirs.

use crate::web::{host_of, is_outside, mix, name_of, opens_host, url_of, words};
use orb_page::{
    Discovered, HostId, LinkKind, Links, Moment, PageId, PageKind, RunId, RunKind, SkipReason, UrlKey, Visit,
};
use orb_store::{Batch, FinishedVisit, HostFact, NewHost, Project, QueuePlace, Queued, Queues as _};
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Pages per commit, as in the recorder.
const BATCH: u64 = 1_000;
const ROWS: u64 = 100_000;
/// Hosts served in turn, and pages read from a queue at once, as in the frontier.
const WORKBENCH: usize = 5_000;
const REFILL: usize = 32;
/// Links that every page of a host has: to the first pages of its host.
const NAVIGATION: usize = 16;

/// The shape of pages: their links, and how many of these are new.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) links: u64,
    pub(crate) new: u64,
}

/// A crawl of the generated web.
pub(crate) struct Crawler {
    run: RunId,
    by: Arc<str>,
    turn: VecDeque<Site>,
    cursor: HostId,
    /// The first pages of each host, by its number, in as little memory as possible, since it is
    /// not the store's.
    first_pages: Vec<[u32; NAVIGATION]>,
    /// Time this thread spent generating data.
    pub(crate) made_up: Duration,
    /// Time other threads spent on it.
    pub(crate) elsewhere: Duration,
    /// Pages read from queues.
    pub(crate) read: u64,
    /// Time spent on reading queues, looking up keys, and committing.
    pub(crate) parts: [Duration; 3],
}

/// A host in its turn: the pages read from its queue, and the last of them.
type Site = (HostId, VecDeque<Queued>, Option<(u64, PageId)>);

/// CPU time of a clock.
pub(crate) fn spent(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

impl Crawler {
    /// Resumes a project that a killed process left, or plants the first pages of a new one.
    pub(crate) fn new(project: &mut Project, seeds: u64) -> Self {
        if let Some(run) = project.open_run().unwrap() {
            let mut crawler = Self::of_run(run.id);
            for n in 1..project.next_page_id().0 {
                crawler.note_first(host_of(PageId(n)), PageId(n));
            }
            return crawler;
        }
        // The project's own settings, if any, so that a crawl resumes under the same ones.
        let settings = std::fs::read_to_string(project.dir().settings()).unwrap_or_default();
        let run = project.begin_run(RunKind::Crawl, &settings).unwrap();
        let mut crawler = Self::of_run(run);
        let mut batch = Batch { run, ..Batch::default() };
        for n in 1..=seeds {
            crawler.discover(&mut batch, PageId(n), None);
        }
        project.commit(&mut batch).unwrap();
        crawler
    }

    fn of_run(run: RunId) -> Self {
        Self {
            run,
            by: "bench".into(),
            turn: VecDeque::new(),
            cursor: HostId(0),
            first_pages: Vec::new(),
            made_up: Duration::ZERO,
            elsewhere: Duration::ZERO,
            read: 0,
            parts: [Duration::ZERO; 3],
        }
    }

    /// Visits a thousand pages, or as many as make a hundred thousand links.
    pub(crate) fn visit_batch(&mut self, project: &mut Project, shape: Shape) {
        // No more rows than the recorder commits together.
        let pages = BATCH.min(ROWS / shape.links);
        let first = spent(ClockId::ThreadCPUTime);
        let leased: Vec<(HostId, Queued)> = (0..pages).filter_map(|_| self.lease(project)).collect();
        let begun = spent(ClockId::ThreadCPUTime);
        self.parts[0] += begun - first;
        let known = project.next_page_id().0;
        let making = std::thread::scope(|scope| scope.spawn(|| self.make_up(&leased, known, shape)).join());
        let (mut batch, keys) = making.unwrap();
        let made = spent(ClockId::ThreadCPUTime);
        self.made_up += made - begun;
        for (FinishedVisit { visit, targets, .. }, keys) in batch.visits.iter().zip(&keys) {
            assert_eq!(project.digest_first(&visit.digest.unwrap()).unwrap(), None);
            for new in visit.links.iter().zip(targets).filter(|(_, page)| page.0 >= known).map(|(_, page)| *page) {
                let host = project.host_id("http", &name_of(host_of(new)), 80).unwrap();
                assert!(host.is_none_or(|host| host == host_of(new)));
            }
            let seen = project.pages_of(keys).unwrap();
            assert!(seen.iter().zip(targets).all(|(seen, page)| *seen == (page.0 < known).then_some(*page)));
        }
        let looked = spent(ClockId::ThreadCPUTime);
        project.commit(&mut batch).unwrap();
        let begun = spent(ClockId::ThreadCPUTime);
        self.parts[1] += looked - made;
        self.parts[2] += begun - looked;
        drop((batch, keys, leased));
        self.made_up += spent(ClockId::ThreadCPUTime) - begun;
    }

    /// A batch of visits to these pages, and the keys of their links.
    fn make_up(&mut self, leased: &[(HostId, Queued)], known: u64, shape: Shape) -> (Batch, Vec<Vec<UrlKey>>) {
        let mut batch = Batch { run: self.run, ..Batch::default() };
        let mut facts: BTreeMap<HostId, u64> = BTreeMap::new();
        for (host, queued) in leased {
            *facts.entry(*host).or_default() += 1;
            let targets = self.targets(&mut batch, queued.page, *host, known, shape);
            let visit = self.visit(*host, queued, &targets);
            batch.visits.push(FinishedVisit::unarchived(visit, targets));
            batch.finished.push(QueuePlace { host: *host, rank: queued.rank, page: queued.page });
        }
        batch.facts.extend(facts.into_iter().map(|(id, pages)| HostFact { id, pages, ..HostFact::default() }));
        let keys = batch.visits.iter().map(|v| v.visit.links.iter().map(|l| l.key).collect()).collect();
        self.elsewhere += spent(ClockId::ThreadCPUTime);
        (batch, keys)
    }

    /// The next page of the next host.
    fn lease(&mut self, project: &Project) -> Option<(HostId, Queued)> {
        let index = project.queues();
        loop {
            if self.turn.len() < WORKBENCH
                && let Some(host) = index.next_host(self.cursor).unwrap()
            {
                self.cursor = host;
                self.turn.push_back((host, VecDeque::new(), None));
            }
            let (host, mut pages, mut after) = match self.turn.pop_front() {
                Some(turn) => turn,
                None if self.cursor.0 > 0 => {
                    self.cursor = HostId(0);
                    continue;
                }
                None => return None,
            };
            if pages.is_empty() {
                // Hosts come in at all times, so their queues are not all read at once.
                let limit = if after.is_none() { 1 + host.0 as usize % REFILL } else { REFILL };
                pages.extend(index.peek(host, after, limit).unwrap());
                self.read += pages.len() as u64;
            }
            // A host whose queue is exhausted comes again when all others have had their turn.
            let Some(page) = pages.pop_front() else { continue };
            after = Some((page.rank, page.page));
            self.turn.push_back((host, pages, after));
            return Some((host, page));
        }
    }

    /// The targets of a page: the first pages of its host, random known ones, and new ones.
    fn targets(&mut self, batch: &mut Batch, page: PageId, host: HostId, known: u64, shape: Shape) -> Vec<PageId> {
        let first = self.first_pages.get(host.0 as usize).into_iter().flatten();
        let mut targets: Vec<PageId> = first.filter(|page| **page > 0).map(|page| PageId(u64::from(*page))).collect();
        let old = shape.links - shape.new;
        targets.truncate(usize::try_from(old).unwrap());
        for k in targets.len() as u64..old {
            targets.push(PageId(1 + mix(page.0 << 8 | k) % (known - 1)));
        }
        for _ in 0..shape.new {
            let new = PageId(known + batch.discovered.len() as u64);
            self.discover(batch, new, Some(page));
            targets.push(new);
        }
        targets
    }

    fn discover(&mut self, batch: &mut Batch, page: PageId, from: Option<PageId>) {
        let (host, url, at) = (host_of(page), url_of(page), Moment(1_700_000_000_000));
        if opens_host(page) {
            batch.hosts.push(NewHost { id: host, scheme: "http".into(), name: name_of(host), port: 80, at });
        }
        self.note_first(host, page);
        let outside = is_outside(page);
        batch.discovered.push(Discovered {
            page,
            key: UrlKey::of(&url),
            url,
            host,
            kind: if outside { PageKind::Outside } else { PageKind::Frontier },
            why: outside.then_some(SkipReason::Scope),
            depth: 3,
            redirects: 0,
            priority: 0.5,
            rank: 3 << 48 | page.0,
            at,
            by: self.by.clone(),
            step: None,
            asked: None,
            from,
        });
    }

    fn note_first(&mut self, host: HostId, page: PageId) {
        let host = host.0 as usize;
        if self.first_pages.len() <= host {
            self.first_pages.resize(host + 1, [0; NAVIGATION]);
        }
        if let Some(free) = self.first_pages[host].iter_mut().find(|page| **page == 0) {
            *free = u32::try_from(page.0).unwrap();
        }
    }

    fn visit(&self, host: HostId, queued: &Queued, targets: &[PageId]) -> Visit {
        let mut links = Links::default();
        for page in targets {
            let url = url_of(*page);
            links.push(&url, UrlKey::of(&url), LinkKind::A, &words(page.0));
        }
        let page = queued.page.0;
        Visit {
            depth: 3,
            kind: PageKind::Html,
            status: Some(200),
            mime: Some("text/html".into()),
            charset: Some("UTF-8".into()),
            length: 20_000 + page % 10_000,
            transferred: 6_000 + page % 3_000,
            digest: Some(std::array::from_fn(|i| (mix(page + i as u64 / 8) >> (i % 8 * 8)) as u8)),
            simhash: Some(mix(page)),
            title: Some(words(page)),
            lang: Some("en".into()),
            elapsed_ms: 12,
            links,
            ..Visit::blank(queued.page, host, queued.url.clone(), Moment(1_700_000_000_000), self.by.clone())
        }
    }
}
