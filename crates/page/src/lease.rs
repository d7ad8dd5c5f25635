//! What allows a page to be fetched?

use crate::{HostId, PageId};
use std::net::IpAddr;

/// The right to make one request: scope, robots and politeness have agreed. Only the frontier grants one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The page; `PageId(0)` for a robots.txt, which is a fact of its host and no page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its canonical URL.
    pub url: String,
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

/// What a lease is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A page to be recorded.
    Page,
    /// The robots.txt of its host.
    Robots,
}
