//! What does the model see of a block?
//!
//! A row of small integers per block, in a fixed order: ratios in thousandths, lengths as
//! logarithms in eighths. No floats, so that every machine sees the same. The numbers of the
//! features are their positions; the model ([`super::trees`]) refers to them, so a change here
//! means learning again (`cargo xtask quality --learn`).

use super::elements::{BESIDE, ElementKind, FAR, Holder, KINDS, STRONG};
use super::measure::BlockMeasure;
use super::scene::Scene;
use super::vocabulary::SUBJECTS;
use crate::html::name::Tag;
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Number of features.
pub const FEATURES: usize = 140;
/// How many levels of enclosing elements are described.
const LEVELS: usize = 5;
/// How much of a block is searched for words of a subject.
const SEARCHED: usize = 200;
/// Stands for 'there is none'.
const NONE: i16 = -1;

/// The features of one block.
pub type FeatureRow = [i16; FEATURES];

/// Writes a row from left to right.
struct RowWriter {
    row: FeatureRow,
    at: usize,
}

impl RowWriter {
    fn put(&mut self, value: i16) {
        if let Some(slot) = self.row.get_mut(self.at) {
            *slot = value;
        }
        self.at += 1;
    }

    fn flag(&mut self, value: bool) {
        self.put(i16::from(value));
    }

    fn count(&mut self, value: usize, most: usize) {
        self.put(i16::try_from(value.min(most)).unwrap_or(i16::MAX));
    }

    fn log(&mut self, value: usize) {
        self.put(log(value));
    }

    fn share(&mut self, part: usize, whole: usize) {
        self.put(share(part, whole));
    }
}

/// A logarithm to base two, in eighths.
fn log(value: usize) -> i16 {
    let value = (value as u64).saturating_add(1).min(1 << 40);
    let power = value.ilog2();
    let eighths = ((value << 3) >> power) & 7;
    i16::try_from(u64::from(power) * 8 + eighths).unwrap_or(i16::MAX)
}

/// A share in thousandths, at most eight times the whole.
fn share(part: usize, whole: usize) -> i16 {
    let thousandths = (part as u64).saturating_mul(1000) / (whole.max(1) as u64);
    i16::try_from(thousandths.min(8000)).unwrap_or(i16::MAX)
}

/// The rows of all blocks of a page.
pub(super) fn rows(scene: &Scene<'_>) -> Vec<FeatureRow> {
    (0..scene.measures.len()).map(|i| row(scene, i).row).collect()
}

fn row(scene: &Scene<'_>, i: usize) -> RowWriter {
    let mut out = RowWriter { row: [0; FEATURES], at: 0 };
    let holder = scene.holder(i);
    own(&mut out, scene, i);
    subjects(&mut out, scene, i);
    place(&mut out, holder);
    levels(&mut out, scene, i);
    container(&mut out, scene, i);
    position(&mut out, scene, i);
    neighbours(&mut out, scene, i);
    windows(&mut out, scene, i);
    out
}

/// The block itself.
fn own(out: &mut RowWriter, scene: &Scene<'_>, i: usize) {
    let BlockMeasure { chars, words, .. } = scene.measures[i];
    let m = &scene.measures[i];
    out.log(chars);
    out.share(m.linked, m.bytes);
    out.count(m.sentences, 20);
    out.log(words);
    out.share(m.letters, words * 10);
    out.flag(m.ends_sentence);
    out.flag(m.ends_colon);
    out.share(m.commas, chars);
    out.share(m.digits, chars);
    out.share(m.capitals, chars);
    out.share(m.capitalised, words);
    out.share(m.symbols, chars);
    out.flag(m.has_copyright);
    out.count(scene.outline.pieces[i].images, 5);
    out.flag(scene.outline.pieces[i].is_emphasised);
    out.share(m.titled, words);
    out.share(m.title.count_ones() as usize, scene.declared.title as usize);
    out.share(m.described, words);
}

