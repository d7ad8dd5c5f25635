//! How does a trial get a project in which something was collected?
//!
//! A site of a few pages on a socket of its own is crawled and, when one of them has changed,
//! tracked.

use super::PROJECT;
use orb_crawl::CrawlRequest;
use orb_page::RunKind;
use orb_project::{AskedProject, Home, Settings};
use orb_urls::Canonicaliser;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The path of a page that changes.
pub(super) const CHANGING: &str = "/weavers";

fn answer(mut stream: TcpStream, has_changed: bool) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let target = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    lines.map_while(Result::ok).find(String::is_empty)?;
    let words = if has_changed { "Weavers spin webs anew." } else { "Weavers spin webs." };
    let (status, body) = match target.as_str() {
        "/" => ("200 OK", "<title>Front</title><a href=/weavers>weavers</a> <a href=/gone>gone</a> words".to_owned()),
        CHANGING => ("200 OK", format!("<title>Weavers</title><a href=/>front</a> {words}")),
        _ => ("404 Not Found", String::new()),
    };
    let kind = "Content-Type: text/html\r\nConnection: close";
    write!(stream, "HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()
}

/// Collects the site into the project of a trial, twice.
pub(super) fn collect(home: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let seed = format!("http://{}/", listener.local_addr().unwrap());
    let has_changed = Arc::new(AtomicBool::new(false));
    let is_later = Arc::clone(&has_changed);
    // It ends with the process.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, is_later.load(Ordering::SeqCst));
        }
    });
    let home = Home::open(home).unwrap();
    for kind in [RunKind::Crawl, RunKind::Track] {
        let mut settings = Settings { seeds: vec![seed.clone()], ..Settings::default() };
        settings.frontier.delay = orb_project::units::HumanDuration(std::time::Duration::ZERO);
        let seeds = vec![Canonicaliser::default().parse_seed(&seed).unwrap()];
        let asked = AskedProject { name: PROJECT.to_owned(), settings, seeds, file: None };
        let opened = CrawlRequest { kind, ..CrawlRequest::new(asked) }.open(&home, &|_| None).unwrap();
        opened.run().unwrap();
        has_changed.store(true, Ordering::SeqCst);
    }
}

/// The number and the URL of the page that changes.
pub(super) fn changing_page(home: &Path) -> (u64, String) {
    let project = Home::open(home).unwrap().find(PROJECT).unwrap();
    let filter = orb_answers::PageFilter { url: Some(CHANGING.to_owned()), ..orb_answers::PageFilter::default() };
    let collection = orb_answers::Collection::of(project).unwrap();
    let found = orb_answers::pages(&collection, &filter, 0, 1).unwrap().pages.remove(0);
    (found.id, found.url)
}
