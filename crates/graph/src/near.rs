//! What lies around a page?
//!
//! A breadth-first visit along the arcs, against them, or both, as far as asked for. Where a step would find more pages than are wanted, those
//! with the highest PageRank are kept, or, where nothing has been ranked, those whose URLs come first.

use crate::error::Result;
use crate::rank::Ranks;
use crate::read::{WebGraph, Which};
use orb_page::PageId;
use std::collections::HashSet;

/// Which way links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To what points here.
    In,
    /// To where this points.
    Out,
    /// Both.
    Both,
}

/// How far to look around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Links to follow at most.
    pub hops: u32,
    /// Which way.
    pub direction: Direction,
    /// Pages to find at most, the one in the middle included.
    pub limit: usize,
}

/// A page near another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The page.
    pub page: PageId,
    /// Its URL.
    pub url: String,
    /// How many links lie between them.
    pub hops: u32,
}

impl WebGraph {
    /// The pages around one, nearest first, itself at the head; none where the graph does not know it.
    pub fn around(&self, page: PageId, reach: &Reach) -> Result<Vec<Near>> {
        let Some(start) = self.node_of(page)? else { return Ok(Vec::new()) };
        let ranks = self.ranks()?;
        let mut found = Vec::new();
        for (node, hops) in self.reached([Which::Web, Which::WebT], start, reach, ranks.as_ref())? {
            if let (Some(page), Some(url)) = (self.page_of(node)?, self.url(node)?) {
                found.push(Near { page, url, hops });
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
                // The best come first, also where there is room for all.
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
