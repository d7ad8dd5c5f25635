//! Does the reader extract what the page's tree contains?
//!
//! The oracle is html5ever's tree, the same as in the tests of `orb-extract`. In the input, bytes
//! from 128 on are whole pieces of markup and lower ones are single characters, so that the fuzzer
//! plays with tags rather than with letters.

#[path = "../../crates/extract/tests/oracle/mod.rs"]
mod oracle;
#[path = "../../crates/extract/tests/oracle/pieces.rs"]
mod pieces;

use oracle::{Saying, reader, tree};
use pieces::{FOREIGN, PIECES, page};
use std::collections::BTreeSet;

/// What only a tree can handle, and the reader deliberately handles differently: see
/// `tests/html_oracle.rs` in `orb-extract`. SVG and MathML come in whole pieces only, because HTML
/// left open inside them is closed by a stack of elements or not at all.
const ONLY_A_TREE: &[&str] = &["<frame", "<table", "<template"];

/// A tree merges two `<html>` or `<body>` elements, with the attributes of both.
fn is_joined(page: &str) -> bool {
    ["<html", "<body"].iter().any(|tag| page.split(tag).skip(1).any(|rest| !rest.starts_with('>')))
}

/// A tree drops table parts outside of a table, and a second `<head>`, with all their attributes.
fn is_left_out(page: &str) -> bool {
    let tags = ["caption", "col", "colgroup", "head", "tbody", "td", "tfoot", "th", "thead", "tr"];
    let has_more = |rest: &str| rest.starts_with(|c: char| c == '/' || c.is_ascii_whitespace());
    page.split('<').any(|piece| tags.iter().any(|tag| piece.strip_prefix(tag).is_some_and(has_more)))
}

/// A page of pieces and characters.
pub fn html(bytes: &[u8]) {
    // NULs vanish from text here but become replacement characters in the tree's foreign content; a
    // tree has no CR.
    let plain = |byte: u8| if matches!(byte, 0 | b'\r') { ' ' } else { char::from(byte) };
    let characters: Vec<String> = (0..128_u8).map(|byte| plain(byte).to_string()).collect();
    let piece = |byte: &u8| match byte.checked_sub(128).map(usize::from) {
        None => characters[usize::from(*byte)].as_str(),
        Some(i) => PIECES.get(i).or_else(|| FOREIGN.get(i.wrapping_sub(PIECES.len()))).copied().unwrap_or("é"),
    };
    let pieces: Vec<&str> = bytes.iter().map(piece).collect();
    let page = page(&pieces);
    let lower = page.to_ascii_lowercase();
    let foreign = |text: &str| text.matches("<svg").count() + text.matches("<math").count();
    let is_whole = foreign(&lower) == pieces.iter().map(|piece| foreign(piece)).sum::<usize>();
    if is_whole && !is_joined(&lower) && !is_left_out(&lower) && !ONLY_A_TREE.iter().any(|tag| lower.contains(tag)) {
        assert_eq!(gist(reader(&page)), gist(tree(&page)), "{page}");
    }
}

/// The links as a set, the title up to its maximum length, and the text.
fn gist(saying: Saying) -> (BTreeSet<(&'static str, String)>, Option<String>, String) {
    let title = saying.title.map(|title| title.chars().take(1_000).collect());
    (saying.links.into_iter().collect(), title, saying.text)
}
