//! How does running text read as Markdown?
//!
//! White space is folded, characters that would be taken for markup are escaped, links are made
//! absolute, and emphasis never begins or ends with a space, since it would not be emphasis then
//! (CommonMark 6.2).

use super::tree::{NodeId, is_block};
use super::write::MarkdownWriter;
use crate::gather::{has_scheme, trim};
use crate::html::name::Tag;
use std::borrow::Cow;

/// How many nodes are searched for the next character.
const NEAR: usize = 8;

/// No character reference is longer.
const LONGEST_REFERENCE: usize = 40;

/// Classes of spans that are there for editors.
const EDITING: &[&str] = &["mw-editsection", "editsection"];

/// Class of the name of a language beside a program.
const LABEL: &[&str] = &["lang"];

/// Classes of spans that hold highlighted programs.
pub(super) const HIGHLIGHTED: &[&str] = &["mw-geshi", "mw-highlight"];

/// Classes of spans whose children are lines.
const LINES: &[&str] = &["t-lines"];

/// Classes of spans that are set apart by a frame instead of by spaces.
const FRAMED: &[&str] = &["t-rev-inl"];

/// Words of the names of what works like a button without being one.
const BUTTONS: &[&str] = &["btn", "button"];

/// No label of a button is longer, in bytes.
const LONGEST_LABEL: usize = 40;

