//! Where are the facts?
//!
//! The catalogue is an SQLite database in WAL mode: one writer (the recorder), any number of
//! concurrent readers. A batch is one transaction. This module and its children are the only place
//! that contains SQL.
//!
//! `synchronous = FULL`: the WAL is synced (fdatasync) when a commit returns, as the archive's
//! bytes were before it began. So a power cut loses no more than a killed process does, the batch
//! in progress, and a catalogue behind the frontier index has been damaged or replaced by an older
//! one.

mod acks;
mod aliases;
mod anchors;
mod averages;
mod before;
mod by_url;
mod catalogue;
mod changes;
mod commit;
mod copied;
mod depth;
mod describe;
mod dialect;
mod document_types;
mod dues;
mod health;
mod history;
mod known;
mod links;
mod lists;
mod log;
mod newest;
mod page;
mod query;
mod queued;
mod ranks;
mod reader;
mod replay;
mod resume;
mod runs;
mod schema;
mod scratch;
mod stats;
mod structure;
mod tables;
mod texts;
mod told;
mod upgrade;
mod views;
mod visits;
mod walk;
mod withdrawn;

pub use acks::AckRow;
pub use aliases::{AliasNote, FailedTest, PageStanding, WithheldAlias};
pub use anchors::AnchorRow;
pub use averages::Sums;
pub(crate) use catalogue::Catalogue;
pub use catalogue::{RunRecord, RunStatus};
pub use changes::ChangeRow;
pub(crate) use changes::is_told;
pub(crate) use describe::described_tables;
pub use describe::{ColumnNote, TableNote};
pub use document_types::{document_type, document_types};
pub use dues::{DueRow, PastVisit};
pub use health::{HealthFindings, HealthKind, HealthRow, HealthTally};
pub use history::{LinkChange, LinkChangeRow, LinkValues};
pub use known::KnownPage;
pub use lists::{PageSieve, WaitingPage};
pub use newest::{FoundOn, NewestRow};
pub use page::{HostRow, ImageRow, LinkRow, PageRow, VisitRow};
pub use query::{Cell, QueryCaller, QueryEnd, QueryLimits};
pub(crate) use queued::PageReader;
pub use ranks::{RankRow, has_rank_tables, write_rank_tables};
pub use reader::CatalogueReader;
pub(crate) use reader::connect_bare;
pub(crate) use replay::{PageState, Placed, Touched, Watermark};
pub use resume::Unfetched;
pub use runs::RunReader;
pub(crate) use schema::shared_views;
pub(crate) use scratch::ScratchValue;
pub use stats::{Column, Degrees, PageMark, Stats};
pub use structure::{Extent, LinkFact};
pub use tables::{Holds, Table, TableColumn};
pub use texts::{LinkAnchor, Worded};
pub use told::{FlagCounts, ReportFilter, ReportRow};
pub use walk::CatalogueWalk;
pub use withdrawn::RedirectLoop;
