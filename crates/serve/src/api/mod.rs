//! What do programs ask?
//!
//! Resources under `/api/v1`, one file each: typed answers of `orb_answers` as JSON, with the names
//! that `--json` prints; lists as a [`ListPage`](crate::list::ListPage); failures as problem
//! details. Whoever comes with a session may ask, too, but what is sent must be JSON.

mod changes;
mod content;
mod contents;
pub(crate) mod exports;
pub(crate) mod graph;
pub(crate) mod health;
mod intake;
mod launches;
mod listed_pages;
mod pages;
pub(crate) mod projects;
pub(crate) mod runs;
mod search;
mod settings;
pub(crate) mod sql;
mod stats;
mod tokens;
mod users;

pub(crate) use launches::StartedRun;

use crate::routes::RouteRow;

/// The routes of every resource.
pub(crate) const FAMILY: &[&[RouteRow]] = &[
    contents::ROUTES,
    exports::ROUTES,
    launches::ROUTES,
    intake::ROUTES,
    projects::ROUTES,
    runs::ROUTES,
    changes::ROUTES,
    listed_pages::ROUTES,
    pages::ROUTES,
    content::ROUTES,
    search::ROUTES,
    settings::ROUTES,
    stats::ROUTES,
    graph::ROUTES,
    health::ROUTES,
    sql::ROUTES,
    tokens::ROUTES,
    users::ROUTES,
];
