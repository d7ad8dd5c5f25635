//! Are documents of every kind collected, found, read and tracked like pages?
//!
//! Small files of every kind go through whole crawls of a directory and of a synthetic web. What
//! their formats hold is compared with other readers in `tests/office_documents.rs`.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT};
use harness::web::World;
use orb_testweb::{DocumentKind, DocumentText, Feature};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// When documents were saved first, and again.
const SAVED: [&str; 2] = ["2026-11-17T06:00:00Z", "2026-11-18T07:30:00Z"];

/// A directory with a document of every kind.
struct Shelf {
    dir: PathBuf,
}

impl Shelf {
    fn new(home: &Home) -> Self {
        let dir = home.beside("shelf");
        std::fs::create_dir(&dir).unwrap();
        Self { dir }
    }

    fn path(&self, kind: DocumentKind) -> PathBuf {
        self.dir.join(format!("report.{}", kind.ending()))
    }

    fn url(&self, kind: DocumentKind) -> String {
        format!("file://{}", self.path(kind).display())
    }

    /// Writes all documents, each with a word of its own.
    fn write(&self, saved: &str, beginning: &str) {
        for kind in DocumentKind::ALL {
            let (word, link) = (word(beginning, kind), format!("http://{}.test/", kind.ending()));
            let text = DocumentText {
                title: "On burrows",
                author: "Ann Example",
                saved,
                paragraphs: &["where wolf spiders dig", &word],
                link: &link,
            };
            std::fs::write(self.path(kind), text.made(kind)).unwrap();
        }
    }
}

fn word(beginning: &str, kind: DocumentKind) -> String {
    format!("{beginning}{}", kind.ending())
}

/// Whether a file is a packed directory, of which only the names in it are read.
fn is_archive(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::Zip | DocumentKind::Tar)
}

/// Crawls the shelf.
fn collected(home: &Home, dir: &Path) -> Finished {
    home.crawl(&[&format!("file://{}/", dir.display()), "--delay", "0"])
}

fn asked(home: &Home, args: &[&str]) -> Value {
    home.orb(&[args, &["--json"]].concat()).expect(0).json()
}

/// The flags of the documents in the last run.
fn flags(home: &Home) -> Vec<String> {
    let sql = "SELECT p.url || ' ' || v.flag FROM visit v JOIN page p ON p.id = v.page_id
               WHERE v.run = (SELECT max(id) FROM run) AND p.kind = 'BINARY' ORDER BY p.url";
    home.catalogue().column(sql)
}

/// The flag that all documents should have.
fn all(shelf: &Shelf, flag: &str) -> Vec<String> {
    let mut all: Vec<String> = DocumentKind::ALL.map(|kind| format!("{} {flag}", shelf.url(kind))).to_vec();
    all.sort();
    all
}

fn tracked(home: &Home) {
    home.orb(&["track", PROJECT, "--delay", "0", "--progress", "none"]).expect(0);
}

#[test]
fn documents_of_every_kind_are_found_and_read() {
    let home = Home::new();
    let shelf = Shelf::new(&home);
    shelf.write(SAVED[0], "burrow");
    collected(&home, &shelf.dir);
    assert_eq!(flags(&home), all(&shelf, "NEW"));
    for kind in DocumentKind::ALL {
        let (url, word) = (shelf.url(kind), word("burrow", kind));
        let row = home.catalogue().rows(&format!("SELECT mime, coalesce(problem, '') FROM page WHERE url = '{url}'"));
        assert_eq!(row, [[kind.mime(), ""]], "{kind:?}");
        let hits = asked(&home, &["search", PROJECT, &word]);
        assert_eq!(hits.as_array().unwrap().len(), 1, "{kind:?}: {hits}");
        assert_eq!(hits[0]["url"], *url, "{kind:?}");
        let read = home.orb(&["cat", PROJECT, &url, "--as", "markdown"]);
        assert!(read.expect(0).text().contains(&word), "{kind:?}: {read}");
        if !is_archive(kind) {
            let links = asked(&home, &["links", PROJECT, &url, "--out"]);
            let wanted = format!("http://{}.test/", kind.ending());
            assert!(links.as_array().unwrap().iter().any(|link| link["url"] == *wanted), "{kind:?}: {links}");
        }
    }
    let counted = asked(&home, &["stats", PROJECT]);
    let mut types = serde_json::Map::new();
    for kind in DocumentKind::ALL {
        let name = if kind == DocumentKind::Mail { "mail" } else { kind.ending() };
        types.insert(name.to_owned(), 1.into());
    }
    assert_eq!(counted["whole"]["documents"], Value::Object(types));
}

