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

/// Classes of formulas that are set from TeX by a program, which stands beside them.
const RENDERED: &[&str] = &[
    "katex-html",
    "MathJax",
    "MathJax_Preview",
    "MathJax_Display",
    "MathJax_SVG",
    "MathJax_SVG_Display",
    "MathJax_CHTML",
];

/// Classes of pictures of formulas, whose TeX is their description (MediaWiki).
const PICTURED: &[&str] = &["mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"];

/// Classes of elements that hold TeX between marks.
const MARKED: &[&str] = &["math", "arithmatex", "formulaDsp", "formulaInl", "tex2jax_process"];
/// Those marks, what ends them, and whether the formula stands in a line of its own.
const MARKS: [(&str, &str, bool); 4] =
    [("\\(", "\\)", false), ("\\[", "\\]", true), ("$$", "$$", true), ("$", "$", false)];

/// How many nodes beside the picture of a formula are searched for the formula.
const NEAR: usize = 50;

/// The pieces of which tall brackets are set, and what they are together.
const BRACKETS: [(char, &str, char); 4] = [('⎛', "⎛⎜⎝", '('), ('⎞', "⎞⎟⎠", ')'), ('⎡', "⎡⎢⎣", '['), ('⎤', "⎤⎥⎦", ']')];

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
            Some(tex) => {
                let is_own = self.tree.attribute(id, "display").is_some_and(|display| display.trim() == "block");
                written(tex, is_own, out);
            }
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

    /// Whether classes are those of a formula that the page has as TeX, too.
    pub(super) fn is_set_twice(&self, classes: &str) -> bool {
        classes.split_ascii_whitespace().any(|class| RENDERED.contains(&class))
    }

    /// Writes the TeX that an element holds; `false` if it holds none.
    pub(super) fn marked_tex(&self, id: NodeId, out: &mut String) -> bool {
        if !self.tree.has_class(id, MARKED) || !self.holds_kept(id) {
            return false;
        }
        let text = self.plain(id);
        let text = text.trim();
        let found = MARKS.iter().find_map(|(from, to, is_own)| {
            let tex = text.strip_prefix(from)?.strip_suffix(to)?;
            (!tex.contains(from)).then_some((tex, *is_own))
        });
        let Some((tex, is_own)) = found.filter(|(tex, _)| !tex.trim().is_empty()) else { return false };
        written(tex, is_own, out);
        true
    }

    /// Writes the TeX of a picture of a formula unless the formula stands beside it; `false` if it
    /// is the picture of anything else.
    pub(super) fn fallback_formula(&self, id: NodeId, out: &mut String) -> bool {
        if !self.tree.has_class(id, PICTURED) {
            return false;
        }
        let is_beside =
            self.tree.below(self.tree.parent(id)).take(NEAR).any(|node| self.tree.tag(node) == Some(Tag::Math));
        if let Some(tex) = self.tree.attribute(id, "alt").filter(|tex| !is_beside && !tex.trim().is_empty()) {
            written(&tex, false, out);
        }
        true
    }

    /// Writes the TeX of a script (MathJax 2); `false` if it holds none.
    pub(super) fn tex_script(&self, id: NodeId, out: &mut String) -> bool {
        let kind = self.tree.short_attribute(id, "type").unwrap_or_default().to_ascii_lowercase();
        let tex = self.every_line(id);
        let is_tex = kind.starts_with("math/tex") && self.is_kept(id) && !tex.trim().is_empty();
        if is_tex {
            written(&tex, kind.contains("mode=display"), out);
        }
        is_tex
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

    /// Writes a bracket that is set of pieces, a line each; `false` if it is none.
    pub(super) fn bracket(&self, id: NodeId, out: &mut String) -> bool {
        let first = self.tree.children(id).next().filter(|node| self.tree.tag(*node).is_none());
        let Some(first) = first.and_then(|node| self.tree.text(node).trim_start().chars().next()) else { return false };
        let Some((_, pieces, sign)) = BRACKETS.iter().find(|(top, ..)| *top == first) else { return false };
        let is_bracket = self.plain(id).chars().all(|c| c.is_whitespace() || pieces.contains(c));
        if is_bracket && self.is_kept(id) {
            out.push(*sign);
        }
        is_bracket
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

/// Adds TeX between its marks. Encyclopaedias set everything in one style, which says nothing.
fn written(tex: &str, is_own: bool, out: &mut String) {
    let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
    let inner = tex.strip_prefix("{\\displaystyle ").and_then(|tex| tex.strip_suffix('}')).unwrap_or(&tex);
    let mark = if is_own { "$$" } else { "$" };
    out.push_str(&format!("{mark}{}{mark}", inner.trim()));
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
