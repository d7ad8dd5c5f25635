//! Where are the facts?
//!
//! The catalogue is an SQLite database in WAL mode: one writer (the recorder), any number of readers beside it. A batch is one
//! transaction. This module and its children are the only place that speaks SQL.
//!
//! `synchronous = NORMAL` is enough. The archive's bytes are on the disk (fdatasync) before the transaction that names them begins, so
//! whatever prefix of the log survives a power cut names only bytes that are there. Commits lost with the log's unsynced end take
//! nothing with them: on the next start the archive is cut to what the catalogue knows, the frontier index is found to be ahead and
//! rebuilt, and the pages are fetched again. A killed process loses nothing at all, as the log is in the system's hands by then.

mod catalogue;
mod commit;
mod depth;
mod page;
mod query;
mod reader;
mod replay;
mod resume;
mod schema;
mod stats;

pub use catalogue::{Catalogue, RunRecord};
pub use page::{HostRow, ImageRow, LinkRow, PageRow, VisitRow};
pub use query::{Cell, QueryEnd, QueryLimits};
pub use reader::CatalogueReader;
pub(crate) use replay::{PageState, Placed, Touched, Watermark};
pub use resume::Unfetched;
pub use stats::{Column, Degrees, Stats};
