//! How do formulas read?
//!
//! As TeX where the page has it. Formulas that are set in HTML, with small print and with tables
//! for fractions, are read as a line: `x^2`, `(a)/(b)`.

use super::inline::InlineStyle;
use super::tree::NodeId;
use super::write::MarkdownWriter;
use crate::html::name::Tag;

/// Classes of fractions and of raised and lowered text in formulas that are set in HTML.
const FRACTION: &[&str] = &["t-mfrac"];
const RAISED: &[&str] = &["t-su"];
const LOWERED: &[&str] = &["t-su-b"];

/// Class of a formula that is set in HTML.
pub(super) const SET_FORMULA: &[&str] = &["texhtml"];

impl MarkdownWriter<'_> {
    /// A formula: its TeX if the page has it, otherwise its characters.
    pub(super) fn formula(&self, id: NodeId, out: &mut String) {
        let annotation = self.tree.children(id).find(|child| {
            let is_tex = || self.tree.attribute(*child, "encoding").is_some_and(|e| e.contains("tex"));
            self.tree.tag(*child).is_some() && is_tex()
        });
        let tex =
            annotation.map(|id| self.plain(id)).or_else(|| Some(self.tree.attribute(id, "alttext")?.into_owned()));
        match tex.as_deref().map(str::trim).filter(|tex| !tex.is_empty() && self.is_kept(id)) {
            Some(tex) => out.push_str(&format!("${}$", tex.split_whitespace().collect::<Vec<_>>().join(" "))),
            None => {
                // Other annotations say the same in a notation for programs.
                let is_shown = |child: &NodeId| !self.tree.tag(*child).is_some_and(is_annotation);
                self.tree
                    .children(id)
                    .filter(is_shown)
                    .for_each(|child| self.inline(child, InlineStyle::default(), out));
            }
        }
    }

    /// `10<sup>6</sup>` is not 106.
    pub(super) fn raised(&self, id: NodeId, tag: Tag, style: InlineStyle, out: &mut String) {
        let text = self.inside(id, style);
        let joined = out.chars().last().is_some_and(|c| c.is_alphanumeric() || c == ')');
        let label = text.trim();
        let is_plain = label.chars().all(|c| c.is_alphanumeric() || matches!(c, '−' | '-' | '+' | '±' | ' ' | '/'));
        if !joined || label.is_empty() || !is_plain {
            out.push_str(&text);
            return;
        }
        script(if tag == Tag::Sup { '^' } else { '_' }, label, out);
    }

    /// Writes a part of a formula that is set in HTML; `false` if it is none.
    pub(super) fn formula_span(&self, id: NodeId, classes: &str, style: InlineStyle, out: &mut String) -> bool {
        let has = |wanted: &[&str]| classes.split_ascii_whitespace().any(|class| wanted.contains(&class));
        if has(FRACTION) {
            let parts = self.tree.below(id).filter(|node| self.tree.tag(*node) == Some(Tag::Td));
            let parts: Vec<String> = parts.map(|part| format!("({})", self.inside(part, style).trim())).collect();
            out.push_str(&parts.join("/"));
        } else if has(RAISED) {
            // Two lines are one above and one below.
            let text = self.plain(id);
            let (above, below) = text.split_once('\n').unwrap_or((&text, ""));
            let (above, below) = if has(LOWERED) && below.is_empty() { ("", above) } else { (above, below) };
            script('_', below.trim(), out);
            script('^', above.trim(), out);
        } else {
            return false;
        }
        true
    }
}

/// Adds raised or lowered text.
fn script(sign: char, text: &str, out: &mut String) {
    match text.chars().count() {
        0 => {}
        1 => out.extend([sign, text.chars().next().unwrap_or(' ')]),
        _ => out.push_str(&format!("{sign}{{{text}}}")),
    }
}

fn is_annotation(tag: Tag) -> bool {
    matches!(tag, Tag::Annotation | Tag::AnnotationXml)
}
