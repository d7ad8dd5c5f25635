//! What do programs ask?
//!
//! Resources under `/api/v1`, one file each: typed answers of `orb_answers` as JSON, with the names
//! that `--json` prints; lists as a [`ListPage`](crate::list::ListPage); failures as problem
//! details. Whoever comes with a session may ask, too, but what is sent must be JSON.

mod contents;
mod launches;
mod projects;
mod stats;
mod users;

pub(crate) use launches::StartedRun;

use crate::routes::RouteRow;

/// The routes of every resource.
pub(crate) const FAMILY: &[&[RouteRow]] =
    &[contents::ROUTES, launches::ROUTES, projects::ROUTES, stats::ROUTES, users::ROUTES];
