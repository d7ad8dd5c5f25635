//! How does running text read as Markdown?
//!
//! White space is folded, characters that would be taken for markup are escaped, links are made
//! absolute, and emphasis never begins or ends with a space, since it would not be emphasis then
//! (CommonMark 6.2).

use super::tree::{NodeId, is_block};
use super::write::MarkdownWriter;
use crate::gather::{has_scheme, trim};
use crate::html::name::Tag;

/// What is open around a piece of text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InlineStyle {
    pub(super) strong: bool,
    pub(super) emphasis: bool,
    pub(super) struck: bool,
    pub(super) link: bool,
    /// Whether blocks are separated by `<br>`, as in the cell of a table.
    pub(super) cell: bool,
}

impl MarkdownWriter<'_> {
    /// Adds a node to a line of text.
    pub(super) fn inline(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        let Some(tag) = self.tree.tag(id) else {
            if self.is_kept(id) {
                escaped(&self.tree.text(id), style, out);
            }
            return;
        };
        let marked = |mark: &str, style: InlineStyle, out: &mut String| enclose(mark, &self.inside(id, style), out);
        match tag {
            Tag::Strong | Tag::B if !style.strong => marked("**", InlineStyle { strong: true, ..style }, out),
            Tag::Em | Tag::I if !style.emphasis => marked("*", InlineStyle { emphasis: true, ..style }, out),
            Tag::Del | Tag::S | Tag::Strike if !style.struck => {
                marked("~~", InlineStyle { struck: true, ..style }, out);
            }
            Tag::Code | Tag::Tt => self.inline_code(id, out),
            Tag::A if !style.link => self.link(id, style, out),
            Tag::Img | Tag::Image => self.image(id, style, out),
            Tag::Br if style.cell => out.push_str("<br>"),
            Tag::Br => hard_break(out),
            Tag::Sup | Tag::Sub => self.raised(id, tag, style, out),
            Tag::Q => {
                out.push('“');
                self.inline_children(id, style, out);
                out.push('”');
            }
            Tag::Math => self.formula(id, out),
            _ if is_silent(tag) => {}
            Tag::Other if matches!(self.tree.name(id).to_ascii_lowercase().as_str(), "kbd" | "samp") => {
                self.inline_code(id, out);
            }
            _ => {
                let apart = is_block(tag);
                if apart {
                    self.break_block(style, out);
                }
                self.inline_children(id, style, out);
                if apart {
                    self.break_block(style, out);
                }
            }
        }
    }

    pub(super) fn inline_children(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        for child in self.tree.children(id) {
            self.inline(child, style, out);
        }
    }

    fn inside(&self, id: NodeId, style: InlineStyle) -> String {
        let mut inner = String::new();
        self.inline_children(id, style, &mut inner);
        inner
    }

    /// Separates a block from its neighbours where no block can stand.
    fn break_block(&self, style: InlineStyle, out: &mut String) {
        let text = out.trim_end();
        if style.cell && !text.is_empty() && !text.ends_with("<br>") {
            out.truncate(text.len());
            out.push_str("<br>");
        } else if !style.cell && !out.is_empty() {
            space(out);
        }
    }

    /// Text in code style, with as many backticks as its own need.
    fn inline_code(&self, id: NodeId, out: &mut String) {
        let text = self.plain(id);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return;
        }
        if text.starts_with(char::is_whitespace) {
            space(out);
        }
        out.push_str(&code_span(&words.join(" ")));
        if text.ends_with(char::is_whitespace) {
            space(out);
        }
    }

    /// The kept text below a node, as it is.
    pub(super) fn plain(&self, id: NodeId) -> String {
        let mut text = String::new();
        for node in self.tree.below(id) {
            match self.tree.tag(node) {
                None if self.is_kept(node) => text.push_str(&self.tree.text(node)),
                Some(Tag::Br) => text.push('\n'),
                _ => {}
            }
        }
        text
    }

    fn link(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        let text = self.inside(id, InlineStyle { link: true, ..style });
        append(out, &text, &self.linked(id, &text));
    }

    /// A text as the link that an anchor makes of it.
    pub(super) fn linked(&self, id: NodeId, text: &str) -> String {
        let label = text.trim();
        let href = self.tree.attribute(id, "href");
        let target = href.as_deref().map(trim).filter(|href| !href.is_empty() && !has_scheme(href, "javascript"));
        // The sign beside a heading that links to the heading.
        let is_permalink = target.is_some_and(|t| t.starts_with('#')) && !label.contains(char::is_alphanumeric);
        if label.is_empty() || is_permalink {
            return String::new();
        }
        match target.and_then(|target| self.absolute(target)) {
            Some(url) if url == label && url.contains("://") => format!("<{url}>"),
            Some(url) => format!("[{label}]({})", destination(&url)),
            None => label.to_owned(),
        }
    }

    fn image(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        if !self.is_kept(id) {
            return;
        }
        let alt = self.tree.attribute(id, "alt");
        // An empty `alt` marks decoration, and a pixel is a counter.
        let pixel = |name| self.tree.attribute(id, name).is_some_and(|size| matches!(size.trim(), "0" | "1"));
        if alt.as_deref().is_some_and(|alt| alt.trim().is_empty()) || pixel("width") || pixel("height") {
            return;
        }
        let mut label = String::new();
        escaped(alt.as_deref().unwrap_or_default(), InlineStyle { link: true, ..style }, &mut label);
        let sources = ["src", "data-src", "data-original", "data-lazy-src"];
        let mut targets = sources.iter().filter_map(|name| self.tree.attribute(id, name));
        let target = targets.find(|src| !src.trim().is_empty() && !has_scheme(trim(src), "data"));
        match target.and_then(|src| self.absolute(trim(&src))) {
            Some(url) => out.push_str(&format!("![{}]({})", label.trim(), destination(&url))),
            None => out.push_str(label.trim()),
        }
    }

    /// `10<sup>6</sup>` is not 106.
    fn raised(&self, id: NodeId, tag: Tag, style: InlineStyle, out: &mut String) {
        let text = self.inside(id, style);
        let label = text.trim();
        let joined = out.chars().last().is_some_and(|c| c.is_alphanumeric() || c == ')');
        let plain = label.chars().all(|c| c.is_alphanumeric() || c == '−' || c == '-');
        if !joined || label.is_empty() || !plain {
            out.push_str(&text);
            return;
        }
        out.push(if tag == Tag::Sup { '^' } else { '_' });
        match label.chars().count() {
            1 => out.push_str(label),
            _ => out.push_str(&format!("{{{label}}}")),
        }
    }

    /// A formula: its TeX if the page has it, otherwise its characters.
    fn formula(&self, id: NodeId, out: &mut String) {
        let annotation = self.tree.children(id).find(|child| {
            let is_tex = || self.tree.attribute(*child, "encoding").is_some_and(|e| e.contains("tex"));
            self.tree.tag(*child).is_some() && is_tex()
        });
        let tex =
            annotation.map(|id| self.plain(id)).or_else(|| Some(self.tree.attribute(id, "alttext")?.into_owned()));
        match tex.as_deref().map(str::trim).filter(|tex| !tex.is_empty() && self.is_kept(id)) {
            Some(tex) => out.push_str(&format!("${}$", tex.split_whitespace().collect::<Vec<_>>().join(" "))),
            None => self.inline_children(id, InlineStyle::default(), out),
        }
    }

    /// A target as an absolute URL; a target that is none stays as it is written.
    fn absolute(&self, target: &str) -> Option<String> {
        match &self.base {
            Some(base) => base.join(target).ok().map(String::from),
            None => Some(target.to_owned()),
        }
    }
}

