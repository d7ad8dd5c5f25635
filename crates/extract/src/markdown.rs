//! How does a page read as Markdown?
//!
//! Made on demand, never on the crawl's way: htmd walks html5ever's tree, which takes time quadratic in depth and in
//! attributes a tag (100,000 nested elements: half a minute), is rebuilt for every formatting element left open, and
//! is walked by recursion. So our own scanner looks first and bounds the work, the tree's true depth is looked at
//! before the walk, and what is too wild is given as plain text.

use crate::html::name::{Key, Tag, VOID};
use crate::html::scan::{Attributes, Scanner, Token};
use crate::{Content, extract};
use htmd::Node;
use std::ops::Range;
use std::rc::Rc;

/// The largest page made into Markdown, in bytes.
const MAX_SIZE: usize = 4 << 20;
/// The most elements open at once while the tree is built.
const MAX_OPEN: usize = 4_000;
/// The deepest tree walked.
const MAX_DEPTH: usize = 200;
/// The most attributes of one tag.
const MAX_ATTRIBUTES: u32 = 500;
/// The most formatting elements that may be opened again on the way.
const MAX_REOPENED: usize = 1_000_000;

/// A page as Markdown, or as plain text where that would take too long.
pub fn markdown(html: &str) -> String {
    convert(html).unwrap_or_else(|| {
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: Some("utf-8"), url: "" };
        extract(&content).text
    })
}

fn convert(html: &str) -> Option<String> {
    if html.len() > MAX_SIZE || !is_tame(html) {
        return None;
    }
    let converter = htmd::HtmlToMarkdown::builder().skip_tags(vec!["script", "style", "head", "template"]).build();
    let tree = converter.html_to_tree(html).ok()?;
    (depth(&tree) <= MAX_DEPTH).then(|| converter.tree_to_markdown(&tree))
}

/// How deep a tree is, without recursion.
fn depth(tree: &Rc<Node>) -> usize {
    let mut deepest = 0;
    let mut waiting = vec![(Rc::clone(tree), 1)];
    while let Some((node, depth)) = waiting.pop() {
        deepest = deepest.max(depth);
        waiting.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    deepest
}

#[derive(Default)]
struct Count(u32);

impl Attributes for Count {
    fn clear(&mut self) {
        self.0 = 0;
    }

    fn attribute(&mut self, _: Key, _: Range<usize>, _: Range<usize>) {
        self.0 += 1;
    }
}

/// Whether a tree of it is built in reasonable time. An end tag counts only where it closes the element opened last,
/// so that there are never more elements open than counted here.
pub(crate) fn is_tame(html: &str) -> bool {
    let mut scanner = Scanner::new(html);
    let mut attributes = Count::default();
    let mut open: Vec<&[u8]> = Vec::new();
    let (mut formatting, mut reopened) = (0usize, 0usize);
    while let Some(token) = scanner.next(&mut attributes) {
        let name = html.as_bytes().get(scanner.tag().name.clone()).unwrap_or(&[]);
        let tag = Tag::of(scanner.tag().key, name);
        match token {
            Token::Start if nests(tag) => {
                open.push(name);
                formatting += usize::from(is_formatting(tag));
            }
            Token::End if open.last().is_some_and(|last| last.eq_ignore_ascii_case(name)) => {
                open.pop();
                formatting -= usize::from(is_formatting(tag));
            }
            _ => {}
        }
        reopened += formatting;
        if open.len() > MAX_OPEN || attributes.0 > MAX_ATTRIBUTES || reopened > MAX_REOPENED {
            return false;
        }
    }
    true
}

/// Whether an element stays open until its end tag; others end by themselves.
fn nests(tag: Tag) -> bool {
    let ends_by_itself =
        matches!(tag, Tag::P | Tag::Li | Tag::Dt | Tag::Dd | Tag::Tr | Tag::Td | Tag::Th | Tag::Choice);
    !ends_by_itself && tag.flags() & VOID == 0
}

/// Whether an element that is left open is opened again in the next block (HTML, 13.2.4.3).
fn is_formatting(tag: Tag) -> bool {
    let letters = matches!(tag, Tag::A | Tag::B | Tag::I | Tag::S | Tag::U);
    letters
        || matches!(
            tag,
            Tag::Big | Tag::Code | Tag::Em | Tag::Font | Tag::Nobr | Tag::Small | Tag::Strike | Tag::Strong | Tag::Tt
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_lists_and_links_become_markdown() {
        let html = "<head><title>t</title></head><h1>A</h1><p>See <a href='b'>b</a>.<script>x()</script><ul><li>c</ul>";
        let made = markdown(html);
        assert!(made.contains("# A") && made.contains("See [b](b)."), "{made}");
        assert!(!made.contains("x()"), "{made}");
    }

    #[test]
    fn a_deep_page_is_still_made_into_markdown() {
        let deep = format!("{}<h1>x</h1>{}", "<div>".repeat(190), "</div>".repeat(190));
        assert_eq!(markdown(&deep).trim(), "# x");
    }

    #[test]
    fn what_would_take_too_long_is_given_as_text() {
        let deep = format!("{}x{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
        assert_eq!(markdown(&deep), "x");
        let wide: String = (0..50_000).map(|i| format!(" a{i}")).collect();
        assert_eq!(markdown(&format!("<p{wide}>y")), "y");
        for wild in [
            "<svg></x>",
            "<span><div></span>",
            "<div></b>",
            "<b><div></b>",
            "<table>",
            "<ul><li>",
            "<a><b></a>",
            "<p><b id=x>",
        ] {
            assert!(!markdown(&format!("{}<h1>x", wild.repeat(20_000))).is_empty(), "{wild}");
        }
    }

    #[test]
    fn formatting_left_open_is_not_opened_again_without_end() {
        let fonts: String = (0..200).map(|i| format!("<font id={i}>")).collect();
        let page = format!("<p>{fonts}{}", "<p>x".repeat(50_000));
        assert!(markdown(&page).starts_with('x'));
    }
}
