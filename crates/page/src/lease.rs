//! What allows a page to be fetched?

use crate::{HostId, PageHistory, PageId};
use std::net::IpAddr;
use std::sync::Arc;

/// The right to make one request: scope, robots and politeness have agreed. Only the frontier
/// grants one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The page; `PageId(0)` for a robots.txt, which belongs to its host and is not a page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its canonical URL.
    pub url: String,
    /// The URL to request if it is not the canonical one: the same with the current session id.
    pub asked: Option<String>,
    /// What earlier runs saw of the page, if it is revisited.
    pub before: Option<Arc<PageHistory>>,
    /// Whether this is a second request for a page that seems to have changed: it must not be
    /// conditional.
    pub again: bool,
    /// The step of the project that collects it.
    pub step: Option<u32>,
    /// The URL of the page that first linked here.
    pub referrer: Option<String>,
    /// Distance from the seed.
    pub depth: u32,
    /// Length of the redirect chain that led here.
    pub redirects: u8,
    /// 0 for the first attempt in this run.
    pub attempt: u32,
    /// What it is fetched for.
    pub purpose: Purpose,
    /// The IP address that politeness applies to and the only one to connect to; `None` behind a
    /// proxy.
    pub addr: Option<IpAddr>,
}

impl Lease {
    /// A lease for a page of which nothing else is known, for tests and examples.
    pub fn plain(url: impl Into<String>) -> Self {
        Self {
            page: PageId(1),
            host: HostId(1),
            url: url.into(),
            asked: None,
            before: None,
            again: false,
            step: None,
            referrer: None,
            depth: 0,
            redirects: 0,
            attempt: 0,
            purpose: Purpose::Page,
            addr: None,
        }
    }

    /// The URL to request.
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
