//! Is a protocol that nobody here knows crawled, archived and tracked like the web?
//!
//! It is one module and one entry of a table: this one. Guard, connection cap and bandwidth are
//! tested for every protocol by the conformance suite of `orb-fetch`; here the cap is tested once
//! more, over a whole crawl of two protocols.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod server;
#[path = "../../../fetch/tests/toy/mod.rs"]
mod toy;

use orb_crawl::track::RevisitSelection;
use orb_crawl::{Crawl, Progress, Stop, Summary};
use orb_fetch::{PROTOCOLS, Protocol};
use orb_page::{Listing, PageId, RunKind};
use orb_project::units::HumanDuration;
use orb_project::{Settings, StepSettings};
use orb_store::{ArchiveReader, CatalogueReader, Home, Project};
use orb_urls::Canonicaliser;
use server::{ConnectionGauge, ToyServer, serve_http};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The one line that adds the protocol.
static WITH_TOY: [Protocol; 2] = [PROTOCOLS[0], toy::TOY];

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.frontier.delay = HumanDuration(Duration::ZERO);
    settings.track.confirm_missing = 1;
    settings.track.second_look = false;
    settings.index.enabled = false;
    settings
}

fn run(home: &Home, server: &ToyServer, kind: RunKind) -> Summary {
    run_with(home, settings(), &[server.url("/")], kind)
}

fn run_with(home: &Home, settings: Settings, seeds: &[String], kind: RunKind) -> Summary {
    orb_fetch::register(&WITH_TOY).unwrap();
    let crawl = Crawl {
        project: Project::open(&home.project("p").unwrap()).unwrap(),
        settings,
        kind,
        choice: RevisitSelection::All,
        seeds: seeds.iter().map(|seed| Canonicaliser::default().parse_seed(seed).unwrap()).collect(),
        stop: Stop::new(),
        progress: Arc::new(Progress::default()),
        browser: None,
        protocols: &WITH_TOY,
    };
    crawl.run().unwrap()
}

/// Kind and flag of what the last run saw of a page.
fn seen(home: &Home, server: &ToyServer, path: &str) -> (String, String) {
    let dir = home.find("p").unwrap();
    let reader = CatalogueReader::open(&dir).unwrap();
    let url = Canonicaliser::default().parse(&server.url(path)).unwrap();
    let page = reader.page_by_url(url.as_str()).unwrap().unwrap();
    let visits = reader.visits(PageId(page.id)).unwrap();
    let last = visits.iter().max_by_key(|visit| visit.run).unwrap();
    (page.kind, last.flag.clone())
}

/// The archived content of a page, and its media type.
fn archived(home: &Home, server: &ToyServer, path: &str) -> (Option<String>, String) {
    let dir = home.find("p").unwrap();
    let reader = CatalogueReader::open(&dir).unwrap();
    let url = Canonicaliser::default().parse(&server.url(path)).unwrap();
    let page = reader.page_by_url(url.as_str()).unwrap().unwrap();
    let stored = ArchiveReader::open(&dir).exchange(&page.warc().unwrap()).unwrap();
    (stored.headers.mime(), String::from_utf8(stored.body.to_vec()).unwrap())
}

