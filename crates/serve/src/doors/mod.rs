//! Which other doors are there for programs?
//!
//! Addresses that other systems rely on, outside the API: monitoring, feeds, publishers.

mod events;
mod feed;
mod health;
mod mcp;
mod metrics;
mod openapi;
mod short;

use crate::routes::RouteRow;

/// The routes of every door.
pub(crate) const FAMILY: &[&[RouteRow]] =
    &[health::ROUTES, metrics::ROUTES, openapi::ROUTES, events::ROUTES, feed::ROUTES, short::ROUTES, mcp::ROUTES];
