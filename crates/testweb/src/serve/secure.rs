//! How does the web get behind TLS?
//!
//! TLS 1.3 only, with stateless session tickets (RFC 8446, section 4.6.1), so that a returning
//! client can resume without server state; HTTP/2 or HTTP/1.1, negotiated by ALPN. Responses are
//! those of the plain server, except for the ones that break the framing: their connections close.

use super::compose::Workshop;
use super::connection::{Connection, in_workshop};
use super::request::{self, ParsedRequest, WireRequest};
use crate::Error;
use crate::naming::HostNaming;
use http::HeaderMap;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Maximum concurrent streams on one HTTP/2 connection, as in common servers.
const STREAMS: u32 = 128;

/// The server's identity.
#[derive(Clone, Debug)]
pub struct TlsIdentity {
    /// The certificate chain, in PEM.
    pub certificate: Vec<u8>,
    /// The certificate's key, in PEM.
    pub key: Vec<u8>,
    /// Whether HTTP/2 is offered besides HTTP/1.1.
    pub http2: bool,
}

/// The acceptor of TLS handshakes.
pub(super) fn acceptor(identity: &TlsIdentity) -> Result<TlsAcceptor, Error> {
    let wrong = |error: &dyn std::fmt::Display| Error::Tls(error.to_string());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&identity.certificate).collect();
    let key = PrivateKeyDer::from_pem_slice(&identity.key).map_err(|e| wrong(&e))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| wrong(&e))?
        .with_no_client_auth()
        .with_single_cert(chain.map_err(|e| wrong(&e))?, key)
        .map_err(|e| wrong(&e))?;
    config.ticketer = ring::Ticketer::new().map_err(|e| wrong(&e))?;
    let offered: &[&[u8]] = if identity.http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
    config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Performs the handshake and serves until one side closes.
pub(super) async fn run(connection: &mut Connection, tls: &TlsAcceptor) -> io::Result<()> {
    let stream = tls.accept(SharedSocket(Arc::clone(&connection.socket))).await?;
    connection.secure = true;
    let session = stream.get_ref().1;
    connection.shared.gauge.shaken(session.handshake_kind() == Some(rustls::HandshakeKind::Resumed));
    if session.alpn_protocol() == Some(b"h2") {
        http2(connection, stream).await.map_err(io::Error::other)
    } else {
        http1(connection, stream).await
    }
}

async fn http1(connection: &mut Connection, mut stream: TlsStream<SharedSocket>) -> io::Result<()> {
    let mut input = Vec::with_capacity(1_024);
    while stream.read_buf(&mut input).await? > 0 {
        let mut used = 0;
        while let ParsedRequest::Whole(request) = request::read(&input[used..]) {
            used += request.length;
            hold(connection, &request).await;
            let (output, keeps) = answered(connection, &request, |shop, request, mode| {
                shop.output.clear();
                let keeps = shop.compose(request, mode);
                (std::mem::take(&mut shop.output), keeps)
            });
            stream.write_all(&output).await?;
            stream.flush().await?;
            connection.shared.gauge.sent(output.len());
            // The task may have moved: the buffer goes back to the current thread.
            in_workshop(|shop| shop.output = output);
            if !keeps {
                return stream.shutdown().await;
            }
        }
        input.drain(..used);
    }
    Ok(())
}

async fn http2(connection: &mut Connection, stream: TlsStream<SharedSocket>) -> Result<(), h2::Error> {
    let mut streams = h2::server::Builder::new().max_concurrent_streams(STREAMS).handshake(stream).await?;
    while let Some(asked) = streams.accept().await {
        let (asked, mut respond) = asked?;
        let request = read_http2(&asked);
        hold(connection, &request).await;
        match answered(connection, &request, Workshop::respond) {
            Some((response, body)) => {
                connection.shared.gauge.sent(body.len());
                let ends = body.is_empty();
                let mut sending = respond.send_response(response, ends)?;
                if !ends {
                    // Data beyond the client's flow control window waits in the connection.
                    sending.send_data(body, true)?;
                }
            }
            None => respond.send_reset(h2::Reason::INTERNAL_ERROR),
        }
    }
    Ok(())
}

/// A request over HTTP/2. Its body is not read: no plain page needs it.
fn read_http2<B>(asked: &http::Request<B>) -> WireRequest<'_> {
    let field = |name: &str| text(asked.headers(), name);
    WireRequest {
        method: asked.method().as_str(),
        target: asked.uri().path_and_query().map_or("/", |target| target.as_str()),
        host: asked.uri().authority().map_or_else(|| field("host"), |authority| authority.as_str()),
        direct: true,
        agent: field("user-agent"),
        cookie: field("cookie"),
        accepts_gzip: field("accept-encoding").contains("gzip"),
        none_match: field("if-none-match"),
        modified_since: field("if-modified-since"),
        keeps_alive: true,
        body: &[],
        length: 0,
    }
}

fn text<'a>(fields: &'a HeaderMap, name: &str) -> &'a str {
    fields.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Delays a response as the web's latency says.
async fn hold(connection: &Connection, request: &WireRequest<'_>) {
    let number = HostNaming::read(request.host).map_or(0, |(_, host)| host);
    if let Some(held) = connection.shared.web.latency(number, request.target) {
        tokio::time::sleep(held).await;
    }
}

/// Generates, logs and formats a response.
fn answered<T>(
    connection: &mut Connection,
    request: &WireRequest<'_>,
    form: impl FnOnce(&mut Workshop, &WireRequest<'_>, crate::GzipMode) -> T,
) -> T {
    let at = Instant::now();
    in_workshop(|shop| {
        connection.render(request, shop);
        let formed = form(shop, request, connection.shared.web.spec().gzip);
        connection.note(request, at, shop.reply.status);
        formed
    })
}

/// A socket that the gauge also inspects.
struct SharedSocket(Arc<TcpStream>);

impl AsyncRead for SharedSocket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buf.initialize_unfilled()) {
                Ok(read) => {
                    buf.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for SharedSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(rustix::net::shutdown(&*self.0, rustix::net::Shutdown::Write).map_err(Into::into))
    }
}
