//! Which of the matching pages comes first?
//!
//! ```text
//! score(page) = text · (1 + importance · rank)
//! text        = Σ over words w, fields f:  weight(f) · BM25(w in f)
//!             + phrase · Σ over adjacent word pairs p, fields f:  weight(f) · BM25(p in f)
//! ```
//! BM25 is Robertson and Zaragoza's with k1 = 1.2 and b = 0.75, computed per field, so that a word
//! in a short title counts more than one in a long text; anchor texts are a field like the others.
//! A phrase counts as a rarer term. A prefix or a fuzzy term counts 1. `rank` is between 0 and 1:
//! the page's PageRank on a logarithmic scale relative to the largest, or without a graph the
//! number of linking pages on the same scale. Phrases and the rank factor are evaluated only for
//! the thousand best by terms alone.

use crate::schema::TextField;
use serde::{Deserialize, Serialize};

/// Weights of the parts of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// A word in the title.
    pub title: f32,
    /// In a heading.
    pub headings: f32,
    /// In the text.
    pub body: f32,
    /// In the URL.
    pub url: f32,
    /// In the anchor texts of links to the page.
    pub anchor: f32,
    /// Adjacent terms of the query that are also adjacent on the page, relative to single terms.
    pub phrase: f32,
    /// The page's importance in the graph.
    pub importance: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self { title: 3.0, headings: 1.5, body: 1.0, url: 1.5, anchor: 2.0, phrase: 0.5, importance: 0.5 }
    }
}

impl Weights {
    pub(crate) fn of(&self, part: TextField) -> f32 {
        let weight = match part {
            TextField::Title => self.title,
            TextField::Headings => self.headings,
            TextField::Body => self.body,
            TextField::Url => self.url,
            TextField::Anchor => self.anchor,
        };
        sound(weight)
    }

    pub(crate) fn phrase(&self) -> f32 {
        sound(self.phrase)
    }

    /// The factor by which the text score is multiplied.
    pub(crate) fn factor(&self, rank: f64) -> f64 {
        1.0 + f64::from(sound(self.importance)) * rank.clamp(0.0, 1.0)
    }
}

/// Sanitises a weight.
fn sound(weight: f32) -> f32 {
    if weight.is_finite() { weight.clamp(0.0, 1_000.0) } else { 0.0 }
}
