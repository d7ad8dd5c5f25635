//! How do programs read, in blocks and in lines?

use super::inline::{InlineStyle, is_silent, space};
use super::tree::{NodeId, is_block};
use super::write::MarkdownWriter;
use crate::html::name::Tag;

/// Class of a block of code whose lines are blocks (Doxygen).
const FRAGMENT: &[&str] = &["fragment"];
/// Class of its lines.
const LINE: &[&str] = &["line"];

/// Classes of what stands in a program and is no part of it: links to its source, line numbers.
const FOREIGN: &[&str] = &[
    "viewcode-link",
    "linenos",
    "lineno",
    "line-number",
    "linenumber",
    "react-syntax-highlighter-line-number",
    "ln",
    "lnt",
    "rouge-gutter",
    "hljs-ln-numbers",
    "blob-num",
];

/// Classes of what contains the lines of a program that another highlighter has taken apart.
const CONTAINER: &[&str] = &["container"];
const HIGHLIGHTER: &[&str] = &["syntaxhighlighter"];
/// How far up it is.
const FAR: usize = 7;

impl MarkdownWriter<'_> {
    /// Writes a fenced code block, or several where an element holds one program in each of several
    /// languages.
    pub(super) fn code_block(&mut self, id: NodeId) {
        let versions = self.versions(id);
        if versions.len() > 1 {
            return versions.into_iter().for_each(|version| self.one_program(version));
        }
        self.one_program(id);
    }

    fn one_program(&mut self, id: NodeId) {
        let text = match self.tree.tag(id) {
            Some(Tag::Div) => self.lines_of_fragment(id),
            Some(tag) if is_inline_code(tag) && !self.is_within_pre(id) => self.broken_lines(id),
            _ => self.plain(id).replace("\r\n", "\n"),
        };
        let text = text.replace('\u{a0}', " ");
        let code = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        if code.trim().is_empty() {
            return;
        }
        let fence = "`".repeat((longest_run(code, '`') + 1).max(3));
        let language = self.language(id).unwrap_or_default();
        self.next_tight = Some(false);
        self.write(&format!("{fence}{language}\n{code}\n{fence}"));
    }

    /// Text in code style, with as many backticks as its own need. Code that is one link stays one.
    pub(super) fn inline_code(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        let text = self.plain(id);
        let lines: Vec<String> =
            text.lines().map(folded).filter(|line| !line.is_empty()).map(|line| code_span(&line)).collect();
        // Line breaks matter where a browser shows them; elsewhere they are in the source alone.
        let code = match style.cell && (self.tree.tag(id) == Some(Tag::Pre) || self.breaks_lines(id)) {
            true => lines.join("<br>"),
            false => code_span(&folded(&text)),
        };
        if lines.is_empty() {
            return;
        }
        if text.starts_with(char::is_whitespace) {
            space(out);
        }
        match self.only_link(id).filter(|_| !style.link) {
            Some(link) => out.push_str(&self.linked(link, &code)),
            None => out.push_str(&code),
        }
        if text.ends_with(char::is_whitespace) {
            space(out);
        }
    }

    /// Whether an element is a program whose lines are elements of their own.
    pub(super) fn is_fragment(&self, id: NodeId) -> bool {
        let mut said = self.tree.children(id).filter(|child| self.holds_kept(*child));
        let is_fragment = self.tree.has_class(id, FRAGMENT) || self.is_taken_apart(id);
        is_fragment && said.all(|line| self.tree.has_class(line, LINE))
    }

    fn is_taken_apart(&self, id: NodeId) -> bool {
        let mut around = std::iter::successors(Some(id), |node| Some(self.tree.parent(*node))).take(FAR);
        self.tree.has_class(id, CONTAINER) && around.any(|node| self.tree.has_class(node, HIGHLIGHTER))
    }

    /// The programs of an element that consists of several, each in a language of its own.
    fn versions(&self, id: NodeId) -> Vec<NodeId> {
        let said: Vec<NodeId> = self.tree.children(id).filter(|child| self.holds_kept(*child)).collect();
        let is_program =
            |child: &NodeId| self.tree.tag(*child) == Some(Tag::Code) && self.own_language(*child).is_some();
        if self.tree.tag(id) == Some(Tag::Pre) && said.iter().all(is_program) { said } else { Vec::new() }
    }

    /// The program that running text consists of: code with line breaks, and nothing beside it.
    pub(super) fn only_program(&self, nodes: &[NodeId]) -> Option<NodeId> {
        let mut said = nodes.iter().copied().filter(|node| self.holds_kept(*node));
        let only = said.next().filter(|_| said.next().is_none())?;
        let is_code = self.tree.tag(only).is_some_and(is_inline_code);
        (is_code && self.broken_lines(only).trim().contains('\n')).then_some(only)
    }

    fn is_within_pre(&self, id: NodeId) -> bool {
        self.tree.tag(self.tree.parent(id)) == Some(Tag::Pre)
    }

    /// Code that is not preformatted: only `<br>` ends a line, and other white space is folded.
    fn broken_lines(&self, id: NodeId) -> String {
        let mut text = String::new();
        for node in self.tree.below(id) {
            match self.tree.tag(node) {
                Some(Tag::Br) => text.push('\n'),
                None if self.is_kept(node) => {
                    for c in self.tree.text(node).chars() {
                        match c {
                            ' ' | '\t' | '\r' | '\n' if text.is_empty() || text.ends_with([' ', '\n']) => {}
                            ' ' | '\t' | '\r' | '\n' => text.push(' '),
                            c => text.push(c),
                        }
                    }
                }
                _ => {}
            }
        }
        text.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    fn lines_of_fragment(&self, id: NodeId) -> String {
        let lines = self.tree.children(id).filter(|child| self.tree.tag(*child).is_some());
        let lines = lines.map(|line| self.plain(line).replace('\u{a0}', " ").trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }

    fn breaks_lines(&self, id: NodeId) -> bool {
        self.tree.node(id).holds_blocks || self.tree.below(id).any(|node| self.tree.tag(node) == Some(Tag::Br))
    }

    /// The link that an element consists of.
    fn only_link(&self, id: NodeId) -> Option<NodeId> {
        let mut at = id;
        loop {
            let mut said = self.tree.children(at).filter(|child| self.holds_kept(*child));
            let only = said.next().filter(|_| said.next().is_none())?;
            match self.tree.tag(only)? {
                Tag::A => return Some(only),
                _ => at = only,
            }
        }
    }

    /// The kept text below a node, as it is, without the signs that link to a place. Blocks are
    /// lines: highlighters put each line into one.
    pub(super) fn plain(&self, id: NodeId) -> String {
        let mut text = String::new();
        self.add_plain(id, &mut text);
        text
    }

    /// All text below a node, numbers of lines included.
    pub(super) fn every_line(&self, id: NodeId) -> String {
        let texts = self.tree.below(id).filter(|node| self.tree.tag(*node).is_none());
        texts.map(|node| self.tree.text(node)).collect::<Vec<_>>().join(" ")
    }

    fn add_plain(&self, id: NodeId, text: &mut String) {
        if self.tree.tag(id).is_none() && self.is_kept(id) {
            text.push_str(&self.tree.text(id));
        }
        for child in self.tree.children(id) {
            let tag = self.tree.tag(child);
            let is_skipped = match tag {
                Some(Tag::A) => self.is_permalink(child),
                Some(Tag::Span | Tag::Td | Tag::Pre | Tag::Div) => self.tree.has_class(child, FOREIGN),
                Some(tag) => is_silent(tag),
                None => false,
            };
            let is_line = tag.is_some_and(is_block);
            if tag == Some(Tag::Br) {
                text.push('\n');
            } else if !is_skipped {
                break_line(is_line, text);
                self.add_plain(child, text);
                break_line(is_line, text);
            }
        }
    }
}

/// Whether an element is code within a line.
fn is_inline_code(tag: Tag) -> bool {
    matches!(tag, Tag::Code | Tag::Tt)
}

fn break_line(is_line: bool, text: &mut String) {
    if is_line && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// White space as a browser shows it.
pub(super) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Code between backticks: more of them than it contains in a row.
pub(super) fn code_span(code: &str) -> String {
    let ticks = "`".repeat(longest_run(code, '`') + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

/// The length of the longest run of a character.
fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
