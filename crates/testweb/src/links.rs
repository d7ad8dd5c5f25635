//! Which pages does a plain page link to?
//!
//! Reachability holds by construction: page i of a host links to pages k·i+1 … k·i+k, so every page
//! of the host is in a tree below its home page; and if hosts are connected, the home page of host
//! h links to those of hosts k·h+1 … k·h+k. The other links are random with a preference for small
//! numbers, since in-degrees on the web are skewed. Renderer and expectation both use this module
//! and nothing else.

use crate::chance::Chance;
use crate::spec::Spec;

/// A plain page: its host and its number there; 0 is the home page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Plain {
    pub(crate) host: u32,
    pub(crate) page: u32,
}

const BRANCHES: u32 = 8;

/// Whether hosts link to each other.
pub(crate) fn connected(spec: &Spec) -> bool {
    spec.hosts > 1 && spec.cross_host_links > 0.0
}

/// Number of children of a page in its host's tree.
fn branches(spec: &Spec) -> u32 {
    let room = if connected(spec) { spec.links / 2 } else { spec.links };
    room.clamp(1, BRANCHES)
}

/// The parent of a page in its host's tree.
pub(crate) fn parent(spec: &Spec, page: u32) -> u32 {
    page.saturating_sub(1) / branches(spec)
}

/// The children of `n` in a tree of `size` nodes with branching factor `k`.
fn children(n: u32, k: u32, size: u32) -> impl Iterator<Item = u32> {
    let first = u64::from(n) * u64::from(k) + 1;
    (first..first + u64::from(k)).take_while(move |child| *child < u64::from(size)).map(|child| child as u32)
}

/// Fills `out` with the distinct targets of a page's content links, without the page itself.
pub(crate) fn targets(spec: &Spec, from: Plain, out: &mut Vec<Plain>) {
    out.clear();
    let wanted = spec.links as usize;
    let k = branches(spec);
    out.extend(children(from.page, k, spec.pages_per_host).map(|page| Plain { host: from.host, page }));
    if connected(spec) && from.page == 0 {
        let room = (spec.links - k).min(BRANCHES);
        out.extend(children(from.host, room, spec.hosts).map(|host| Plain { host, page: 0 }));
    }
    out.truncate(wanted);
    let mut chance = Chance::of(&[spec.seed, u64::from(from.host), u64::from(from.page), 17]);
    while out.len() < wanted {
        let abroad = connected(spec) && chance.unit() < spec.cross_host_links;
        let drawn = drawn(spec, from, &mut chance, abroad);
        // If the page's own host is exhausted only others are left, and vice versa.
        let Some(free) = nearest_free(spec, from, drawn, out)
            .or_else(|| (0..spec.hosts.min(64)).find_map(|host| nearest_free(spec, from, Plain { host, page: 0 }, out)))
            .filter(|free| connected(spec) || free.host == from.host)
        else {
            break;
        };
        out.push(free);
    }
}

fn drawn(spec: &Spec, from: Plain, chance: &mut Chance, abroad: bool) -> Plain {
    let page = chance.skewed(spec.pages_per_host as usize) as u32;
    let host = if abroad {
        let step = 1 + chance.below(spec.hosts as usize - 1) as u64;
        ((u64::from(from.host) + step) % u64::from(spec.hosts)) as u32
    } else {
        from.host
    };
    Plain { host, page }
}

/// The first page at or after this one, on its host, that is not taken yet.
fn nearest_free(spec: &Spec, from: Plain, drawn: Plain, taken: &[Plain]) -> Option<Plain> {
    let size = spec.pages_per_host;
    // One step more than the taken pages and the page itself is enough to reach a free one, if
    // there is any.
    let steps = u32::try_from(taken.len() + 2).unwrap_or(size).min(size);
    (0..steps)
        .map(|step| Plain {
            host: drawn.host,
            page: ((u64::from(drawn.page) + u64::from(step)) % u64::from(size)) as u32,
        })
        .find(|candidate| *candidate != from && !taken.contains(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn spec(hosts: u32, pages_per_host: u32, links: u32, cross_host_links: f64) -> Spec {
        Spec { hosts, pages_per_host, links, cross_host_links, ..Spec::default() }
    }

    fn walked(spec: &Spec, start: Plain) -> HashSet<Plain> {
        let (mut seen, mut queue, mut found) = (HashSet::from([start]), vec![start], Vec::new());
        while let Some(page) = queue.pop() {
            targets(spec, page, &mut found);
            queue.extend(found.iter().filter(|target| seen.insert(**target)));
        }
        seen
    }

    #[test]
    fn a_bench_page_has_exactly_its_links() {
        let spec = Spec::bench(200, 100, 20_000, 40);
        let mut out = Vec::new();
        for page in 0..100 {
            targets(&spec, Plain { host: 17, page }, &mut out);
            let distinct: HashSet<_> = out.iter().collect();
            assert_eq!((out.len(), distinct.len()), (40, 40));
        }
    }

    proptest! {
        #[test]
        fn every_page_is_reached_from_the_first(hosts in 1_u32..12, pages in 1_u32..80, links in 2_u32..50, cross in 0.0..1.0) {
            let spec = spec(hosts, pages, links, cross);
            let connected_hosts = if connected(&spec) { hosts } else { 1 };
            let reached = walked(&spec, Plain { host: 0, page: 0 });
            prop_assert_eq!(reached.len(), (connected_hosts * pages) as usize);
        }

        #[test]
        fn links_are_distinct_and_as_many_as_can_be(hosts in 1_u32..6, pages in 1_u32..30, links in 2_u32..60, page in 0_u32..30) {
            let spec = spec(hosts, pages, links, 0.3);
            let from = Plain { host: 0, page: page % pages };
            let mut out = Vec::new();
            targets(&spec, from, &mut out);
            let distinct: HashSet<_> = out.iter().copied().collect();
            prop_assert_eq!(distinct.len(), out.len());
            prop_assert!(!distinct.contains(&from));
            prop_assert_eq!(out.len(), (links as usize).min((hosts * pages - 1) as usize));
        }
    }
}
