//! What do people see?
//!
//! One file a screen, with its routes, its handlers and the struct of its template.

mod first;
mod home;
mod log_in;
mod me;
mod run;

use crate::routes::RouteRow;

/// The routes of every screen.
pub(crate) const FAMILY: &[&[RouteRow]] = &[first::ROUTES, home::ROUTES, log_in::ROUTES, me::ROUTES, run::ROUTES];
