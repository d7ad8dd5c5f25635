//! How does one get to where the pages are?
//!
//! Like a person: open a page, fill in the form on it, choose links on what comes back, and only then collect. The steps of a project say so in
//! order (seed 002, section 3.4.6). A step with `start` begins a way of its own; one without goes on from the step before. Pages of steps
//! that do not collect are passed through ([`walker`]): asked for under leases like all others, with nothing recorded of them. What
//! they lead to are the roots of the steps that do collect, and the crawl takes over there, judging every page by the rules of its step.
//!
//! All ways are walked before anything is collected, so that whoever has to log in somewhere has done so when the pages of an earlier run,
//! or of one that was cut off, are asked for. A step that chooses links on pages that are collected waits until they are.

mod begin;
mod choose;
mod examine;
mod later;
mod look;
mod path;
mod rules;
mod secrets;
mod settings;
mod submit;
mod trail;
mod walker;

pub(crate) use begin::walk;
pub(crate) use examine::examine;
pub(crate) use later::Later;
pub use look::look;
pub(crate) use path::Roots;
pub(crate) use rules::{StepRules, areas};
pub(crate) use secrets::{credentials, examine as examine_auth, without_secrets};
pub use settings::{AuthSettings, FieldValue, FormSettings, Source, StepSettings};

use orb_page::UrlKey;

/// The number by which the catalogue knows a step: made of its name, so that steps may be added and moved.
pub(crate) fn number(name: &str) -> u32 {
    u32::try_from(UrlKey::of(name).0 & 0x7fff_ffff).unwrap_or(1).max(1)
}
