//! What does one block of a page say, and where is it?
//!
//! A page is a sequence of blocks: paragraphs, headings, list items, table cells. Tracking compares
//! the blocks of two versions, and needs to identify the part of the page each belongs to, however
//! often that part was rewritten.

use std::sync::Arc;

/// A block of the visible text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Hash of its enclosing elements, outermost first, with their ids and classes up to the first
    /// digit; independent of its position among its siblings.
    pub path: u64,
    /// Whether an element of the path has an id or a class, so that it says more than 'a paragraph
    /// somewhere'.
    pub named: bool,
    /// The last elements of the path, for people.
    pub place: Arc<str>,
    /// Its text, with white space collapsed.
    pub text: String,
    /// Whether it lies around the main content of its page, as an advertisement or a footer does.
    /// Told where it is asked for; otherwise false.
    pub around: bool,
}

impl Block {
    /// A block of a text without elements, such as a line of plain text.
    pub fn line(text: impl Into<String>, place: &Arc<str>) -> Self {
        Self { path: 0, named: false, place: Arc::clone(place), text: text.into(), around: false }
    }
}
