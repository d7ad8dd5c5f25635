//! How does a request of the browser reach us?
//!
//! Plain HTTP comes in absolute form; everything else by CONNECT, behind which the browser speaks
//! TLS with us, or plain HTTP for a WebSocket. A connection lives as long as its page.

use super::certificate::ProxyIdentity;
use super::traffic::{PageTraffic, ProxyReply, ProxyRequest};
use crate::RenderError;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use url::Url;

/// Maximum length of a request body.
const LARGEST_BODY: usize = 1 << 20;

/// The first byte of a TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;

/// Header fields of a response that are about the connection to the server, or that would make the
/// browser go around us.
const HELD_BACK: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "transfer-encoding",
    "content-length",
    "upgrade",
    "trailer",
    "alt-svc",
    "strict-transport-security",
    "report-to",
    "reporting-endpoints",
    "nel",
    "clear-site-data",
    "refresh",
];

/// The port of one page.
pub(crate) struct ProxyPort {
    port: u16,
    accepting: AbortHandle,
}

impl ProxyPort {
    /// Opens a port for this page.
    pub(crate) async fn open(identity: Arc<ProxyIdentity>, traffic: Arc<PageTraffic>) -> Result<Self, RenderError> {
        const ATTEMPT: &str = "listen on loopback for a page";
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(RenderError::local(ATTEMPT))?;
        let port = listener.local_addr().map_err(RenderError::local(ATTEMPT))?.port();
        let accept = async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                while connections.try_join_next().is_some() {}
                connections.spawn(converse(stream, None, Arc::clone(&identity), Arc::clone(&traffic)));
            }
        };
        Ok(Self { port, accepting: tokio::spawn(accept).abort_handle() })
    }

    /// As the browser is told.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for ProxyPort {
    fn drop(&mut self) {
        // The connections go with the task that holds them.
        self.accepting.abort();
    }
}

/// Behind a CONNECT: where to, and whether under TLS.
type Tunnel = (Authority, bool);

/// Serves one connection. Boxed, because a tunnel is a connection within a connection.
fn converse<S>(
    stream: S,
    tunnel: Option<Tunnel>,
    identity: Arc<ProxyIdentity>,
    traffic: Arc<PageTraffic>,
) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    Box::pin(async move {
        let tunnels: Arc<std::sync::Mutex<JoinSet<()>>> = Arc::default();
        let (held, within) = (Arc::clone(&tunnels), tunnel.is_some());
        let service = service_fn(move |request: Request<Incoming>| {
            let (tunnel, identity, traffic) = (tunnel.clone(), Arc::clone(&identity), Arc::clone(&traffic));
            let held = Arc::clone(&held);
            async move {
                if request.method() == Method::CONNECT && !within {
                    let Some(to) = request.uri().authority().cloned() else { return Ok(refused(400)) };
                    let upgraded = hyper::upgrade::on(request);
                    let open = async move {
                        if let Ok(upgraded) = upgraded.await {
                            dig(upgraded, to, identity, traffic).await;
                        }
                    };
                    held.lock().unwrap_or_else(std::sync::PoisonError::into_inner).spawn(open);
                    return Ok::<_, Infallible>(Response::new(Full::default()));
                }
                Ok(answer(request, tunnel.as_ref(), &traffic).await)
            }
        });
        // However it ends, there is nobody to tell.
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
        let mut left = std::mem::take(&mut *tunnels.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        while left.join_next().await.is_some() {}
    })
}

/// What is behind a CONNECT: TLS, or a plain connection.
async fn dig(upgraded: Upgraded, to: Authority, identity: Arc<ProxyIdentity>, traffic: Arc<PageTraffic>) {
    let mut stream = TokioIo::new(upgraded);
    let mut first = [0];
    if stream.read_exact(&mut first).await.is_err() {
        return;
    }
    let stream = Rewound { first: Some(first[0]), stream };
    if first[0] == TLS_HANDSHAKE {
        let Ok(stream) = identity.acceptor.accept(stream).await else { return };
        converse(stream, Some((to, true)), identity, traffic).await;
    } else {
        converse(stream, Some((to, false)), identity, traffic).await;
    }
}

async fn answer(
    request: Request<Incoming>,
    tunnel: Option<&Tunnel>,
    traffic: &Arc<PageTraffic>,
) -> Response<Full<Bytes>> {
    let target = match tunnel {
        Some((authority, tls)) => {
            let scheme = if *tls { "https" } else { "http" };
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            format!("{scheme}://{authority}{path}")
        }
        None => request.uri().to_string(),
    };
    let Some(url) = Url::parse(&target).ok().filter(|url| matches!(url.scheme(), "http" | "https")) else {
        return refused(400);
    };
    let (head, body) = request.into_parts();
    let upgrades = head.headers.contains_key(UPGRADE);
    let Ok(body) = Limited::new(body, LARGEST_BODY).collect().await else { return refused(413) };
    let fields = head
        .headers
        .iter()
        .filter(|(name, _)| ![&CONNECTION, &UPGRADE, &TRANSFER_ENCODING, &CONTENT_LENGTH].contains(name));
    let fields =
        fields.filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))).collect();
    let asked = ProxyRequest { method: head.method.as_str().to_owned(), url, fields, body: body.to_bytes(), upgrades };
    match traffic.answer(asked).await {
        Some(reply) => written(reply),
        // As a server that hangs up: the browser tells the page of a network error.
        None => refused(502),
    }
}

fn written(reply: ProxyReply) -> Response<Full<Bytes>> {
    let mut response =
        Response::builder().status(StatusCode::from_u16(reply.status).unwrap_or(StatusCode::BAD_GATEWAY));
    for (name, value) in reply.headers.iter() {
        let held_back = HELD_BACK.iter().any(|held| name.eq_ignore_ascii_case(held.as_bytes()));
        let parsed =
            hyper::header::HeaderName::from_bytes(name).ok().zip(hyper::header::HeaderValue::from_bytes(value).ok());
        if let Some((name, value)) = parsed.filter(|_| !held_back) {
            response = response.header(name, value);
        }
    }
    response.body(Full::new(reply.body)).unwrap_or_else(|_| refused(502))
}

fn refused(status: u16) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response
}

/// A stream whose first byte was read already.
struct Rewound<S> {
    first: Option<u8>,
    stream: S,
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewound<S> {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        buf: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        if buf.remaining() > 0
            && let Some(first) = self.first.take()
        {
            buf.put_slice(&[first]);
            return std::task::Poll::Ready(Ok(()));
        }
        std::pin::Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewound<S> {
    fn poll_write(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        buf: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        std::pin::Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::pin::Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::pin::Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
