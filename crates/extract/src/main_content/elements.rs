//! What is around a block?
//!
//! For every element that contains text: how much, how much of it is links or running text, which
//! words name it, and how far up an element of each kind is. A kind that means boilerplate counts
//! only on an element with at most half of the page's running text, or next to none: what is called
//! a sidebar and holds the article is none, what is called a notice and holds a sentence is one.

use super::measure::BlockMeasure;
use super::vocabulary::{ADVERTISEMENT, NAMES};
use crate::html::name::Tag;
use crate::html::outline::{Outline, OutlineElement};
use crate::simhash::mix;
use aho_corasick::AhoCorasick;
use std::collections::HashMap;
use std::sync::LazyLock;

/// No element of a kind is around.
pub(super) const FAR: u8 = 20;
/// How many bytes of a name are searched.
const LONGEST: usize = 200;
/// So much running text, in characters, makes an element more than its name says.
const LEAST: usize = 250;
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Kinds by name come first, in the order of [`NAMES`]; kinds by tag and attribute follow.
pub(super) const NAMED: usize = NAMES.len();

/// The kinds of elements that have a name here; those in between have only their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum ElementKind {
    Comment = 2,
    Related = 3,
    Footer = 6,
    Header = 7,
    Sidebar = 8,
    Advertisement = 9,
    Notice = 10,
    Byline = 12,
    Dated = 13,
    Caption = 14,
    Hidden = NAMED,
    ArticleBody,
    Article,
    Main,
    Item,
    Quote,
    Figure,
    Table,
    Cell,
    Aside,
    NavigationTag,
    FooterTag,
    Form,
}

/// Number of kinds.
pub(super) const KINDS: usize = ElementKind::Form as usize + 1;

const fn bit(kind: usize) -> u64 {
    1 << kind
}

/// Kinds that mean boilerplate, unless the element holds most of the page.
const AROUND: u64 = {
    let named = bit(2) | bit(3) | bit(4) | bit(5) | bit(6) | bit(7) | bit(8) | bit(9) | bit(10) | bit(11);
    let smaller = bit(12) | bit(13) | bit(14) | bit(17);
    let tags = bit(ElementKind::Aside as usize)
        | bit(ElementKind::NavigationTag as usize)
        | bit(ElementKind::FooterTag as usize);
    named | smaller | tags | bit(ElementKind::Form as usize) | bit(ElementKind::Figure as usize)
};

/// Kinds that hardly ever hold content.
pub(super) const STRONG: [usize; 13] = [
    2,
    3,
    4,
    5,
    6,
    8,
    9,
    10,
    11,
    ElementKind::Aside as usize,
    ElementKind::NavigationTag as usize,
    ElementKind::FooterTag as usize,
    ElementKind::Form as usize,
];

/// Kinds that hold what belongs to an article without being its text.
pub(super) const BESIDE: [usize; 4] = [12, 13, ElementKind::Caption as usize, ElementKind::Figure as usize];

/// An element with everything inside it.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) parent: Option<usize>,
    pub(super) tag: Tag,
    pub(super) depth: u8,
    pub(super) chars: usize,
    pub(super) bytes: usize,
    pub(super) linked: usize,
    pub(super) blocks: usize,
    pub(super) sentences: usize,
    pub(super) prose: usize,
    /// How many levels up the next element of each kind is.
    pub(super) distance: [u8; KINDS],
    /// The same for elements that are alike: equal tags and names all the way up.
    pub(super) alike: u64,
}

impl Holder {
    /// Levels to the next element of any of these kinds.
    pub(super) fn nearest(&self, kinds: &[usize]) -> u8 {
        kinds.iter().map(|k| self.distance[*k]).min().unwrap_or(FAR)
    }
}

