//! Where does everything live?
//!
//! Two sources of truth: the bytes in the archive (WARC), the facts in the catalogue (SQL). The
//! frontier index (seen set, queues) is derived from the catalogue and disposable. Nothing outside
//! this crate knows SQL, WARC or the index's key layout.
//!
//! [`Project`] is the entry point for writers, [`CatalogueReader`] and [`ArchiveReader`] for
//! readers, even while a crawl runs.

mod accounts;
mod archive;
mod batch;
mod check;
mod counters;
mod error;
pub mod fault;
mod home;
mod index;
mod intake;
mod keys;
mod project;
mod queues;
mod replace;
mod shared;
mod sqlite;
mod stamp;
mod tally;
mod warc;

pub use accounts::{
    ANYONE_NAME, Accounts, AuditRow, Level, NewToken, NewUser, ReadingLink, SESSION_LIFE, SessionRow, TokenRow,
    TokenScope, User, fresh_secret,
};
pub use archive::{Archive, ArchiveEnd, ArchiveStart, FileEnd, IndexLines, index_lines};
pub use batch::{AliasEntry, Batch, DroppedPage, FinishedVisit, HostFact, NewHost, QueuePlace, Requeued};
pub use check::{CheckCounts, CheckReport, Finding, check, check_decoding};
pub use counters::CounterDelta;
pub use error::{BoxedSource, Result, StoreError};
pub use home::{Home, ProjectDir, ProjectLock, SettingsLock, check_name, disk_size, free_space};
pub use index::{IndexDefect, IndexStart};
pub use intake::{IntakeCall, IntakeReceipt, LONGEST_CALL, MOST_CALLS, ProjectIntake, SourceRecord};
pub use project::{Admission, Committed, Project, ProjectOptions, Start, Steps, acknowledge};
pub use queues::{HostRecord, QueueLengths, Queued, Queues, RobotsRecord};
pub use replace::replace;
pub use shared::{
    AddressAnswer, AddressDesk, AddressDispute, AddressGrant, AddressRelease, Adopted, ArchiveStock, CopyChange,
    CopyOrigin, CopySplits, CopyTurn, DepthRule, DigestLetter, FoundLetter, HeartbeatReply, Letter, LetterBundle,
    LetterId, LostObject, MAX_SHARDS, Mailbox, Membership, NearerLetter, OrphanObject, PlantedRun, PulledCopy,
    RunTerms, S3Options, SameLetter, ScheduleDesk, SeedToPlant, ShardClerk, ShardId, ShardOverview, SharedAddress,
    SharedListing, SharedMaking, SharedOverview, SharedProject, SharedRun, SharedSeed, SharedTimetable, SplitDesk,
    SplitRow, StitchAccount, StorePreparation, ToldLink, WorkerCard, WorkerId, WorkerOverview, WorkerReport,
    prepare_store, reach_s3, shard_of,
};
pub use sqlite::{
    AckRow, AliasNote, AnchorRow, CatalogueReader, CatalogueWalk, Cell, ChangeRow, Column, ColumnNote, Degrees, DueRow,
    Extent, FailedTest, FlagCounts, FoundOn, HealthFindings, HealthKind, HealthRow, HealthTally, Holds, HostRow,
    ImageRow, KnownPage, LinkAnchor, LinkChange, LinkChangeRow, LinkFact, LinkRow, LinkValues, NewestRow, PageMark,
    PageRow, PageSieve, PageStanding, PastVisit, QueryCaller, QueryEnd, QueryLimits, RankRow, RedirectLoop,
    ReportFilter, ReportRow, RunReader, RunRecord, RunStatus, Stats, Sums, Table, TableColumn, TableNote, Unfetched,
    VisitRow, WaitingPage, WithheldAlias, Worded, document_type, document_types, has_rank_tables, write_rank_tables,
};
pub use stamp::FileStamp;
pub use tally::{FlagTally, RunCounters};
#[cfg(feature = "fuzzing")]
pub use warc::RecordCompressor;
pub use warc::{ArchiveReader, Encoded, Encoder, Exchange, RecordId, RecordedAs, RemoveCoding, Revisit};
pub use warc::{StoredBody, StoredExchange, VIEW};