/// The words of all subjects in one automaton; the subject of each, and whether a word must begin
/// or end there.
type SubjectWords = (Option<AhoCorasick>, Vec<(u8, bool, bool)>);

static WORDS: LazyLock<SubjectWords> = LazyLock::new(|| {
    let all = SUBJECTS.iter().enumerate().flat_map(|(s, words)| words.iter().map(move |w| (s as u8, *w)));
    let about = all.clone().map(|(subject, word)| (subject, word.starts_with(' '), word.ends_with(' '))).collect();
    let words: Vec<&str> = all.map(|(_, word)| word.trim()).collect();
    (AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok(), about)
});

/// What the beginning of the block is about.
fn subjects(out: &mut RowWriter, scene: &Scene<'_>, i: usize) {
    let text = scene.text(i).as_bytes();
    let text = text.get(..SEARCHED).unwrap_or(text);
    let mut found = [0usize; SUBJECTS.len()];
    let (automaton, about) = &*WORDS;
    for hit in automaton.iter().flat_map(|a| a.find_iter(text)) {
        let Some((subject, begins, ends)) = about.get(hit.pattern().as_usize()) else { continue };
        let boundary = |byte: Option<&u8>| byte.is_none_or(|b| !b.is_ascii_alphanumeric());
        let before = hit.start().checked_sub(1).and_then(|at| text.get(at));
        if (!begins || boundary(before)) && (!ends || boundary(text.get(hit.end()))) {
            found[usize::from(*subject)] += 1;
        }
    }
    for count in found {
        out.count(count, 3);
    }
    out.share(found.iter().map(|count| (*count).min(3)).sum(), text.len());
}

/// Tags in an order that puts similar ones side by side.
const TAGS: [Tag; 32] = [
    Tag::P,
    Tag::Li,
    Tag::Div,
    Tag::Td,
    Tag::H1,
    Tag::H2,
    Tag::H3,
    Tag::H4,
    Tag::H5,
    Tag::H6,
    Tag::Blockquote,
    Tag::Pre,
    Tag::Figcaption,
    Tag::Dd,
    Tag::Dt,
    Tag::Body,
    Tag::Section,
    Tag::Article,
    Tag::Header,
    Tag::Footer,
    Tag::Form,
    Tag::Choice,
    Tag::Center,
    Tag::Tr,
    Tag::Th,
    Tag::Address,
    Tag::Caption,
    Tag::Summary,
    Tag::Legend,
    Tag::Ul,
    Tag::Figure,
    Tag::Main,
];

/// The level of a heading; 0 if it is none.
pub(super) fn heading(tag: Tag) -> u8 {
    match tag {
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => 1 + (tag as u8 - Tag::H1 as u8),
        _ => 0,
    }
}

/// Its element, and the kinds of elements around it.
fn place(out: &mut RowWriter, holder: Option<&Holder>) {
    let far = [FAR; KINDS];
    for distance in holder.map_or(&far, |h| &h.distance).iter().take(ElementKind::Aside as usize) {
        out.put(i16::from(*distance));
    }
    out.put(holder.map_or(FAR, |h| h.nearest(&STRONG)).into());
    out.count(holder.map_or(0, |h| STRONG.iter().filter(|k| h.distance[**k] < FAR).count()), 20);
    out.put(holder.map_or(FAR, |h| h.nearest(&BESIDE)).into());
    let tag = holder.map_or(Tag::Body, |h| h.tag);
    out.count(TAGS.iter().position(|t| *t == tag).unwrap_or(TAGS.len()), 99);
    for wanted in [Tag::P, Tag::Li, Tag::Div, Tag::Td, Tag::Choice] {
        out.flag(tag == wanted);
    }
    out.put(i16::from(heading(tag)));
    out.put(holder.map_or(0, |h| i16::from(h.depth)));
}