/// Whether an element has nothing to say on paper.
pub(super) fn is_silent(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Head
            | Tag::Title
            | Tag::Script
            | Tag::Style
            | Tag::Template
            | Tag::Svg
            | Tag::Select
            | Tag::Textarea
            | Tag::Button
            | Tag::Input
            | Tag::Iframe
            | Tag::Noembed
            | Tag::Object
            | Tag::Applet
            | Tag::Audio
            | Tag::Video
            | Tag::Dialog
    )
}

/// Adds text, folded and escaped.
fn escaped(text: &str, style: InlineStyle, out: &mut String) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let before = out.chars().last();
        if c.is_whitespace() {
            space(out);
            continue;
        }
        let next = chars.peek().copied();
        let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_markup = match c {
            '\\' => next.is_none_or(|c| c.is_ascii_punctuation()),
            '`' => true,
            // Alone between spaces they are themselves, except inside emphasis.
            '*' | '_'
                if !style.emphasis
                    && !style.strong
                    && before.is_none_or(char::is_whitespace)
                    && next.is_none_or(char::is_whitespace) =>
            {
                false
            }
            '*' => true,
            '_' => !(in_word(before) && in_word(next)),
            '~' => next == Some('~') || before == Some('~'),
            '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
            '&' => next.is_some_and(|c| c.is_ascii_alphabetic() || c == '#'),
            '[' => style.link,
            ']' => style.link || matches!(next, Some('(' | '[')),
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        out.push(c);
    }
}

fn space(out: &mut String) {
    if !out.ends_with([' ', '\n']) {
        out.push(' ');
    }
}

fn hard_break(out: &mut String) {
    let text = out.trim_end().len();
    out.truncate(text);
    if text > 0 {
        out.push_str("  \n");
    }
}

/// Encloses text in marks that touch its words; white space at its ends stays outside.
fn enclose(mark: &str, text: &str, out: &mut String) {
    let words = text.trim();
    if words.is_empty() {
        if !text.is_empty() {
            space(out);
        }
        return;
    }
    append(out, text, &format!("{mark}{words}{mark}"));
}

/// Adds a piece with the white space that the text it was made from had at its ends.
fn append(out: &mut String, text: &str, piece: &str) {
    if text.starts_with(char::is_whitespace) {
        space(out);
    }
    out.push_str(piece);
    if text.ends_with(char::is_whitespace) {
        space(out);
    }
}

/// Code between backticks: more of them than it contains in a row.
pub(super) fn code_span(code: &str) -> String {
    let ticks = "`".repeat(longest_run(code, '`') + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

/// The length of the longest run of a character.
pub(super) fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A URL as the destination of a link.
fn destination(url: &str) -> String {
    match url.contains(['(', ')', ' ', '<', '>']) {
        true => format!("<{}>", url.replace('<', "%3C").replace('>', "%3E").replace('\n', "")),
        false => url.to_owned(),
    }
}
