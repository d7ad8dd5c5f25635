//! How do the blocks of a page follow each other?
//!
//! Every block is written line by line behind the prefixes of what contains it: the marker of a
//! list item before its first line and as much space before the others, `> ` before all lines of a
//! quotation. Blocks are separated by an empty line, except inside tight lists.

use super::formula::SET_FORMULA;
use super::inline::{HIGHLIGHTED, InlineStyle, is_silent};
use super::tree::{Markup, MarkupTree, NodeId, ROOT, is_block};
use crate::html::name::Tag;
use std::ops::Range;
use url::Url;

/// Lists and quotations nested deeper than this are not indented further.
const MAX_PREFIXES: usize = 16;

/// Classes of the paragraph that names a note, a warning or the like.
const ADMONITION: &[&str] = &["admonition-title"];

/// What stands before the lines of a block.
#[derive(Debug)]
struct LinePrefix {
    first: String,
    rest: String,
    used: bool,
}

/// Markdown in the making.
pub(super) struct MarkdownWriter<'a> {
    pub(super) tree: MarkupTree<'a>,
    /// What relative links are relative to.
    pub(super) base: Option<Url>,
    /// The ranges of the source to write, in order; `None` for everything.
    pub(super) only: Option<Vec<Range<usize>>>,
    out: String,
    prefixes: Vec<LinePrefix>,
    /// Whether blocks follow each other without an empty line here.
    pub(super) tight: bool,
    /// The same for the next block alone.
    pub(super) next_tight: Option<bool>,
    /// Whether a heading is being written.
    pub(super) in_heading: bool,
    /// An enclosing link that waits for its first text.
    pending_link: Option<NodeId>,
}

impl<'a> MarkdownWriter<'a> {
    pub(super) fn new(tree: MarkupTree<'a>, base: Option<Url>, only: Option<Vec<Range<usize>>>) -> Self {
        Self {
            tree,
            base,
            only,
            out: String::new(),
            prefixes: Vec::new(),
            tight: false,
            next_tight: None,
            in_heading: false,
            pending_link: None,
        }
    }

    /// The whole page.
    pub(super) fn run(mut self) -> String {
        self.blocks(ROOT);
        self.out
    }

    /// Whether a node lies in a part that is wanted.
    pub(super) fn is_kept(&self, id: NodeId) -> bool {
        let Some(only) = &self.only else { return true };
        let at = self.tree.node(id).at;
        let after = only.partition_point(|range| range.start <= at);
        after.checked_sub(1).and_then(|i| only.get(i)).is_some_and(|range| range.contains(&at))
    }

    /// Whether anything below a node is wanted.
    pub(super) fn holds_kept(&self, id: NodeId) -> bool {
        let says = |node: NodeId| match &self.tree.node(node).markup {
            Markup::Text(range, _) => self.tree.src.get(range.clone()).is_some_and(|text| !text.trim().is_empty()),
            Markup::Element(tag) => matches!(tag, Tag::Img | Tag::Image),
        };
        self.tree.below(id).any(|node| says(node) && self.is_kept(node))
    }

    /// Writes what an element contains: its blocks, and its running text as paragraphs.
    pub(super) fn blocks(&mut self, id: NodeId) {
        let mut running: Vec<NodeId> = Vec::new();
        // How far the items of the list before are indented.
        let mut listed = None;
        let mut next = self.tree.children(id).next();
        while let Some(child) = next {
            next = self.tree.sibling(child);
            let is_running = match self.tree.tag(child) {
                None => true,
                Some(tag) => !is_block(tag) && (!self.tree.node(child).holds_blocks || self.is_one_line(child)),
            };
            if is_running {
                running.push(child);
                continue;
            }
            listed = listed.filter(|_| !running.iter().any(|node| self.holds_kept(*node)));
            self.paragraph(&std::mem::take(&mut running));
            if self.is_stray_item(child) {
                let last = self.stray_items(child);
                next = self.tree.sibling(last);
                continue;
            }
            let below = listed.filter(|_| self.is_indentation(child));
            match below {
                Some(indent) => {
                    self.next_tight = Some(true);
                    self.within(indent, indent, |writer| writer.block(child));
                }
                None => self.block(child),
            }
            listed = match self.tree.tag(child) {
                Some(Tag::Ul) => Some("  "),
                Some(Tag::Ol) => Some("   "),
                _ => below,
            };
        }
        self.paragraph(&running);
    }

