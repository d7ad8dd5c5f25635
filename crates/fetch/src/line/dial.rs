//! How do we get from an address to a connection?
//!
//! Directly, or through a proxy: in the clear its connections carry HTTP requests to any host, and
//! a tunnel (CONNECT) leads to one server. Each phase has its own timeout.

use super::metered::Metered;
use super::{Endpoint, Line, TokenBucket};
use crate::config::Proxy;
use orb_page::{Failure, FailureKind, Timings};
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};

/// Maximum length of a CONNECT response.
const LARGEST_REPLY: usize = 16 * 1024;
/// How it begins, up to the minor version.
const VERSION: &[u8] = b"HTTP/1.";

/// A connection just opened. Its reads are counted but not yet delayed.
pub(crate) struct OpenedConnection {
    pub(crate) metered: Metered,
    /// The server's address; `None` where a proxy hides it.
    pub(crate) peer: Option<SocketAddr>,
    /// How long it took to open.
    pub(crate) rtt: Duration,
}

impl Line {
    /// Connects to a server at an address that was checked, or to the proxy where there is one,
    /// with a tunnel to the server where that is wanted. The caller holds the permit.
    pub(crate) async fn dial(
        &self,
        to: &Endpoint,
        addr: Option<IpAddr>,
        tunnel: bool,
        timings: &mut Timings,
    ) -> Result<OpenedConnection, Failure> {
        let start = Instant::now();
        let (tcp, peer) = match (&self.proxy, addr) {
            (Some(proxy), _) => {
                let addr = self.resolver.resolve(&proxy.host, proxy.port).await?;
                let mut tcp = self.tcp(SocketAddr::new(addr, proxy.port)).await?;
                if tunnel {
                    self.tunnel(&mut tcp, to, proxy).await?;
                }
                (tcp, None)
            }
            (None, Some(addr)) => {
                let peer = SocketAddr::new(addr, to.port);
                (self.tcp(peer).await?, Some(peer))
            }
            (None, None) => return Err(Failure::new(FailureKind::Dns, format!("{} has no address", to.host))),
        };
        timings.connect = start.elapsed();
        Ok(OpenedConnection { metered: Metered::new(tcp, Arc::clone(&self.bandwidth)), peer, rtt: timings.connect })
    }

    async fn tcp(&self, to: SocketAddr) -> Result<TcpStream, Failure> {
        let tcp = match timeout(self.timeouts.connect, self.open_tcp(to)).await {
            Ok(Ok(tcp)) => tcp,
            Ok(Err(error)) => return Err(connect_failure(&error, to)),
            Err(_) => return Err(late(&format!("no connection to {to}"), self.timeouts.connect)),
        };
        // Requests are written in one piece, so Nagle's algorithm would only add delay; a failure
        // here only makes us slower.
        let _ = tcp.set_nodelay(true);
        Ok(tcp)
    }

    /// On a line that is shared, no more than a little may be under way that we are not ready to
    /// read.
    async fn open_tcp(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let (rate, source) = (self.bandwidth.rate(), self.source.filter(|source| source.is_ipv4() == to.is_ipv4()));
        if rate.is_none() && source.is_none() {
            return TcpStream::connect(to).await;
        }
        let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        if let Some(rate) = rate {
            socket.set_recv_buffer_size(TokenBucket::window(rate))?;
        }
        if let Some(source) = source {
            socket.bind(SocketAddr::new(source, 0))?;
        }
        socket.connect(to).await
    }

