//! Which pages answer this query?
//!
//! An inverted index over the recorded pages ([`IndexEntry`], [`PageIndexWriter`]) with a second
//! one for anchor texts ([`AnchorWriter`]); a [`Searcher`] answers from the last commit. Everything
//! here is derived: each commit records which batch of the catalogue it has reached, and the index
//! can be deleted and rebuilt. This crate knows no catalogue, no archive and no network, and no
//! other crate knows the engine (tantivy).

mod analyze;
mod anchors;
mod described;
mod entry;
mod error;
mod hands;
mod query;
mod rank;
mod schema;
mod search;
mod section;
mod segment;
mod snippet;
mod split;
mod standing;
mod writer;

pub use analyze::{StemLanguage, Stems, TokenizedText, up_to};
pub use anchors::AnchorWriter;
pub use described::{DescriptionMark, UrlHash};
pub use entry::{IndexEntry, MemoryReservation, is_searchable};
pub use error::{IndexError, Result};
pub use query::QueryError;
pub use rank::{Aspect, Weights};
pub use schema::TextField;
pub use search::{
    Hit, ImportanceFn, Occurrence, SearchError, SearchRequest, SearchResults, Searcher, SpellingCorrection, WordCount,
};
pub use section::SectionMark;
pub use snippet::{Marker, Snippet};
pub use split::{IndexSplitReader, SplitEntry, pack};
pub use standing::mark;
pub use writer::{ExistingIndex, PageIndexWriter, WriterRules};
