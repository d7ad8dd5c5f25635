//! Do other people's tools accept our archives?
//!
//! `warcio check` verifies every digest, `cdxj-indexer` builds the index that ours must equal, and
//! pywb replays pages with their images from our files alone.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge::{self, CdxjLine, Replay};
use harness::orb::{Home, PROJECT, files};
use harness::script::{Script, absent, reply};
use harness::web::World;
use orb_testweb::{CrawlReach, Feature, GzipMode, Spec};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A web with everything that ends up in an archive: codings, framings, charsets, redirects,
/// errors, images.
fn varied() -> Spec {
    let features = [
        Feature::Furniture,
        Feature::Robots,
        Feature::Sitemaps,
        Feature::Redirects,
        Feature::Errors,
        Feature::Charsets,
        Feature::Media,
        Feature::Markup,
        Feature::Duplicates,
        Feature::Lies,
        Feature::Validators,
    ];
    features.into_iter().fold(Spec { pages_per_host: 30, ..Spec::default() }, Spec::with)
}

/// The web, crawled completely.
fn crawled(spec: Spec) -> (World, Home) {
    let (world, home) = (World::new(spec), Home::new());
    home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--retries", "0"]));
    (world, home)
}

#[test]
fn warcio_finds_no_fault_in_any_record() {
    for gzip in [GzipMode::Never, GzipMode::WhenAccepted] {
        let (_world, home) = crawled(Spec { gzip, ..varied() });
        judge::warcio_check(&home.warcs());
    }
}

#[test]
fn every_fetched_page_has_its_record_and_every_record_its_page() {
    let (_world, home) = crawled(varied());
    let records = judge::records(&home.warcs());
    assert_eq!(records[0].kind, "warcinfo");
    let mut responses: BTreeMap<String, usize> = BTreeMap::new();
    for record in records.iter().filter(|record| record.kind == "response") {
        *responses.entry(record.url.clone().unwrap()).or_default() += 1;
    }
    assert!(responses.values().all(|count| *count == 1), "recorded twice: {responses:?}");
    let catalogue = home.catalogue();
    let archived: BTreeSet<String> =
        catalogue.column("SELECT url FROM page WHERE warc_file IS NOT NULL").into_iter().collect();
    let answered: BTreeSet<String> =
        catalogue.column("SELECT url FROM page WHERE status IS NOT NULL").into_iter().collect();
    assert_eq!(archived, answered, "what was answered is archived");
    let recorded = responses.into_keys().filter(|url| !url.ends_with("/robots.txt"));
    assert_eq!(recorded.collect::<BTreeSet<_>>(), archived);
    let ids: BTreeSet<&String> = records.iter().map(|record| &record.id).collect();
    assert_eq!(ids.len(), records.len(), "record ids are unique");
}

#[test]
fn the_index_beside_the_archive_is_the_one_cdxj_indexer_makes() {
    let (_world, home) = crawled(varied());
    let warcs = home.warcs();
    let theirs: BTreeSet<CdxjLine> = judge::cdxj_indexer(&warcs).into_iter().collect();
    let mut ours = Vec::new();
    for cdxj in files(&home.project().join("warc"), ".cdxj") {
        let text = fs::read_to_string(&cdxj).unwrap();
        let mut sorted: Vec<&str> = text.lines().collect();
        sorted.sort_unstable();
        assert_eq!(text.lines().collect::<Vec<_>>(), sorted, "{} is sorted", cdxj.display());
        ours.extend(judge::read_cdxj(&text));
    }
    assert_eq!(ours.len(), theirs.len());
    let shared: BTreeSet<&str> = ["url", "mime", "status", "digest", "length", "offset", "filename"].into();
    let narrowed = |line: &CdxjLine| {
        let mut line = line.clone();
        line.fields.retain(|name, _| shared.contains(name.as_str()));
        line
    };
    let ours: BTreeSet<CdxjLine> = ours.iter().map(narrowed).collect();
    let theirs: BTreeSet<CdxjLine> = theirs.iter().map(narrowed).collect();
    let only_ours: Vec<_> = ours.difference(&theirs).take(5).collect();
    let only_theirs: Vec<_> = theirs.difference(&ours).take(5).collect();
    assert!(only_ours.is_empty() && only_theirs.is_empty(), "ours: {only_ours:#?}\ntheirs: {only_theirs:#?}");
}