    /// Asks the proxy for a tunnel.
    async fn tunnel(&self, tcp: &mut TcpStream, to: &Endpoint, proxy: &Proxy) -> Result<(), Failure> {
        let wrong = |why: &str| {
            let via = format!("{}:{}", proxy.host, proxy.port);
            Failure::new(FailureKind::Connect, format!("the proxy {via} opens no tunnel to {}: {why}", to.host))
        };
        let host = if to.host.contains(':') { format!("[{}]", to.host) } else { to.host.to_string() };
        let to = format!("{host}:{}", to.port);
        let mut ask = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUser-Agent: {}\r\n", self.user_agent);
        if let Some(authorization) = &proxy.authorization {
            ask.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        ask.push_str("\r\n");
        let reply = timeout(self.timeouts.connect, async {
            tcp.write_all(ask.as_bytes()).await.map_err(|e| wrong(&e.to_string()))?;
            read_status(tcp).await.map_err(|e| wrong(&e.to_string()))
        });
        let status = reply.await.map_err(|_| late(&format!("no tunnel to {to}"), self.timeouts.connect))??;
        match status {
            200..=299 => Ok(()),
            407 => Err(wrong("it wants another user or password (407)")),
            status => Err(wrong(&format!("it answers {status}"))),
        }
    }
}

/// The status of a proxy's response. Its head is read to its end and not a byte more: what follows
/// belongs to the tunnel.
async fn read_status(tcp: &mut TcpStream) -> io::Result<u16> {
    let mut head = Vec::new();
    while !(head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n")) {
        if head.len() == LARGEST_REPLY {
            return Err(io::Error::other("its answer does not end"));
        }
        head.push(tcp.read_u8().await?);
        if !head.iter().zip(VERSION).all(|(got, wanted)| got == wanted) {
            return Err(io::Error::other("its answer is not HTTP"));
        }
    }
    status_of(&head).ok_or_else(|| io::Error::other("its answer is not HTTP"))
}

/// The status code in a line such as `HTTP/1.1 200 Connection established`.
fn status_of(head: &[u8]) -> Option<u16> {
    let line = head.split(|b| *b == b'\n').next()?;
    let (_, rest) = std::str::from_utf8(line.strip_prefix(VERSION)?.get(..5)?).ok()?.split_once(' ')?;
    rest.parse().ok().filter(|status| (100..1_000).contains(status))
}

/// A wait that took too long.
pub(crate) fn late(what: &str, patience: Duration) -> Failure {
    Failure::new(FailureKind::Timeout, format!("{what} within {patience:?}"))
}

/// A failed connection attempt.
fn connect_failure(error: &io::Error, to: SocketAddr) -> Failure {
    if is_ours(error) {
        return Failure::new(FailureKind::Local, format!("no socket for {to}: {error}"));
    }
    let (kind, line) = match error.kind() {
        io::ErrorKind::ConnectionRefused => (FailureKind::Connect, format!("connection refused by {to}")),
        io::ErrorKind::ConnectionReset => (FailureKind::Connect, format!("connection reset by {to}")),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            (FailureKind::Connect, format!("{to} is unreachable"))
        }
        io::ErrorKind::TimedOut => (FailureKind::Timeout, format!("no connection to {to}: the network gave up")),
        _ => (FailureKind::Connect, format!("no connection to {to}: {error}")),
    };
    Failure::new(kind, line)
}

/// Whether this machine, and not the other, is to blame.
fn is_ours(error: &io::Error) -> bool {
    let ours =
        [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL, Errno::NOSPC, Errno::DQUOT];
    Errno::from_io_error(error).is_some_and(|e| ours.contains(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_fails_is_blamed_on_who_failed() {
        let to = SocketAddr::from(([9, 9, 9, 9], 80));
        let failed = |errno: Errno| connect_failure(&io::Error::from(errno), to);
        assert_eq!(failed(Errno::CONNREFUSED).detail, "connection refused by 9.9.9.9:80");
        assert_eq!(failed(Errno::HOSTUNREACH).detail, "9.9.9.9:80 is unreachable");
        assert_eq!(failed(Errno::CONNRESET).kind, FailureKind::Connect);
        assert_eq!(failed(Errno::TIMEDOUT).kind, FailureKind::Timeout);
        assert_eq!(failed(Errno::MFILE).kind, FailureKind::Local);
    }
    #[test]
    fn a_proxy_answers_with_a_status_line() {
        assert_eq!(status_of(b"HTTP/1.1 200 Connection established\r\n\r\n"), Some(200));
        assert_eq!(status_of(b"HTTP/1.0 407\r\n\r\n"), Some(407));
        for wrong in [&b"SSH-2.0-x\r\n\r\n"[..], b"HTTP/1.1\n\n", b"HTTP/2 200\n\n", b"HTTP/1.1 99\n\n", b"\n\n"] {
            assert_eq!(status_of(wrong), None);
        }
    }
}
