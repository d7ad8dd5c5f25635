//! How does one get to where the pages are?
//!
//! Like a person: open a page, fill in its form, choose links on the result, and only then collect.
//! The steps of a project say so in order. A step with `start` begins a
//! new path; one without continues from the previous step. Pages of steps that do not collect are
//! passed through ([`walker`]): requested under leases like all others, but not recorded. They lead
//! to the roots of the steps that do collect, and there the crawl takes over, judging every page by
//! the rules of its step.
//!
//! All paths are walked before anything is collected, so that all log-ins are done when the pages
//! of an earlier or interrupted run are requested. A step that chooses links on collected pages
//! waits until they are.

mod begin;
mod choose;
mod later;
mod look;
mod path;
mod rules;
mod submit;
mod trail;
mod walker;

pub(crate) use begin::{walk, walk_from};
pub(crate) use later::Later;
pub use look::{SiteSight, look, look_around, read_text};
pub(crate) use path::{Roots, any_waits};
pub(crate) use rules::{StepRules, areas};
