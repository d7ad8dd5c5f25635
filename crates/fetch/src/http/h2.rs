//! How does one request and response over HTTP/2 work? (RFC 9113)
//!
//! One connection carries all requests to a host, up to the limit per host. HTTP/2 has no bytes
//! that an archive of HTTP/1.1 messages could hold, so both heads are rendered as HTTP/1.1; the
//! body is as received.

use super::exchange::{Lost, Trip};
use super::head::{LARGEST_HEAD, decimal};
use super::pool::{Key, Pool, Slot};
use super::request::{Asker, Method};
use super::stream::Stream;
use crate::intake::{ExchangeTimers, Spool, Timer};
use crate::line::{ThrottledTime, late};
use crate::protocol::check_permission;
use bytes::{Bytes, BytesMut};
use h2::client::{Builder, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderName, HeaderValue, StatusCode, Uri, Version};
use orb_page::{Failure, FailureKind, Headers, Moment, Response, ResponseKind, Truncation};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Flow control window of a stream.
const STREAM_WINDOW: u32 = 1 << 20;
/// Flow control window of a connection.
const CONNECTION_WINDOW: u32 = 4 << 20;

/// The HTTP/2 connection of a host in the pool; it ends when its last handle is dropped.
#[derive(Debug)]
pub(super) struct Multiplexed {
    pub(super) id: u64,
    pub(super) addr: Option<IpAddr>,
    /// Number of streams on it.
    pub(super) streams: usize,
    /// Its ticket while it is idle.
    pub(super) parked: Option<u64>,
    send: SendRequest<Bytes>,
    peer: Option<SocketAddr>,
    held: Arc<ThrottledTime>,
}

/// The right to one request on an HTTP/2 connection.
#[derive(Debug)]
pub(super) struct Lane {
    send: SendRequest<Bytes>,
    peer: Option<SocketAddr>,
    held: Arc<ThrottledTime>,
    id: u64,
    pool: Arc<Pool>,
    key: Arc<Key>,
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.pool.end_stream(&self.key, self.id);
    }
}

impl Multiplexed {
    /// A handle for one request.
    pub(super) fn lane(&self, pool: &Arc<Pool>, key: &Arc<Key>) -> Lane {
        let (send, held) = (self.send.clone(), self.held.clone());
        Lane { send, peer: self.peer, held, id: self.id, pool: pool.clone(), key: key.clone() }
    }
}

/// Starts HTTP/2 on a new connection and registers it with the pool.
pub(super) async fn begin(
    stream: Stream,
    mut slot: Slot,
    (addr, peer): (Option<IpAddr>, Option<SocketAddr>),
    patience: Duration,
) -> Result<Lane, Failure> {
    let (mut builder, held) = (Builder::new(), stream.hold());
    builder
        .enable_push(false)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(u32::try_from(LARGEST_HEAD).unwrap_or(u32::MAX));
    let handshake = timeout(patience, builder.handshake::<_, Bytes>(stream)).await;
    let (send, connection) = handshake
        .map_err(|_| late("no HTTP/2 connection", patience))?
        .map_err(|e| Failure::new(FailureKind::Protocol, format!("no HTTP/2 connection: {e}")))?;
    // Those who wait for what was negotiated learn it once they can use the connection.
    let (pool, key, _lead) = (slot.pool.clone(), slot.key.clone(), slot.take_lead());
    let id = pool.number();
    let line = Multiplexed { id, addr, streams: 1, parked: None, send, peer, held };
    tokio::spawn(async move {
        // Each request on it learns how the connection ended.
        let _ = connection.await;
        slot.pool.forget_line(&slot.key, id);
    });
    Ok(pool.share(&key, line))
}

