//! What is the one way out of the machine?
//!
//! Every socket to a crawled host is opened here, whatever protocol speaks on it. The line resolves
//! the name, checks the address ([`AddressGuard`]), waits for room under the connection caps,
//! connects (through the proxy where one is set) and meters what is read ([`TokenBucket`]).
//! All protocols of a run and its steps share one line, so no cap can be exceeded
//! by using two of them: [`Line::connect`] hands out sockets that are checked, counted and metered
//! already. A protocol that keeps connections between requests takes a [`Permit`] for each and
//! dials itself.

mod dial;
mod dns;
mod guard;
mod limits;
mod metered;
mod socket;
mod sockets;

pub(crate) use dial::{OpenedConnection, late};
pub(crate) use dns::one_line;
pub use guard::{AddressGuard, why_not_public};
pub use limits::{TokenBucket, raise_open_files};
pub(crate) use metered::{Metered, ThrottledTime};
pub use socket::Socket;
pub(crate) use socket::{GOODBYE, say_goodbye};
pub use sockets::ConnectionCounts;
pub(crate) use sockets::{AwaitPermit, Endpoint, KeepIdle, OpenSockets, Permit};

use crate::config::{Proxy, bare_host};
use crate::{FetchConfig, FetchError, Timeouts};
use dns::Resolver;
use orb_page::{Failure, FailureKind, Timings};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::Instant;

/// The way to every server: names, addresses, connection caps and bandwidth.
pub struct Line {
    guard: Arc<AddressGuard>,
    resolver: Resolver,
    bandwidth: Arc<TokenBucket>,
    sockets: Arc<OpenSockets>,
    proxy: Option<Proxy>,
    timeouts: Timeouts,
    source: Option<IpAddr>,
    user_agent: String,
    /// Held by who takes permits for two connections.
    pairs: tokio::sync::Mutex<()>,
}

impl Line {
    /// A line with these settings.
    pub fn open(config: &FetchConfig) -> Result<Self, FetchError> {
        let guard = Arc::new(AddressGuard::new(&config.private_hosts));
        if let Some(proxy) = &config.proxy {
            guard.open(&format!("{}:{}", proxy.host, proxy.port));
        }
        Ok(Self {
            resolver: Resolver::new(config, Arc::clone(&guard))?,
            guard,
            bandwidth: Arc::new(TokenBucket::new(config.bandwidth)),
            sockets: OpenSockets::new(config.connections, config.per_host),
            proxy: config.proxy.clone(),
            timeouts: config.timeouts,
            source: config.source,
            user_agent: config.user_agent.clone(),
            pairs: tokio::sync::Mutex::default(),
        })
    }

    /// The address to connect to for a host, which a lease pins.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<IpAddr, Failure> {
        self.resolver.resolve(host, port).await
    }

    /// Connection counts.
    pub fn connections(&self) -> ConnectionCounts {
        self.sockets.counts()
    }

    /// How many sockets may be open at once.
    pub fn connection_limit(&self) -> usize {
        self.sockets.cap()
    }

    /// Changes how many sockets may be open at once, including those still closing. Where more are
    /// open, none is opened until enough of them have closed; none is cut off.
    pub fn limit_connections(&self, cap: usize) {
        self.sockets.set_cap(cap);
    }

    /// The guard, to open hosts that the user names later.
    pub fn guard(&self) -> &AddressGuard {
        &self.guard
    }

    /// The bandwidth limit of all sockets together, to change it by the time of day.
    pub fn bandwidth(&self) -> &TokenBucket {
        &self.bandwidth
    }

    /// Opens a socket to a server, as soon as the connection caps allow: at `pinned` where the
    /// lease names an address, otherwise where the name leads, and through the proxy where one is
    /// set. The address has passed the guard either way.
    pub async fn connect(
        &self,
        host: &str,
        port: u16,
        pinned: Option<IpAddr>,
        timings: &mut Timings,
    ) -> Result<Socket, Failure> {
        let host = bare_host(host);
        let addr = self.address(host, port, pinned, timings).await?;
        let to = Arc::new(Endpoint { host: host.into(), port, any_host: false });
        let permit = self.sockets.permit(&to).await;
        let opened = self.dial(&to, addr, self.proxy.is_some(), timings).await;
        let opened = opened.inspect_err(|failure| self.demote(host, addr, failure))?;
        Ok(Socket::new(opened, permit))
    }

    /// Two permits for one session, a connection for its commands and one for what it transfers.
    /// The line must have room for both: sessions that each had one would wait for each other.
    pub(crate) async fn permits_for_two(&self, to: &Arc<Endpoint>) -> Result<[Permit; 2], Failure> {
        if self.connection_limit() < 2 {
            let line = "a session takes two connections, and one is allowed (fetch.connections)";
            return Err(Failure::new(FailureKind::Local, line));
        }
        let beside = Arc::new(Endpoint { any_host: true, ..Endpoint::clone(to) });
        let turn = self.pairs.lock().await;
        let permits = [self.sockets.permit(to).await, self.sockets.permit(&beside).await];
        drop(turn);
        Ok(permits)
    }

    /// Opens a socket under a permit, to an address that was checked.
    pub(crate) async fn open_permitted(
        &self,
        to: &Endpoint,
        addr: Option<IpAddr>,
        permit: Arc<Permit>,
        timings: &mut Timings,
    ) -> Result<Socket, Failure> {
        let opened = self.dial(to, addr, self.proxy.is_some(), timings).await;
        let opened = opened.inspect_err(|failure| self.demote(&to.host, addr, failure))?;
        Ok(Socket::new(opened, permit))
    }

    /// The address to connect to, checked; `None` where the proxy finds it.
    pub(crate) async fn address(
        &self,
        host: &str,
        port: u16,
        pinned: Option<IpAddr>,
        timings: &mut Timings,
    ) -> Result<Option<IpAddr>, Failure> {
        match (&self.proxy, pinned) {
            (Some(_), _) => self.guard.check_unresolved(host, port).map(|()| None),
            (None, Some(addr)) => self.resolver.check(host, port, addr).map(|()| Some(addr)),
            (None, None) => {
                let start = Instant::now();
                let found = self.resolver.resolve(host, port).await;
                timings.dns = start.elapsed();
                found.map(Some)
            }
        }
    }

    /// Puts an address that could not be connected to behind the others of its name.
    pub(crate) fn demote(&self, host: &str, addr: Option<IpAddr>, failure: &Failure) {
        if let (Some(addr), FailureKind::Connect | FailureKind::Timeout) = (addr, failure.kind) {
            self.resolver.demote(host, addr);
        }
    }

    /// The sockets, for a protocol that keeps connections between requests.
    pub(crate) fn sockets(&self) -> &Arc<OpenSockets> {
        &self.sockets
    }

    /// The proxy all connections go through.
    pub(crate) const fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }
}
