//! What allows a page to be fetched?

use crate::{Before, HostId, PageId};
use std::net::IpAddr;
use std::sync::Arc;

/// The right to make one request: scope, robots and politeness have agreed. Only the frontier grants one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The page; `PageId(0)` for a robots.txt, which is a fact of its host and no page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its canonical URL.
    pub url: String,
    /// What to ask the server for where that is not the canonical URL: the same with the session id of the day.
    pub asked: Option<String>,
    /// What earlier runs saw of the page, where it is visited again.
    pub before: Option<Arc<Before>>,
    /// Whether this is another look at a page that seems to have changed: the whole of it is wanted.
    pub again: bool,
    /// The step of the project that collects it.
    pub step: Option<u32>,
    /// The URL of the page that first pointed here.
    pub referrer: Option<String>,
    /// Distance from the seed.
    pub depth: u32,
    /// How many redirects led here in a row.
    pub redirects: u8,
    /// 0 for the first attempt of this run.
    pub attempt: u32,
    /// What it is fetched for.
    pub purpose: Purpose,
    /// The address politeness was reckoned for and the only one to connect to; `None` behind a proxy.
    pub addr: Option<IpAddr>,
}

impl Lease {
    /// The URL that goes to the server.
    pub fn request_url(&self) -> &str {
        self.asked.as_deref().unwrap_or(&self.url)
    }
}

/// What a lease is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A page to be recorded.
    Page,
    /// The robots.txt of its host.
    Robots,
}
