//! Show it: API, pages, feeds, publisher, scheduler.
//!
//! One process shows a home to people and programs. A request passes four places:
//!
//! 1. [`accept`](mod@accept) takes the connection: TLS, time for the headers, a cap on connections;
//! 2. [`gate`] asks who it is and whether the route's right allows it; nothing passes by default;
//! 3. a handler of [`pages`], [`api`] or [`doors`], found in the one table of [`routes`];
//! 4. [`desk`], whose threads ask the collections, since their answers block.
//!
//! Handlers compute nothing: what a collection can be asked is in `orb_answers`, and they render
//! it. To add a screen or a resource, see [`routes`].
//!
//! Runs are processes of their own ([`launch`]). Nothing here prints or reads the environment.

mod accept;
mod accepted;
mod api;
mod archived;
mod assets;
mod brake;
mod chart;
mod choice;
mod counting;
mod desk;
mod doors;
mod errand;
mod error;
mod exports;
mod exposition;
mod fields;
mod first;
mod foreign;
mod fragments;
mod gate;
mod hooks;
mod keys;
mod launch;
mod list;
mod mcp;
mod meter;
mod openapi;
mod pages;
mod problem;
mod publish;
mod pulse;
mod queries;
mod repeats;
mod request;
mod routes;
mod scheduler;
mod server;
mod settings_file;
mod shared;
mod sheet;
mod state;
mod steer;
mod stream;
mod tables;
#[cfg(test)]
mod trial;
mod view;
mod viewing;
mod websub;
mod whole;

pub use error::ServeError;
pub use gate::{ProxyRange, host_name};
pub use launch::Launch;
pub use mcp::converse;
pub use server::{ServeOptions, WebServer};
