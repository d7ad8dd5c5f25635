//! What do people see?
//!
//! One file a screen, with its routes, its handlers and the struct of its template.

mod changes;
mod check;
mod compare;
mod content;
mod diff;
mod exports;
mod first;
mod found_forms;
mod graph_build;
mod health;
mod home;
mod hosts;
mod intake;
mod live;
mod log;
mod log_in;
mod machines;
mod map;
mod me;
pub(crate) mod new;
mod pace;
mod page;
pub(crate) mod page_list;
mod plan;
mod project;
mod queue;
mod report_file;
mod rules;
mod run;
mod runs;
mod schedule;
mod search;
mod secrets;
mod settings;
mod sql;
mod steps;
mod structure;
mod team;
mod unreached;
mod unseen;
mod user;
mod users;
mod web;
mod words;

pub(crate) use content::shown_inert;

use crate::routes::RouteRow;

/// The routes of every screen.
pub(crate) const FAMILY: &[&[RouteRow]] = &[
    changes::ROUTES,
    compare::ROUTES,
    check::ROUTES,
    graph_build::ROUTES,
    content::ROUTES,
    diff::ROUTES,
    exports::ROUTES,
    first::ROUTES,
    health::ROUTES,
    home::ROUTES,
    hosts::ROUTES,
    intake::ROUTES,
    live::ROUTES,
    log::ROUTES,
    log_in::ROUTES,
    machines::ROUTES,
    map::ROUTES,
    me::ROUTES,
    new::ROUTES,
    page::ROUTES,
    page_list::ROUTES,
    plan::ROUTES,
    project::ROUTES,
    rules::ROUTES,
    queue::ROUTES,
    report_file::ROUTES,
    run::ROUTES,
    runs::ROUTES,
    schedule::ROUTES,
    search::ROUTES,
    secrets::ROUTES,
    settings::ROUTES,
    sql::ROUTES,
    steps::ROUTES,
    structure::ROUTES,
    unseen::ROUTES,
    user::ROUTES,
    users::ROUTES,
    words::ROUTES,
];
