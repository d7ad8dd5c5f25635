//! How important is a page, according to the graph?

use orb_graph::Ranks;
use orb_page::PageId;

/// This many times the average PageRank counts as maximum importance.
const TOP: f64 = 1_000.0;

/// The ranks of a project's graph, on the scale of a search.
pub(crate) struct Importance<'a> {
    ranks: &'a Ranks,
    pages: f64,
}

impl<'a> Importance<'a> {
    pub(crate) fn new(ranks: &'a Ranks) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let pages = ranks.accounts()[0].nodes as f64;
        Self { ranks, pages }
    }

    /// The importance of pages: their PageRank relative to the average on a logarithmic scale,
    /// between 0 and 1.
    pub(crate) fn of(&self, pages: &[PageId]) -> Vec<f64> {
        let of = |page: &PageId| self.ranks.of(*page).ok().flatten().map_or(0.0, |merit| merit.pagerank);
        pages.iter().map(|page| ((1.0 + of(page) * self.pages).ln() / (1.0 + TOP).ln()).clamp(0.0, 1.0)).collect()
    }
}
