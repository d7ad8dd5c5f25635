//! How do pages of common shapes read as Markdown?
//!
//! The pages in `reading/` have the structure of real ones (the documentation of a module and of a
//! member function, a table of contents, a news story, a shop) and words of their own. Beside each
//! is its main content as Markdown, and the whole page. `UPDATE_EXPECT=1` rewrites them; read
//! them before you believe them.

use expect_test::expect_file;
use orb_extract::{MainContent, MarkdownRequest, markdown};
use std::path::Path;

const PAGES: [&str; 6] = ["module", "member", "contents", "news", "shop", "lists"];

#[test]
fn pages_read_as_they_did_when_someone_looked() {
    for name in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reading/{name}.html"));
        let html = std::fs::read_to_string(path).unwrap();
        let page = MainContent::of(&html, false);
        let ranges = page.ranges();
        let url = Some("http://a.example/d/page.html");
        let main = markdown(&html, &MarkdownRequest { url, only: page.is_told.then_some(&ranges[..]) });
        let whole = markdown(&html, &MarkdownRequest { url, only: None });
        // A page of snippets has no main content.
        if name != "lists" {
            expect_file![format!("reading/{name}.main.md")].assert_eq(&main);
        }
        expect_file![format!("reading/{name}.whole.md")].assert_eq(&whole);
    }
}
