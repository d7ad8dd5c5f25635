//! How many passages are where they should be, and what can be learnt from them?

use crate::boost::Sample;
use crate::corpus::{AnnotatedPage, folded};
use orb_extract::learning::FeatureRow;
use std::collections::BTreeMap;
use std::fmt;

/// The blocks of a page with their features.
pub(crate) type Observed = Vec<(String, FeatureRow)>;

/// Passages found and missed.
#[derive(Default)]
pub(crate) struct Tally {
    right: usize,
    missed: usize,
    wrong: usize,
    /// Passages that are rightly not there.
    lacking: usize,
    /// Each page with its missed and wrong passages.
    pages: Vec<(String, Vec<String>, Vec<String>)>,
}

impl Tally {
    pub(crate) fn of(pages: &[AnnotatedPage], extract: impl Fn(&AnnotatedPage) -> String) -> Self {
        let mut tally = Self::default();
        pages.iter().for_each(|page| tally.add(page, &extract(page)));
        tally
    }

    /// Judges the text extracted from a page.
    pub(crate) fn add(&mut self, page: &AnnotatedPage, text: &str) {
        let text = folded(text);
        let (found, missed): (Vec<_>, Vec<_>) = page.with.iter().cloned().partition(|p| text.contains(p));
        let wrong: Vec<_> = page.without.iter().filter(|p| text.contains(*p)).cloned().collect();
        self.right += found.len();
        self.missed += missed.len();
        self.wrong += wrong.len();
        self.lacking += page.without.len() - wrong.len();
        self.pages.push((format!("{} {}", page.file, page.url), missed, wrong));
    }

    /// Precision, recall and their harmonic mean.
    pub(crate) fn figures(&self) -> (f64, f64, f64) {
        let (right, missed, wrong) = (self.right as f64, self.missed as f64, self.wrong as f64);
        let f = 2.0 * right / (2.0 * right + missed + wrong);
        (right / (right + wrong), right / (right + missed), f)
    }

    /// For a text that should have nothing of the content and all of the rest: how much of either
    /// it has.
    pub(crate) fn told(&self) -> String {
        let without: usize = self.wrong + self.lacking;
        let content = self.right as f64 / (self.right + self.missed) as f64;
        let rest = self.wrong as f64 / without as f64;
        format!("taken for boilerplate by tracking: {content:.4} of the content, {rest:.4} of the rest")
    }

    /// Prints the pages with most passages on the wrong side.
    pub(crate) fn worst(&self, count: usize) {
        let mut pages: Vec<_> = self.pages.iter().collect();
        pages.sort_by_key(|(_, missed, wrong)| std::cmp::Reverse(missed.len() + wrong.len()));
        for (page, missed, wrong) in pages.into_iter().take(count) {
            println!("{page}");
            missed.iter().for_each(|p| println!("  missed: {p}"));
            wrong.iter().for_each(|p| println!("  wrong:  {p}"));
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} right, {} missed, {} wrong", self.right, self.missed, self.wrong)
    }
}

/// What the passages of some pages say about blocks. A passage counts once: if it occurs several
/// times, each occurrence weighs less.
pub(crate) fn samples(pages: &[AnnotatedPage], observed: &[Observed], wanted: impl Fn(usize) -> bool) -> Vec<Sample> {
    let mut out = Vec::new();
    for (i, (page, blocks)) in pages.iter().zip(observed).enumerate() {
        if !wanted(i) {
            continue;
        }
        let mut weights: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        let text = JoinedText::of(blocks);
        for (is_content, passage) in page.with.iter().map(|p| (1, p)).chain(page.without.iter().map(|p| (0, p))) {
            let places = text.places(passage);
            let count = places.len() as f64;
            let weight = if is_content == 1 { 1.0 / count } else { 1.0 / count.sqrt() };
            for place in places {
                let share = weight / place.len() as f64;
                place.for_each(|block| weights.entry(block).or_default()[is_content] += share);
            }
        }
        for (block, [around, content]) in weights {
            let row = blocks[block].1;
            let both = [(around, false), (content, true)].into_iter().filter(|(weight, _)| *weight > 0.0);
            out.extend(both.map(|(weight, is_content)| Sample { row, weight, is_content }));
        }
    }
    out
}

/// The text of all blocks and where each begins.
struct JoinedText {
    text: String,
    starts: Vec<usize>,
}

impl JoinedText {
    fn of(blocks: &Observed) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for (block, _) in blocks {
            starts.push(text.len());
            text.push_str(&folded(block));
            text.push(' ');
        }
        Self { text, starts }
    }

    /// The blocks of every occurrence of a passage.
    fn places(&self, passage: &str) -> Vec<std::ops::Range<usize>> {
        let block = |at: usize| self.starts.partition_point(|start| *start <= at);
        let found = self.text.match_indices(passage).take(50);
        found.map(|(at, _)| block(at) - 1..block(at + passage.len() - 1)).collect()
    }
}