    /// Whether an item stands outside any list. Inside one it belongs to the list, however deep.
    fn is_stray_item(&self, id: NodeId) -> bool {
        self.tree.tag(id) == Some(Tag::Li) && self.prefixes.is_empty() && !self.is_footnote(id)
    }

    /// Whether a span is part of a line although it holds blocks: a formula whose fractions are
    /// tables, or a program.
    fn is_one_line(&self, id: NodeId) -> bool {
        self.tree.tag(id) == Some(Tag::Span)
            && (self.tree.has_class(id, SET_FORMULA) || self.tree.has_class(id, HIGHLIGHTED))
    }

    /// Writes one block element, or an inline element that contains blocks.
    fn block(&mut self, id: NodeId) {
        let Some(tag) = self.tree.tag(id) else { return };
        match tag {
            _ if is_silent(tag) => {}
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => self.heading(id, tag),
            Tag::Ul | Tag::Menu | Tag::Dir => self.list(id, None),
            Tag::Ol => self.list(id, Some(self.given_number(id, "start").unwrap_or(1))),
            Tag::Dl => self.definitions(id),
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => self.code_block(id),
            Tag::Div if self.is_fragment(id) => self.code_block(id),
            Tag::Div if self.is_button(id) => {}
            Tag::Table => self.table(id),
            Tag::Blockquote => self.within("> ", "> ", |writer| writer.blocks(id)),
            Tag::Hr => self.rule(id),
            Tag::Summary | Tag::Legend => self.labelled(id, "**"),
            Tag::P if self.tree.has_class(id, ADMONITION) => self.labelled(id, "**"),
            Tag::Aside | Tag::Div | Tag::Li if self.is_footnote(id) => self.footnote(id),
            Tag::Figcaption | Tag::Caption => self.labelled(id, "*"),
            Tag::Div | Tag::P if self.formula_block(id) => {}
            Tag::A => {
                self.pending_link = Some(id);
                self.blocks(id);
                self.pending_link = None;
            }
            _ => self.blocks(id),
        }
    }

    fn heading(&mut self, id: NodeId, tag: Tag) {
        let level = usize::from(tag as u8 - Tag::H1 as u8) + 1;
        self.in_heading = true;
        let text = self.line(&[id]);
        self.in_heading = false;
        // A heading is one line, and hash signs at its end would not be part of it.
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.ends_with('#') && text.trim_end_matches('#').ends_with([' ', '\0']) {
            text.insert(text.len() - 1, '\\');
        }
        if !text.is_empty() {
            self.next_tight = Some(false);
            self.write(&format!("{} {text}", "#".repeat(level)));
        }
    }

    /// Writes a block that holds TeX; `false` if it holds none.
    fn formula_block(&mut self, id: NodeId) -> bool {
        let mut text = String::new();
        let is_tex = self.marked_tex(id, &mut text);
        if is_tex {
            self.write(&text);
        }
        is_tex
    }

    fn rule(&mut self, id: NodeId) {
        if self.is_kept(id) && !self.out.is_empty() {
            self.write("---");
        }
    }

    /// Whether an element is a footnote with its number in front.
    fn is_footnote(&self, id: NodeId) -> bool {
        let label = || self.tree.children(id).find(|child| self.holds_kept(*child));
        let is_label =
            |label: NodeId| self.tree.tag(label) == Some(Tag::Span) && self.tree.has_class(label, &["label"]);
        self.tree.has_class(id, &["footnote", "citation"]) && label().is_some_and(is_label)
    }

    /// A footnote: its number stands in the line of its first paragraph.
    fn footnote(&mut self, id: NodeId) {
        let said: Vec<NodeId> = self.tree.children(id).filter(|child| self.holds_kept(*child)).collect();
        let is_paragraph = |node: &&NodeId| self.tree.tag(**node) == Some(Tag::P);
        let Some((label, first)) = said.first().copied().zip(said.get(1).filter(is_paragraph).copied()) else {
            return self.blocks(id);
        };
        let mut text = self.line(&[label]);
        text.push(' ');
        text.push_str(self.line(&[first]).trim());
        self.write(&guarded(text.trim()));
        for rest in said.into_iter().skip(2) {
            match self.tree.tag(rest) {
                Some(_) => self.block(rest),
                None => self.paragraph(&[rest]),
            }
        }
    }

