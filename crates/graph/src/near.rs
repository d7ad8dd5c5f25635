//! What is near a page?
//!
//! A breadth-first search along the arcs, against them, or both, up to a distance. If a level has
//! more pages than wanted, those with the highest PageRank are kept, or the first by URL if the
//! graph is not ranked.

use crate::error::Result;
use crate::rank::Ranks;
use crate::read::{WebGraph, Which};
use orb_page::PageId;
use std::collections::HashSet;

/// The direction in which links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Against the arcs: pages that link here.
    In,
    /// Along the arcs: pages linked from here.
    Out,
    /// Both.
    Both,
}

/// The extent of a neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Maximum distance in links.
    pub hops: u32,
    /// Direction of the search.
    pub direction: Direction,
    /// Maximum number of pages, including the start.
    pub limit: usize,
}

/// A page near another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearbyPage {
    /// The page.
    pub page: PageId,
    /// Its URL.
    pub url: String,
    /// Distance in links.
    pub hops: u32,
}

impl WebGraph {
    /// The pages around one, nearest first, starting with the page itself; empty if the graph does
    /// not contain it.
    pub fn around(&self, page: PageId, reach: &Reach) -> Result<Vec<NearbyPage>> {
        let Some(start) = self.node_of(page)? else { return Ok(Vec::new()) };
        let ranks = self.ranks()?;
        let mut found = Vec::new();
        for (node, hops) in self.reached([Which::Web, Which::WebT], start, reach, ranks.as_ref())? {
            if let (Some(page), Some(url)) = (self.page_of(node)?, self.url(node)?) {
                found.push(NearbyPage { page, url, hops });
            }
        }
        Ok(found)
    }

    /// The nodes around one with their distances, nearest first.
    pub(crate) fn reached(
        &self,
        [forth, back]: [Which; 2],
        start: u32,
        reach: &Reach,
        ranks: Option<&Ranks>,
    ) -> Result<Vec<(u32, u32)>> {
        let ways: &[Which] = match reach.direction {
            Direction::Out => &[forth],
            Direction::In => &[back],
            Direction::Both => &[forth, back],
        };
        let (mut seen, mut found) = (HashSet::from([start]), vec![(start, 0)]);
        let mut last = vec![start];
        for hops in 1..=reach.hops {
            let mut next = Vec::new();
            for node in last {
                for way in ways {
                    next.extend(self.successors(*way, node)?.into_iter().filter(|to| seen.insert(*to)));
                }
            }
            next.sort_unstable();
            let room = reach.limit.saturating_sub(found.len());
            if let Some(ranks) = ranks {
                // Sorts by rank even if all fit, so that the best come first.
                let scored: Result<Vec<(f64, u32)>> =
                    next.iter().map(|node| Ok((ranks.pagerank_of(forth, *node)?, *node))).collect();
                let mut scored = scored?;
                scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                next = scored.into_iter().map(|(_, node)| node).collect();
            }
            let full = next.len() >= room;
            next.truncate(room);
            found.extend(next.iter().map(|node| (*node, hops)));
            if full || next.is_empty() {
                break;
            }
            last = next;
        }
        found.truncate(reach.limit);
        Ok(found)
    }
}
