//! What do people see?
//!
//! One file a screen, with its routes, its handlers and the struct of its template.

mod first;
mod home;
mod live;
mod log_in;
mod me;
mod new;
mod pace;
mod run;
mod schedule;
mod settings;

use crate::routes::RouteRow;

/// The routes of every screen.
pub(crate) const FAMILY: &[&[RouteRow]] = &[
    first::ROUTES,
    home::ROUTES,
    live::ROUTES,
    log_in::ROUTES,
    me::ROUTES,
    new::ROUTES,
    run::ROUTES,
    schedule::ROUTES,
    settings::ROUTES,
];