    /// A caption or summary: one paragraph in a style of its own.
    fn labelled(&mut self, id: NodeId, mark: &str) {
        if self.tree.node(id).holds_blocks {
            return self.blocks(id);
        }
        let text = self.line(&[id]);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let marked = text.contains(mark) || text.contains('\n');
        self.write(&if marked { text.to_owned() } else { format!("{mark}{text}{mark}") });
    }

    /// Writes running text as a paragraph, if it says anything.
    pub(super) fn paragraph(&mut self, nodes: &[NodeId]) {
        if let Some(program) = self.only_program(nodes) {
            return self.code_block(program);
        }
        let text = self.line(nodes);
        let text = text.trim();
        if !text.is_empty() {
            let lines: Vec<String> = text.lines().map(guarded).collect();
            self.write(&lines.join("\n"));
        }
    }

    /// Running text as Markdown, as a link if an enclosing link waits for its text.
    pub(super) fn line(&mut self, nodes: &[NodeId]) -> String {
        let mut text = String::new();
        let outer = self.pending_link;
        let style = InlineStyle { link: outer.is_some(), ..InlineStyle::default() };
        for id in nodes {
            self.inline(*id, style, &mut text);
        }
        let Some(link) = outer.filter(|_| !text.trim().is_empty()) else { return text };
        self.pending_link = None;
        self.linked(link, &text)
    }

    /// Writes below a prefix.
    pub(super) fn within(&mut self, first: &str, rest: &str, write: impl FnOnce(&mut Self)) {
        if self.prefixes.len() >= MAX_PREFIXES {
            return write(self);
        }
        let tight = self.tight;
        self.tight = tight && !rest.starts_with('>');
        self.prefixes.push(LinePrefix { first: first.to_owned(), rest: rest.to_owned(), used: false });
        write(self);
        self.prefixes.pop();
        self.tight = tight;
    }

    /// Writes the lines of a block.
    pub(super) fn write(&mut self, lines: &str) {
        let tight = self.next_tight.take().unwrap_or(self.tight);
        if !self.out.is_empty() && !tight {
            // The empty line belongs to what contains the new block, not to the block.
            let fresh = self.prefixes.iter().position(|prefix| !prefix.used).unwrap_or(self.prefixes.len());
            let blank: String = self.prefixes.iter().take(fresh).map(|prefix| prefix.rest.as_str()).collect();
            self.out.push_str(blank.trim_end());
            self.out.push('\n');
        }
        for line in lines.lines() {
            let start = self.out.len();
            for prefix in &mut self.prefixes {
                self.out.push_str(if prefix.used { &prefix.rest } else { &prefix.first });
                prefix.used = true;
            }
            self.out.push_str(line);
            if line.is_empty() {
                let kept = self.out.trim_end_matches(' ').len().max(start);
                self.out.truncate(kept);
            }
            self.out.push('\n');
        }
    }
}

/// A line that would be taken for the start of another kind of block, escaped.
pub(super) fn guarded(line: &str) -> String {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = |at: usize| line[at..].chars().next().is_none_or(char::is_whitespace);
    if (1..10).contains(&digits) && line[digits..].starts_with(['.', ')']) && after(digits + 1) {
        return format!("{}\\{}", &line[..digits], &line[digits..]);
    }
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    let heads = (1..7).contains(&hashes) && after(hashes);
    let marks = line.starts_with(['-', '+', '*']) && after(1);
    let consists_of = |signs: &str| line.bytes().all(|b| signs.as_bytes().contains(&b));
    let rules = !line.is_empty() && (consists_of("-|: ") || consists_of("=") || consists_of("_ "));
    let quotes = line.starts_with('>') || line.starts_with("~~~") || line.starts_with(": ");
    let defines = line.starts_with('[') && line.contains("]:");
    if heads || marks || rules || quotes || defines { format!("\\{line}") } else { line.to_owned() }
}
