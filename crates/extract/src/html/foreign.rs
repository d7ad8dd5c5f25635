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

    /// Handles a start tag and returns whether its element is foreign. `html_anyway` is whether the
    /// attributes of a `<font>` make it break out, or those of an `<annotation-xml>` make it an
    /// integration point.
    #[inline]
    pub(crate) fn start(&mut self, tag: Tag, key: NameKey, closed: bool, html_anyway: bool) -> bool {
        if !self.inside() {
            let opens = matches!(tag, Tag::Svg | Tag::Math);
            if opens && !closed {
                self.push(ForeignElement { tag, key, integrates: false, is_svg: tag == Tag::Svg });
            }
            return opens;
        }
        self.start_inside(tag, key, closed, html_anyway)
    }

    #[cold]
    fn start_inside(&mut self, tag: Tag, key: NameKey, closed: bool, html_anyway: bool) -> bool {
        if tag.flags() & BREAKOUT != 0 || (tag == Tag::Font && html_anyway) {
            self.break_out();
            return false;
        }
        let parent = self.stack.last().map(|f| (f.tag, f.is_svg));
        let is_svg =
            parent == Some((Tag::AnnotationXml, false)) && tag == Tag::Svg || parent.is_some_and(|(_, svg)| svg);
        let integrates = match tag {
            Tag::ForeignObject | Tag::Desc | Tag::Title => is_svg,
            Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext => !is_svg,
            Tag::AnnotationXml => html_anyway && !is_svg,
            _ => false,
        };
        if !closed {
            self.push(ForeignElement { tag, key, integrates, is_svg });
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
