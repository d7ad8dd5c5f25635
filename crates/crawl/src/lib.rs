//! The story, told once: the only crate that knows the order of things.
//!
//! A page's life is driven from here: [`run`] sets up the parts, `drive` asks the frontier and
//! fetches the bytes, `read` turns them into a visit, `record` commits it and feeds discoveries
//! back to the frontier.

mod config;
mod drive;
mod due;
mod error;
mod form;
mod hold;
pub mod indexing;
mod intake;
mod live;
pub mod outputs;
mod read;
mod record;
mod render;
mod request;
mod run;
mod scope;
mod shared;
mod steps;
pub mod structure;
pub mod track;
mod watch;
mod worker;

pub use due::{DueAccount, DueRun, RunDue, run_due};
pub use error::CrawlError;
pub use form::send_form;
pub use hold::may_begin;
pub use orb_render::become_browser;
pub use render::{BROWSER_COMMAND, BrowserProgram};
pub use request::{CrawlRequest, OpenedCrawl, why_unreached};
pub use run::{Crawl, open_project};
pub use shared::Stop;
pub use steps::{SiteSight, look, look_around, read_text};
pub use watch::ledger::{Idle, Ledger, Spread, Stage, StageResource, Tally};
pub use watch::machine;
pub use watch::pace::{PaceSample, PaceSeries};
pub use watch::progress::{Pause, Progress, Snapshot, Waiting};
pub use watch::summary::Summary;
pub use watch::why::{
    Advice, Bounds, Breakdown, HostWait, IdleTime, RecentSpeed, SlowHost, Sockets, SpeedAccount, SpeedFacts, StageTime,
    Stretch, WaitingHost, WaitingHosts, why,
};
pub use worker::{
    ClusterWorker, SharedEnd, SharedRequest, plant, shared_settings, stop_shared, why_unreached_there,
    write_shared_dues,
};

// Where shared projects are, and who starts those that are due.
pub use orb_store::{RunRecord, RunStatus, S3Options, ScheduleDesk, SharedAddress, SharedTimetable, reach_s3};

// By which `ssh` asks this program for a password.
pub use orb_fetch::PASSWORD_VARIABLE as SSH_PASSWORD_VARIABLE;
// Where tests stage a crash or a failing disk.
pub use orb_store::fault::arm_from as arm_fault;