/// The elements of a page, in its order: a parent comes before its children.
pub(super) fn holders(outline: &Outline<'_>, measures: &[BlockMeasure]) -> Vec<Holder> {
    let mut out: Vec<Holder> = outline.frames.iter().map(empty).collect();
    for (piece, measure) in outline.pieces.iter().zip(measures) {
        if let Some(holder) = out.get_mut(piece.frame) {
            holder.chars += measure.chars;
            holder.bytes += measure.bytes;
            holder.linked += measure.linked;
            holder.blocks += 1;
            holder.sentences += measure.sentences;
            holder.prose += measure.prose;
        }
    }
    for i in (0..out.len()).rev() {
        let (above, below) = out.split_at_mut(i);
        let Some(child) = below.first() else { continue };
        if let Some(parent) = child.parent.and_then(|p| above.get_mut(p)) {
            parent.chars += child.chars;
            parent.bytes += child.bytes;
            parent.linked += child.linked;
            parent.blocks += child.blocks;
            parent.sentences += child.sentences;
            parent.prose += child.prose;
        }
    }
    let most = measures.iter().map(|m| m.prose).sum::<usize>() / 2;
    let mut known = HashMap::new();
    for (i, frame) in outline.frames.iter().enumerate() {
        let (above, below) = out.split_at_mut(i);
        let Some(holder) = below.first_mut() else { continue };
        let parent = frame.parent.and_then(|p| above.get(p));
        let mut kinds = kinds(frame, frame.parent.and_then(|p| outline.frames.get(p)), &mut known);
        if holder.prose > most.max(LEAST) {
            kinds &= !AROUND;
        }
        inherit(holder, parent, kinds, frame);
    }
    out
}

fn empty(frame: &OutlineElement<'_>) -> Holder {
    Holder {
        parent: frame.parent,
        tag: frame.tag,
        depth: 0,
        chars: 0,
        bytes: 0,
        linked: 0,
        blocks: 0,
        sentences: 0,
        prose: 0,
        distance: [FAR; KINDS],
        alike: 0,
    }
}

