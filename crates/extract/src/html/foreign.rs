//! Are we inside SVG or MathML?
//!
//! In foreign content, `<style>` and `<title>` hold ordinary markup, `<![CDATA[` opens a section
//! and `/>` closes an element; at integration points HTML resumes (HTML, 13.2.6.5). Only foreign
//! elements are on the stack, and at most [`DEPTH`] of them, so an unmatched end tag costs a
//! bounded search.

use super::name::{BREAKOUT, NameKey, Tag};

/// Maximum depth of the stack; deeper elements are not distinguished.
const DEPTH: usize = 256;

#[derive(Clone, Copy, Debug)]
struct ForeignElement {
    tag: Tag,
    key: NameKey,
    /// Whether it is an HTML integration point.
    integrates: bool,
    /// Whether it is SVG: an element inherits its parent's namespace, whatever its name.
    is_svg: bool,
    /// Whether it is an annotation of a formula that browsers do not show.
    annotates: bool,
}

/// What the attributes of a start tag say about it in foreign content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ForeignHint {
    /// Nothing.
    #[default]
    Nothing,
    /// A `<font>` breaks out, and an `<annotation-xml>` holds HTML.
    Html,
    /// An `<annotation-xml>` holds a formula as it is displayed.
    Formula,
}

impl ForeignHint {
    /// What the encoding of an `<annotation-xml>` says.
    pub(crate) fn of_encoding(encoding: &str) -> Self {
        match encoding.trim().to_ascii_lowercase().as_str() {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "mathml-presentation" | "application/mathml-presentation+xml" => Self::Formula,
            _ => Self::Nothing,
        }
    }
}

/// The stack of open foreign elements.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    stack: Vec<ForeignElement>,
}

impl Foreign {
    /// Whether the markup here is foreign content.
    #[inline]
    pub(crate) fn inside(&self) -> bool {
        self.stack.last().is_some_and(|f| !f.integrates)
    }

    /// Whether text here is an invisible part of a drawing: `<title>`, `<desc>`, `<style>` or
    /// `<script>` in `<svg>`.
    pub(crate) fn describes(&self) -> bool {
        let is_invisible = |f: &ForeignElement| matches!(f.tag, Tag::Title | Tag::Desc | Tag::Style | Tag::Script);
        self.stack.iter().any(|f| f.is_svg && is_invisible(f))
    }

    /// Whether text here is not shown by browsers: such a part of a drawing, or an annotation of a
    /// formula, which says the same in another notation.
    pub(crate) fn hides(&self) -> bool {
        self.stack.iter().any(|f| f.annotates) || self.describes()
    }

    /// Handles a start tag and returns whether its element is foreign.
    #[inline]
    pub(crate) fn start(&mut self, tag: Tag, key: NameKey, closed: bool, hint: ForeignHint) -> bool {
        if !self.inside() {
            let opens = matches!(tag, Tag::Svg | Tag::Math);
            if opens && !closed {
                let is_svg = tag == Tag::Svg;
                self.push(ForeignElement { tag, key, integrates: false, is_svg, annotates: false });
            }
            return opens;
        }
        self.start_inside(tag, key, closed, hint)
    }

    #[cold]
    fn start_inside(&mut self, tag: Tag, key: NameKey, closed: bool, hint: ForeignHint) -> bool {
        if tag.flags() & BREAKOUT != 0 || (tag == Tag::Font && hint == ForeignHint::Html) {
            self.break_out();
            return false;
        }
        let parent = self.stack.last().map(|f| (f.tag, f.is_svg));
        let is_svg =
            parent == Some((Tag::AnnotationXml, false)) && tag == Tag::Svg || parent.is_some_and(|(_, svg)| svg);
        let integrates = match tag {
            Tag::ForeignObject | Tag::Desc | Tag::Title => is_svg,
            Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext => !is_svg,
            Tag::AnnotationXml => hint == ForeignHint::Html && !is_svg,
            _ => false,
        };
        let is_other = tag == Tag::AnnotationXml && hint == ForeignHint::Nothing;
        let annotates = !is_svg && (is_other || tag == Tag::Annotation);
        if !closed {
            self.push(ForeignElement { tag, key, integrates, is_svg, annotates });
        }
        true
    }

    fn push(&mut self, frame: ForeignElement) {
        if self.stack.len() < DEPTH {
            self.stack.push(frame);
        }
    }

    fn break_out(&mut self) {
        while self.inside() {
            self.stack.pop();
        }
    }

    /// Handles an end tag.
    #[inline]
    pub(crate) fn end(&mut self, tag: Tag, key: NameKey) {
        if !self.stack.is_empty() {
            self.end_inside(tag, key);
        }
    }

    #[cold]
    fn end_inside(&mut self, tag: Tag, key: NameKey) {
        if self.inside() && matches!(tag, Tag::P | Tag::Br) {
            return self.break_out();
        }
        let own = self.stack.last().is_some_and(|f| f.key == key && f.tag == tag);
        let reaches = own || self.inside() || matches!(tag, Tag::Svg | Tag::Math);
        if reaches && let Some(i) = self.stack.iter().rposition(|f| f.key == key && f.tag == tag) {
            self.stack.truncate(i);
        }
    }
}
