//! Are we inside SVG or MathML?
//!
//! There `<style>` and `<title>` hold ordinary markup, `<![CDATA[` opens a section and `/>` closes an element; at
//! certain points HTML comes back (HTML, 13.2.6.5). Only the foreign elements are kept on the stack, and at most
//! [`DEPTH`] of them: an end tag that closes nothing then costs a bounded search.

use super::name::{BREAKOUT, Key, Tag};

/// Foreign elements kept on the stack; deeper ones are not told apart.
const DEPTH: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Frame {
    tag: Tag,
    key: Key,
    /// Whether its content is HTML again.
    integrates: bool,
    /// Whether it is SVG's: an element is of its parent's kind, whatever its name.
    is_svg: bool,
}

/// The foreign elements that are open.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    stack: Vec<Frame>,
}

impl Foreign {
    /// Whether the markup here is foreign.
    #[inline]
    pub(crate) fn inside(&self) -> bool {
        self.stack.last().is_some_and(|f| !f.integrates)
    }

    /// Whether text here is a description that nobody sees: `<svg><title>` or `<desc>`.
    pub(crate) fn describes(&self) -> bool {
        self.stack.iter().any(|f| f.integrates && matches!(f.tag, Tag::Title | Tag::Desc))
    }

    /// A start tag; says whether its element is foreign. `html_anyway` tells a `<font>` or `<annotation-xml>` by its
    /// attributes: the first breaks out, the second holds HTML.
    #[inline]
    pub(crate) fn start(&mut self, tag: Tag, key: Key, closed: bool, html_anyway: bool) -> bool {
        if !self.inside() {
            let opens = matches!(tag, Tag::Svg | Tag::Math);
            if opens && !closed {
                self.push(Frame { tag, key, integrates: false, is_svg: tag == Tag::Svg });
            }
            return opens;
        }
        self.start_inside(tag, key, closed, html_anyway)
    }

    #[cold]
    fn start_inside(&mut self, tag: Tag, key: Key, closed: bool, html_anyway: bool) -> bool {
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
            self.push(Frame { tag, key, integrates, is_svg });
        }
        true
    }

    fn push(&mut self, frame: Frame) {
        if self.stack.len() < DEPTH {
            self.stack.push(frame);
        }
    }

    fn break_out(&mut self) {
        while self.inside() {
            self.stack.pop();
        }
    }

    /// An end tag.
    #[inline]
    pub(crate) fn end(&mut self, tag: Tag, key: Key) {
        if !self.stack.is_empty() {
            self.end_inside(tag, key);
        }
    }

    #[cold]
    fn end_inside(&mut self, tag: Tag, key: Key) {
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