fn inherit(holder: &mut Holder, parent: Option<&Holder>, kinds: u64, frame: &OutlineElement<'_>) {
    holder.depth = parent.map_or(0, |p| p.depth.saturating_add(1));
    for (kind, distance) in holder.distance.iter_mut().enumerate() {
        let above = parent.map_or(FAR, |p| (p.distance[kind] + 1).min(FAR));
        *distance = if kinds & bit(kind) != 0 { 0 } else { above };
    }
    let mut sum = mix(parent.map_or(0, |p| p.alike).rotate_left(5) ^ frame.tag as u64, SPREAD);
    for byte in frame.id.bytes().chain([b' ']).chain(frame.class.bytes()).take(LONGEST) {
        if !byte.is_ascii_digit() {
            sum = (sum.rotate_left(5) ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(SPREAD);
        }
    }
    holder.alike = sum;
}

/// The kinds of an element by its names, tag and attributes.
fn kinds<'a>(
    frame: &OutlineElement<'a>,
    parent: Option<&OutlineElement<'a>>,
    known: &mut HashMap<[&'a str; 2], u64>,
) -> u64 {
    if matches!(frame.tag, Tag::Body | Tag::Html) {
        return 0;
    }
    // The `id` of a section of documentation is its heading, be it on comments.
    let id = if parent.is_some_and(|parent| is_section_of(frame, parent)) { "" } else { frame.id };
    let mut kinds = *known.entry([id, frame.class]).or_insert_with(|| named(id) | named(frame.class));
    kinds |= named(frame.itemprop) | named(frame.role);
    let is_role = |role: &str| frame.role.eq_ignore_ascii_case(role);
    let own = match frame.tag {
        Tag::Article => Some(ElementKind::Article),
        Tag::Main => Some(ElementKind::Main),
        Tag::Li => Some(ElementKind::Item),
        Tag::Blockquote => Some(ElementKind::Quote),
        Tag::Figure => Some(ElementKind::Figure),
        Tag::Table => Some(ElementKind::Table),
        Tag::Td => Some(ElementKind::Cell),
        Tag::Aside => Some(ElementKind::Aside),
        Tag::Nav => Some(ElementKind::NavigationTag),
        Tag::Footer => Some(ElementKind::FooterTag),
        Tag::Form => Some(ElementKind::Form),
        _ if is_role("main") => Some(ElementKind::Main),
        _ if is_role("navigation") => Some(ElementKind::NavigationTag),
        _ if is_role("complementary") => Some(ElementKind::Aside),
        _ => None,
    };
    kinds |= own.map_or(0, |kind| bit(kind as usize));
    // Footnotes are part of the text, wherever they stand.
    if [frame.id, frame.class].iter().any(|name| name.to_ascii_lowercase().contains("footnote")) {
        kinds &= !AROUND;
    }
    // What documentation says of a deprecated function is no reader's comment.
    if frame.class.to_ascii_lowercase().contains("deprecat") {
        kinds &= !bit(ElementKind::Comment as usize);
    }
    if frame.is_hidden {
        kinds |= bit(ElementKind::Hidden as usize);
    }
    if frame.itemprop.eq_ignore_ascii_case("articlebody") {
        kinds |= bit(ElementKind::ArticleBody as usize);
    }
    kinds
}

/// Whether an element is a section of a document that is made of nested sections (Sphinx): it
/// differs from the one around it in its `id` alone.
fn is_section_of(frame: &OutlineElement<'_>, parent: &OutlineElement<'_>) -> bool {
    let is_section = frame.tag == Tag::Section || frame.class.eq_ignore_ascii_case("section");
    let has_both = !frame.id.is_empty() && !parent.id.is_empty();
    is_section && has_both && frame.tag == parent.tag && frame.class == parent.class
}

/// All parts of names in one automaton, and the kind of each.
static PARTS: LazyLock<(Option<AhoCorasick>, Vec<u8>)> = LazyLock::new(|| {
    let all = NAMES.iter().enumerate().flat_map(|(kind, parts)| parts.iter().map(move |part| (*part, kind as u8)));
    let (parts, kinds): (Vec<&str>, Vec<u8>) = all.unzip();
    (AhoCorasick::builder().ascii_case_insensitive(true).build(parts).ok(), kinds)
});

/// The kinds that a name stands for.
fn named(name: &str) -> u64 {
    if name.is_empty() {
        return 0;
    }
    let name = name.as_bytes().get(..LONGEST).unwrap_or(name.as_bytes());
    let (automaton, kinds) = &*PARTS;
    let mut out = 0;
    if let Some(automaton) = automaton {
        for found in automaton.find_overlapping_iter(name) {
            out |= kinds.get(found.pattern().as_usize()).map_or(0, |kind| bit(usize::from(*kind)));
        }
    }
    let mut words = name.split(|b| !b.is_ascii_alphabetic());
    if words.any(|word| word.len() <= 3 && ADVERTISEMENT.iter().any(|ad| word.eq_ignore_ascii_case(ad.as_bytes()))) {
        out |= bit(ElementKind::Advertisement as usize);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(name: &str, kind: ElementKind) -> bool {
        named(name) & bit(kind as usize) != 0
    }

    #[test]
    fn a_name_stands_for_all_kinds_it_contains() {
        assert!(is("Comment-List footer", ElementKind::Comment) && is("Comment-List footer", ElementKind::Footer));
        assert!(is("top ad-17", ElementKind::Advertisement) && is("box_ads", ElementKind::Advertisement));
        assert!(!is("badge shadow", ElementKind::Advertisement));
        assert_eq!(named(""), 0);
    }

    #[test]
    fn a_sidebar_that_holds_the_article_is_none() {
        let prose = "A sentence of running text that is long enough to be counted as such. ".repeat(5);
        let html = format!("<div class=sidebar><p>{prose}</div><div class=footer><p>{}</div>", &prose[..71]);
        let outline = Outline::of(&html, false);
        let declared = super::super::measure::Declarations::default();
        let measures: Vec<_> =
            outline.pieces.iter().map(|p| BlockMeasure::of(outline.said(p), p.linked, &declared)).collect();
        let found = holders(&outline, &measures);
        let nearest = |i: usize| found[outline.pieces[i].frame].nearest(&STRONG);
        assert_eq!((nearest(0), nearest(1)), (FAR, 1));
    }
}
