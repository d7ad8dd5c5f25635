//! How is a response parsed that arrives in these pieces?
//!
//! The entry point for fuzzing: a whole exchange over a pair of local sockets, one read per piece,
//! without a peer. It exists only with the feature `fuzzing` and never in the program.

use super::conn::Conn;
use super::connect::Dialed;
use super::exchange::{Trip, exchange};
use super::pool::{Grant, Key, Pool, PoolRules, Want};
use super::request::{Asker, HttpRequest, Method, Validators};
use super::stream::Stream;
use crate::line::{Endpoint, Metered, OpenSockets};
use crate::{FetchConfig, TokenBucket, Unwatched};
use orb_page::{Failure, FailureKind, Moment, Response, Timings};
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// Parses responses without a server.
#[derive(Debug)]
pub struct Rehearsal {
    runtime: Runtime,
    pool: Arc<Pool>,
    key: Arc<Key>,
    url: url::Url,
}

impl Rehearsal {
    /// Sets it up.
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build()?;
        let rules = PoolRules { streams: 1, keep_alive: Duration::from_secs(15), http2: false };
        let pool = Pool::new(&OpenSockets::new(1, 1), rules);
        let to = Endpoint { host: "example.org".into(), port: 80, any_host: false };
        let key = Arc::new(Key { tls: false, to: Arc::new(to) });
        let url = url::Url::parse("http://example.org/").map_err(io::Error::other)?;
        Ok(Self { runtime, pool, key, url })
    }

    /// The result of a response to `method`: the bytes as received and how they were parsed.
    pub fn hear(&self, pieces: &[&[u8]], method: Method, config: &FetchConfig) -> Result<Response, Failure> {
        let local = |e: io::Error| Failure::new(FailureKind::Local, e.to_string());
        self.runtime.block_on(async {
            let (ours, mut theirs) = pair().map_err(local)?;
            let Grant::Open(slot) = self.pool.acquire(&self.key, Want { addr: None, fresh: true }).await else {
                return Err(Failure::new(FailureKind::Local, "there is no connection to use again"));
            };
            let stream = Stream::Plain(Metered::new(ours, Arc::new(TokenBucket::new(None))));
            let dialed = Dialed { stream, h2: false, peer: None, rtt: Duration::ZERO };
            let mut conn = Conn::new(dialed, None, slot);
            let (url, validators) = (self.url.clone(), Validators::default());
            let (addr, referrer, payload, more) = (None, None, None, Vec::new());
            let request =
                HttpRequest { method, url, addr, referrer, payload, validators, any_type: false, foreign: false, more };
            let asked = request.render(config, &Asker::default(), None);
            let (at, timings) = (Moment::now(), Timings::default());
            let mut trip = Trip { config, request: &request, watch: &Unwatched, at, timings };
            let speaking = async {
                for piece in pieces {
                    if theirs.write_all(piece).await.is_err() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
                // If this fails nobody is listening any more.
                let _ = theirs.shutdown().await;
                pending::<()>().await;
            };
            tokio::select! {
                biased;
                heard = exchange(&mut conn, &asked, &mut trip) => heard.map(|h| h.response).map_err(|l| l.failure),
                () = speaking => Err(Failure::new(FailureKind::Local, "nobody was listening")),
            }
        })
    }
}

/// Both ends of a connection: ours as if it led over the network.
fn pair() -> io::Result<(TcpStream, tokio::net::UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.set_nonblocking(true)?;
    let ours = std::net::TcpStream::from(OwnedFd::from(ours));
    Ok((TcpStream::from_std(ours)?, tokio::net::UnixStream::from_std(theirs)?))
}
