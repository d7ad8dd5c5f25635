//! What does a comparison need from a page?
//!
//! The extractors know how to read a page, and this crate does not know them: the caller implements
//! [`Views`] over them.

use orb_page::Block;

/// Which part of a page is compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComparedPart<'a> {
    /// Only its main content, without navigation and other boilerplate.
    pub main: bool,
    /// With the blocks marked that lie around the main content, where that can be told.
    pub mark_around: bool,
    /// CSS selectors of the elements to include; empty means all.
    pub include: &'a [String],
    /// CSS selectors of the elements to exclude.
    pub exclude: &'a [String],
}

/// A part of a page.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    /// Its visible text, block by block.
    pub blocks: Vec<Block>,
    /// Whether a selector of `include` matched; true if there is none.
    pub matched: bool,
    /// Why it is not what was asked for, in words for people: selectors are not applied to a page
    /// that is too deep.
    pub note: Option<String>,
}

/// One version of a page.
pub trait Views {
    /// The content, with codings removed.
    fn bytes(&self) -> &[u8];
    /// Its media type: lower case, without parameters.
    fn mime(&self) -> &str;
    /// Whether it has text to compare.
    fn is_text(&self) -> bool;
    /// The visible text of a part; for a text that is not HTML, its lines.
    fn passage(&self, part: &ComparedPart<'_>) -> Passage;
    /// The SimHash of a text.
    fn simhash(&self, text: &str) -> u64;
}