/// The elements around it, from the inside out.
fn levels(out: &mut RowWriter, scene: &Scene<'_>, i: usize) {
    let mut at = scene.holder(i);
    for _ in 0..LEVELS {
        let Some(holder) = at else {
            (0..6).for_each(|_| out.put(NONE));
            continue;
        };
        out.log(holder.chars);
        out.share(holder.linked, holder.bytes);
        out.log(holder.blocks);
        out.share(holder.prose, scene.prose);
        out.share(holder.sentences * 10, holder.chars);
        out.share(holder.prose, holder.chars);
        at = holder.parent.and_then(|p| scene.holders.get(p));
    }
}

/// How it relates to the element with most of the running text, and to blocks that are alike.
fn container(out: &mut RowWriter, scene: &Scene<'_>, i: usize) {
    let (up, down) = scene.way_to_best(i);
    out.count(up, 30);
    out.count(down, 30);
    out.put(scene.best.and_then(|b| scene.holders.get(b)).map_or(NONE, |b| share(b.prose, scene.prose)));
    let group = scene.group(i);
    out.log(group.blocks);
    out.log(group.chars / group.blocks.max(1));
    out.share(group.linked, group.bytes);
    out.share(group.sentences, group.blocks * 8);
    out.share(group.chars, scene.chars);
}

/// Where it is on the page.
fn position(out: &mut RowWriter, scene: &Scene<'_>, i: usize) {
    let count = scene.measures.len();
    out.share(i, count);
    out.share(scene.chars_before(i), scene.chars);
    out.count(i, 200);
    out.count(count - i, 200);
    out.log(count);
    out.log(scene.chars);
    out.share(scene.prose, scene.chars);
    let from_heading = scene.most_like_title.map(|(at, _)| (i as i64 - at as i64).clamp(-50, 50));
    out.put(from_heading.map_or(-99, |d| d as i16));
    out.put(scene.most_like_title.map_or(0, |(_, likeness)| likeness));
    for distance in scene.distances[i] {
        out.put(i16::from(distance));
    }
}

/// The blocks before and after it.
fn neighbours(out: &mut RowWriter, scene: &Scene<'_>, i: usize) {
    for step in [-2i64, -1, 1, 2] {
        let at = usize::try_from(i as i64 + step).ok();
        let found = at.and_then(|at| scene.measures.get(at).map(|m| (at, m)));
        let Some((at, m)) = found else {
            (0..if step.abs() == 1 { 5 } else { 2 }).for_each(|_| out.put(NONE));
            continue;
        };
        out.log(m.chars);
        out.share(m.linked, m.bytes);
        if step.abs() == 1 {
            out.flag(m.ends_sentence);
            out.put(scene.holder(at).map_or(0, |h| i16::from(heading(h.tag))));
            out.flag(scene.alike(i) == scene.alike(at));
        }
    }
}

/// The running text and the links near it.
fn windows(out: &mut RowWriter, scene: &Scene<'_>, i: usize) {
    for width in [5, 12] {
        let (from, to) = (i.saturating_sub(width), (i + width + 1).min(scene.measures.len()));
        let around = scene.between(from, to);
        out.log(around.prose);
        out.share(around.linked, around.bytes);
        out.log(scene.between(from, i).prose);
        out.log(scene.between(i + 1, to).prose);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::outline::Outline;

    #[test]
    fn a_row_is_as_long_as_the_model_expects() {
        for html in ["plain", "<div><p>One.<p>Two<ul><li><a href=x>three</a></ul></div><h1>Four</h1>"] {
            let outline = Outline::of(html, false);
            let scene = Scene::of(&outline);
            for i in 0..outline.pieces.len() {
                assert_eq!(row(&scene, i).at, FEATURES, "{html}");
            }
        }
    }

    #[test]
    fn logarithms_and_shares_are_whole_numbers_that_grow() {
        assert_eq!([0, 1, 3, 7, 100].map(log), [0, 8, 16, 24, 52]);
        assert!((0..5_000).map(log).is_sorted());
        assert_eq!((share(1, 3), share(5, 0), share(usize::MAX, 1)), (333, 5000, 8000));
        assert!(log(usize::MAX) > 0);
    }
}
