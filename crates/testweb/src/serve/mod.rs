//! How does the web get onto a socket?
//!
//! Our own HTTP/1.1 loop, in plain text or over TLS (`secure`), and HTTP/2 if both sides want it:
//! one or more threads, one runtime per thread, one task per connection. It must never be the
//! bottleneck of what it measures, so the common case is one read, one page written into the
//! thread's buffers, one write. It serves loopback only, whatever it is bound to.

mod arrival;
mod compose;
mod connection;
mod control;
mod flow;
mod request;
mod secure;

pub use secure::TlsIdentity;

use crate::gauge::{Gauge, ServerCounters};
use crate::log::RequestLog;
use crate::naming::HostNaming;
use crate::{CrawlReach, Error, Expectation, Spec, Web};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// Length of the listen backlog.
const BACKLOG: i32 = 4_096;

/// State shared by all connections of a server.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) web: Arc<Web>,
    pub(crate) log: RequestLog,
    pub(crate) gauge: Gauge,
}

/// A running server; it stops when dropped.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    shared: Arc<ServerState>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Serves a web at an address, for instance `127.0.0.1:0`; `0.0.0.0` stands for all of 127/8.
    pub fn start(web: Arc<Web>, addr: &str) -> Result<Self, Error> {
        Self::listen(web, addr, None)
    }

    /// The same over TLS 1.3. Plain pages then link to `https` pages; corners and expectations are
    /// written as without.
    pub fn start_tls(web: Arc<Web>, addr: &str, identity: &TlsIdentity) -> Result<Self, Error> {
        Self::listen(web, addr, Some(&secure::acceptor(identity)?))
    }

    fn listen(web: Arc<Web>, addr: &str, tls: Option<&TlsAcceptor>) -> Result<Self, Error> {
        let listen = |source| Error::Listen { addr: addr.to_owned(), source };
        let listener = TcpListener::bind(addr).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        // A thousand hosts may be contacted at the same moment, and a client whose SYN is dropped
        // retries only after a second.
        rustix::net::listen(&listener, BACKLOG).map_err(|errno| listen(errno.into()))?;
        if web.spec().log {
            arrival::stamp(&listener);
        }
        let mut addr = listener.local_addr().map_err(listen)?;
        if addr.ip().is_unspecified() {
            addr.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let (stop, stopped) = watch::channel(false);
        let log = RequestLog::new(web.spec().log);
        let shared = Arc::new(ServerState { web, log, gauge: Gauge::new() });
        let mut server = Self { addr, shared, stop, threads: Vec::new() };
        for _ in 0..server.shared.web.spec().threads {
            let listener = listener.try_clone().map_err(listen)?;
            let (shared, stopped, tls) = (Arc::clone(&server.shared), stopped.clone(), tls.cloned());
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
            let thread = std::thread::Builder::new()
                .name("testweb".into())
                .spawn(move || runtime.block_on(accept(listener, shared, tls, stopped)))
                .map_err(Error::Thread)?;
            server.threads.push(thread);
        }
        Ok(server)
    }

    /// Builds a web and serves it on all loopback addresses, at a port chosen by the system.
    pub fn spawn(spec: Spec) -> Result<Self, Error> {
        Self::start(Web::new(spec)?, "0.0.0.0:0")
    }

    /// Its address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The web it serves.
    pub fn web(&self) -> &Arc<Web> {
        &self.shared.web
    }

    /// The requests so far.
    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }

    /// A snapshot of the counters.
    pub fn counters(&self) -> ServerCounters {
        self.shared.gauge.counters()
    }

    /// Maximum connections open at once.
    pub fn max_open(&self) -> u64 {
        self.counters().max_open
    }

    /// Resets counters and log.
    pub fn reset(&self) {
        self.shared.gauge.reset();
        self.shared.log.take();
    }

    /// Hosts as loopback addresses at this server's port: no resolver needed.
    pub fn addresses(&self) -> HostNaming {
        HostNaming::Addresses { port: self.addr.port() }
    }

    /// Hosts by name at this server's port: for a resolver such as `Dns`, or `--resolve`.
    pub fn names(&self) -> HostNaming {
        HostNaming::Names { port: self.addr.port() }
    }

    /// The home page of a host, by address.
    pub fn url(&self, host: u32) -> String {
        self.addresses().url(host, "/")
    }

    /// What a crawl that names hosts by address must find.
    pub fn expected(&self, reach: CrawlReach) -> Expectation {
        self.shared.web.expected(self.addresses(), reach)
    }

    /// Closes all connections and stops.
    pub fn shutdown(mut self) {
        self.halt();
    }

    fn halt(&mut self) {
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported it; there is nothing left to stop.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.halt();
    }
}

async fn accept(
    listener: TcpListener,
    shared: Arc<ServerState>,
    tls: Option<TlsAcceptor>,
    mut stopped: watch::Receiver<bool>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        match accepted {
            Ok((socket, peer)) if peer.ip().to_canonical().is_loopback() => {
                if let Some(connection) = connection::Connection::new(socket, peer, &shared) {
                    tokio::spawn(connection.run(tls.clone()));
                }
            }
            Ok(_) => {}
            // Most likely out of file descriptors: let connections close first.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
        }
    }
}
