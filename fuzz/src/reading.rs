//! Is what a reader gets of a page really on it?

use crate::options;
use orb_extract::{MainContent, MarkdownRequest, PageFacts};

/// Facts are not longer than this, in characters.
const LONGEST_FACT: usize = 1_000;

/// A page as Markdown.
pub fn markdown(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let made = orb_extract::markdown(&text, &MarkdownRequest::default());
    assert_bounded(&made, &text);
}

/// The main content of a page and its facts. Input: a byte that says whether it is XHTML, then the
/// page.
pub fn main_content(bytes: &[u8]) {
    let (choice, html) = options(bytes);
    let is_xml = choice & 1 != 0;
    let page = MainContent::of(&html, is_xml);
    assert_eq!(page, MainContent::of(&html, is_xml), "read twice");
    assert_blocks(&page, &html);
    assert_facts(&page.facts);
    // Every block is on one side, and the sides are the page.
    let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).count();
    assert_eq!(lines(&page.main_text()) + lines(&page.around_text()), lines(&page.text));
    assert!(page.is_told || page.around_text().is_empty());
    let ranges = page.ranges();
    let made = orb_extract::markdown(&html, &MarkdownRequest { url: None, only: Some(&ranges) });
    assert_bounded(&made, &html);
}

/// The blocks are the lines of the text, in the order of the source.
fn assert_blocks(page: &MainContent, html: &str) {
    let said: Vec<&str> = page.blocks.iter().map(|block| &page.text[block.text.clone()]).collect();
    assert_eq!(said.join("\n"), page.text);
    for block in &page.blocks {
        assert!(html.get(block.source.clone()).is_some_and(|source| !source.is_empty()), "{block:?}");
    }
    let ranges = page.ranges();
    assert!(page.blocks.windows(2).all(|two| two[0].source.end <= two[1].source.start), "{:?}", page.blocks);
    assert!(ranges.windows(2).all(|two| two[0].end <= two[1].start), "{ranges:?}");
    let is_covered = |at: usize| ranges.iter().any(|range| range.contains(&at));
    assert!(page.blocks.iter().all(|block| block.is_main == is_covered(block.source.start)), "{ranges:?}");
}

fn assert_facts(facts: &PageFacts) {
    let PageFacts { title, author, published, modified, site_name, language } = facts;
    for fact in [title, author, site_name, language].into_iter().flatten() {
        assert!(!fact.trim().is_empty() && !fact.contains('\n'), "{facts:?}");
        assert!(fact.chars().count() <= LONGEST_FACT, "{facts:?}");
    }
    for date in [published, modified].into_iter().flatten() {
        let day: Vec<&str> = date.get(..10).unwrap_or("").split('-').collect();
        assert_eq!(day.iter().map(|part| part.len()).collect::<Vec<_>>(), [4, 2, 2], "{facts:?}");
        assert!(day.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit())), "{facts:?}");
    }
}

fn assert_bounded(made: &str, html: &str) {
    assert!(made.len() <= 4_000 + 64 * html.len(), "{} bytes out of {}", made.len(), html.len());
}
