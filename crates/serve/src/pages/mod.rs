//! What do people see?
//!
//! One file a screen, with its routes, its handlers and the struct of its template.

mod changes;
mod content;
mod diff;
mod first;
mod health;
mod home;
mod hosts;
mod live;
mod log;
mod log_in;
mod me;
pub(crate) mod new;
mod pace;
mod page;
mod page_list;
mod project;
mod run;
mod runs;
mod schedule;
mod search;
mod settings;
mod sql;
mod structure;
mod words;

use crate::routes::RouteRow;

/// The routes of every screen.
pub(crate) const FAMILY: &[&[RouteRow]] = &[
    changes::ROUTES,
    content::ROUTES,
    diff::ROUTES,
    first::ROUTES,
    health::ROUTES,
    home::ROUTES,
    hosts::ROUTES,
    live::ROUTES,
    log::ROUTES,
    log_in::ROUTES,
    me::ROUTES,
    new::ROUTES,
    page::ROUTES,
    page_list::ROUTES,
    project::ROUTES,
    run::ROUTES,
    runs::ROUTES,
    schedule::ROUTES,
    search::ROUTES,
    settings::ROUTES,
    sql::ROUTES,
    structure::ROUTES,
    words::ROUTES,
];
