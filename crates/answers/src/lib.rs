//! What do people ask of a collection?
//!
//! A [`Collection`] is a project opened for reading: catalogue, archive, web graph and text index,
//! each opened on first use and kept open. Every question is one module with one function of the
//! same name, which returns a typed result. The result serialises (`Serialize`) to what `--json`
//! prints, in that order of keys, and describes itself (`JsonSchema`), so one type serves the
//! command line, web pages, an API and the tools of language models. Renderers compute nothing and
//! touch no store.
//!
//! To add a question: a module here with its result type and its function, one line in the list
//! below, and a renderer in each interface.
//!
//! What a reader should know about an answer, such as that the graph is older than the catalogue,
//! is a note in the result and not a failure. Why there is no answer is an [`AnswerError`]. Nothing
//! here prints, reads the environment, installs a panic hook or keeps a thread.

mod board;
mod changes;
mod check;
mod collection;
mod compare;
pub mod content;
mod copies;
mod diff;
mod due;
mod error;
mod find;
mod graph;
mod guard;
mod health;
mod hosts;
mod hubs;
mod importance;
pub mod index;
mod inspect;
mod intake;
mod kept;
mod lines;
mod links;
mod log;
mod marks;
mod newest;
mod order;
mod overview;
mod page_file;
mod pages;
mod plan;
mod projects;
mod properties;
mod pulled;
mod queue;
mod report;
mod rules;
mod runs;
mod safe_view;
mod search;
mod shared;
mod show;
mod size;
mod sql;
mod stats;
mod status;
mod timing;
mod top;
mod upkeep;
mod versions;
mod views;
mod window;
mod words;

pub use board::StatusBoard;
pub use changes::{CHANGES, ChangePage, FeedEnd, changes, changes_before, cursor_since, latest_changes};
pub use check::check;
pub use collection::{Collection, helper_limits};
pub use compare::{ChoosablePart, ComparedVersions, choosable_parts, compare_versions, ignoring, only};
pub use content::{ArchivedVersion, ContentExtent, ContentForm, PageContent, VisitedPage, content, visited};
pub use copies::{
    ListedShared, copied_at, forget_copy, is_shared_copy, refresh_copy, shared_collection, shared_copies,
    shared_projects, shared_searchable,
};
pub use diff::{DiffBy, DiffSide, DiffWish, PageDiff, diff};
pub use due::{DueProject, UpcomingRuns, due, due_project};
pub use error::AnswerError;
pub use graph::{
    GraphAge, GraphDegree, GraphFigures, GraphLag, GraphMap, GraphStats, MapPart, NeighbourRow, PageNeighbours,
    RankAccount, RankAccounts, graph_map, graph_stats, neighbours,
};
pub use guard::expects_panic;
pub use health::{
    CountStanding, Health, HealthCount, HealthPart, HealthRows, HealthWish, Severity, counted_health, health,
    health_rows, is_beyond_kept, uncounted_health,
};
pub use hosts::{HostList, ListedHost, host, hosts};
pub use hubs::{FeedHub, hubs};
pub use index::{IndexStatus, index_status};
pub use inspect::{
    FoundSessionId, InspectedDocument, InspectedImage, InspectedLink, InspectedUrl, PageForms, RobotsVerdict,
    SessionReport, UrlIdentity, UrlSessionId, archived_forms, inspect_document, inspect_forms, inspect_robots,
    inspect_sessions, inspect_urls,
};
pub use intake::{CallSource, IntakeState, intake, waiting_calls};
pub use lines::{clip, grouped, harmless};
pub use links::{
    LinkFilter, LinkTexts, LinksIn, link_history, link_texts, links_in, links_in_at_hand, links_out, links_since,
};
pub use log::{BEGUN, LogLevel, LogLine, LogWish, RESUMED, RunLog, is_opening, run_log};
pub use newest::{HostWeb, WebThread, WebbedHost, host_web, newest};
pub use orb_aside::HelperLimits;
pub use overview::{Overview, overview};
pub use page_file::{front_matter, page_file_name};
pub use pages::{PageFilter, PageList, StatusRange, pages};
pub use plan::{Assumed, AssumptionSource, Assumptions, CrawlPlan, PlannedDays, Share, Wishes, plan};
pub use projects::{ListedProject, projects};
pub use properties::DocumentProperties;
pub use pulled::{PullReport, need_bytes, pull, pull_with_splits, shared_schema, shared_sql};
pub use queue::{QueueFilter, QueuePart, QueuedHost, QueuedPage, queue, queue_text};
pub use report::{Report, ReportWish, RunReport, report};
pub use rules::{QueueLoss, TriedUrl, queue_loss, try_url};
pub use runs::{ListedRun, log_text, run, runs};
pub use safe_view::{SafeView, safe_view};
pub use search::{
    Completion, Correction, Explanation, HitSection, Query, ScoreShare, SearchAnswer, SearchHit, complete, search,
};
pub use shared::{ContestedAddress, SharedStatus, SharedWorkerStatus, StoreStatus, shared_status, store_status};
pub use show::{ShownPage, show};
pub use size::project_size;
pub use sql::{SqlQuery, cell_text, cell_value, schema, sql};
pub use stats::{CountAge, CrawlStats, HostRules, ShownRule, counted_stats, stats};
pub use status::{
    HomeStatus, ProjectStatus, RunStanding, is_attended, is_running, last_run, last_written, status, status_of,
};
pub use timing::{QueryTimings, time_queries};
pub use top::{RankedKind, Top, TopRow, top};
pub use upkeep::{
    ArchiveAccount, LossAccount, OrphanAccount, PreparedStore, StitchReport, UnreadLetters, archive_account, prepare,
    stitch,
};
pub use versions::ChangedVersions;
pub use views::PageViews;
pub use window::Window;
pub use words::{WordPlace, WordPlaces, WordRow, Words, words};

// The types that answers are made of.
pub use orb_graph::export::{DRAWING_SCRIPTS, DrawnGraph, DrawnNode};
pub use orb_graph::{BowTie, By, Direction, GraphError, GraphFreshness, GraphOptions, Merit, Reach, WebGraph};
pub use orb_index::{TextField, WordCount};
pub use orb_store::{
    AckRow, AnchorRow, Cell, CheckCounts, CheckReport, Column, ColumnNote, Degrees, Finding, FlagTally, HealthKind,
    HealthRow, HostRow, ImageRow, IntakeCall, LinkChange, LinkChangeRow, LinkRow, LinkValues, NewestRow, PageRow,
    QueryCaller, QueryEnd, ReportRow, RunCounters, SourceRecord, Stats, TableNote, VisitRow,
};
/// How an HTML page shows differences, and a foreign text.
pub use orb_track::diff::html::{STYLE as DIFF_STYLE, escaped};
pub use orb_track::diff::{Counts, DiffLine, Piece};

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, AnswerError>;
