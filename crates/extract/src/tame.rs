//! Can a tree of this page be built in reasonable time?
//!
//! html5ever's construction is quadratic in depth and in attributes per tag (100,000 nested
//! elements take half a minute) and repeats every formatting element left open. Our own scanner
//! bounds the work first; pages that exceed a limit are not given to it.

use crate::html::name::{NameKey, Tag, VOID};
use crate::html::scan::{Attributes, HtmlToken, Scanner};
use std::ops::Range;

/// Maximum number of elements open at once while the tree is built.
const MAX_OPEN: usize = 4_000;
/// Maximum attributes per tag.
const MAX_ATTRIBUTES: u32 = 500;
/// Maximum number of formatting elements that are reopened.
const MAX_REOPENED: usize = 1_000_000;

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
