//! Which of the matching pages comes first?
//!
//! ```text
//! score(page)  = text · (1 + importance · rank)
//! text         = Σ over units u:  rarity(u) ·
//!                    saturated( Σ over naming fields f:  weight(f) · count(u in f) )
//!              + body · Σ over units u:  rarity(u) · saturated( count(u in the text) )
//!              + section · Σ over units u:  rarity(u) · saturated( count(u in s) )
//!              + name · ( likeness(page) and 0.8 · likeness(s), the smaller one times 0.3 )
//!              + described · likeness(d), as far as it is more than what the names give
//!              + phrase · ( Σ over neighbouring units:  mean rarity ·
//!                               saturated( how often they are close in s )
//!                         + 0.6 / √pairs · Σ over pairs of units:  mean rarity ·
//!                               saturated( how often they are in reach of each other ) )
//! likeness(n)  = rarities of the units in n · their share of the query · their share of n
//! saturated(x) = x / (1.2 + x)
//! ```
//! A unit is a word with its other forms, an identifier or a phrase; its rarity is its inverse
//! document frequency in the pages' own texts. `s` is the section for which the sum is largest. The
//! naming fields are title, headings, URL and anchor texts; they are added before they are
//! saturated (BM25F), so that a word in many fields does not replace another word. Counts are
//! normalised by the length of the field or the section (BM25, Robertson and Zaragoza, b = 0.75). A
//! page has two names, its main heading and the end of its URL: the better one counts, and half of
//! the other. The name of a section is its heading or term, with what its page's name has. `d` is
//! the best description of the page in an item of a list on another page (`search/described.rs`).
//! Units are close if at most three words are between them, in reach if at most twelve. `rank` is
//! between 0 and 1: the page's PageRank on a logarithmic scale, or without a graph the number of
//! linking pages. A page that is mostly links loses up to nine tenths. The best matches by BM25 of
//! their words alone are judged like this; those behind them keep that order.

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
    /// In what stands around the page's own text.
    #[serde(alias = "menus")]
    pub around: f32,
    /// The best section of the page.
    pub section: f32,
    /// The name of the page, or of the section, if it is what was asked for.
    pub name: f32,
    /// Words of the query that are also close to each other on the page.
    pub phrase: f32,
    /// What another page says about the page, in an item of a list that links to it.
    pub described: f32,
    /// The page's importance in the graph.
    pub importance: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            title: 2.0,
            headings: 0.9,
            body: 0.25,
            url: 0.75,
            anchor: 0.75,
            around: 0.05,
            section: 0.15,
            name: 0.9,
            phrase: 0.5,
            described: 0.4,
            importance: 0.65,
        }
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
            TextField::Around => self.around,
        };
        sound(weight)
    }

    pub(crate) fn section(&self) -> f32 {
        sound(self.section)
    }

    pub(crate) fn name(&self) -> f32 {
        sound(self.name)
    }

    pub(crate) fn phrase(&self) -> f32 {
        sound(self.phrase)
    }

    pub(crate) fn described(&self) -> f32 {
        sound(self.described)
    }

    /// The factor by which the text score is multiplied.
    pub(crate) fn factor(&self, rank: f64) -> f64 {
        1.0 + f64::from(sound(self.importance)) * rank.clamp(0.0, 1.0)
    }
}

/// What a part of a score is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// A unit of the query in a field.
    Field(TextField),
    /// The text of the best section.
    Section,
    /// The name of the best section.
    SectionName,
    /// The name of the page.
    Name,
    /// What another page says about it.
    Described,
    /// Words that are close to each other.
    Near,
}

impl Aspect {
    /// Its name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Field(part) => part.name(),
            Self::Section => "section",
            Self::SectionName => "section name",
            Self::Name => "name",
            Self::Described => "described",
            Self::Near => "near",
        }
    }
}

/// Sanitises a weight.
fn sound(weight: f32) -> f32 {
    if weight.is_finite() { weight.clamp(0.0, 1_000.0) } else { 0.0 }
}
