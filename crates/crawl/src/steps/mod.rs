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
mod later;
mod look;
mod path;
mod rules;
mod submit;
mod trail;
mod walker;

pub(crate) use begin::walk;
pub(crate) use later::Later;
pub use look::look;
pub(crate) use path::Roots;
pub(crate) use rules::{StepRules, areas};
