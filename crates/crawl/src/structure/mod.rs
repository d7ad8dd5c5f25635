//! How does the web graph follow the catalogue?
//!
//! The graph is derived: it is built on demand from the catalogue's pages and links ([`build`]), says by a mark how far it has come, is asked who
//! points to a page ([`links_in`]) and with which words ([`anchors()`]) together with what the catalogue has learnt since, and is compared with it ([`check`]). Losing it costs
//! the time to build it.

mod anchors;
mod backward;
mod build;
mod check;
mod rank;

pub use anchors::{Called, anchors, anchors_at_hand};
pub use backward::{Backward, links_in};
pub use build::{Outcome, build};
pub use check::check;
pub use rank::rank;

use orb_graph::Mark;
use orb_store::Extent;

/// How a graph stands to the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was recorded since.
    Current,
    /// The catalogue has gone on: by so many batches, pages and runs.
    Behind {
        /// Batches.
        batches: u64,
        /// Pages.
        pages: u64,
        /// Runs.
        runs: u32,
    },
    /// It was built from another catalogue, or this one was put back to an earlier state.
    Foreign,
}

/// How a graph built at a mark stands to a catalogue of this extent.
pub fn standing(mark: &Mark, now: &Extent) -> Standing {
    let same = mark.batch == now.batch && mark.nonce == now.nonce;
    if same {
        return Standing::Current;
    }
    if now.batch <= mark.batch || now.pages < mark.pages || now.sources < mark.sources || now.run < mark.run {
        return Standing::Foreign;
    }
    let (batches, pages) = (now.batch - mark.batch, now.pages - mark.pages);
    Standing::Behind { batches, pages, runs: now.run.0 - mark.run.0 }
}

/// The extent of a catalogue as a graph keeps it.
fn mark(extent: &Extent) -> Mark {
    let Extent { batch, nonce, run, pages, sources } = *extent;
    Mark { batch, nonce, run, pages, sources }
}

/// A link as the graph looks at it.
fn seen(link: &orb_store::LinkFact) -> orb_graph::SeenLink {
    let orb_store::LinkFact { src, dst, kind, nofollow, gone } = *link;
    orb_graph::SeenLink { src, dst, kind, nofollow, gone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_page::RunId;

    #[test]
    fn a_graph_knows_how_far_the_catalogue_has_gone_on() {
        let then = Extent { batch: 5, nonce: 1, run: RunId(1), pages: 100, sources: 10 };
        let of = |now| standing(&mark(&then), &now);
        assert_eq!(of(then), Standing::Current);
        let later = Extent { batch: 7, nonce: 9, run: RunId(2), pages: 130, sources: 12 };
        assert_eq!(of(later), Standing::Behind { batches: 2, pages: 30, runs: 1 });
        for other in [Extent { nonce: 2, ..then }, Extent { batch: 4, nonce: 2, ..then }, Extent { pages: 9, ..later }]
        {
            assert_eq!(of(other), Standing::Foreign);
        }
    }
}
