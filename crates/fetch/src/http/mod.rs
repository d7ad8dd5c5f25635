//! How is a page fetched over HTTP?
//!
//! [`HttpFetcher::send`] is the whole story: find the way (address or proxy), get a connection from the pool, make the
//! exchange on it, give the connection back. Redirects are not followed: where a page points is the crawl's business.

mod books;
mod chunked;
mod clock;
mod conn;
mod connect;
mod exchange;
mod h2;
mod head;
mod pool;
#[cfg(feature = "fuzzing")]
mod rehearsal;
mod request;
mod spool;
mod stream;
mod timer;
mod tls;

pub use pool::ConnectionCounts;
#[cfg(feature = "fuzzing")]
pub use rehearsal::Rehearsal;
use request::Asker;
pub(crate) use request::basic_authorization;
pub use request::{Method, Request, Validators};

use crate::dns::Resolver;
use crate::{AddressGuard, BoxFuture, Bucket, Fetch, FetchConfig, FetchError, Jar, Keyring, Watch};
use bytes::Bytes;
use conn::Conn;
use connect::Dialer;
use exchange::{Ending, Exchanged, Lost, Trip};
use h2::Lane;
use orb_page::{Failure, FailureKind, Lease, Moment, Outcome, Response, Timings};
use pool::{Grant, Key, Pool, Slot, Want};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::time::Instant;

/// Fetches over HTTP/1.1 and HTTP/2, in the clear and under TLS.
pub struct HttpFetcher {
    config: FetchConfig,
    guard: Arc<AddressGuard>,
    resolver: Resolver,
    dialer: Dialer,
    pool: Arc<Pool>,
    jar: Arc<Jar>,
    keyring: Arc<Keyring>,
    bucket: Arc<Bucket>,
}

/// The way to a server.
struct Route {
    key: Arc<Key>,
    /// The address to connect to; `None` where the proxy finds it.
    addr: Option<IpAddr>,
    /// The request as it goes over HTTP/1.1.
    words: Bytes,
    asker: Asker,
}

/// What carries a request.
enum Carrier {
    Conn(Box<Conn>),
    Lane(Lane),
}

impl HttpFetcher {
    /// A fetcher with these settings.
    pub fn new(config: FetchConfig) -> Result<Self, FetchError> {
        config.check()?;
        let config = config.bounded();
        // An unusable directory is better found out now than in the middle of a large body.
        tempfile::tempfile_in(&config.spool_dir)
            .map_err(|source| FetchError::SpoolDir { path: config.spool_dir.clone(), source })?;
        let guard = Arc::new(AddressGuard::new(&config.private_hosts));
        if let Some(proxy) = &config.proxy {
            guard.open(&format!("{}:{}", proxy.host, proxy.port));
        }
        let bucket = Arc::new(Bucket::new(config.bandwidth));
        let resolver = Resolver::new(&config, guard.clone())?;
        let dialer = Dialer::new(&config, bucket.clone())?;
        let pool = Pool::new(config.connections, config.per_host, config.keep_alive);
        let (jar, keyring) = (Arc::clone(&config.jar), Arc::clone(&config.keyring));
        Ok(Self { config, guard, resolver, dialer, pool, jar, keyring, bucket })
    }

