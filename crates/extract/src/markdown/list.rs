//! How do lists read: bullets, numbers, definitions?

use super::code::{code_span, folded};
use super::tree::NodeId;
use super::write::MarkdownWriter;
use crate::html::name::Tag;

/// Classes of terms that are declarations.
const SIGNATURE: &[&str] = &["sig"];

impl MarkdownWriter<'_> {
    /// Writes a list; `number` is the number of its first item, if it is numbered.
    pub(super) fn list(&mut self, id: NodeId, number: Option<u64>) {
        let items = self.tree.children(id).filter(|item| self.holds_kept(*item)).collect();
        self.items(items, number);
    }

    /// Writes items that stand outside any list, as browsers show them: bullets. Begins with this
    /// one and returns the last.
    pub(super) fn stray_items(&mut self, first: NodeId) -> NodeId {
        let (mut items, mut last) = (vec![first], first);
        let mut next = self.tree.sibling(first);
        while let Some(node) = next {
            match self.tree.tag(node) {
                Some(Tag::Li) => {
                    items.push(node);
                    last = node;
                }
                None if !self.holds_kept(node) => {}
                _ => break,
            }
            next = self.tree.sibling(node);
        }
        items.retain(|item| self.holds_kept(*item));
        self.items(items, None);
        last
    }

    fn items(&mut self, items: Vec<NodeId>, number: Option<u64>) {
        let loose = items.iter().any(|item| self.is_loose(*item));
        let mut number = number;
        for (i, item) in items.into_iter().enumerate() {
            // The list itself is set apart from what precedes it, its items only if they are long.
            if i > 0 {
                self.next_tight = Some(!loose);
            } else {
                self.next_tight.get_or_insert(self.tight);
            }
            match self.tree.tag(item) {
                // A list that stands in a list instead of in one of its items.
                Some(Tag::Ul | Tag::Ol) => self.within("  ", "  ", |writer| writer.item(item, loose)),
                _ => {
                    number = number.map(|n| self.given_number(item, "value").unwrap_or(n));
                    let marker = number.map_or_else(|| "- ".to_owned(), |n| format!("{n}. "));
                    let indent = " ".repeat(marker.len());
                    self.within(&marker, &indent, |writer| writer.item(item, loose));
                    number = number.map(|n| n.saturating_add(1));
                }
            }
        }
    }

    /// The number that an item or a list gives itself. The largest that Markdown knows has nine
    /// digits.
    pub(super) fn given_number(&self, id: NodeId, name: &str) -> Option<u64> {
        let given = self.tree.attribute(id, name).and_then(|number| number.trim().parse().ok());
        given.filter(|number| *number < 1_000_000_000)
    }

    fn item(&mut self, id: NodeId, loose: bool) {
        self.tight = !loose;
        match self.tree.tag(id) {
            Some(Tag::Ul | Tag::Menu | Tag::Dir) => self.list(id, None),
            Some(Tag::Ol) => self.list(id, Some(1)),
            Some(_) => self.blocks(id),
            None => self.paragraph(&[id]),
        }
    }

    /// Whether an item has more than one paragraph, or blocks that need room.
    fn is_loose(&self, item: NodeId) -> bool {
        let mut paragraphs = 0;
        self.tree.children(item).any(|child| {
            let is_paragraph = self.tree.tag(child) == Some(Tag::P);
            // Text in front of a paragraph is one, too.
            let is_text = paragraphs == 0 && self.tree.tag(child).is_none() && self.holds_kept(child);
            paragraphs += usize::from(is_paragraph || is_text);
            let needs_room = matches!(
                self.tree.tag(child),
                Some(Tag::Pre | Tag::Table | Tag::Blockquote | Tag::Dl | Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4)
            );
            (is_paragraph && paragraphs > 1)
                || needs_room
                || (self.tree.tag(child) == Some(Tag::Div) && self.tree.node(child).holds_blocks)
        })
    }

    /// Writes a definition list: a term, and below it what it means, behind a colon.
    pub(super) fn definitions(&mut self, id: NodeId) {
        let mut parts: Vec<NodeId> = Vec::new();
        for child in self.tree.children(id) {
            match self.tree.tag(child) {
                // Groups of a term and its definitions.
                Some(Tag::Div) => parts.extend(self.tree.children(child)),
                _ => parts.push(child),
            }
        }
        if !parts.iter().any(|part| self.tree.tag(*part) == Some(Tag::Dt)) {
            // Without a term it is not a definition but a way to indent.
            return self.blocks(id);
        }
        let was_tight = std::mem::take(&mut self.tight);
        let mut before = None;
        for part in parts.into_iter().filter(|part| self.holds_kept(*part)).collect::<Vec<_>>() {
            let tag = self.tree.tag(part);
            // A definition follows its term; another term is set apart, or it would continue the
            // text.
            let is_short = |part: NodeId| !self.tree.node(part).holds_blocks;
            let follows = match (before.map(|part| (part, self.tree.tag(part))), tag) {
                (Some((_, Some(Tag::Dt))), Some(Tag::Dt | Tag::Dd)) => true,
                (Some((last, Some(Tag::Dd))), Some(Tag::Dd)) => is_short(last),
                _ => false,
            };
            self.next_tight = if follows { Some(true) } else { self.next_tight };
            match tag {
                Some(Tag::Dt) => self.term(part),
                Some(Tag::Dd) => self.within(":   ", "    ", |writer| writer.blocks(part)),
                Some(_) => self.blocks(part),
                None => self.paragraph(&[part]),
            }
            before = Some(part);
        }
        self.tight = was_tight;
    }

    /// Whether an element is a definition list without terms, which is a way to indent. Behind a
    /// list it belongs to its last item (MediaWiki).
    pub(super) fn is_indentation(&self, id: NodeId) -> bool {
        self.tree.tag(id) == Some(Tag::Dl) && self.tree.children(id).all(|part| self.tree.tag(part) != Some(Tag::Dt))
    }

    fn term(&mut self, id: NodeId) {
        let is_signature = self.tree.has_class(id, SIGNATURE);
        let code = if is_signature { folded(&self.plain(id)) } else { String::new() };
        match self.tree.node(id).holds_blocks {
            _ if !code.is_empty() => self.write(&code_span(&code)),
            true => self.blocks(id),
            false => self.paragraph(&[id]),
        }
    }
}
