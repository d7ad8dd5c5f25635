//! Does no document ever harm a crawl?
//!
//! Archives, office files, mails, films, pictures and sounds that are out to harm their reader, all
//! of them made here. Every one of them is recorded, none takes longer than a reader may, and the
//! process that crawls needs no more memory than for harmless files of the same sizes. PDFs have a
//! test of their own (`pdf_documents.rs`).
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

#[path = "../harness/mod.rs"]
mod harness;

mod binary;
mod zipped;

use harness::orb::{Home, PROJECT, peak_of_crawl};
use harness::script::{Script, absent, page};
use std::time::{Duration, Instant};

/// A file that is out to harm its reader: its name, its media type, its content.
type HostileFile = (&'static str, &'static str, Vec<u8>);

/// How long one file may take, from the start of the program to its end.
const LONGEST: Duration = Duration::from_secs(25);
/// How much more memory than for harmless files the crawling process may take.
const MORE: u64 = 20 << 20;

fn hostile() -> Vec<HostileFile> {
    [zipped::files(), binary::files()].concat()
}

fn reply(mime: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Serves these files, and a page that links to all of them.
fn serve(files: Vec<HostileFile>) -> Script {
    Script::serve(move |heard| {
        let asked = heard.target.trim_start_matches('/');
        match files.iter().find(|(name, _, _)| *name == asked) {
            Some((_, mime, body)) => reply(mime, body),
            None if asked.is_empty() => page(files.iter().map(|(name, _, _)| *name)),
            None => absent(),
        }
    })
}

/// Crawls what a script serves, and tells the most memory that the crawling process had.
fn peak_memory(home: &Home, script: &Script) -> u64 {
    let seed = format!("http://127.0.0.1:{}/", script.port());
    peak_of_crawl(home, &seed, "documents.workers = 1\nfetch.max_size = '30MB'\n", harness::PATIENCE)
}

/// Files of the same sizes and types that say nothing.
fn harmless(files: &[HostileFile]) -> Vec<HostileFile> {
    let blank = |(name, mime, body): &HostileFile| {
        let mut own = name.as_bytes().to_vec();
        own.resize(body.len().max(own.len()), b' ');
        (*name, *mime, own)
    };
    files.iter().map(blank).collect()
}

#[test]
fn no_document_harms_a_crawl_and_every_page_is_recorded() {
    let files = hostile();
    let usual = peak_memory(&Home::new(), &serve(harmless(&files)));
    let home = Home::new();
    let script = serve(files.clone());
    let peak = peak_memory(&home, &script);
    let more = peak.saturating_sub(usual);
    assert!(more < MORE, "{more} bytes more than for harmless files in the crawling process, {usual}");
    let rows = home.catalogue().rows("SELECT url, kind, COALESCE(problem, '') FROM page ORDER BY id");
    for (name, _, body) in &files {
        let row = rows.iter().find(|row| row[0].ends_with(&format!("/{name}")));
        let row = row.unwrap_or_else(|| panic!("{name} is recorded"));
        assert!(matches!(row[1].as_str(), "BINARY" | "IMAGE" | "DUPLICATE" | "HTML"), "{row:?}");
        let url = format!("http://127.0.0.1:{}/{name}", script.port());
        let kept = home.orb(&["cat", PROJECT, &url]);
        assert!(kept.expect(0).stdout == *body, "{name} is kept as it came");
    }
}

#[test]
fn no_document_takes_longer_than_a_reader_may() {
    let home = Home::new();
    for (name, _, body) in hostile() {
        let file = home.beside(name);
        std::fs::write(&file, body).unwrap();
        let began = Instant::now();
        home.orb(&["inspect", "document", file.to_str().unwrap(), "--base", "http://a.example/"]).expect(0);
        assert!(began.elapsed() < LONGEST, "{name}: {:?}", began.elapsed());
    }
}

#[test]
fn what_was_wrong_with_a_document_is_said() {
    let home = Home::new();
    let files = hostile();
    let problems = |name: &str| {
        let (_, _, body) = files.iter().find(|(known, _, _)| *known == name).unwrap();
        let file = home.beside(name);
        std::fs::write(&file, body).unwrap();
        let told = home.orb(&["inspect", "document", file.to_str().unwrap(), "--base", "http://a.example/"]);
        let told = told.expect(0).json();
        let codes = told["problems"].as_array().unwrap().iter().map(|p| p["code"].as_str().unwrap().to_owned());
        codes.collect::<Vec<_>>()
    };
    assert_eq!(problems("zeros.docx"), ["truncated"]);
    assert_eq!(problems("encrypted.docx"), ["encrypted"]);
    assert_eq!(problems("bomb.swf"), ["truncated"]);
    assert_eq!(problems("packed-bomb.swf"), ["truncated"]);
    assert_eq!(problems("sound.docx"), [""; 0]);
}
