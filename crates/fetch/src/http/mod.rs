//! How is a page fetched over HTTP?
//!
//! [`HttpFetcher::send`] is the whole story: find the route (address or proxy), get a connection
//! from the pool, make the exchange on it, return the connection. Redirects are not followed: where
//! a page points is the crawl's business.

mod books;
mod chunked;
mod conn;
mod connect;
mod exchange;
mod h2;
mod head;
mod pool;
#[cfg(feature = "fuzzing")]
mod rehearsal;
mod request;
mod stream;

use pool::{Grant, Key, Pool, PoolRules, Slot, Want};
#[cfg(feature = "fuzzing")]
pub use rehearsal::Rehearsal;
use request::Asker;
pub(crate) use request::basic_authorization;
pub use request::{HttpRequest, Method, Validators};

use crate::line::Endpoint;
use crate::{BoxFuture, Fetch, FetchConfig, FetchError, Jar, Keyring, Line, Watch};
use bytes::Bytes;
use conn::Conn;
use connect::Dialer;
use exchange::{Ending, Exchanged, Lost, Trip};
use h2::Lane;
use orb_page::{Failure, Lease, Moment, Outcome, Response, Timings};
use std::future::ready;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

/// Fetches over HTTP/1.1 and HTTP/2, in plain text and under TLS.
pub(crate) struct HttpFetcher {
    config: Arc<FetchConfig>,
    line: Arc<Line>,
    dialer: Dialer,
    pool: Arc<Pool>,
    jar: Arc<Jar>,
    keyring: Arc<Keyring>,
}

/// The route to a server.
struct Route {
    key: Arc<Key>,
    /// The address to connect to; `None` if the proxy resolves it.
    addr: Option<IpAddr>,
    /// The rendered HTTP/1.1 request.
    words: Bytes,
    asker: Asker,
}

/// What carries a request.
enum Carrier {
    Conn(Box<Conn>),
    Lane(Lane),
}

impl HttpFetcher {
    /// A fetcher on this line.
    pub(crate) fn new(line: Arc<Line>, config: Arc<FetchConfig>) -> Result<Self, FetchError> {
        let dialer = Dialer::new(&config, Arc::clone(&line))?;
        let rules = PoolRules { streams: config.per_host, keep_alive: config.keep_alive, http2: config.http2 };
        let pool = Pool::new(line.sockets(), rules);
        let (jar, keyring) = (Arc::clone(&config.jar), Arc::clone(&config.keyring));
        Ok(Self { config, line, dialer, pool, jar, keyring })
    }

    /// Makes one request. Whatever happens is an outcome.
    async fn ask(&self, request: &HttpRequest<'_>, watch: &dyn Watch) -> Outcome {
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
        // A request body may have been processed even if no response arrives: it must not be sent
        // twice.
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
                // A server that closes an idle connection may announce it (408) in what then looks
                // like the next response.
                Ok(response) if response.status == 408 && used_before && !want.fresh => want.fresh = true,
                Ok(mut response) => {
                    self.keep_cookies(&response, trip);
                    response.challenged = !trip.request.foreign
                        && self.keyring.hear(&trip.request.url, &response, route.asker.authorization.as_deref());
                    return Ok(response);
                }
                // The server closed a keep-alive connection just as we used it: an unavoidable
                // race, so retry on a new one.
                Err(lost) if lost.silent && used_before && !want.fresh => want.fresh = true,
                Err(lost) => return Err(lost.failure),
            }
        }
    }

    /// Finds the route and renders the request for it.
    async fn route(&self, trip: &mut Trip<'_>) -> Result<Route, Failure> {
        let request = trip.request;
        let (host, port) = (request.host(), request.port());
        let through = self.line.proxy().filter(|_| !request.is_tls());
        let addr = self.line.address(host, port, request.addr, &mut trip.timings).await?;
        let to = match through {
            Some(proxy) => Endpoint { host: proxy.host.as_str().into(), port: proxy.port, any_host: true },
            None => Endpoint { host: host.into(), port, any_host: false },
        };
        let key = Key { tls: request.is_tls(), to: Arc::new(to) };
        let own = !request.foreign;
        let cookie = if self.config.cookies && own { self.jar.header(&request.url, SystemTime::now()) } else { None };
        let authorization = own.then(|| self.keyring.tell(&request.url, request.method.name())).flatten();
        let asker = Asker { cookie, authorization };
        let words = request.render(&self.config, &asker, through);
        Ok(Route { key: Arc::new(key), addr, words, asker })
    }

    async fn open(&self, slot: Slot, route: &Route, trip: &mut Trip<'_>) -> Result<Carrier, Failure> {
        let dialed = self.dialer.dial(&route.key, route.addr, &mut trip.timings).await;
        let dialed = dialed.inspect_err(|failure| self.line.demote(&route.key.to.host, route.addr, failure))?;
        if dialed.h2 {
            let patience = self.config.timeouts.head;
            return h2::begin(dialed.stream, slot, (route.addr, dialed.peer), patience).await.map(Carrier::Lane);
        }
        Ok(Carrier::Conn(Conn::new(dialed, route.addr, slot)))
    }

    /// Makes the exchange and returns the connection to the pool, or closes it.
    async fn carry(&self, carrier: Carrier, route: &Route, trip: &mut Trip<'_>) -> Result<Response, Lost> {
        let mut conn = match carrier {
            Carrier::Lane(lane) => {
                let exchanged = Box::pin(h2::exchange(&lane, (&route.asker, &route.words), trip)).await;
                return exchanged.inspect(|_| trip.watch.kept(true));
            }
            Carrier::Conn(conn) => conn,
        };
        let Exchanged { response, ending } = exchange::exchange(&mut conn, &route.words, trip).await?;
        match ending {
            Ending::Keep(time) => {
                if self.pool.park(conn, time) {
                    trip.watch.kept(false);
                }
            }
            Ending::Close => conn.close(),
            Ending::Abort => drop(conn),
        }
        Ok(response)
    }

    fn keep_cookies(&self, response: &Response, trip: &Trip<'_>) {
        if self.config.cookies && !trip.request.foreign {
            self.jar.store(&trip.request.url, response.headers.values("set-cookie"), SystemTime::now());
        }
    }
}

impl Fetch for HttpFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match HttpRequest::of(lease) {
                Ok(request) => self.ask(&request, watch).await,
                Err(failure) => Outcome { at: Moment::now(), timings: Timings::default(), result: Err(failure) },
            }
        })
    }

    fn send<'a>(&'a self, request: &'a HttpRequest<'a>, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(self.ask(request, watch))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.pool.shut();
        Box::pin(ready(()))
    }
}

impl Drop for HttpFetcher {
    fn drop(&mut self) {
        self.pool.shut();
    }
}
