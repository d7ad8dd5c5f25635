//! Which other doors are there for programs?
//!
//! Addresses that other systems rely on, outside the API: monitoring, feeds, publishers.

mod health;
mod metrics;

use crate::routes::RouteRow;

/// The routes of every door.
pub(crate) const FAMILY: &[&[RouteRow]] = &[health::ROUTES, metrics::ROUTES];
