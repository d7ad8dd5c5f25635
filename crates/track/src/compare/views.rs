//! What can be looked at of a page?
//!
//! The extractors know how to read a page, and this crate does not know them: whoever compares implements [`Views`] over them.

use orb_page::Block;

/// Which part of a page is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part<'a> {
    /// Only its main content, without navigation and what stands around it.
    pub main: bool,
    /// CSS selectors of the elements to look at; none means all.
    pub include: &'a [String],
    /// CSS selectors of the elements to leave out.
    pub exclude: &'a [String],
}

/// A part of a page.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    /// Its visible text, block by block.
    pub blocks: Vec<Block>,
    /// Whether a selector of `include` matched; true where there is none.
    pub matched: bool,
    /// Why it is not what was asked for, in words for people: a page too deep for selectors is looked at whole.
    pub note: Option<String>,
}

/// One version of a page, as it can be looked at.
pub trait Views {
    /// The content, codings taken off.
    fn bytes(&self) -> &[u8];
    /// What it is: lower case, without parameters.
    fn mime(&self) -> &str;
    /// Whether it has text to look at.
    fn is_text(&self) -> bool;
    /// The visible text of a part; the lines of a text that is no page.
    fn passage(&self, part: &Part<'_>) -> Passage;
    /// The SimHash of a text.
    fn simhash(&self, text: &str) -> u64;
}
