//! Which elements contain which?
//!
//! A tree of everything that may matter for Markdown, built in one pass over the scanner's tokens.
//! Implied end tags are inserted where they matter (HTML, 13.1.2.4), the rest of the tree
//! construction rules is not: no element is moved or reopened, so the time is linear whatever the
//! input. Attributes are not kept; the few that are needed are read again from the start tag.
//! Elements nested deeper than [`DEPTH`] count as part of the one that contains them.

use crate::entity::{self, ReferenceContext};
use crate::html::foreign::{Foreign, ForeignHint};
use crate::html::name::{BLOCK, CELL, NameKey, Tag, VOID, key};
use crate::html::raw::Raw;
use crate::html::scan::{Attributes, HtmlToken, Scanner, TextMode};
use std::borrow::Cow;
use std::ops::Range;

/// How much of a start tag is read on behalf of other elements.
const SHORT_TAG: usize = 4_000;

/// Maximum depth of the tree.
pub(super) const DEPTH: usize = 128;

/// A node's number.
pub(super) type NodeId = usize;

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Markup {
    /// An element.
    Element(Tag),
    /// Text as written, and whether it contains character references.
    Text(Range<usize>, TextMode),
}

/// A node.
#[derive(Debug)]
pub(super) struct MarkupNode {
    pub(super) markup: Markup,
    /// Its offset in the source.
    pub(super) at: usize,
    /// Whether a block element is below it.
    pub(super) holds_blocks: bool,
    first: Option<NodeId>,
    last: Option<NodeId>,
    next: Option<NodeId>,
    parent: NodeId,
}

/// A page as a tree.
pub(super) struct MarkupTree<'a> {
    pub(super) src: &'a str,
    nodes: Vec<MarkupNode>,
}

/// The root of every tree.
pub(super) const ROOT: NodeId = 0;

impl<'a> MarkupTree<'a> {
    /// Parses a page.
    pub(super) fn of(src: &'a str) -> Self {
        TreeBuilder::new(src).run()
    }

    pub(super) fn node(&self, id: NodeId) -> &MarkupNode {
        &self.nodes[id]
    }

    /// The element of a node; `None` for text.
    pub(super) fn tag(&self, id: NodeId) -> Option<Tag> {
        match self.nodes[id].markup {
            Markup::Element(tag) => Some(tag),
            Markup::Text(..) => None,
        }
    }

    /// The children of a node, in order.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.nodes[id].first, |child| self.nodes[*child].next)
    }

    /// The node that follows a node in the same element.
    pub(super) fn sibling(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id].next
    }

    /// The element that contains a node; the root contains itself.
    pub(super) fn parent(&self, id: NodeId) -> NodeId {
        self.nodes[id].parent
    }

    /// A node and everything below it, in order.
    pub(super) fn below(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let here = next?;
            next = self.nodes[here].first.or_else(|| {
                let mut up = here;
                while up != id {
                    if let Some(sibling) = self.nodes[up].next {
                        return Some(sibling);
                    }
                    up = self.nodes[up].parent;
                }
                None
            });
            Some(here)
        })
    }

    /// The text of a text node with its references expanded; empty for elements.
    pub(super) fn text(&self, id: NodeId) -> Cow<'a, str> {
        match &self.nodes[id].markup {
            Markup::Element(_) => Cow::Borrowed(""),
            Markup::Text(range, mode) => {
                let text = self.src.get(range.clone()).unwrap_or("");
                match mode {
                    TextMode::Referenced => entity::unescape(text, ReferenceContext::Text),
                    TextMode::Literal => Cow::Borrowed(text),
                }
            }
        }
    }

    /// The name of an element as written.
    pub(super) fn name(&self, id: NodeId) -> &'a str {
        let from = self.nodes[id].at + 1;
        let rest = self.src.get(from..).unwrap_or("");
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/').unwrap_or(rest.len());
        &rest[..end]
    }

    /// The node that follows a node and everything below it, in the order of the source.
    pub(super) fn after(&self, id: NodeId) -> Option<NodeId> {
        let mut up = id;
        while up != ROOT {
            if let Some(next) = self.nodes[up].next {
                return Some(next);
            }
            up = self.nodes[up].parent;
        }
        None
    }

    /// An attribute of an element, read from its start tag; `name` is in lower case.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<Cow<'a, str>> {
        let Markup::Element(_) = self.nodes[id].markup else { return None };
        self.attribute_in(self.src.get(self.nodes[id].at..)?, name)
    }

    /// Whether an element has one of these classes. Only the first part of its start tag is read,
    /// since descendants ask, too, and there may be as many of them as it has attributes.
    pub(super) fn has_class(&self, id: NodeId, wanted: &[&str]) -> bool {
        let has = |classes: Cow<'a, str>| classes.split_ascii_whitespace().any(|class| wanted.contains(&class));
        self.short_attribute(id, "class").is_some_and(has)
    }

    /// An attribute near the start of an element's tag.
    pub(super) fn short_attribute(&self, id: NodeId, name: &str) -> Option<Cow<'a, str>> {
        let Markup::Element(_) = self.nodes[id].markup else { return None };
        let tag = self.src.get(self.nodes[id].at..)?;
        let end = (0..=SHORT_TAG.min(tag.len())).rev().find(|at| tag.is_char_boundary(*at))?;
        self.attribute_in(&tag[..end], name)
    }

    fn attribute_in(&self, tag: &'a str, name: &str) -> Option<Cow<'a, str>> {
        let mut wanted = WantedAttribute { src: tag, name, key: key(name), value: None };
        Scanner::new(tag).next(&mut wanted)?;
        let value = tag.get(wanted.value?)?;
        Some(entity::unescape(value, ReferenceContext::Attribute))
    }
}

