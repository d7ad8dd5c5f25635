//! What does one block of a page say, and where does it stand?
//!
//! A reader sees a page as blocks: paragraphs, headings, cells of a list. Tracking holds the blocks of two versions against each other, and
//! needs to know of each in which part of the page it stands, however often that part was rewritten.

use std::sync::Arc;

/// A block of the visible text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// A hash of the elements it stands in, outermost first, with their ids and classes up to the first digit; not of its number among
    /// its neighbours.
    pub path: u64,
    /// Whether an element of the path has an id or a class: whether the path says more than 'a paragraph somewhere'.
    pub named: bool,
    /// The last elements of the path, for people.
    pub place: Arc<str>,
    /// What it says, white space folded.
    pub text: String,
}

impl Block {
    /// A block of a text without elements, such as a line of a plain text.
    pub fn line(text: impl Into<String>, place: &Arc<str>) -> Self {
        Self { path: 0, named: false, place: Arc::clone(place), text: text.into() }
    }
}
