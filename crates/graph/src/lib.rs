//! Who points to whom, and who matters?
//!
//! The web graph, derived from the catalogue's links and disposable: nodes in URL order
//! ([`nodes`]), arcs sorted externally ([`arcs`]) and compressed in WebGraph's format
//! ([`compress`]) in both directions, for pages and for hosts. The owner of the catalogue feeds it
//! ([`Naming`], [`Linking`]) and queries it ([`WebGraph`]) by the catalogue's numbers; dense node
//! numbers never leave this crate.

#![allow(clippy::cast_possible_truncation, reason = "nodes have 32 bits, which is checked where they are given")]

mod arcs;
mod build;
mod compress;
mod error;
pub mod export;
mod fingerprint;
mod manifest;
mod near;
mod nodes;
mod options;
mod place;
mod progress;
mod rank;
mod read;
mod varint;

pub use build::{Linking, Naming};
pub use compress::CompressionStats;
pub use error::{GraphError, Result};
pub use fingerprint::{Fingerprint, Sum, Witness};
pub use manifest::{CatalogueMark, FileSeal, GraphFreshness, Manifest};
pub use near::{Direction, NearbyPage, Reach};
pub use options::{GraphOptions, SeenLink};
pub use place::Hold;
pub use progress::{BuildProgress, BuildStep, unwatched};
pub use rank::{BowTie, By, Harmonic, Hits, Merit, PageRank, Ranked, Ranking, RankingStats, Ranks};
pub use read::{PagesPointing, WebGraph};