/// A sink that keeps one attribute: the first of its name, as browsers do.
struct WantedAttribute<'a, 'n> {
    src: &'a str,
    name: &'n str,
    key: NameKey,
    value: Option<Range<usize>>,
}

impl Attributes for WantedAttribute<'_, '_> {
    fn clear(&mut self) {}

    fn attribute(&mut self, key: NameKey, name: Range<usize>, value: Range<usize>) {
        let same = || self.src.get(name).is_some_and(|written| written.eq_ignore_ascii_case(self.name));
        if self.value.is_none() && key == self.key && same() {
            self.value = Some(value);
        }
    }
}

/// A sink for tags whose attributes do not matter yet.
struct NoAttributes;

impl Attributes for NoAttributes {
    fn clear(&mut self) {}

    fn attribute(&mut self, _: NameKey, _: Range<usize>, _: Range<usize>) {}
}

struct TreeBuilder<'a> {
    scanner: Scanner<'a>,
    foreign: Foreign,
    open: Vec<NodeId>,
    /// Number of open elements beyond the maximum depth.
    deeper: usize,
    tree: MarkupTree<'a>,
}

impl<'a> TreeBuilder<'a> {
    fn new(src: &'a str) -> Self {
        let root = MarkupNode {
            markup: Markup::Element(Tag::Body),
            at: 0,
            holds_blocks: true,
            first: None,
            last: None,
            next: None,
            parent: ROOT,
        };
        let tree = MarkupTree { src, nodes: vec![root] };
        Self { scanner: Scanner::new(src), foreign: Foreign::default(), open: vec![ROOT], deeper: 0, tree }
    }

