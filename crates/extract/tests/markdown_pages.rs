//! Do whole pages of four kinds still read as they did?
//!
//! Each page in `tests/markdown` is made after real ones: a reference, a wiki, an article, an offer
//! of a shop. Beside it lies its main content as Markdown, as it was once read by eye against the
//! page in a browser. `ORB_GOLDEN=record` writes anew what is said now, for `git diff` to show.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use orb_extract::{MainContent, MarkdownRequest, markdown};
use std::path::Path;
use std::{env, fs};

#[track_caller]
fn reads_as_it_did(name: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/markdown");
    let html = fs::read_to_string(directory.join(name).with_extension("html")).unwrap();
    let ranges = MainContent::of(&html, false).ranges();
    let request = MarkdownRequest { url: Some("https://a.example/d/page.html"), only: Some(&ranges) };
    let made = markdown(&html, &request);
    let golden = directory.join(name).with_extension("md");
    if env::var_os("ORB_GOLDEN").is_some_and(|wish| wish == "record") {
        fs::write(&golden, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&golden).unwrap(), "{name}");
}

#[test]
fn the_page_of_a_reference() {
    reads_as_it_did("reference");
}

#[test]
fn the_page_of_a_wiki() {
    reads_as_it_did("wiki");
}

#[test]
fn an_article() {
    reads_as_it_did("news");
}

#[test]
fn the_offer_of_a_shop() {
    reads_as_it_did("shop");
}