#[test]
fn a_document_that_is_saved_again_is_the_same_and_one_that_says_something_else_is_not() {
    let home = Home::new();
    let shelf = Shelf::new(&home);
    shelf.write(SAVED[0], "burrow");
    collected(&home, &shelf.dir);
    shelf.write(SAVED[1], "burrow");
    tracked(&home);
    assert_eq!(flags(&home), all(&shelf, "SAM"));
    shelf.write(SAVED[1], "tunnel");
    tracked(&home);
    assert_eq!(flags(&home), all(&shelf, "UPD"));
    for kind in DocumentKind::ALL {
        // The plus sign insists on the word itself.
        let hits = |beginning: &str| {
            let query = format!("+{}", word(beginning, kind));
            asked(&home, &["search", PROJECT, &query]).as_array().unwrap().len()
        };
        assert_eq!((hits("tunnel"), hits("burrow")), (1, 0), "{kind:?}");
    }
}

#[test]
fn what_a_document_says_about_itself_is_shown_and_its_author_is_found() {
    let home = Home::new();
    let shelf = Shelf::new(&home);
    shelf.write(SAVED[0], "burrow");
    std::fs::write(shelf.dir.join("dot.png"), png(7, 5)).unwrap();
    collected(&home, &shelf.dir);
    for (kind, more) in [
        (DocumentKind::Docx, json!({"author": "Ann Example", "created": "2026-11-16T06:00:00Z", "modified": SAVED[0]})),
        (DocumentKind::Xlsx, json!({"author": "Ann Example", "modified": SAVED[0], "pages": 1})),
        (DocumentKind::Pptx, json!({"author": "Ann Example", "modified": SAVED[0], "pages": 1})),
        (DocumentKind::Odt, json!({"author": "Ann Example", "modified": SAVED[0]})),
        (DocumentKind::Epub, json!({"author": "Ann Example", "created": "2026-11-16"})),
        (DocumentKind::Rtf, json!({"author": "Ann Example"})),
        (DocumentKind::Pdf, json!({"pages": 1})),
    ] {
        let shown = asked(&home, &["show", PROJECT, &shelf.url(kind)]);
        for (key, value) in more.as_object().unwrap() {
            assert_eq!(shown["document"][key], *value, "{kind:?}: {shown}");
        }
    }
    let picture = format!("file://{}", shelf.dir.join("dot.png").display());
    let shown = asked(&home, &["show", PROJECT, &picture]);
    assert_eq!((&shown["document"]["width"], &shown["document"]["height"]), (&json!(7), &json!(5)), "{shown}");
    let text = home.orb(&["show", PROJECT, &picture]).expect(0).text().to_owned();
    assert!(text.contains("size     7 × 5 pixels"), "{text}");
    let text = home.orb(&["show", PROJECT, &shelf.url(DocumentKind::Docx)]).expect(0).text().to_owned();
    for row in ["author   Ann Example", "created  2026-11-16T06:00:00Z", "modified 2026-11-17T06:00:00Z"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    let hits = asked(&home, &["search", PROJECT, "\"Ann Example\""]);
    let found: Vec<&str> = hits.as_array().unwrap().iter().filter_map(|hit| hit["url"].as_str()).collect();
    assert!(found.contains(&shelf.url(DocumentKind::Docx).as_str()), "{found:?}");
}

#[test]
fn the_size_of_pages_is_no_limit_for_documents() {
    let home = Home::new();
    let shelf = Shelf::new(&home);
    shelf.write(SAVED[0], "burrow");
    let settings = format!("seeds = ['file://{}/']\nfetch.max_size = '1kB'\n", shelf.dir.display());
    std::fs::write(home.beside("p.toml"), settings).unwrap();
    home.crawl(&["p.toml", "--delay", "0"]);
    for kind in [DocumentKind::Docx, DocumentKind::Xlsx, DocumentKind::Pptx, DocumentKind::Odt, DocumentKind::Epub] {
        let hits = asked(&home, &["search", PROJECT, &word("burrow", kind)]);
        assert_eq!(hits[0]["url"], *shelf.url(kind), "{kind:?}: {hits}");
        assert!(shelf.path(kind).metadata().unwrap().len() > 1_000, "{kind:?}");
    }
}

/// The beginning of a PNG of this size.
fn png(width: u32, height: u32) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", &size[..], &[8, 0, 0, 0, 0, 0, 0, 0, 0]].concat()
}

#[test]
fn documents_on_the_web_are_collected_like_pages() {
    let world = World::with(&[Feature::Documents]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    for kind in DocumentKind::ALL.into_iter().filter(|kind| *kind != DocumentKind::Pdf) {
        let hits = asked(&home, &["search", PROJECT, &word("document", kind)]);
        let url = hits[0]["url"].as_str().unwrap_or_default().to_owned();
        assert!(url.ends_with(&format!("/documents/report.{}", kind.ending())), "{kind:?}: {hits}");
        if !is_archive(kind) {
            assert_eq!(hits[0]["title"], "A report on burrows", "{kind:?}");
        }
    }
}
