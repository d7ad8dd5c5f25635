//! How do we get from an address to a connection?
//!
//! Directly, or through a proxy: in the clear its connections carry requests to any host, under TLS a tunnel (CONNECT)
//! leads to one. Each phase has its own patience.

use super::head::{Finder, Head};
use super::pool::Key;
use super::stream::{Metered, Stream};
use super::tls;
use crate::config::Proxy;
use crate::dns::Resolver;
use crate::{Bucket, FetchConfig, FetchError, Timeouts};
use orb_page::{Failure, FailureKind, Timings};
use rustix::io::Errno;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

/// The longest answer to CONNECT.
const LARGEST_REPLY: usize = 16 * 1024;

/// Opens connections.
pub(super) struct Dialer {
    tls: Arc<ClientConfig>,
    proxy: Option<Proxy>,
    bucket: Arc<Bucket>,
    timeouts: Timeouts,
    user_agent: String,
}

/// A connection just opened.
pub(super) struct Dialed {
    pub(super) stream: Stream,
    /// Whether the two sides agreed on HTTP/2.
    pub(super) h2: bool,
    /// The server's address; `None` where a proxy hides it.
    pub(super) peer: Option<SocketAddr>,
    /// How long it took to open, TLS aside.
    pub(super) rtt: Duration,
}

impl Dialer {
    pub(super) fn new(config: &FetchConfig, bucket: Arc<Bucket>) -> Result<Self, FetchError> {
        Ok(Self {
            tls: tls::client(config)?,
            proxy: config.proxy.clone(),
            bucket,
            timeouts: config.timeouts,
            user_agent: config.user_agent.clone(),
        })
    }

    /// Connects to a server at `addr`, or through the proxy where there is one.
    pub(super) async fn dial(
        &self,
        key: &Key,
        addr: Option<IpAddr>,
        resolver: &Resolver,
        timings: &mut Timings,
    ) -> Result<Dialed, Failure> {
        let start = Instant::now();
        let (tcp, peer) = match (&self.proxy, addr) {
            (Some(proxy), _) => {
                let to = SocketAddr::new(resolver.resolve(&proxy.host, proxy.port).await?, proxy.port);
                let mut tcp = self.tcp(to).await?;
                if key.tls {
                    self.tunnel(&mut tcp, key, proxy).await?;
                }
                (tcp, None)
            }
            (None, Some(addr)) => {
                let to = SocketAddr::new(addr, key.port);
                (self.tcp(to).await?, Some(to))
            }
            (None, None) => return Err(Failure::new(FailureKind::Dns, format!("{} has no address", key.host))),
        };
        timings.connect = start.elapsed();
        let metered = Metered::new(tcp, self.bucket.clone());
        if !key.tls {
            let mut stream = Stream::Plain(metered);
            stream.join_line();
            return Ok(Dialed { stream, h2: false, peer, rtt: timings.connect });
        }
        let start = Instant::now();
        let mut stream = self.handshake(&key.host, metered).await?;
        stream.join_line();
        timings.tls = start.elapsed();
        let h2 = matches!(&stream, Stream::Tls(tls) if tls.get_ref().1.alpn_protocol() == Some(b"h2"));
        Ok(Dialed { stream, h2, peer, rtt: timings.connect })
    }

    async fn tcp(&self, to: SocketAddr) -> Result<TcpStream, Failure> {
        let tcp = match timeout(self.timeouts.connect, self.connect(to)).await {
            Ok(Ok(tcp)) => tcp,
            Ok(Err(error)) => return Err(connect_failure(&error, to)),
            Err(_) => return Err(late(&format!("no connection to {to}"), self.timeouts.connect)),
        };
        // Requests are written whole, so waiting for more to send would only cost time; without it we are merely slower.
        let _ = tcp.set_nodelay(true);
        Ok(tcp)
    }

    /// On a line that is shared, no more than a little may be under way that we are not ready to read.
    async fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let Some(rate) = self.bucket.rate() else { return TcpStream::connect(to).await };
        let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_recv_buffer_size(Bucket::window(rate))?;
        socket.connect(to).await
    }

    async fn handshake(&self, host: &str, metered: Metered) -> Result<Stream, Failure> {
        let name = ServerName::try_from(host.strip_suffix('.').unwrap_or(host).to_owned())
            .map_err(|_| Failure::new(FailureKind::Tls, format!("{host} cannot be the name in a certificate")))?;
        let connecting = TlsConnector::from(self.tls.clone()).connect(name, metered);
        match timeout(self.timeouts.tls, connecting).await {
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
            Ok(Err(error)) => Err(tls::failure(host, &error)),
            Err(_) => Err(late(&format!("no TLS handshake with {host}"), self.timeouts.tls)),
        }
    }

    /// Asks the proxy for a tunnel.
    async fn tunnel(&self, tcp: &mut TcpStream, key: &Key, proxy: &Proxy) -> Result<(), Failure> {
        let wrong = |why: &str| {
            let via = format!("{}:{}", proxy.host, proxy.port);
            Failure::new(FailureKind::Connect, format!("the proxy {via} opens no tunnel to {}: {why}", key.host))
        };
        let host = if key.host.contains(':') { format!("[{}]", key.host) } else { key.host.to_string() };
        let to = format!("{host}:{}", key.port);
        let mut ask = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUser-Agent: {}\r\n", self.user_agent);
        if let Some(authorization) = &proxy.authorization {
            ask.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        ask.push_str("\r\n");
        let reply = timeout(self.timeouts.connect, async {
            tcp.write_all(ask.as_bytes()).await.map_err(|e| wrong(&e.to_string()))?;
            read_reply(tcp).await.map_err(|e| wrong(&e.to_string()))
        });
        let reply = reply.await.map_err(|_| late(&format!("no tunnel to {to}"), self.timeouts.connect))??;
        match reply.status {
            200..=299 => Ok(()),
            407 => Err(wrong("it wants another user or password (407)")),
            status => Err(wrong(&format!("it answers {status}"))),
        }
    }
}

/// The head of a proxy's answer, and not a byte of what follows: that belongs to the tunnel.
async fn read_reply(tcp: &mut TcpStream) -> io::Result<Head> {
    let (mut bytes, mut finder) = (Vec::new(), Finder::default());
    loop {
        bytes.push(tcp.read_u8().await?);
        match finder.find(&bytes) {
            Ok(None) if bytes.len() < LARGEST_REPLY => (),
            Ok(Some(_)) => return Head::parse(&bytes).map_err(|_| io::Error::other("its answer is not HTTP")),
            _ => return Err(io::Error::other("its answer is not HTTP")),
        }
    }
}

/// A wait that took too long.
pub(super) fn late(what: &str, patience: Duration) -> Failure {
    Failure::new(FailureKind::Timeout, format!("{what} within {patience:?}"))
}

/// A connection that did not come about.
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
pub(super) fn is_ours(error: &io::Error) -> bool {
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
}
