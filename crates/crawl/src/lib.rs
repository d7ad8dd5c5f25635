//! The story, told once: the only crate that knows the order of things.
//!
//! A page's life is driven from here: [`run`] sets the parts up, `drive` asks the frontier and sends for the bytes, `read`
//! makes a visit of them, `recorder` commits it and feeds what was discovered back to the frontier.

mod bits;
mod clock;
mod config;
pub mod content;
mod drive;
mod due;
mod error;
mod examine;
mod governor;
mod hold;
pub mod indexing;
mod journal;
mod kept;
mod ledger;
mod limits;
pub mod machine;
pub mod outputs;
mod picture;
mod place;
pub mod plan;
mod progress;
mod read;
mod reading;
mod recorder;
mod replant;
mod run;
mod schedule;
mod scope;
mod score;
mod sessions;
mod settings;
mod shared;
mod steps;
pub mod structure;
mod summary;
pub mod track;
pub mod units;
mod why;

pub use due::{Due, ScheduleSettings};
pub use error::CrawlError;
pub use examine::Wrong;
pub use hold::may_begin;
pub use ledger::{Idle, Ledger, Part, Spread, Stage, Tally};
pub use outputs::{FlagName, OutputSettings, WebhookSettings};
pub use place::Place;
pub use progress::{Pause, Progress, Snapshot, Waiting};
pub use run::Crawl;
pub use schedule::{Allowance, Days, Hour, Hours, LimitSettings};
pub use settings::{
    CrawlSettings, FetchSettings, FrontierSettings, OrderName, Settings, SettingsError, StoreSettings, nearest,
};
pub use shared::Stop;
pub use steps::{AuthSettings, FieldValue, FormSettings, Source, StepSettings, look};
pub use summary::{Counters, Flags, RunKind, RunState, Summary};
pub use why::{Advice, Bounds, Breakdown, Facts, Held, HostWait, IdleTime, SlowHost, Sockets, StageTime, Stretch};
