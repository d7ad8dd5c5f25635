//! Does a graph contain what was put into it?
//!
//! The catalogue is read in the order of page numbers, the graph in URL order. Each side adds up a
//! hash of every element, and addition is commutative. Equal sums of equally many elements mean
//! equal sets, except with probability 2⁻⁶⁴.

use crate::error::{GraphError, Result};
use crate::options::{GraphOptions, SeenLink};
use crate::read::{WebGraph, Which};
use lender::prelude::*;
use orb_page::PageId;
use webgraph::traits::SequentialLabeling as _;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// An order-independent checksum of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Number of elements.
    pub count: u64,
    hash: u64,
}

impl Sum {
    fn add(&mut self, hash: u64) {
        self.count += 1;
        self.hash = self.hash.wrapping_add(hash);
    }

    fn add_page(&mut self, page: u64, url: &[u8]) {
        self.add(xxh3_64_with_seed(url, page));
    }

    fn add_arc(&mut self, src: u64, dst: u64) {
        self.add(xxh3_64(&(u128::from(src) << 64 | u128::from(dst)).to_le_bytes()));
    }
}

/// Checksums of the pages and links of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Pages with their URLs.
    pub pages: Sum,
    /// Links that are arcs: source and target.
    pub arcs: Sum,
    /// All other links.
    pub rest: Sum,
}

/// Computes the fingerprint that a graph with certain options should have.
#[derive(Debug)]
pub struct Witness {
    options: GraphOptions,
    pages: u64,
    seen: Fingerprint,
    /// The last arc and the last other link: links of different kinds between the same two pages
    /// are adjacent.
    last: [Option<(PageId, PageId)>; 2],
}

impl Witness {
    /// A witness for a catalogue's first `pages` pages.
    pub fn new(options: &GraphOptions, pages: u64) -> Self {
        Self { options: options.clone(), pages, seen: Fingerprint::default(), last: [None; 2] }
    }

    /// Adds a page, in any order.
    pub fn page(&mut self, page: PageId, url: &str) {
        if page.0 <= self.pages {
            self.seen.pages.add_page(page.0, url.as_bytes());
        }
    }

    /// Adds a link. All links from one page to another must be adjacent.
    pub fn link(&mut self, link: &SeenLink) {
        let taken = self.options.takes(link);
        let ends = (link.src, link.dst);
        if self.last[usize::from(taken)].replace(ends) != Some(ends) {
            let sum = if taken { &mut self.seen.arcs } else { &mut self.seen.rest };
            sum.add_arc(ends.0.0, ends.1.0);
        }
    }

    /// The expected fingerprint.
    pub fn finish(self) -> Fingerprint {
        self.seen
    }
}

impl WebGraph {
    /// The actual fingerprint of the graph. Fails if the graph and its transpose differ.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        let pages = self.pages()?;
        let mut seen = Fingerprint::default();
        self.urls(|node, url| {
            if let Some(page) = pages.get(node as usize) {
                seen.pages.add_page(u64::from(*page), url);
            }
        })?;
        seen.arcs = self.sum(Which::Web, &pages, false)?;
        seen.rest = self.sum(Which::RestT, &pages, true)?;
        if self.sum(Which::WebT, &pages, true)? != seen.arcs {
            return Err(GraphError::damaged(
                &self.dir().join(Which::WebT.base()),
                "it is not the transpose of the graph",
            ));
        }
        Ok(seen)
    }

    fn sum(&self, which: Which, pages: &[u32], turned: bool) -> Result<Sum> {
        let mut sum = Sum::default();
        let page = |node: usize| pages.get(node).map_or(0, |page| u64::from(*page));
        for_!((node, others) in self.lists(which)?.iter() {
            for other in others {
                let (src, dst) = if turned { (other, node) } else { (node, other) };
                sum.add_arc(page(src), page(dst));
            }
        });
        Ok(sum)
    }
}