/// What stands before an item in the cell of a table.
const BULLETS: [char; 4] = ['-', '•', '–', ' '];

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
        let marked = |mark: &str, style: InlineStyle, out: &mut String| {
            enclose(mark, &self.inside(id, style), self.next_char(id), out);
        };
        match tag {
            Tag::Strong | Tag::B if !style.strong => marked("**", InlineStyle { strong: true, ..style }, out),
            Tag::Em | Tag::I if !style.emphasis => marked("*", InlineStyle { emphasis: true, ..style }, out),
            Tag::Del | Tag::S | Tag::Strike if !style.struck => {
                marked("~~", InlineStyle { struck: true, ..style }, out);
            }
            Tag::Code | Tag::Tt => self.inline_code(id, style, out),
            Tag::A if !style.link => self.link(id, style, out),
            Tag::Img | Tag::Image => self.image(id, style, out),
            Tag::Br if style.cell => self.break_block(style, out),
            Tag::Br => hard_break(out),
            Tag::Sup | Tag::Sub => self.raised(id, tag, style, out),
            Tag::Q => {
                out.push('“');
                self.inline_children(id, style, out);
                out.push('”');
            }
            Tag::Pre if style.cell => self.inline_code(id, style, out),
            Tag::Math => self.formula(id, out),
            Tag::Script if self.tex_script(id, out) => {}
            Tag::Span | Tag::Div | Tag::P if self.marked_tex(id, out) => {}
            Tag::Input => self.check_box(id, out),
            _ if is_silent(tag) => {}
            Tag::Other if matches!(self.tree.name(id).to_ascii_lowercase().as_str(), "kbd" | "samp") => {
                self.inline_code(id, style, out);
            }
            Tag::Span if self.span(id, style, out) => {}
            // A table in a cell: its rows are lines.
            Tag::Td | Tag::Th if style.cell => {
                space(out);
                self.inline_children(id, style, out);
            }
            _ if is_block(tag) => {
                self.break_block(style, out);
                if tag == Tag::Li && style.cell {
                    out.push_str("• ");
                }
                self.inline_children(id, style, out);
                self.break_block(style, out);
            }
            _ => self.inline_children(id, style, out),
        }
    }

    /// The box of an item of a task list (GFM 5.3): what is done and what is not.
    fn check_box(&self, id: NodeId, out: &mut String) {
        let is_box = self.tree.attribute(id, "type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("checkbox"));
        let mut around = std::iter::successors(Some(id), |node| Some(self.tree.parent(*node))).skip(1).take(NEAR);
        let is_item = around.find_map(|node| self.tree.tag(node).filter(|tag| is_block(*tag) && *tag != Tag::P));
        if is_box && is_item == Some(Tag::Li) && out.trim().is_empty() && self.is_kept(id) {
            let done = self.tree.attribute(id, "checked").is_some();
            out.push_str(if done { "[x] " } else { "[ ] " });
        }
    }

    /// Writes a span whose class says what it is; `false` if it says nothing.
    fn span(&self, id: NodeId, style: InlineStyle, out: &mut String) -> bool {
        let Some(classes) = self.tree.short_attribute(id, "class") else { return self.bracket(id, out) };
        let has = |wanted: &[&str]| classes.split_ascii_whitespace().any(|class| wanted.contains(&class));
        if has(EDITING) || (has(LABEL) && self.is_label_of_code(id)) || self.is_set_twice(&classes) {
            return true;
        }
        if has(HIGHLIGHTED) {
            self.inline_code(id, style, out);
        } else if has(LINES) {
            self.lines_of(id, style, out);
        } else if has(FRAMED) {
            let text = self.inside(id, style);
            if !out.is_empty() && text.starts_with(char::is_alphanumeric) {
                space(out);
            }
            out.push_str(&text);
            if self.next_char(id).is_some_and(char::is_alphanumeric) {
                space(out);
            }
        } else {
            return self.formula_span(id, &classes, style, out);
        }
        true
    }

    /// Whether an element is named after buttons and says no more than they do. A link is one that
    /// leads somewhere.
    pub(super) fn is_button(&self, id: NodeId) -> bool {
        let is_named = |classes: Cow<'_, str>| {
            let mut words = classes.split(|c: char| !c.is_ascii_alphabetic());
            words.any(|word| BUTTONS.iter().any(|button| word.eq_ignore_ascii_case(button)))
        };
        let is_label = || {
            self.tree.children(id).all(|child| self.tree.tag(child).is_none()) && {
                let text = self.plain(id);
                text.trim().len() <= LONGEST_LABEL && !text.contains(char::is_numeric)
            }
        };
        self.tree.short_attribute(id, "class").is_some_and(is_named) && is_label()
    }

    /// Whether a span says in which language the program behind it is.
    fn is_label_of_code(&self, id: NodeId) -> bool {
        let siblings = std::iter::successors(self.tree.sibling(id), |node| self.tree.sibling(*node));
        siblings.take(NEAR).any(|node| self.tree.tag(node) == Some(Tag::Pre) && self.language(node).is_some())
    }

    /// Spans that are shown as lines.
    fn lines_of(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        for (i, line) in self.tree.children(id).filter(|line| self.holds_kept(*line)).enumerate() {
            if i > 0 {
                self.break_block(style, out);
            }
            self.inline(line, style, out);
        }
    }

    /// The character after an element, if it is in the same line.
    fn next_char(&self, id: NodeId) -> Option<char> {
        let mut next = self.tree.after(id);
        for _ in 0..NEAR {
            let node = next?;
            match self.tree.tag(node) {
                None if self.is_kept(node) => return self.tree.text(node).chars().next(),
                Some(tag) if is_block(tag) || tag == Tag::Br || is_silent(tag) => return None,
                Some(Tag::Code | Tag::Tt | Tag::Img) => return Some('`'),
                _ => next = self.tree.children(node).next().or_else(|| self.tree.after(node)),
            }
        }
        None
    }

    pub(super) fn inline_children(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        for child in self.tree.children(id) {
            self.inline(child, style, out);
        }
    }

    pub(super) fn inside(&self, id: NodeId, style: InlineStyle) -> String {
        let mut inner = String::new();
        self.inline_children(id, style, &mut inner);
        inner
    }

    /// Separates a block from its neighbours where no block can stand.
    fn break_block(&self, style: InlineStyle, out: &mut String) {
        let text = out.trim_end();
        let line = text.rfind("<br>").map_or(text, |at| &text[at + 4..]);
        if !style.cell || line.trim_matches(BULLETS).is_empty() {
            if !line.is_empty() {
                space(out);
            }
        } else {
            out.truncate(text.len());
            out.push_str("<br>");
        }
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
        // A heading that links to itself is only a heading.
        let target = target.filter(|target| !(self.in_heading && target.starts_with('#')));
        if label.is_empty() || is_sign(label, href.as_deref().unwrap_or_default()) {
            return String::new();
        }
        match target.and_then(|target| self.absolute(target)) {
            Some(url) if is_itself(&url, label) => format!("<{url}>"),
            Some(url) => format!("[{label}]({})", destination(&url)),
            None => label.to_owned(),
        }
    }

    /// Whether an anchor is the sign beside a heading or a term that links to it.
    pub(super) fn is_permalink(&self, id: NodeId) -> bool {
        let Some(href) = self.tree.attribute(id, "href").filter(|href| href.contains('#')) else { return false };
        let mut said = self.tree.below(id).filter(|node| self.tree.tag(*node).is_none());
        let first = said.next();
        said.next().is_none() && first.is_some_and(|text| is_sign(self.tree.text(text).trim(), &href))
    }

    fn image(&self, id: NodeId, style: InlineStyle, out: &mut String) {
        if !self.is_kept(id) || self.fallback_formula(id, out) {
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
        let target = target.map(Cow::into_owned).or_else(|| self.first_of_several(id));
        match target.and_then(|src| self.absolute(trim(&src))) {
            Some(url) => {
                let image = format!("![{}]({})", label.trim(), destination(&url));
                // The same picture again, for browsers without scripts.
                if !out.trim_end().ends_with(&image) {
                    out.push_str(&image);
                }
            }
            None => out.push_str(label.trim()),
        }
    }

    /// The first of the pictures of several sizes that an image offers.
    fn first_of_several(&self, id: NodeId) -> Option<String> {
        let mut given = ["srcset", "data-srcset"].iter().filter_map(|name| self.tree.attribute(id, name));
        let first = given.find_map(|set| set.split_whitespace().next().map(|url| url.trim_matches(',').to_owned()));
        first.filter(|url| !url.is_empty() && !has_scheme(url, "data"))
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
    join(text, out);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            space(out);
            continue;
        }
        if is_markup(c, &text[at + c.len_utf8()..], style, out) {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Whether a character would be taken for markup between what was written and what follows.
fn is_markup(c: char, rest: &str, style: InlineStyle, out: &str) -> bool {
    let (before, next) = (out.chars().last(), rest.chars().next());
    let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    match c {
        '\\' => next.is_none_or(|c| c.is_ascii_punctuation() || c.is_whitespace()),
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
        // What cannot end a struck text strikes nothing.
        '~' => {
            let is_marked = style.strong || style.emphasis || style.struck || style.link;
            // The marks take the place of the space with which a marked text begins.
            let is_first = out.trim_end().is_empty();
            let is_after_word = if is_first { is_marked } else { before.is_some_and(|c| !c.is_whitespace()) };
            before == Some('~') || next == Some('~') || (is_after_word && (in_word(before) || !in_word(next)))
        }
        '<' => opens_tag(rest),
        '&' => is_reference(rest),
        '[' => style.link,
        ']' => style.link || matches!(next, Some('(' | '[')),
        _ => false,
    }
}

/// Escapes what was written last if it is markup together with the text that follows.
fn join(text: &str, out: &mut String) {
    let is_markup = match out.chars().last() {
        Some('<') => opens_tag(text),
        Some('&') => is_reference(text),
        Some(']') => text.starts_with(['(', '[']) && !out.ends_with("\\]"),
        _ => false,
    };
    if is_markup {
        escape_last(out);
    }
}

/// Puts a backslash before the last character, unless it has one. It must be one byte long.
fn escape_last(out: &mut String) {
    let slashes = out.bytes().rev().skip(1).take_while(|b| *b == b'\\').count();
    if slashes % 2 == 0 {
        out.insert(out.len().saturating_sub(1), '\\');
    }
}

/// Whether `<` before this begins a tag, a comment or an address.
fn opens_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
}

/// Whether `&` before this begins a character reference.
fn is_reference(rest: &str) -> bool {
    let name = rest.strip_prefix('#').unwrap_or(rest);
    let end = name.bytes().take(LONGEST_REFERENCE).position(|b| !b.is_ascii_alphanumeric());
    end.is_some_and(|end| end > 0 && name.as_bytes()[end] == b';')
}

pub(super) fn space(out: &mut String) {
    if !out.ends_with([' ', '\n']) && !out.ends_with("<br>") {
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

/// Encloses text in marks that touch its words; white space at its ends stays outside. Where the
/// marks would not be recognised, between a letter and a sign, the text stays without them.
fn enclose(mark: &str, text: &str, next: Option<char>, out: &mut String) {
    let words = text.trim();
    if words.is_empty() {
        if !text.is_empty() {
            space(out);
        }
        return;
    }
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (first, last) = (words.chars().next(), words.chars().next_back());
    let opens = words.len() < text.trim_end().len() || is_letter(first) || !is_letter(out.chars().last());
    let closes = words.len() < text.trim_start().len() || is_letter(last) || !is_letter(next);
    match opens && closes {
        true => append(out, text, &format!("{mark}{words}{mark}")),
        false => {
            // Without marks it touches what stands before it.
            if text.starts_with(words) {
                join(words, out);
            }
            append(out, text, words);
        }
    }
}

/// Adds a piece with the white space that the text it was made from had at its ends.
fn append(out: &mut String, text: &str, piece: &str) {
    if text.starts_with(char::is_whitespace) {
        space(out);
    }
    // An exclamation mark before a link would make it an image.
    if piece.starts_with('[') && out.ends_with('!') {
        escape_last(out);
    }
    out.push_str(piece);
    if text.ends_with(char::is_whitespace) {
        space(out);
    }
}

/// Whether a label is only a sign that links to a place on a page.
fn is_sign(label: &str, href: &str) -> bool {
    let is_short = label.chars().nth(2).is_none();
    let is_here = href.trim_start().starts_with('#');
    !label.contains(char::is_alphanumeric) && (is_here || (is_short && href.contains('#')))
}

/// Whether a label is its own target.
fn is_itself(url: &str, label: &str) -> bool {
    let plain = label.replace('\\', "");
    url == plain && url.contains("://") && !url.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>'))
}

/// A URL as the destination of a link.
fn destination(url: &str) -> String {
    match url.contains(['(', ')', ' ', '<', '>']) {
        true => format!("<{}>", url.replace('<', "%3C").replace('>', "%3E").replace('\n', "")),
        false => url.to_owned(),
    }
}
