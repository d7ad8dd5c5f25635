//! Which other doors are there for programs?
//!
//! Addresses that other systems rely on, outside the API: monitoring, feeds, publishers.

mod events;
mod feed;
mod health;
mod indexnow;
mod link;
mod mcp;
mod metrics;
mod openapi;
mod short;
mod view;
mod websub;

use crate::routes::RouteRow;

/// The routes of every door.
pub(crate) const FAMILY: &[&[RouteRow]] = &[
    health::ROUTES,
    indexnow::ROUTES,
    link::ROUTES,
    websub::ROUTES,
    metrics::ROUTES,
    openapi::ROUTES,
    events::ROUTES,
    feed::ROUTES,
    short::ROUTES,
    view::ROUTES,
    mcp::ROUTES,
];
