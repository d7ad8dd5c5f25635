//! Who may connect, and for how long?
//!
//! Connections are the scarce thing that strangers can take from us, so each must earn its place:
//! there is a cap on them, a deadline for the TLS handshake and for the head of every request, and
//! one on which nothing happens is closed, as is one whose client does not take what it is sent.
//! When all places are taken and somebody waits, those on which nothing happens go at once: who
//! opens ten thousand connections keeps nobody out. HTTP/1.1 is spoken in the clear, HTTP/2 too
//! over TLS if the client offers it.
//!
//! When the server stops, no connection is accepted any more, requests under way are finished, and
//! whatever is left after a few seconds is cut off.

use crate::gate::Front;
use crate::meter::{MeteredStream, Traffic};
use crate::request::PeerAddress;
use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// How many connections there may be; more wait in the kernel's queue.
const CONNECTIONS: usize = 1_024;

/// How long nothing must have happened on a connection that makes room for another.
const LEISURE: Duration = Duration::from_secs(1);

/// How often room is asked for while somebody waits.
const ASKING: Duration = Duration::from_millis(250);

/// How long requests under way are waited for when the server stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// The largest head of a request.
const LARGEST_HEAD: usize = 32 * 1024;

/// Concurrent requests of one HTTP/2 connection.
const STREAMS: u32 = 64;

/// Accepts connections until the server stops, and returns when the last one is closed. A client
/// that keeps silent for longer than `patience` loses its connection.
pub(crate) async fn accept(
    (listener, tls): (TcpListener, Option<TlsAcceptor>),
    front: Front,
    patience: Duration,
    mut closing: watch::Receiver<bool>,
) {
    let (seats, crowd) = (Arc::new(Semaphore::new(CONNECTIONS)), watch::Sender::new(0_u64));
    let mut connections = JoinSet::new();
    loop {
        let Some(seat) = find_seat(&seats, &crowd, &mut closing).await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closing.wait_for(|closing| *closing) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                let (closing, crowd) = (closing.clone(), crowd.subscribe());
                let visitor = Visiting { front: front.clone(), peer: peer.ip(), patience, closing, crowd };
                connections.spawn(attend(stream, tls.clone(), visitor, seat));
            }
            // Most likely out of file descriptors: wait until others have closed theirs.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    drop(listener);
    let gone = async { while connections.join_next().await.is_some() {} };
    // What does not end by itself is cut off when the set is dropped.
    let _ = tokio::time::timeout(FAREWELL, gone).await;
}

/// A place for one more connection, made by those that do not need theirs; `None` when the server
/// stops.
async fn find_seat(
    seats: &Arc<Semaphore>,
    crowd: &watch::Sender<u64>,
    closing: &mut watch::Receiver<bool>,
) -> Option<OwnedSemaphorePermit> {
    loop {
        tokio::select! {
            biased;
            seat = Arc::clone(seats).acquire_owned() => return seat.ok(),
            _ = closing.wait_for(|closing| *closing) => return None,
            () = tokio::time::sleep(ASKING) => crowd.send_modify(|asked| *asked = asked.wrapping_add(1)),
        }
    }
}

/// What a connection needs to know.
#[derive(Clone)]
struct Visiting {
    front: Front,
    peer: IpAddr,
    patience: Duration,
    closing: watch::Receiver<bool>,
    /// Changes when there is no room for others.
    crowd: watch::Receiver<u64>,
}

async fn attend(stream: TcpStream, tls: Option<TlsAcceptor>, visiting: Visiting, seat: OwnedSemaphorePermit) {
    // Answers are written whole; without this, small ones would wait for an acknowledgement.
    let _ = stream.set_nodelay(true);
    match tls {
        None => speak(stream, false, visiting).await,
        Some(tls) => {
            let Ok(Ok(stream)) = tokio::time::timeout(visiting.patience, tls.accept(stream)).await else { return };
            let is_two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            speak(stream, is_two, visiting).await;
        }
    }
    drop(seat);
}

/// A request under way, until its response is sent.
struct UnderWay(Arc<Traffic>);

impl UnderWay {
    fn begin(traffic: &Arc<Traffic>) -> Self {
        traffic.begin();
        Self(Arc::clone(traffic))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Waits for the end of a connection, and brings it about when nothing happens on it, when others
/// need its place, or when the server stops. A macro because the two versions of HTTP share no
/// trait.
macro_rules! watch_over {
    ($connection:ident, $traffic:ident, $visiting:ident) => {{
        let (mut connection, traffic) = ($connection, $traffic);
        let Visiting { patience, mut closing, mut crowd, .. } = $visiting;
        let (mut seen, mut is_asked) = (None, false);
        loop {
            tokio::select! {
                // However it ends, it is over.
                _ = connection.as_mut() => return,
                _ = closing.wait_for(|closing| *closing), if !is_asked => {
                    connection.as_mut().graceful_shutdown();
                    is_asked = true;
                }
                Ok(()) = crowd.changed() => {
                    if traffic.is_idle_for(LEISURE) {
                        return;
                    }
                }
                () = tokio::time::sleep(patience) => {
                    let now = traffic.now();
                    if traffic.is_stuck() && seen == Some(now) {
                        return;
                    }
                    seen = Some(now);
                }
            }
        }
    }};
}

/// Speaks HTTP on a connection until it ends.
async fn speak<S>(stream: S, is_two: bool, visiting: Visiting)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let traffic = Arc::new(Traffic::default());
    let (counted, front, peer) = (Arc::clone(&traffic), visiting.front.clone(), visiting.peer);
    let service = service_fn(move |request| answer(front.clone(), peer, UnderWay::begin(&counted), request));
    let io = TokioIo::new(MeteredStream::new(stream, Arc::clone(&traffic)));
    if is_two {
        let mut speaker = http2::Builder::new(TokioExecutor::new());
        speaker.timer(TokioTimer::new()).max_concurrent_streams(STREAMS).max_header_list_size(LARGEST_HEAD as u32);
        let connection = std::pin::pin!(speaker.serve_connection(io, service));
        watch_over!(connection, traffic, visiting);
    } else {
        let mut speaker = http1::Builder::new();
        speaker.timer(TokioTimer::new()).header_read_timeout(visiting.patience).max_buf_size(LARGEST_HEAD);
        let connection = std::pin::pin!(speaker.serve_connection(io, service));
        watch_over!(connection, traffic, visiting);
    }
}

async fn answer(
    front: Front,
    peer: IpAddr,
    under_way: UnderWay,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(PeerAddress(peer));
    let response = front.answer(request).await;
    // The request is under way until its body is sent, which for a stream of events may be long.
    Ok(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &under_way;
            frame
        }))
    }))
}
