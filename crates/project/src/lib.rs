//! What was asked for?
//!
//! A project is one TOML file. [`Settings`] is that file as a user wrote it, every key with its
//! default; [`Settings::examine`] reports what is invalid, with its position in the text;
//! [`Settings::keep`] writes it back without touching the user's text. The spellings of durations,
//! sizes and rates are in [`units`], the hours of a shared line in `hours`, and when a project is
//! due next in `timetable`. Which keys are the operator's is in `operator`. [`AskedProject`] says
//! which project somebody means, [`create`] makes one, [`Draft`] is one being edited, and
//! [`acknowledge`] records that its changes were seen, and [`call_for`] that pages should be
//! visited. Nothing here crawls: what each part of a crawl makes of the settings is `orb_crawl`'s
//! business.

mod acknowledge;
mod asked;
mod compare;
mod create;
mod documents;
mod draft;
mod error;
mod examine;
mod hours;
mod index;
mod intake;
mod kept;
mod list_rows;
mod netrc;
mod operator;
mod outputs;
mod position;
mod render;
mod rule_rows;
mod secret_file;
mod settings;
mod shared;
mod steps;
mod timetable;
mod track;
pub mod units;
mod ways;

pub use acknowledge::{acknowledge, acknowledge_shared};
pub use asked::AskedProject;
pub use compare::CompareSettings;
pub use create::{NewProject, Template, create};
pub use documents::DocumentSettings;
pub use draft::{Draft, replace_settings, settings_text};
pub use error::ProjectError;
pub use examine::Wrong;
pub use hours::{Allowance, Hour, Hours, LimitSettings, Regime, Schedule, Weekdays};
pub use index::{IndexSettings, SearchSettings};
pub use intake::{CallAccount, RefusedCall, call_for, within_scope};
pub use list_rows::RowEdit;
pub use operator::{KEYS, KeyClass, key_class};
pub use outputs::{FlagName, HookEvent, OutputSettings, WebhookSettings};
pub use position::TextPosition;
pub use render::{PartRobots, RenderRule, RenderSettings, RenderWhen};
pub use rule_rows::{RuleRow, rule_rows, with_rule_rows};
pub use secret_file::{
    KeptSecret, TypedSecret, forget_secret, form_site, keep_secret, kept_secrets, without_typed_secrets,
};
pub use settings::{
    CrawlSettings, FetchSettings, FileSettings, FrontierSettings, FtpSettings, FtpTlsName, NntpSettings, OrderName,
    Settings, SettingsError, SftpSettings, StoreSettings, nearest, without_user,
};
pub use shared::{remove_shared, shared_settings_text};
pub use steps::{AuthSettings, FieldValue, FormSettings, SecretSource, StepSettings, credentials, matching, number};
pub use timetable::{Due, ScheduleSettings};
pub use track::TrackSettings;
pub use ways::{EngineSettings, SeedText};

// Where projects are, who may use them, and what can go wrong there.
pub use orb_store::{
    ANYONE_NAME, Accounts, AckRow, AuditRow, Home, Level, NewToken, NewUser, ProjectDir, ProjectLock, ReadingLink,
    SESSION_LIFE, SessionRow, StoreError, TokenRow, TokenScope, User, check_name, disk_size, free_space, fresh_secret,
};
/// Parses a moment as people write it, such as `2026-11-15T06:30:00Z`.
pub use orb_track::schedule::moment;
