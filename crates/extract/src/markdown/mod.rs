//! How does a page read as Markdown?
//!
//! CommonMark with the tables of GFM and the definition lists of Markdown Extra, made for people
//! and for language models: links are absolute, code blocks name their language, and what cannot be
//! read (scripts, drawings, form fields) is left out. Computed on demand, never during a crawl,
//! from a tree of our own, in time linear in the size of the page. Pages that are too large for it
//! are returned as plain text.

mod code;
mod figure;
mod formula;
mod highlight;
mod inline;
mod list;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use crate::html::name::Tag;
use crate::{Content, extract};
use std::ops::Range;
use tree::{MarkupTree, ROOT};
use url::Url;
use write::MarkdownWriter;

/// Maximum size of a page in bytes.
const MAX_SIZE: usize = 8 << 20;
/// Maximum length of what links are relative to: every link repeats it.
const MAX_BASE: usize = 500;

/// Which part of a page is wanted, and what its links are relative to.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkdownRequest<'a> {
    /// The page's URL; without it, links stay as they are written.
    pub url: Option<&'a str>,
    /// The ranges of the source to write, in order and disjoint; `None` for the whole page.
    pub only: Option<&'a [Range<usize>]>,
}

/// A page as Markdown.
pub fn markdown(html: &str, request: &MarkdownRequest<'_>) -> String {
    if html.len() > MAX_SIZE {
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: Some("utf-8"), url: "" };
        return extract(&content).text;
    }
    let tree = MarkupTree::of(html);
    let base = request.url.and_then(|url| base(&tree, url));
    let only = request.only.map(|only| figure::with_figures(&tree, html.len(), only));
    MarkdownWriter::new(tree, base, only).run()
}

/// What links are relative to: the page's URL, or what `<base>` says.
fn base(tree: &MarkupTree<'_>, url: &str) -> Option<Url> {
    let page = Url::parse(url).ok()?;
    let element = tree.below(ROOT).find(|id| tree.tag(*id) == Some(Tag::Base));
    let given = element.and_then(|id| tree.attribute(id, "href")).and_then(|href| page.join(href.trim()).ok());
    Some(given.unwrap_or(page)).filter(|base| base.as_str().len() <= MAX_BASE)
}