#[test]
fn pywb_replays_a_page_with_its_images() {
    let (world, home) = crawled(varied());
    let replay = Replay::start(&home.project().join("warc"), &home.beside("pywb"));
    let catalogue = home.catalogue();
    let expected = world.expected(CrawlReach::Linked);
    let page = world.url(0, "/");
    let images = catalogue.column(&format!(
        "SELECT d.url FROM link l JOIN page s ON s.id = l.src JOIN page d ON d.id = l.dst \
         WHERE s.url = '{page}' AND l.kind = 'img' AND d.status = 200"
    ));
    assert!(!images.is_empty(), "the page has images");
    // Only the raw bytes show what a lying server meant to send.
    let honest = expected.pages.iter().filter(|url| !url.contains("/lies/"));
    for url in images.iter().chain([&page]).chain(honest.step_by(7)) {
        let home_copy = home.orb(&["cat", PROJECT, url]);
        let replayed = replay.get("2", "id_", url);
        assert_eq!(replayed.status, 200, "{url}: {}", replayed.head);
        assert_eq!(plain(&replayed.head, replayed.body), home_copy.expect(0).stdout, "{url}");
        assert_eq!(home_copy.stdout, original(&world, url), "{url}");
    }
    let shown = replay.get("2", "mp_", &page);
    let html = String::from_utf8_lossy(&shown.body).into_owned();
    assert_eq!(shown.status, 200);
    assert!(html.contains(&catalogue.page(&page).title.unwrap()), "{html}");
}

/// The server's original content at a URL, without any coding.
fn original(world: &World, url: &str) -> Vec<u8> {
    let host = (0..world.server.web().hosts()).find(|host| url.starts_with(&world.url(*host, "/"))).unwrap();
    let path = &url[world.url(host, "").len()..];
    world.server.web().get(world.naming(), host, path).body
}

/// A replayed body with its content coding removed.
fn plain(head: &str, body: Vec<u8>) -> Vec<u8> {
    if !head.lines().any(|line| line.eq_ignore_ascii_case("content-encoding: gzip")) {
        return body;
    }
    let mut out = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(body.as_slice()), &mut out).unwrap();
    out
}

#[test]
fn without_an_archive_the_catalogue_is_the_same() {
    let world = World::new(Spec::default());
    let args = ["--scope", "any", "--delay", "0"];
    let (with, without) = (Home::new(), Home::new());
    with.crawl(&world.args(&args));
    without.crawl(&world.args(&[args.as_slice(), &["--no-archive"]].concat()));
    assert!(without.warcs().is_empty());
    assert_eq!(with.catalogue().urls(&["HTML"]), without.catalogue().urls(&["HTML"]));
    assert_eq!(with.catalogue().links(), without.catalogue().links());
    without.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_full_file_is_closed_and_the_next_one_begun() {
    let world = World::new(Spec { pages_per_host: 60, gzip: GzipMode::Never, ..Spec::default() });
    let home = Home::new();
    let small = ["scope.mode = 'any'", "frontier.delay = '0s'", "store.warc_size = '50kB'", "crawl.batch_pages = 20"];
    home.crawl(&[world.project(&home, &small)]);
    assert!(home.warcs().len() > 2, "{:?}", home.warcs());
    assert_eq!(files(&home.project().join("warc"), ".cdxj").len(), home.warcs().len());
    judge::warcio_check(&home.warcs());
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_large_body_is_printed_without_being_held() {
    const SIZE: usize = 96 << 20;
    let server = Script::serve(|heard| match heard.target.as_str() {
        "/large.bin" => {
            let mut answer = reply("200 OK", "Content-Type: application/octet-stream\r\n", "");
            let head =
                String::from_utf8(answer).unwrap().replace("Content-Length: 0", &format!("Content-Length: {SIZE}"));
            answer = head.into_bytes();
            answer.extend((0..SIZE).map(|n| (n / 64 % 251) as u8));
            answer
        }
        _ => absent(),
    });
    let home = Home::new();
    let url = format!("http://127.0.0.1:{}/large.bin", server.port());
    home.crawl(&[url.as_str(), "--delay", "0", "--max-size", "200MB", "--no-index"]);
    let mut running = home.start(&["cat", PROJECT, &url], &[]);
    let mut peak = 0;
    let finished = loop {
        peak = running.peak_memory().unwrap_or(0).max(peak);
        if let Some(finished) = running.ended() {
            break finished;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    };
    assert_eq!(finished.stdout.len(), SIZE, "exit {:?}: {}", finished.code, finished.stderr);
    assert!(finished.stdout.iter().enumerate().all(|(n, byte)| *byte == (n / 64 % 251) as u8));
    assert!(peak > 0 && peak < SIZE as u64 / 2, "it took {} MB", peak >> 20);
}
