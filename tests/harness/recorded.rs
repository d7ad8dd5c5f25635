//! How are facts recorded without a crawl, through the store, as the recorder does it?

use super::orb::{Home, PROJECT};
use orb_page::{Discovered, Flag, HostId, LinkKind, Links, Moment, PageId, PageKind, RunKind, RunState, UrlKey, Visit};
use orb_store::{Batch, FinishedVisit, NewHost, Project, QueuePlace};

/// The project, opened for writing.
pub(crate) fn open(home: &Home) -> Project {
    Project::open(&orb_store::Home::open(&home.path()).unwrap().project(PROJECT).unwrap()).unwrap()
}

/// Links to URLs with anchor texts.
pub(crate) fn links<U: AsRef<str>, W: AsRef<str>>(said: impl IntoIterator<Item = (U, W)>) -> Links {
    let mut links = Links::default();
    for (url, words) in said {
        links.push(url.as_ref(), UrlKey::of(url.as_ref()), LinkKind::A, words.as_ref());
    }
    links
}

/// A visit that found HTML with these links.
pub(crate) fn visit(page: PageId, url: &str, flag: Flag, links: Links) -> Visit {
    Visit {
        kind: PageKind::Html,
        flag,
        status: Some(200),
        mime: Some("text/html".to_owned()),
        length: 1,
        transferred: 1,
        title: Some(format!("Page {}", page.0)),
        elapsed_ms: 1,
        links,
        ..Visit::blank(page, HostId(1), url.to_owned(), Moment::now(), "tester".into())
    }
}

/// Records a finished crawl of `pages` pages of one host, each with `links` links to others, with
/// distinct anchor texts.
pub(crate) fn crawl(home: &Home, pages: u64, links: u64) {
    let mut project = open(home);
    let run = project.begin_run(RunKind::Crawl, "").unwrap();
    let url = |n: u64| format!("http://large.test/section-{}/page-{n}.html", n % 17);
    let mut batch = Batch { run, ..Batch::default() };
    let (id, at) = (HostId(1), Moment(1));
    batch.hosts.push(NewHost { id, scheme: "http".into(), name: "large.test".into(), port: 80, at });
    batch.discovered = (1..=pages)
        .map(|n| Discovered {
            page: PageId(n),
            url: url(n),
            key: UrlKey::of(&url(n)),
            host: id,
            kind: PageKind::Frontier,
            why: None,
            depth: 0,
            redirects: 0,
            priority: 0.0,
            rank: n,
            at,
            by: "tester".into(),
            step: None,
            asked: None,
            from: None,
        })
        .collect();
    project.commit(&mut batch).unwrap();
    for some in (1..=pages).collect::<Vec<_>>().chunks(200) {
        let mut batch = Batch { run, ..Batch::default() };
        for &n in some {
            let targets: Vec<PageId> = (1..=links).map(|k| PageId((n * 31 + k * 7) % pages + 1)).collect();
            let said = targets.iter().map(|to| (url(to.0), format!("to page {} from {n}", to.0)));
            let found = self::links(said);
            let visit = visit(PageId(n), &url(n), Flag::New, found);
            batch.visits.push(FinishedVisit::unarchived(visit, targets));
            batch.finished.push(QueuePlace { host: id, rank: n, page: PageId(n) });
        }
        project.commit(&mut batch).unwrap();
    }
    project.finish_run(run, RunState::Done, "{}").unwrap();
    project.close().unwrap();
}