/// Sends a request and reads the response. The `words` are the same request in HTTP/1.1.
pub(super) async fn exchange(
    lane: &Lane,
    (asker, words): (&Asker, &Bytes),
    trip: &mut Trip<'_>,
) -> Result<Response, Lost> {
    let held = lane.held.so_far();
    let (mut timer, mut clock) = (Timer::default(), ExchangeTimers::new(trip.config, held));
    let request = request(trip, asker)?;
    let deadline = clock.head_deadline(lane.held.so_far());
    let ready = timer.before(deadline, lane.send.clone().ready()).await;
    let mut send = ready.ok_or_else(|| clock.head_failure())?.map_err(|e| lost(&e))?;
    let payload = trip.request.payload.map(|p| p.bytes.clone());
    check_permission(trip.watch, lane.peer)?;
    let (answer, mut sending) = send.send_request(request, payload.is_none()).map_err(|e| lost(&e))?;
    if let Some(payload) = payload {
        sending.send_data(payload, true).map_err(|e| lost(&e))?;
    }
    trip.watch.sent(lane.peer);
    trip.at = Moment::now();
    clock.sent();
    let sent = Instant::now();
    let mut answer = pin!(answer);
    let answered = loop {
        let deadline = clock.head_deadline(lane.held.so_far());
        match timer.before(deadline, answer.as_mut()).await {
            Some(answered) => break answered,
            None if Instant::now() < clock.head_deadline(lane.held.so_far()) => (),
            None => return Err(clock.head_failure().into()),
        }
    };
    let (parts, stream) = answered.map_err(|e| lost(&e))?.into_parts();
    let (received, held_then) = (Instant::now(), lane.held.so_far());
    trip.timings.wait = (received - sent).saturating_sub(held_then.saturating_sub(held));
    clock.body_begins();
    let headers = headers_of(&parts.headers);
    let head = render_head(parts.status, &headers);
    trip.watch.received(head.len());
    let length = parts.headers.get("content-length").and_then(|v| decimal(v.as_bytes()));
    let mut spool = Spool::new(trip.spool_rule(), BytesMut::new(), 0);
    let mime = headers.mime();
    let max_size = trip.config.max_size_of(mime.as_deref());
    let truncated = match trip.refusal(parts.status.as_u16(), mime.as_deref(), length) {
        Some(truncation) => Some(truncation),
        None if trip.request.method == Method::Head => None,
        None => {
            spool.reserve(length.unwrap_or(0).min(max_size));
            H2BodyReceiver { stream, timer, clock, held: &lane.held, trip, max_size }
                .read(&mut spool, length.unwrap_or(0))
                .await?
        }
    };
    let (_, wire) = spool.finish().await?;
    trip.timings.body = received.elapsed().saturating_sub(lane.held.so_far().saturating_sub(held_then));
    let body = wire.share().map_err(|e| Failure::new(FailureKind::Local, format!("cannot share a body: {e}")))?;
    let request_head = trip.request.kept(words);
    let kind = ResponseKind::Http { request_head, head, standard: true };
    let (status, peer) = (parts.status.as_u16(), lane.peer);
    let (excess, challenged, protocol) = (false, false, "h2");
    Ok(Response { status, kind, headers, wire, body, truncated, excess, challenged, peer, protocol })
}

/// The request in HTTP/2 terms.
fn request(trip: &Trip<'_>, asker: &Asker) -> Result<http::Request<()>, Failure> {
    let unsupported = |e: &dyn std::fmt::Display| {
        Failure::new(FailureKind::Unsupported, format!("{} cannot be asked for: {e}", trip.request.url))
    };
    let target = &trip.request.url[url::Position::BeforePath..url::Position::AfterQuery];
    let uri = Uri::builder().scheme("https").authority(trip.request.authority()).path_and_query(target);
    let mut request = http::Request::new(());
    *request.uri_mut() = uri.build().map_err(|e| unsupported(&e))?;
    *request.version_mut() = Version::HTTP_2;
    *request.method_mut() = match trip.request.method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
    };
    for (name, value) in trip.request.fields(trip.config, asker) {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| unsupported(&e))?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|e| unsupported(&e))?;
        request.headers_mut().append(name, value);
    }
    Ok(request)
}

fn headers_of(map: &http::HeaderMap) -> Headers {
    map.iter().collect()
}

/// The head that an HTTP/1.1 server would have sent.
fn render_head(status: StatusCode, headers: &Headers) -> Bytes {
    let mut head = Vec::with_capacity(512);
    let reason = status.canonical_reason().unwrap_or_default();
    head.extend_from_slice(format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).as_bytes());
    for (name, value) in headers.iter() {
        head.extend_from_slice(name);
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head.into()
}

/// A request without a response; silent if the server did not process it or the connection was
/// already gone.
fn lost(error: &h2::Error) -> Lost {
    let untouched = error.reason() == Some(Reason::REFUSED_STREAM) || (error.is_go_away() && error.is_remote());
    let silent = untouched || error.is_io() || error.reason() == Some(Reason::NO_ERROR);
    Lost { failure: Failure::new(FailureKind::Protocol, format!("no answer over HTTP/2: {error}")), silent }
}

/// A body being received.
struct H2BodyReceiver<'a, 'b> {
    stream: RecvStream,
    timer: Timer,
    clock: ExchangeTimers,
    held: &'a ThrottledTime,
    trip: &'a Trip<'b>,
    max_size: u64,
}

impl H2BodyReceiver<'_, '_> {
    async fn read(mut self, spool: &mut Spool<'_>, expected: u64) -> Result<Option<Truncation>, Failure> {
        loop {
            let deadline = self.clock.body_deadline(self.held.so_far());
            let part = match self.timer.before(deadline, self.stream.data()).await {
                None => Bytes::new(),
                Some(None) => return Ok(None),
                Some(Some(Err(_))) => return Ok(Some(Truncation::Disconnect)),
                Some(Some(Ok(part))) => part,
            };
            self.trip.watch.received(part.len());
            spool.buf.extend_from_slice(&part);
            // Fails only for more than was received.
            let _ = self.stream.flow_control().release_capacity(part.len());
            if spool.len() > self.max_size {
                spool.cut(self.max_size);
                return Ok(Some(Truncation::Length));
            }
            if spool.is_due(expected) {
                spool.spill().await?;
            }
            if let Some(truncation) = self.clock.tick(part.len(), self.held.so_far())
                && !self.stream.is_end_stream()
            {
                return Ok(Some(truncation));
            }
        }
    }
}
