//! Which part of a page is its main content, and which is boilerplate?
//!
//! Each block of the [outline](crate::html::outline) is described by 140 small numbers
//! ([`features`]): its text, links, position, the elements around it and what they are called, and
//! how all that compares with the rest of the page. A small model learnt from annotated pages
//! ([`model`], [`trees`]) turns them into the odds that the block is content. A second look
//! ([`choice`]) keeps together what belongs together, and gives up where too little was chosen: a
//! list of links is a page, too. Computed on demand, in linear time and bounded memory, without
//! floats, so that the same page gives the same blocks on every machine. Why and how well:
//! `docs/decisions/0037-main-content.md`.

mod choice;
mod elements;
mod features;
mod measure;
mod model;
mod scene;
mod trees;
mod vocabulary;

pub use features::{FEATURES, FeatureRow};
pub use model::{DEPTH, SymmetricTree};
pub(crate) use scene::Scene;

use crate::facts::{PageFacts, facts};
use crate::html::outline::{Outline, OutlineBlock};
use orb_page::Block;
use std::ops::Range;

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentBlock {
    /// Where its text is in [`MainContent::text`].
    pub text: Range<usize>,
    /// Where its text is in the HTML, with the markup inside it.
    pub source: Range<usize>,
    /// Whether it belongs to the main content.
    pub is_main: bool,
}

/// A page with its main content marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MainContent {
    /// The visible text of the whole page, each block on a line.
    pub text: String,
    /// Its blocks in order.
    pub blocks: Vec<ContentBlock>,
    /// Whether main content was told from the rest. If not, every block counts as main.
    pub is_told: bool,
    /// Who wrote it, when, and for whom.
    pub facts: PageFacts,
}

impl MainContent {
    /// Reads a page.
    pub fn of(html: &str, is_xml: bool) -> Self {
        Self::judged(html, is_xml, model::score)
    }

    /// The same with another model, for learning.
    #[doc(hidden)]
    pub fn judged(html: &str, is_xml: bool, score: impl Fn(&FeatureRow) -> i32) -> Self {
        let mut outline = Outline::of(html, is_xml);
        if outline.is_cut
            && let Some(rest) = outline.pieces.pop()
        {
            outline.text.truncate(rest.text.start.saturating_sub(1));
        }
        let scene = Scene::of(&outline);
        let chosen = choose(&scene, score);
        let facts = facts(&scene);
        let is_main = |i: usize| chosen.as_ref().is_none_or(|c| c.get(i).copied().unwrap_or(false));
        let pieces = outline.pieces.iter().enumerate();
        let block = |(i, p): (usize, &OutlineBlock)| ContentBlock {
            text: p.text.clone(),
            source: p.source.clone(),
            is_main: is_main(i),
        };
        let blocks = pieces.map(block).collect();
        Self { blocks, is_told: chosen.is_some(), facts, text: outline.text }
    }

    /// The text of the main content, each block on a line.
    pub fn main_text(&self) -> String {
        self.lines(true)
    }

    /// The text around it.
    pub fn around_text(&self) -> String {
        self.lines(false)
    }

    /// Where the main content is in the HTML, in order and disjoint: from the first to the last
    /// character of consecutive blocks, with whatever markup is between them.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        let mut out: Vec<Range<usize>> = Vec::new();
        let mut follows = false;
        for block in &self.blocks {
            match out.last_mut() {
                Some(last) if block.is_main && follows => last.end = block.source.end,
                _ if block.is_main => out.push(block.source.clone()),
                _ => {}
            }
            follows = block.is_main;
        }
        out
    }

    fn lines(&self, is_main: bool) -> String {
        let mut out = String::new();
        for block in self.blocks.iter().filter(|b| b.is_main == is_main) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(self.text.get(block.text.clone()).unwrap_or(""));
        }
        out
    }
}

/// The blocks of a page and what the model sees of them, for learning.
pub fn observe(html: &str, is_xml: bool) -> Vec<(String, FeatureRow)> {
    let outline = Outline::of(html, is_xml);
    let rows = features::rows(&Scene::of(&outline));
    outline.pieces.iter().map(|piece| outline.said(piece).to_owned()).zip(rows).collect()
}

/// The blocks of the main content, or all blocks if it cannot be told.
pub(crate) fn main_content(outline: &Outline<'_>) -> Vec<Block> {
    match choose(&Scene::of(outline), model::score) {
        // What lies beyond the limits was not judged.
        Some(chosen) => {
            let last = outline.pieces.len().saturating_sub(1);
            outline.chosen(|i| chosen.get(i).copied().unwrap_or(false) || (outline.is_cut && i == last))
        }
        None => outline.chosen(|_| true),
    }
}

/// Which blocks lie around the main content; nothing if it cannot be told. Doubtful ones do not:
/// whoever ignores what lies around must not miss an edit.
pub(crate) fn around(outline: &Outline<'_>) -> Option<Vec<bool>> {
    let scene = Scene::of(outline);
    let scores: Vec<i32> = features::rows(&scene).iter().map(model::score).collect();
    let mut around = choice::certainly_around(&scene, &scores)?;
    // What lies beyond the limits was not judged.
    if let Some(last) = around.last_mut().filter(|_| outline.is_cut) {
        *last = false;
    }
    Some(around)
}

/// Which blocks are main content; nothing if it cannot be told.
fn choose(scene: &Scene<'_>, score: impl Fn(&FeatureRow) -> i32) -> Option<Vec<bool>> {
    let scores: Vec<i32> = features::rows(scene).iter().map(score).collect();
    choice::choose(scene, &scores)
}
