//! Which page of a host comes first?
//!
//! A page's rank is fixed at discovery and is its position in its host's queue. Which host comes
//! first is up to politeness alone, so an order is exact on one host, and holds host by host on
//! many.

use orb_page::PageId;
use serde::{Deserialize, Serialize};

/// The order in which the pages of a host are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Breadth-first: nearest to the seed first, then in order of discovery.
    #[default]
    Bfs,
    /// Depth-first: most recently discovered first, so the queue is a stack. Seeds are taken in the
    /// order given.
    Dfs,
    /// Best-first: highest priority first, then nearest to the seed, then in order of discovery.
    Best,
    /// A random order, deterministic in its seed.
    Random {
        /// The seed.
        seed: u64,
    },
}

const PAGE_BITS: u32 = 48;
const PAGE_MASK: u64 = (1 << PAGE_BITS) - 1;

/// A page's position in its host's queue: smaller is sooner. `priority` is from 0 to 1.
pub fn rank(order: Order, depth: u32, page: PageId, priority: f32) -> u64 {
    let depth16 = u64::from(depth.min(u32::from(u16::MAX)));
    match order {
        Order::Bfs => depth16 << PAGE_BITS | page.0 & PAGE_MASK,
        Order::Dfs if depth == 0 => 1 << 63 | page.0 & PAGE_MASK,
        Order::Dfs => (1 << 63) - 1 - (page.0 & PAGE_MASK),
        Order::Best => {
            let unimportance = f32::from(u16::MAX) * (1.0 - priority.clamp(0.0, 1.0));
            let unimportance = if priority.is_nan() { u16::MAX } else { unimportance as u16 };
            u64::from(unimportance) << 48 | depth16.min(255) << 40 | page.0 & ((1 << 40) - 1)
        }
        Order::Random { seed } => scatter(page.0 ^ scatter(seed)),
    }
}

/// The mixing function of SplitMix64 (Steele, Lea and Flood 2014): a bijection, so no two pages
/// share a rank.
fn scatter(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(order: Order, pages: &[(u64, u32, f32)]) -> Vec<u64> {
        let mut ranked: Vec<_> = pages.iter().map(|&(p, d, i)| (rank(order, d, PageId(p), i), p)).collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, p)| p).collect()
    }

    const PAGES: &[(u64, u32, f32)] = &[(1, 0, 0.5), (2, 0, 0.5), (3, 1, 0.1), (4, 2, 1.0), (5, 1, f32::NAN)];

    #[test]
    fn breadth_first_takes_the_nearest_then_the_earliest() {
        assert_eq!(sorted(Order::Bfs, PAGES), [1, 2, 3, 5, 4]);
    }

    #[test]
    fn depth_first_takes_the_latest_and_seeds_in_order() {
        assert_eq!(sorted(Order::Dfs, PAGES), [5, 4, 3, 1, 2]);
    }

    #[test]
    fn best_first_takes_the_most_important() {
        assert_eq!(sorted(Order::Best, PAGES), [4, 1, 2, 3, 5]);
    }

    #[test]
    fn random_order_depends_on_the_seed_alone() {
        let of = |seed| sorted(Order::Random { seed }, PAGES);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }
}