    /// The one address to connect to for a host: what a lease pins.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<IpAddr, Failure> {
        self.resolver.resolve(host, port).await
    }

    /// Whether a proxy finds the addresses, so that there is none to pin.
    pub const fn is_proxied(&self) -> bool {
        self.config.proxy.is_some()
    }

    /// How many connections there are.
    pub fn connections(&self) -> ConnectionCounts {
        self.pool.counts()
    }

    /// How many sockets may be open at once, as things are.
    pub fn connection_limit(&self) -> usize {
        self.pool.cap()
    }

    /// Changes how many sockets may be open at once, those still closing included. Where more are open than that, none is opened until
    /// enough of them have closed; none is cut off.
    pub fn limit_connections(&self, cap: usize) {
        self.pool.set_cap(cap);
    }

    /// The guard, to open hosts that the user names later.
    pub fn guard(&self) -> &AddressGuard {
        &self.guard
    }

    /// The cookies.
    pub fn jar(&self) -> &Jar {
        &self.jar
    }

    /// The bandwidth of all sockets together, to change it by the time of day.
    pub fn bandwidth(&self) -> &Bucket {
        &self.bucket
    }

    /// Makes one request. Whatever happens is an outcome.
    pub async fn send(&self, request: &Request<'_>, watch: &dyn Watch) -> Outcome {
        let (at, timings) = (Moment::now(), Timings::default());
        let mut trip = Trip { config: &self.config, request, watch, at, timings };
        let result = self.travel(&mut trip).await;
        if result.is_err() && trip.at == at {
            trip.at = Moment::now();
        }
        Outcome { at: trip.at, timings: trip.timings, result }
    }

    async fn travel(&self, trip: &mut Trip<'_>) -> Result<Response, Failure> {
        let route = self.route(trip).await?;
        // What is sent along may be taken even where no answer comes: it must not be sent twice.
        let mut want = Want { addr: route.addr, fresh: trip.request.payload.is_some() };
        loop {
            let grant = self.pool.acquire(&route.key, want).await;
            let used_before = !matches!(grant, Grant::Open(_));
            let carrier = match grant {
                Grant::Reuse(conn) => Carrier::Conn(conn),
                Grant::Stream(lane) => Carrier::Lane(lane),
                Grant::Open(slot) => Box::pin(self.open(slot, &route, trip)).await?,
            };
            match self.carry(carrier, &route, trip).await {
                // A server that gives a connection up may say so (408) in what then looks like the next answer.
                Ok(response) if response.status == 408 && used_before && !want.fresh => want.fresh = true,
                Ok(mut response) => {
                    self.keep_cookies(&response, trip);
                    response.challenged =
                        self.keyring.hear(&trip.request.url, &response, route.asker.authorization.as_deref());
                    return Ok(response);
                }
                // The server gave a kept connection up just as we used it: that is nobody's fault.
                Err(lost) if lost.silent && used_before && !want.fresh => want.fresh = true,
                Err(lost) => return Err(lost.failure),
            }
        }
    }

    /// Finds the way and renders the request for it.
    async fn route(&self, trip: &mut Trip<'_>) -> Result<Route, Failure> {
        let request = trip.request;
        let (host, port) = (request.host(), request.port());
        let through = self.config.proxy.as_ref().filter(|_| !request.is_tls());
        let addr = match (&self.config.proxy, request.addr) {
            (Some(_), _) => {
                self.guard.check_unresolved(host, port)?;
                None
            }
            (None, Some(addr)) => {
                self.resolver.check(host, port, addr)?;
                Some(addr)
            }
            (None, None) => {
                let start = Instant::now();
                let found = self.resolver.resolve(host, port).await;
                trip.timings.dns = start.elapsed();
                Some(found?)
            }
        };
        let key = match through {
            Some(proxy) => Key { tls: false, host: proxy.host.as_str().into(), port: proxy.port, any_host: true },
            None => Key { tls: request.is_tls(), host: host.into(), port, any_host: false },
        };
        let cookie = if self.config.cookies { self.jar.header(&request.url, SystemTime::now()) } else { None };
        let authorization = self.keyring.tell(&request.url, request.method.name());
        let asker = Asker { cookie, authorization };
        let words = request.render(&self.config, &asker, through);
        Ok(Route { key: Arc::new(key), addr, words, asker })
    }

    async fn open(&self, slot: Slot, route: &Route, trip: &mut Trip<'_>) -> Result<Carrier, Failure> {
        let dialed = self.dialer.dial(&route.key, route.addr, &self.resolver, &mut trip.timings).await;
        let dialed = dialed.inspect_err(|failure| {
            if let (Some(addr), FailureKind::Connect | FailureKind::Timeout) = (route.addr, failure.kind) {
                self.resolver.demote(&route.key.host, addr);
            }
        })?;
        if dialed.h2 {
            let patience = self.config.timeouts.head;
            return h2::begin(dialed.stream, slot, (route.addr, dialed.peer), patience).await.map(Carrier::Lane);
        }
        Ok(Carrier::Conn(Conn::new(dialed, route.addr, slot)))
    }

    /// Makes the exchange and gives the connection back, or lets it end.
    async fn carry(&self, carrier: Carrier, route: &Route, trip: &mut Trip<'_>) -> Result<Response, Lost> {
        let mut conn = match carrier {
            Carrier::Lane(lane) => return Box::pin(h2::exchange(&lane, &route.asker, trip)).await,
            Carrier::Conn(conn) => conn,
        };
        let Exchanged { response, ending } = exchange::exchange(&mut conn, &route.words, trip).await?;
        match ending {
            Ending::Keep(time) => self.pool.park(conn, time),
            Ending::Close => conn.close(),
            Ending::Abort => drop(conn),
        }
        Ok(response)
    }

    fn keep_cookies(&self, response: &Response, trip: &Trip<'_>) {
        if self.config.cookies {
            self.jar.store(&trip.request.url, response.headers.values("set-cookie"), SystemTime::now());
        }
    }
}

impl Fetch for HttpFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match Request::of(lease) {
                Ok(request) => self.send(&request, watch).await,
                Err(failure) => Outcome { at: Moment::now(), timings: Timings::default(), result: Err(failure) },
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.pool.shut();
        Box::pin(self.pool.emptied())
    }
}

impl Drop for HttpFetcher {
    fn drop(&mut self) {
        self.pool.shut();
    }
}
