//! How is a collection made in which every page links to one?
//!
//! `star HOME PAGES LINKS` creates the project `star`. `orb links --in` is measured on it: one page
//! has as many backlinks as there are pages, among links to others.
#![expect(clippy::unwrap_used, reason = "a program for the bench")]

use orb_page::{Discovered, HostId, LinkKind, Links, Moment, PageId, PageKind, RunKind, RunState, UrlKey, Visit};
use orb_store::{Batch, FinishedVisit, Home, NewHost, Project, QueuePlace};
use std::path::Path;

/// Pages per commit.
const BATCH: u64 = 1_000;

fn url(page: u64) -> String {
    format!("http://star.example/{}/page-{page:07}.html", page % 97)
}

fn discovered(page: u64) -> Discovered {
    let url = url(page);
    Discovered {
        page: PageId(page),
        key: UrlKey::of(&url),
        url,
        host: HostId(1),
        kind: PageKind::Frontier,
        why: None,
        depth: 1,
        redirects: 0,
        priority: 0.5,
        rank: page,
        at: Moment(1_700_000_000_000),
        by: "bench".into(),
        step: None,
        asked: None,
        from: None,
    }
}

fn links(pages: &[u64]) -> Links {
    let mut links = Links::default();
    for page in pages {
        let url = url(*page);
        links.push(&url, UrlKey::of(&url), LinkKind::A, &format!("the page of number {}", page % 50));
    }
    links
}

fn visit(page: u64, targets: &[u64]) -> Visit {
    Visit {
        depth: 1,
        kind: PageKind::Html,
        status: Some(200),
        mime: Some("text/html".into()),
        length: 20_000,
        transferred: 6_000,
        title: Some(format!("page {page}")),
        elapsed_ms: 12,
        links: links(targets),
        ..Visit::blank(PageId(page), HostId(1), url(page), Moment(1_700_000_000_000), "bench".into())
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [home, pages, links] = &args[..] else { panic!("star HOME PAGES LINKS") };
    let (pages, links): (u64, u64) = (pages.parse().unwrap(), links.parse().unwrap());
    let dir = Home::open(Path::new(home)).unwrap().project("star").unwrap();
    let mut project = Project::open(&dir).unwrap();
    let run = project.begin_run(RunKind::Crawl, "").unwrap();
    for first in (1..=pages).step_by(usize::try_from(BATCH).unwrap()) {
        let mut batch = Batch { run, ..Batch::default() };
        if first == 1 {
            let at = Moment(1_700_000_000_000);
            let name = "star.example".into();
            batch.hosts.push(NewHost { id: HostId(1), scheme: "http".into(), name, port: 80, at });
        }
        batch.discovered.extend((first..=pages).take(usize::try_from(BATCH).unwrap()).map(discovered));
        project.commit(&mut batch).unwrap();
    }
    for first in (1..=pages).step_by(usize::try_from(BATCH).unwrap()) {
        let mut batch = Batch { run, ..Batch::default() };
        for page in (first..=pages).take(usize::try_from(BATCH).unwrap()) {
            let targets: Vec<u64> = (0..links).map(|k| if k == 0 { 1 } else { page * (k + 1) % pages + 1 }).collect();
            let visit = visit(page, &targets);
            batch.visits.push(FinishedVisit::unarchived(visit, targets.into_iter().map(PageId).collect()));
            batch.finished.push(QueuePlace { host: HostId(1), rank: page, page: PageId(page) });
        }
        project.commit(&mut batch).unwrap();
    }
    project.finish_run(run, RunState::Done, "{}").unwrap();
    project.close().unwrap();
}
