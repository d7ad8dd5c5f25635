//! How do programs read, in blocks and in lines, and which language are they in?

use super::inline::{InlineStyle, is_silent, space};
use super::tree::{NodeId, ROOT, is_block};
use super::write::MarkdownWriter;
use crate::html::name::Tag;

/// How far up a highlighter may have written the language.
const REACH: usize = 4;

/// Prefixes of class names that are followed by the language.
const PREFIXES: &[&str] = &["language-", "lang-", "highlight-source-", "highlight-", "source-", "brush:"];

/// Class names that stand beside the language.
const COMPANIONS: &[&str] = &[
    "sourcecode",
    "hljs",
    "prettyprint",
    "mw-geshi",
    "codehilite",
    "code-block",
    "chroma",
    "rust-example-rendered",
    "item-decl",
];

/// Class of a block of code whose lines are blocks (Doxygen).
const FRAGMENT: &[&str] = &["fragment"];
/// Class of its lines.
const LINE: &[&str] = &["line"];

/// Classes of what stands in a program and is no part of it: links to its source, line numbers.
const FOREIGN: &[&str] = &["viewcode-link", "linenos", "lineno", "line-number", "react-syntax-highlighter-line-number"];

/// Names of no language.
const NONE: &[&str] = &["default", "none", "text", "plain", "plaintext", "txt", "nohighlight", "notranslate"];

/// What some highlighters call languages, and what everybody calls them.
const ALIASES: &[(&str, &str)] =
    &[("python3", "python"), ("pycon3", "pycon"), ("c++", "cpp"), ("js", "javascript"), ("golang", "go")];

impl MarkdownWriter<'_> {
    /// Writes a fenced code block.
    pub(super) fn code_block(&mut self, id: NodeId) {
        let text = match self.tree.tag(id) {
            Some(Tag::Div) => self.lines_of_fragment(id),
            _ => self.plain(id).replace("\r\n", "\n"),
        };
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
        let code = match style.cell && self.breaks_lines(id) {
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
        self.tree.has_class(id, FRAGMENT) && said.all(|line| self.tree.has_class(line, LINE))
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

    fn add_plain(&self, id: NodeId, text: &mut String) {
        if self.tree.tag(id).is_none() && self.is_kept(id) {
            text.push_str(&self.tree.text(id));
        }
        for child in self.tree.children(id) {
            let tag = self.tree.tag(child);
            let is_skipped = match tag {
                Some(Tag::A) => self.is_permalink(child),
                Some(Tag::Span) => self.tree.has_class(child, FOREIGN),
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

    /// The language of a code block, from the classes of what it contains and what contains it.
    fn language(&self, id: NodeId) -> Option<String> {
        let inner = self.tree.children(id).find(|child| self.tree.tag(*child) == Some(Tag::Code));
        let mut outer = id;
        let around = std::iter::from_fn(|| {
            let here = outer;
            outer = self.tree.parent(outer);
            (here != ROOT).then_some(here)
        });
        let around: Vec<NodeId> = inner.into_iter().chain(around.take(REACH)).collect();
        around.into_iter().find_map(|element| {
            let given = ["data-lang", "data-language"].iter().find_map(|name| self.tree.short_attribute(element, name));
            given.and_then(|name| known(&name)).or_else(|| in_classes(&self.tree.short_attribute(element, "class")?))
        })
    }
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

fn in_classes(classes: &str) -> Option<String> {
    let classes = classes.to_ascii_lowercase().replace("brush: ", "brush:");
    let names = || classes.split_ascii_whitespace();
    let prefixed = names().find_map(|name| {
        let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        known(rest.trim_end_matches(';'))
    });
    prefixed.or_else(|| {
        let beside = names().any(|name| COMPANIONS.contains(&name));
        let others = || names().filter(|name| !COMPANIONS.contains(name));
        if beside { others().find_map(known) } else { None }
    })
}

/// The name of a language as it is commonly written; `None` if it is none.
fn known(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_lowercase();
    let plausible = (1..20).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#' | b'-'));
    if !plausible || NONE.contains(&name.as_str()) {
        return None;
    }
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    Some(alias.map_or(name, |(_, usual)| (*usual).to_owned()))
}
