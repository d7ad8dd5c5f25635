//! How does a page read as Markdown?
//!
//! Computed on demand, never during a crawl. htmd walks html5ever's tree, whose construction is
//! quadratic in depth and in attributes per tag (100,000 nested elements take half a minute), which
//! repeats every formatting element left open, and which is walked recursively. So our own scanner
//! bounds the work first, the tree's actual depth is checked before the walk, and pages that exceed
//! a limit are returned as plain text.

use crate::html::name::{NameKey, Tag, VOID};
use crate::html::scan::{Attributes, HtmlToken, Scanner};
use crate::{Content, extract};
use htmd::Node;
use std::ops::Range;
use std::rc::Rc;

/// Maximum size of a page in bytes.
const MAX_SIZE: usize = 4 << 20;
/// Maximum number of elements open at once while the tree is built.
const MAX_OPEN: usize = 4_000;
/// Maximum depth of the tree.
const MAX_DEPTH: usize = 200;
/// Maximum attributes per tag.
const MAX_ATTRIBUTES: u32 = 500;
/// Maximum number of formatting elements that are reopened.
const MAX_REOPENED: usize = 1_000_000;

/// A page as Markdown, or as plain text if that would take too long.
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

/// The depth of a tree, computed without recursion.
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
struct AttributeCount(u32);

impl Attributes for AttributeCount {
    fn clear(&mut self) {
        self.0 = 0;
    }

    fn attribute(&mut self, _: NameKey, _: Range<usize>, _: Range<usize>) {
        self.0 += 1;
    }
}

/// Whether its tree can be built in reasonable time. An end tag is counted only if it closes the
/// most recent element, so this never underestimates the open elements.
pub(crate) fn is_tame(html: &str) -> bool {
    let mut scanner = Scanner::new(html);
    let mut attributes = AttributeCount::default();
    let mut open: Vec<&[u8]> = Vec::new();
    let (mut formatting, mut reopened) = (0usize, 0usize);
    while let Some(token) = scanner.next(&mut attributes) {
        let name = html.as_bytes().get(scanner.tag().name.clone()).unwrap_or(&[]);
        let tag = Tag::of(scanner.tag().key, name);
        match token {
            HtmlToken::Start if nests(tag) => {
                open.push(name);
                formatting += usize::from(is_formatting(tag));
            }
            HtmlToken::End if open.last().is_some_and(|last| last.eq_ignore_ascii_case(name)) => {
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

/// Whether an element stays open until its end tag; others are closed implicitly.
fn nests(tag: Tag) -> bool {
    let ends_by_itself =
        matches!(tag, Tag::P | Tag::Li | Tag::Dt | Tag::Dd | Tag::Tr | Tag::Td | Tag::Th | Tag::Choice);
    !ends_by_itself && tag.flags() & VOID == 0
}

/// Whether an element that is left open is reopened in the next block (HTML, 13.2.4.3).
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