    fn run(mut self) -> MarkupTree<'a> {
        while let Some(token) = self.scanner.next(&mut NoAttributes) {
            match token {
                HtmlToken::Text(range, mode) if !self.foreign.describes() => {
                    let at = range.start;
                    self.add(Markup::Text(range, mode), at);
                }
                HtmlToken::Start => self.start(),
                HtmlToken::End => self.end(),
                HtmlToken::Text(..) | HtmlToken::Comment(_) | HtmlToken::Doctype(_) => {}
            }
        }
        self.tree
    }

    fn add(&mut self, markup: Markup, at: usize) -> NodeId {
        let parent = self.open.last().copied().unwrap_or(ROOT);
        let id = self.tree.nodes.len();
        self.tree.nodes.push(MarkupNode {
            markup,
            at,
            holds_blocks: false,
            first: None,
            last: None,
            next: None,
            parent,
        });
        match self.tree.nodes[parent].last.replace(id) {
            Some(last) => self.tree.nodes[last].next = Some(id),
            None => self.tree.nodes[parent].first = Some(id),
        }
        id
    }

    fn tag(&self) -> Tag {
        let token = self.scanner.tag();
        Tag::of(token.key, self.tree.src.as_bytes().get(token.name.clone()).unwrap_or(&[]))
    }

    fn start(&mut self) {
        let (tag, token) = (self.tag(), self.scanner.tag());
        let (key, closed, at) = (token.key, token.self_closing, token.at);
        let was_foreign = self.foreign.inside();
        let foreign = self.foreign.start(tag, key, closed, ForeignHint::Nothing);
        self.scanner.allow_cdata(self.foreign.inside());
        if foreign {
            // Formulas and drawings are nodes; of what is in them, only annotations (TeX) are.
            if !closed && (!was_foreign || is_annotation(self.tree.src, at)) {
                self.push(tag, at);
            }
            return;
        }
        if was_foreign {
            self.leave_foreign();
        }
        self.leave_head(tag);
        self.close_before(tag);
        if tag.flags() & VOID != 0 {
            self.add(Markup::Element(tag), at);
        } else {
            self.push(tag, at);
        }
        self.enter(tag);
    }

    /// Tells the scanner that raw text follows.
    fn enter(&mut self, tag: Tag) {
        let raw = match tag {
            Tag::Title | Tag::Textarea => Raw::Referenced,
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed => Raw::Literal,
            Tag::Script => Raw::Script,
            Tag::Plaintext => Raw::Endless,
            _ => return,
        };
        self.scanner.raw(raw);
    }

    fn push(&mut self, tag: Tag, at: usize) {
        if self.open.len() >= DEPTH {
            self.deeper += 1;
            if is_block(tag) {
                self.mark_blocks();
            }
            return;
        }
        if is_block(tag) {
            self.mark_blocks();
        }
        let id = self.add(Markup::Element(tag), at);
        self.open.push(id);
    }

    /// Notes in all open elements that they contain a block. Stops at the first that knows it.
    fn mark_blocks(&mut self) {
        for id in self.open.iter().rev() {
            if std::mem::replace(&mut self.tree.nodes[*id].holds_blocks, true) {
                break;
            }
        }
    }

    /// An HTML element in a drawing ends the drawing.
    fn leave_foreign(&mut self) {
        let is_foreign = |id: &NodeId| matches!(self.tree.tag(*id), Some(Tag::Svg | Tag::Math));
        if let Some(at) = self.open.iter().position(is_foreign).filter(|_| !self.foreign.inside()) {
            self.open.truncate(at);
            self.deeper = 0;
        }
    }

    /// The head ends where the first element begins that cannot be in it.
    fn leave_head(&mut self, tag: Tag) {
        if !(is_block(tag) || matches!(tag, Tag::A | Tag::Img | Tag::Span)) {
            return;
        }
        let head = self.open.iter().take(4).position(|id| self.tree.tag(*id) == Some(Tag::Head));
        if let Some(at) = head {
            self.open.truncate(at);
        }
    }

    /// Applies the implied end tags of a start tag.
    fn close_before(&mut self, tag: Tag) {
        let (siblings, within): (&[Tag], &[Tag]) = match tag {
            Tag::Li => (&[Tag::Li], &[Tag::Ul, Tag::Ol, Tag::Menu, Tag::Dir, Tag::Table]),
            Tag::Dt | Tag::Dd => (&[Tag::Dt, Tag::Dd], &[Tag::Dl, Tag::Table]),
            Tag::Td | Tag::Th => (&[Tag::Td, Tag::Th, Tag::Caption], &[Tag::Tr, Tag::Table]),
            Tag::Tr => (&[Tag::Tr, Tag::Caption], &[Tag::Table, Tag::Tbody, Tag::Thead, Tag::Tfoot]),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                (&[Tag::Tbody, Tag::Thead, Tag::Tfoot, Tag::Tr, Tag::Caption], &[Tag::Table])
            }
            Tag::A => (&[Tag::A], &[Tag::Table, Tag::Td, Tag::Th]),
            _ if is_block(tag) => (&[Tag::P], &[Tag::Td, Tag::Th, Tag::Li, Tag::Dd, Tag::Div, Tag::Section]),
            _ => return,
        };
        let tags = |id: &NodeId| self.tree.tag(*id).unwrap_or(Tag::Other);
        let reach = self.open.iter().rposition(|id| within.contains(&tags(id))).map_or(1, |i| i + 1);
        let reach = reach.max(1);
        if let Some(at) = self.open.get(reach..).and_then(|o| o.iter().position(|id| siblings.contains(&tags(id)))) {
            self.open.truncate(reach + at);
            self.deeper = 0;
        }
    }

    fn end(&mut self) {
        let tag = self.tag();
        self.foreign.end(tag, self.scanner.tag().key);
        self.scanner.allow_cdata(self.foreign.inside());
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(at) = self.innermost(tag) else { return };
        let crosses_block = self.open[at + 1..].iter().any(|id| self.tree.tag(*id).is_some_and(is_block));
        if crosses_block && !is_block(tag) {
            // `<b><p>text</b>`: what follows the paragraph is not bold any more.
            self.open.remove(at);
        } else {
            self.open.truncate(at);
        }
    }

    /// The innermost open element with this tag that an end tag may close. Only the end tags of a
    /// table's own parts reach out of a cell.
    fn innermost(&self, tag: Tag) -> Option<usize> {
        let name = self.tree.src.get(self.scanner.tag().name.clone()).unwrap_or("");
        for (at, id) in self.open.iter().enumerate().skip(1).rev() {
            let open = self.tree.tag(*id)?;
            if open == tag && (tag != Tag::Other || self.tree.name(*id).eq_ignore_ascii_case(name)) {
                return Some(at);
            }
            let is_cell = matches!(open, Tag::Td | Tag::Th | Tag::Caption | Tag::Table);
            if is_cell && tag.flags() & CELL == 0 && tag != Tag::Table {
                return None;
            }
        }
        None
    }
}

/// Whether the foreign element at this offset is an annotation of a formula.
fn is_annotation(src: &str, at: usize) -> bool {
    src.get(at + 1..at + 11).is_some_and(|name| name.eq_ignore_ascii_case("annotation"))
}

/// Whether an element stands in lines of its own.
pub(super) fn is_block(tag: Tag) -> bool {
    tag.flags() & (BLOCK | CELL) != 0 && tag != Tag::Br
}
