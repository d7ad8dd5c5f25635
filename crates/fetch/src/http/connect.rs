//! How does a connection for HTTP begin?
//!
//! The line opens it; what is added here is TLS, and with it the choice between HTTP/1.1 and
//! HTTP/2.

use super::pool::Key;
use super::stream::Stream;
use crate::line::{Metered, late};
use crate::{FetchConfig, FetchError, Line, tls};
use orb_page::{Failure, FailureKind, Timings};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::BufReader;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

/// How much is read from a socket at a time under TLS. rustls asks for 4 kB: a page would take a
/// system call for each 4 kB of it, and one more to learn that nothing is left.
const READ_AHEAD: usize = 16 * 1024;

/// Opens connections for HTTP.
pub(super) struct Dialer {
    line: Arc<Line>,
    tls: Arc<ClientConfig>,
    /// How long a handshake may take.
    patience: Duration,
}

/// A new connection.
pub(super) struct Dialed {
    pub(super) stream: Stream,
    /// Whether HTTP/2 was negotiated.
    pub(super) h2: bool,
    /// The server's address; `None` if a proxy hides it.
    pub(super) peer: Option<SocketAddr>,
    /// Time to connect, without TLS.
    pub(super) rtt: Duration,
}

impl Dialer {
    pub(super) fn new(config: &FetchConfig, line: Arc<Line>) -> Result<Self, FetchError> {
        let offered: &[&[u8]] = if config.http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        Ok(Self { line, tls: tls::client(config, offered)?, patience: config.timeouts.tls })
    }

    /// Connects to a server at `addr`, or through the proxy if there is one.
    pub(super) async fn dial(&self, key: &Key, addr: Option<IpAddr>, timings: &mut Timings) -> Result<Dialed, Failure> {
        let opened = self.line.dial(&key.to, addr, key.tls, timings).await?;
        let (peer, rtt) = (opened.peer, opened.rtt);
        if !key.tls {
            let mut stream = Stream::Plain(opened.metered);
            stream.join_line();
            return Ok(Dialed { stream, h2: false, peer, rtt });
        }
        let start = Instant::now();
        let mut stream = self.handshake(&key.to.host, opened.metered).await?;
        stream.join_line();
        timings.tls = start.elapsed();
        let h2 = matches!(&stream, Stream::Tls(tls) if tls.get_ref().1.alpn_protocol() == Some(b"h2"));
        Ok(Dialed { stream, h2, peer, rtt })
    }

    async fn handshake(&self, host: &str, metered: Metered) -> Result<Stream, Failure> {
        let name = ServerName::try_from(host.strip_suffix('.').unwrap_or(host).to_owned())
            .map_err(|_| Failure::new(FailureKind::Tls, format!("{host} cannot be the name in a certificate")))?;
        let buffered = BufReader::with_capacity(READ_AHEAD, metered);
        let connecting = TlsConnector::from(self.tls.clone()).connect(name, buffered);
        match timeout(self.patience, connecting).await {
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
            Ok(Err(error)) => Err(tls::failure(host, &error)),
            Err(_) => Err(late(&format!("no TLS handshake with {host}"), self.patience)),
        }
    }
}
