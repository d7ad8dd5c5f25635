//! Which part of a page do CSS selectors match?
//!
//! Computed on demand for pages that a project tracks by selectors, never during a crawl: `scraper`
//! matches on html5ever's tree. If building the tree would take too long (see [`crate::tame`]),
//! the whole page is returned instead, with the reason.

use crate::html::outline::Outline;
use crate::main_content::{around, main_content};
use crate::tame::is_tame;
use orb_page::Block;
use scraper::{ElementRef, Html, Selector};

/// Maximum size of a page in bytes.
const MAX_SIZE: usize = 4 << 20;
/// Maximum depth of the tree.
const MAX_DEPTH: usize = 256;
/// Maximum nodes on a page for selectors that inspect all siblings.
const MAX_SIBLINGS: usize = 20_000;

/// The selected part of a page.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// Whether one of the include selectors matched; true if there are none.
    pub matched: bool,
    /// Why the whole page was returned.
    pub note: Option<&'static str>,
}

/// Checks a CSS selector; the error says what is wrong with it.
pub fn check_selector(text: &str) -> Result<(), String> {
    parse(text).map(|_| ())
}

fn parse(text: &str) -> Result<Selector, String> {
    Selector::parse(text).map_err(|_| format!("'{text}' is not a CSS selector; write it like div.news > p:not(.small)"))
}

/// Which part of a page is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct WantedPart<'a> {
    /// Whether the page is XHTML served as XML.
    pub is_xml: bool,
    /// Restrict it to the main content.
    pub main: bool,
    /// Mark the blocks around the main content, where that can be told.
    pub mark_around: bool,
    /// CSS selectors of the elements to include; empty means all.
    pub include: &'a [String],
    /// CSS selectors of the elements to exclude.
    pub exclude: &'a [String],
}

/// The visible text of a part of an HTML page in blocks. The title comes first if the whole page is
/// wanted.
pub fn select(html: &str, choice: &WantedPart<'_>) -> Selected {
    let WantedPart { is_xml, main, mark_around, include, exclude } = *choice;
    let read = |html: &str, is_xml: bool| {
        let outline = Outline::of(html, is_xml);
        match mark_around.then(|| around(&outline)).flatten() {
            _ if main => main_content(&outline),
            Some(around) => outline.marked(&around),
            None => outline.blocks(),
        }
    };
    if include.is_empty() && exclude.is_empty() {
        return Selected { blocks: read(html, is_xml), matched: true, note: None };
    }
    let parsed = |texts: &[String]| texts.iter().filter_map(|t| parse(t).ok()).collect::<Vec<_>>();
    let looks_around = include.iter().chain(exclude).any(|s| s.contains('~') || s.contains(":has"));
    match tree(html, looks_around) {
        Ok(mut tree) => {
            leave_out(&mut tree, &parsed(exclude));
            if include.is_empty() {
                return Selected { blocks: read(&tree.html(), false), matched: true, note: None };
            }
            let pieces = chosen(&tree, &parsed(include));
            let blocks = pieces.iter().flat_map(|piece| read(piece, false)).collect();
            Selected { blocks, matched: !pieces.is_empty(), note: None }
        }
        Err(note) => Selected { blocks: read(html, is_xml), matched: true, note: Some(note) },
    }
}

/// The tree of a page, or why it is not built.
pub(crate) fn tree(html: &str, looks_around: bool) -> Result<Html, &'static str> {
    if html.len() > MAX_SIZE {
        return Err("the page is too large for selectors and was compared whole");
    }
    if !is_tame(html) {
        return Err("the page is nested too deep for selectors and was compared whole");
    }
    let tree = Html::parse_document(html);
    if looks_around && tree.tree.nodes().len() > MAX_SIBLINGS {
        return Err("the page has too many elements for selectors with ~ or :has and was compared whole");
    }
    let deep = tree.tree.nodes().any(|node| node.ancestors().nth(MAX_DEPTH).is_some());
    if deep { Err("the page is nested too deep for selectors and was compared whole") } else { Ok(tree) }
}

fn leave_out(tree: &mut Html, exclude: &[Selector]) {
    let found: Vec<_> = exclude.iter().flat_map(|s| tree.select(s).map(|e| e.id()).collect::<Vec<_>>()).collect();
    for id in found {
        if let Some(mut node) = tree.tree.get_mut(id) {
            node.detach();
        }
    }
}

/// The outermost matching elements as HTML, in order.
fn chosen(tree: &Html, include: &[Selector]) -> Vec<String> {
    let mut taken = std::collections::HashSet::new();
    let mut out = Vec::new();
    // `descendants` skips detached nodes.
    for node in tree.tree.root().descendants() {
        let Some(element) = ElementRef::wrap(node) else { continue };
        let within = || element.ancestors().any(|a| taken.contains(&a.id()));
        if include.iter().any(|s| s.matches(&element)) && !within() {
            taken.insert(element.id());
            out.push(element.html());
        }
    }
    out
}
