//! Does a page say what its tree says?
//!
//! The judge is html5ever's tree, the same as in the tests of `orb-extract`. Pages are made of whole pieces of markup, one a
//! byte from 128 on, and of single characters below that, so that the fuzzer plays with tags rather than with letters.

#[path = "../../crates/extract/tests/oracle/mod.rs"]
mod oracle;
#[path = "../../crates/extract/tests/oracle/pieces.rs"]
mod pieces;

use oracle::{Saying, reader, tree};
use pieces::{FOREIGN, PIECES, page};
use std::collections::BTreeSet;

/// What only a tree can do, and the reader does otherwise on purpose: see `tests/html_oracle.rs` in `orb-extract`.
const ONLY_A_TREE: &[&str] = &["<frame", "<table", "<template"];

/// A page of pieces and characters.
pub fn html(bytes: &[u8]) {
    let characters: Vec<String> = (0..128_u8).map(|b| char::from(b).to_string()).collect();
    let piece = |byte: &u8| match byte.checked_sub(128).map(usize::from) {
        None => characters[usize::from(*byte)].as_str(),
        Some(i) => PIECES.get(i).or_else(|| FOREIGN.get(i.wrapping_sub(PIECES.len()))).copied().unwrap_or("é"),
    };
    let page = page(&bytes.iter().map(piece).collect::<Vec<_>>());
    if !ONLY_A_TREE.iter().any(|tag| page.to_ascii_lowercase().contains(tag)) {
        assert_eq!(gist(reader(&page)), gist(tree(&page)), "{page}");
    }
}

/// The links as a set, the title and the text.
fn gist(saying: Saying) -> (BTreeSet<(&'static str, String)>, Option<String>, String) {
    (saying.links.into_iter().collect(), saying.title, saying.text)
}
