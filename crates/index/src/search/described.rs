//! Which pages do other pages describe in the words of the query?
//!
//! The positions of these words are at hand for the pages that are judged, so an item of a list
//! that describes another page ([`crate::described`]) is judged like a section's name: by how much
//! of the query it has, and how much of it the query is. The best description of a page counts.

use super::evidence::PageEvidence;
use super::units::QueryUnit;
use crate::described::UrlHash;
use std::collections::HashMap;

/// The share of the query, by rarity, that a description must have.
const ENOUGH: f32 = 0.4;

/// A description is in full about the query if a word in this many is of it.
const OF_IT: f32 = 3.0;

/// What a description has of the query: the rarities of its units, and their tokens.
#[derive(Clone, Copy, Default)]
struct DescriptionMatch {
    rarities: f32,
    tokens: f32,
}

/// How well pages are described by others.
pub(super) fn descriptions(units: &[QueryUnit], pages: &[PageEvidence]) -> HashMap<UrlHash, f32> {
    let whole: f32 = units.iter().map(|unit| unit.rarity).sum::<f32>().max(f32::MIN_POSITIVE);
    let mut best: HashMap<UrlHash, f32> = HashMap::new();
    for page in pages.iter().filter(|page| !page.described.is_empty()) {
        for (item, found) in matches(units, page) {
            let (mark, share) = (page.described[item], found.rarities / whole);
            if share >= ENOUGH {
                let about = (OF_IT * found.tokens / f32::from(mark.len).max(1.0)).min(1.0);
                let score = found.rarities * share * about.sqrt();
                let known = best.entry(mark.target).or_default();
                *known = known.max(score);
            }
        }
    }
    best
}

/// The items of a page that have something of the query, by their numbers.
#[expect(clippy::cast_precision_loss, reason = "a few tokens")]
fn matches(units: &[QueryUnit], page: &PageEvidence) -> HashMap<usize, DescriptionMatch> {
    let mut found: HashMap<usize, DescriptionMatch> = HashMap::new();
    for (unit, places) in units.iter().zip(&page.units) {
        let mut last = None;
        for place in &places.body {
            let next = page.described.partition_point(|item| item.begin <= place.at);
            let Some((item, mark)) = next.checked_sub(1).map(|item| (item, page.described[item])) else { continue };
            // A unit counts once.
            if place.at < mark.begin.saturating_add(u32::from(mark.len)) && last != Some(item) {
                last = Some(item);
                let found = found.entry(item).or_default();
                found.rarities += unit.rarity * place.worth;
                found.tokens += unit.len() as f32 * place.worth;
            }
        }
    }
    found
}