#[test]
fn an_unknown_protocol_is_crawled_archived_and_tracked() {
    let tmp = tempfile::tempdir().unwrap();
    let home = Home::open(tmp.path()).unwrap();
    let files = [("/a.txt", 10, "one"), ("/b.txt", 20, "two"), ("/sub dir/c.txt", 30, "three")];
    let server = ToyServer::start(&files);

    let first = run(&home, &server, RunKind::Crawl);
    assert_eq!((first.counters.pages, first.counters.binary, first.counters.errors), (5, 3, 0));
    assert_eq!(seen(&home, &server, "/"), ("LISTING".to_owned(), "NEW".to_owned()));
    assert_eq!(seen(&home, &server, "/sub%20dir/c.txt"), ("BINARY".to_owned(), "NEW".to_owned()));
    assert_eq!(archived(&home, &server, "/a.txt"), (Some("text/plain".to_owned()), "one".to_owned()));
    let (mime, listing) = archived(&home, &server, "/");
    assert_eq!(mime.as_deref(), Some(Listing::MIME));
    assert_eq!(listing, "3\t10\ta.txt\n3\t20\tb.txt\n-\t-\tsub%20dir/\n");
    assert!(!server.log.lock().unwrap().iter().any(|path| path == "/robots.txt"), "the protocol has none");

    let mut tree = server.tree.lock().unwrap();
    tree.insert("/b.txt".to_owned(), (21, b"two and a half".to_vec()));
    tree.insert("/d.txt".to_owned(), (40, b"four".to_vec()));
    tree.remove("/sub dir/c.txt");
    drop(tree);
    let second = run(&home, &server, RunKind::Track);
    let flags = second.counters.flags;
    assert_eq!((flags.new, flags.same, flags.updated, flags.missing, flags.error), (1, 1, 1, 1, 0));
    for (path, flag) in [("/a.txt", "SAM"), ("/b.txt", "UPD"), ("/d.txt", "NEW"), ("/sub%20dir/c.txt", "MIS")] {
        assert_eq!(seen(&home, &server, path).1, flag, "{path}");
    }
    assert_eq!(seen(&home, &server, "/"), ("LISTING".to_owned(), "UPD".to_owned()));
    assert_eq!(archived(&home, &server, "/a.txt").1, "one", "the earlier record stands for what is as it was");
    assert_eq!(archived(&home, &server, "/b.txt").1, "two and a half");
}

#[test]
fn connections_that_http_keeps_and_those_of_another_protocol_stay_within_one_cap() {
    let tmp = tempfile::tempdir().unwrap();
    let home = Home::open(tmp.path()).unwrap();
    let gauge: Arc<Mutex<ConnectionGauge>> = Arc::default();
    let files = [("/a.txt", 10, "one"), ("/b.txt", 20, "two"), ("/c.txt", 30, "three")];
    let toys = [ToyServer::counted(&files, &gauge), ToyServer::counted(&files, &gauge)];
    let webs = [(); 3].map(|()| serve_http(4, &gauge));
    let toys = toys.iter().map(|toy| toy.url("/"));
    let seeds: Vec<_> = toys.chain(webs.iter().map(|addr| format!("http://{addr}/"))).collect();
    let mut settings = settings();
    settings.fetch.connections = 2;
    let summary = run_with(&home, settings, &seeds, RunKind::Crawl);
    assert_eq!((summary.counters.pages, summary.counters.errors), (2 * 4 + 3 * 5, 0));
    assert_eq!(gauge.lock().unwrap().most, 2);
}

/// Steps that pass through a page and collect some of its links.
fn through(start: String, links: &str) -> Settings {
    let passed =
        StepSettings { name: "in".to_owned(), start: vec![start], collect: Some(false), ..StepSettings::default() };
    let links_matching = Some(links.to_owned());
    let collected =
        StepSettings { name: "files".to_owned(), links_matching, depth: Some(0), ..StepSettings::default() };
    Settings { steps: vec![passed, collected], ..settings() }
}

#[test]
fn steps_lead_through_another_protocol() {
    let tmp = tempfile::tempdir().unwrap();
    let home = Home::open(tmp.path()).unwrap();
    let server = ToyServer::start(&[("/a.txt", 10, "one"), ("/b.txt", 20, "two"), ("/c.bin", 30, "three")]);
    let summary = run_with(&home, through(server.url("/"), r"\.txt$"), &[], RunKind::Crawl);
    assert_eq!((summary.counters.pages, summary.counters.errors), (2, 0));
    assert_eq!(archived(&home, &server, "/b.txt").1, "two");
}

#[test]
fn steps_and_the_crawl_share_their_connections() {
    let tmp = tempfile::tempdir().unwrap();
    let home = Home::open(tmp.path()).unwrap();
    let gauge: Arc<Mutex<ConnectionGauge>> = Arc::default();
    let addr = serve_http(5, &gauge);
    let mut settings = through(format!("http://{addr}/"), r"/\d$");
    settings.frontier.per_host = 1;
    let summary = run_with(&home, settings, &[], RunKind::Crawl);
    assert_eq!((summary.counters.pages, summary.counters.errors), (5, 0));
    assert_eq!(gauge.lock().unwrap().all, 1);
}
