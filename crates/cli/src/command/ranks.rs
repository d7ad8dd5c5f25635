//! How important is a page, as far as the graph tells?

use orb_graph::Ranks;
use orb_page::PageId;
use orb_store::ProjectDir;

/// So many times the average PageRank count as all the importance there is.
const TOP: f64 = 1_000.0;

/// The ranks of a project's graph.
pub(crate) struct Importance {
    ranks: Ranks,
    pages: f64,
}

impl Importance {
    /// Those of a graph that has been built and ranked; nothing where it cannot be used, since search goes on without.
    pub(crate) fn open(project: &ProjectDir) -> Option<Self> {
        let ranks = Ranks::open(&project.graph()).ok().flatten()?;
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let pages = ranks.accounts()[0].nodes as f64;
        Some(Self { ranks, pages })
    }

    /// How important pages are: their PageRank against the average on a logarithmic scale, between 0 and 1.
    pub(crate) fn of(&self, pages: &[PageId]) -> Vec<f64> {
        let of = |page: &PageId| self.ranks.of(*page).ok().flatten().map_or(0.0, |merit| merit.pagerank);
        pages.iter().map(|page| ((1.0 + of(page) * self.pages).ln() / (1.0 + TOP).ln()).clamp(0.0, 1.0)).collect()
    }
}
