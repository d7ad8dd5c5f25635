//! How is a large collection made in a minute?
//!
//! `large HOME PAGES` creates the project `large`: hosts of 500 pages with ten links each, of which
//! five lead elsewhere, one page in a hundred gone, some without a title; and a second run that
//! visited a tenth of them again. It is written through the store's own front door, without any
//! fetching and without an archive. `cargo xtask bench --only serve` measures screens on it.
#![expect(clippy::unwrap_used, reason = "a program for the bench")]

use orb_page::{
    Discovered, Flag, HostId, LinkKind, Links, Moment, PageId, PageKind, RunId, RunKind, RunState, UrlKey, Visit,
};
use orb_store::{Batch, FinishedVisit, Home, HostFact, NewHost, Project, QueuePlace, Requeued};
use std::path::Path;

/// Pages per commit.
const BATCH: usize = 1_000;
/// Pages of a host.
const PAGES: u64 = 500;
/// Links of a page.
const LINKS: u64 = 10;
/// Of how many pages one is visited again.
const AGAIN: usize = 10;
/// When everything happened.
const AT: Moment = Moment(1_700_000_000_000);

/// The host of a page; a host's pages lie apart from each other, as in a crawl that takes turns.
fn host(page: u64, pages: u64) -> HostId {
    HostId(u32::try_from((page - 1) % hosts(pages) + 1).unwrap())
}

fn hosts(pages: u64) -> u64 {
    pages.div_ceil(PAGES)
}

fn url(page: u64, pages: u64) -> String {
    format!("http://www.host-{}.example/section-{}/page-{page}.html", host(page, pages).0, page % 7)
}

fn discovered(page: u64, pages: u64) -> Discovered {
    let url = url(page, pages);
    Discovered {
        page: PageId(page),
        key: UrlKey::of(&url),
        url,
        host: host(page, pages),
        kind: PageKind::Frontier,
        why: None,
        depth: if page <= 10 { 0 } else { 3 },
        redirects: 0,
        priority: 0.5,
        rank: page,
        at: AT,
        by: "bench".into(),
        step: None,
        asked: None,
        from: (page > 10).then(|| PageId(page % 10 + 1)),
    }
}

/// Half of the links stay on the host, the others are spread over everything.
fn targets(page: u64, pages: u64) -> Vec<u64> {
    let near = |k: u64| (page + k * hosts(pages) - 1) % pages + 1;
    let far = |k: u64| (page.wrapping_mul(2_654_435_761).wrapping_add(k * 40_503)) % pages + 1;
    let mut targets: Vec<u64> = (1..=LINKS).map(|k| if k % 2 == 0 { near(k) } else { far(k) }).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

fn visit(page: u64, pages: u64, flag: Flag) -> FinishedVisit {
    let is_gone = page % 100 == 7;
    let targets = if is_gone { Vec::new() } else { targets(page, pages) };
    let mut links = Links::default();
    for target in &targets {
        let url = url(*target, pages);
        links.push(&url, UrlKey::of(&url), LinkKind::A, &format!("page {}", target % 50));
    }
    let visit = Visit {
        depth: 1,
        kind: if is_gone { PageKind::HttpError } else { PageKind::Html },
        flag,
        status: Some(if is_gone { 404 } else { 200 }),
        mime: Some("text/html".into()),
        length: 20_000,
        transferred: 6_000,
        digest: Some([(page % 251) as u8; 32]),
        title: (page % 1_000 != 11).then(|| format!("The page of number {page}")),
        elapsed_ms: 12,
        links,
        known: flag != Flag::New,
        detail: (flag == Flag::Updated).then(|| "3 words more".to_owned()),
        ..Visit::blank(PageId(page), host(page, pages), url(page, pages), AT, "bench".into())
    };
    FinishedVisit::unarchived(visit, targets.into_iter().map(PageId).collect())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [home, pages] = &args[..] else { panic!("large HOME PAGES") };
    let pages: u64 = pages.parse().unwrap();
    let dir = Home::open(Path::new(home)).unwrap().project("large").unwrap();
    let mut project = Project::open(&dir).unwrap();
    let run = project.begin_run(RunKind::Crawl, "").unwrap();
    discover(&mut project, run, pages);
    let all: Vec<u64> = (1..=pages).collect();
    visit_all(&mut project, run, pages, &all, |_| Flag::New);
    let counters = format!(r#"{{"pages":{pages},"known":0,"flags":{{"NEW":{pages}}}}}"#);
    project.finish_run(run, RunState::Done, &counters).unwrap();
    let run = project.begin_run(RunKind::Track, "").unwrap();
    let again: Vec<u64> = all.into_iter().step_by(AGAIN).collect();
    for some in again.chunks(BATCH) {
        let requeued = |page: &u64| Requeued {
            page: PageId(*page),
            host: host(*page, pages),
            url: url(*page, pages),
            rank: *page,
            depth: 1,
            step: None,
        };
        let mut batch = Batch { run, requeued: some.iter().map(requeued).collect(), ..Batch::default() };
        project.commit(&mut batch).unwrap();
    }
    visit_all(&mut project, run, pages, &again, |page| if page % 4 == 1 { Flag::Updated } else { Flag::Same });
    let counters = format!(r#"{{"pages":{0},"known":{0}}}"#, again.len());
    project.finish_run(run, RunState::Done, &counters).unwrap();
    project.close().unwrap();
}

fn discover(project: &mut Project, run: RunId, pages: u64) {
    let host = |id: u64| NewHost {
        id: HostId(u32::try_from(id).unwrap()),
        scheme: "http".into(),
        name: format!("www.host-{id}.example"),
        port: 80,
        at: AT,
    };
    let mut batch = Batch { run, hosts: (1..=hosts(pages)).map(host).collect(), ..Batch::default() };
    for first in (1..=pages).step_by(BATCH) {
        batch.discovered.extend((first..=pages).take(BATCH).map(|page| discovered(page, pages)));
        project.commit(&mut batch).unwrap();
        batch = Batch { run, ..Batch::default() };
    }
}

fn visit_all(project: &mut Project, run: RunId, pages: u64, wanted: &[u64], flag: impl Fn(u64) -> Flag) {
    for some in wanted.chunks(BATCH) {
        let mut batch = Batch { run, ..Batch::default() };
        for page in some {
            let host = host(*page, pages);
            batch.visits.push(visit(*page, pages, flag(*page)));
            batch.finished.push(QueuePlace { host, rank: *page, page: PageId(*page) });
            batch.facts.push(HostFact { id: host, pages: 1, ..HostFact::default() });
        }
        project.commit(&mut batch).unwrap();
    }
}
