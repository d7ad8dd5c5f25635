//! How does the web graph follow the catalogue?
//!
//! The graph is derived: it is built on demand from the catalogue's pages and links ([`build`]),
//! ranked ([`rank`]), and says by a mark how far it has come. Losing it costs the time to build it.

mod build;
mod rank;

pub use build::{GraphBuildOutcome, build};
pub use orb_graph::{BuildProgress, GraphOptions, Harmonic, PageRank, Ranking};
pub use rank::rank;

use orb_graph::{CatalogueMark, GraphFreshness};
use orb_store::Extent;

/// How a graph built at a mark relates to a catalogue of this extent.
fn standing(built: &CatalogueMark, now: &Extent) -> GraphFreshness {
    built.standing(&mark(now))
}

/// The extent of a catalogue as a graph stores it.
fn mark(extent: &Extent) -> CatalogueMark {
    let Extent { batch, nonce, run, pages, sources } = *extent;
    CatalogueMark { batch, nonce, run, pages, sources }
}

/// A link as the graph sees it.
fn seen(link: &orb_store::LinkFact) -> orb_graph::SeenLink {
    let orb_store::LinkFact { src, dst, kind, nofollow, gone } = *link;
    orb_graph::SeenLink { src, dst, kind, nofollow, gone }
}
