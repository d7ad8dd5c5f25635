//! Which parts of a page may be asked for?

use orb_fetch::BoxFuture;
use std::net::SocketAddr;
use url::Url;

/// Who decides about the requests that scripts make: the crawl, which knows robots.txt and the
/// hosts that want to be left alone.
pub trait PartGate: Send + Sync {
    /// Whether a part may be asked for.
    fn admits<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<(), PartRefusal>>;

    /// A part was asked for: politeness counts from here.
    fn sent(&self, url: &Url, peer: Option<SocketAddr>);
}

/// Why a part is not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartRefusal {
    /// robots.txt disallows it.
    Robots,
    /// Its host wants to be left alone for a while.
    BackingOff,
    /// The page has asked for too much already.
    Budget,
    /// A method that may change something.
    Method,
    /// A connection that is to become another one.
    Socket,
    /// The address guard forbids the address.
    Guard,
}

impl PartRefusal {
    /// Every reason.
    pub const ALL: [Self; 6] = [Self::Robots, Self::BackingOff, Self::Budget, Self::Method, Self::Socket, Self::Guard];

    /// In words, after a number.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Robots => "by robots.txt",
            Self::BackingOff => "because their host wants to be left alone",
            Self::Budget => "beyond the page's budget",
            Self::Method => "by their method",
            Self::Socket => "because they are WebSockets",
            Self::Guard => "by the address guard",
        }
    }
}
