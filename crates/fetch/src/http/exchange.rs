//! How does one request and response over HTTP/1.1 work? (RFC 9112)
//!
//! Written by hand instead of a tee below a general client: the archive needs the bytes as
//! received, and with those in memory a client that parses, copies and reassembles them again is
//! only overhead. Head and body are read into one buffer and never copied (except the content of
//! several chunks), and no task but the caller's is involved. Measured by `examples/cost.rs`: a
//! page of 20 kB costs 11–14 µs of CPU with pool, guard, timers, cookies and header list, as much
//! as hyper with a tee costs without any of them.
//!
//! What a server does wrong after it has sent a head is a fact about its response: the bytes
//! received are kept, and [`Truncation`] says why there are no more.

use super::chunked::{ChunkProgress, Dechunker};
use super::conn::Conn;
use super::head::{BodyFraming, Finder, Head, LARGEST_HEAD};
use super::request::{HttpRequest, Method};
use crate::intake::{Contents, ExchangeTimers, Spool, SpoolRule};
use crate::protocol::check_permission;
use crate::{FetchConfig, Watch};
use bytes::{Buf, Bytes, BytesMut};
use orb_page::{Body, Failure, FailureKind, Moment, Response, ResponseKind, Timings, Truncation};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

/// The context of a request, whatever connection carries it.
pub(super) struct Trip<'a> {
    pub(super) config: &'a FetchConfig,
    pub(super) request: &'a HttpRequest<'a>,
    pub(super) watch: &'a dyn Watch,
    /// When the request was sent.
    pub(super) at: Moment,
    pub(super) timings: Timings,
}

/// A response, and what becomes of its connection.
pub(super) struct Exchanged {
    pub(super) response: Response,
    pub(super) ending: Ending,
}

/// What becomes of a connection after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It can carry another request, within this time.
    Keep(Duration),
    /// It is to be closed.
    Close,
    /// It has more unwanted data: reset it.
    Abort,
}

/// No response.
pub(super) struct Lost {
    pub(super) failure: Failure,
    /// Whether the connection ended without a single byte of a response, as stale keep-alive
    /// connections do.
    pub(super) silent: bool,
}

impl From<Failure> for Lost {
    fn from(failure: Failure) -> Self {
        Self { failure, silent: false }
    }
}

impl<'a> Trip<'a> {
    pub(super) fn spool_rule(&self) -> SpoolRule<'a> {
        SpoolRule { over: self.config.spool_over, dir: &self.config.spool_dir }
    }

    /// Why the body of a response is not read, if so.
    pub(super) fn refusal(&self, status: u16, mime: Option<&str>, length: Option<u64>) -> Option<Truncation> {
        if length == Some(0) || self.request.method == Method::Head {
            return None;
        }
        let unwanted = mime.is_some_and(|mime| !self.config.accepts(mime));
        if unwanted && !self.request.any_type && (200..300).contains(&status) {
            return Some(Truncation::Unwanted);
        }
        length.is_some_and(|l| l > self.config.max_size_of(mime)).then_some(Truncation::Length)
    }
}

/// Sends a rendered request and reads the response.
pub(super) async fn exchange(conn: &mut Conn, asked: &Bytes, trip: &mut Trip<'_>) -> Result<Exchanged, Lost> {
    let held = conn.stream.held();
    let mut clock = ExchangeTimers::new(trip.config, held);
    check_permission(trip.watch, conn.peer)?;
    write(conn, asked, &mut clock).await?;
    trip.watch.sent(conn.peer);
    trip.at = Moment::now();
    clock.sent();
    let sent = Instant::now();
    let (buf, head_len, head) = read_head(conn, trip.watch, &mut clock).await?;
    let (received, held_then) = (Instant::now(), conn.stream.held());
    trip.timings.wait = (received - sent).saturating_sub(held_then.saturating_sub(held));
    clock.body_begins();
    let framing = head.framing(trip.request.method == Method::Head);
    let spool = Spool::new(trip.spool_rule(), buf, head_len);
    let mime = head.headers.mime();
    let max_size = trip.config.max_size_of(mime.as_deref());
    let mut intake = BodyReceiver { conn, watch: trip.watch, clock, spool, max_size };
    let taken = match trip.refusal(head.status, mime.as_deref(), length_of(framing)) {
        Some(truncation) => intake.refuse(truncation),
        None => intake.read(framing, trip.spool_rule()).await?,
    };
    let size = intake.spool.buf.len();
    let spool = intake.spool;
    conn.remember(size);
    let ending = taken.ending(&head, framing, conn.slot.pool.rules.keep_alive);
    let (raw_head, wire) = spool.finish().await?;
    let truncated = taken.truncated;
    let excess = taken.unasked && truncated.is_none();
    let body = taken.body(&wire).await?;
    trip.timings.body = received.elapsed().saturating_sub(conn.stream.held().saturating_sub(held_then));
    let response = Response {
        status: head.status,
        kind: ResponseKind::Http { request_head: trip.request.kept(asked), head: raw_head, standard: head.standard },
        headers: head.headers,
        wire,
        body,
        truncated,
        excess,
        challenged: false,
        peer: conn.peer,
        protocol: "http/1.1",
    };
    Ok(Exchanged { response, ending })
}

fn length_of(framing: BodyFraming) -> Option<u64> {
    match framing {
        BodyFraming::Empty => Some(0),
        BodyFraming::Length(length) => Some(length),
        BodyFraming::Chunked | BodyFraming::Close => None,
    }
}

/// How long to keep a connection: a second less than the server, so that we close first.
fn kept_for(told: Option<u64>, keep_alive: Duration) -> Duration {
    told.map_or(keep_alive, |s| keep_alive.min(Duration::from_secs(s.saturating_sub(1))))
}

async fn write(conn: &mut Conn, asked: &[u8], clock: &mut ExchangeTimers) -> Result<(), Lost> {
    let deadline = clock.head_deadline(conn.stream.held());
    let stream = &mut conn.stream;
    let writing = async move {
        stream.write_all(asked).await?;
        stream.flush().await
    };
    match conn.timer.before(deadline, writing).await {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) => Err(hung_up(&error.to_string())),
        None => Err(clock.head_failure().into()),
    }
}

/// A connection that ended before any response.
fn hung_up(why: &str) -> Lost {
    let line = format!("the connection ended without an answer: {why}");
    Lost { failure: Failure::new(FailureKind::Protocol, line), silent: true }
}

/// Reads up to the end of the final head: the buffer, the head's length, and the parsed head.
async fn read_head(
    conn: &mut Conn,
    watch: &dyn Watch,
    clock: &mut ExchangeTimers,
) -> Result<(BytesMut, usize, Head), Lost> {
    let protocol = |line: &str| Lost::from(Failure::new(FailureKind::Protocol, line));
    let malformed = |line: &str| Lost::from(Failure::new(FailureKind::Malformed, line));
    let (mut buf, mut finder, mut skipped) = (conn.buffer(), Finder::default(), 0);
    loop {
        let deadline = clock.head_deadline(conn.stream.held());
        if buf.capacity() - buf.len() < 1024 {
            buf.reserve(buf.len().max(4096));
        }
        match conn.read(&mut buf, deadline).await {
            None if Instant::now() < clock.head_deadline(conn.stream.held()) => continue,
            None => return Err(clock.head_failure().into()),
            Some(Ok(0)) if buf.is_empty() && skipped == 0 => return Err(hung_up("the server closed it")),
            Some(Err(error)) if buf.is_empty() && skipped == 0 => return Err(hung_up(&error.to_string())),
            Some(Ok(0) | Err(_)) => return Err(protocol("the connection ended within the head of the answer")),
            Some(Ok(read)) => watch.received(read),
        }
        while let Some(len) = find_end(&mut buf, &mut finder).map_err(malformed)? {
            let head = Head::parse(&buf[..len]).map_err(malformed)?;
            if !matches!(head.status, 100 | 102..=199) {
                return Ok((buf, len, head));
            }
            buf.advance(len);
            skipped += len;
            finder = Finder::default();
        }
        if buf.len() + skipped > LARGEST_HEAD {
            return Err(malformed("the head of the answer does not end"));
        }
    }
}

fn find_end(buf: &mut BytesMut, finder: &mut Finder) -> Result<Option<usize>, &'static str> {
    // Line endings left over from a response that was longer than announced.
    while matches!(buf.first(), Some(b'\r' | b'\n')) {
        buf.advance(1);
    }
    match finder.find(buf) {
        Ok(Some(len)) if len > LARGEST_HEAD => Err("the head of the answer is too large"),
        Ok(found) => Ok(found),
        Err(_) => Err("the answer is not HTTP"),
    }
}

/// A body being received.
struct BodyReceiver<'c, 'a> {
    conn: &'c mut Conn,
    watch: &'a dyn Watch,
    clock: ExchangeTimers,
    spool: Spool<'a>,
    max_size: u64,
}

/// How reading a body ended.
struct ReceivedBody<'a> {
    truncated: Option<Truncation>,
    /// Whether more arrived than belongs to the response.
    excess: bool,
    /// Whether that is more than line endings.
    unasked: bool,
    /// The content between the frames, if there are any, and where the wire bytes begin in the
    /// buffer.
    contents: Option<Contents<'a>>,
    start: usize,
}

impl ReceivedBody<'_> {
    const fn plain(truncated: Option<Truncation>, excess: bool) -> Self {
        Self { truncated, excess, unasked: excess, contents: None, start: 0 }
    }

    /// What becomes of the connection.
    fn ending(&self, head: &Head, framing: BodyFraming, keep_alive: Duration) -> Ending {
        match (self.truncated, head.keeps(framing)) {
            (Some(_), _) => Ending::Abort,
            (None, Some(told)) if !self.excess => Ending::Keep(kept_for(told, keep_alive)),
            _ => Ending::Close,
        }
    }

    /// The body within the wire bytes.
    async fn body(self, wire: &Body) -> Result<Body, Failure> {
        match self.contents {
            Some(contents) => contents.finish(wire, self.start).await,
            None => wire.share().map_err(|e| Failure::new(FailureKind::Local, format!("cannot share a body: {e}"))),
        }
    }
}

/// The result of one more read.
enum More {
    Some,
    End,
    Broken,
    Late(Truncation),
}

impl<'a> BodyReceiver<'_, 'a> {
    /// Does not read the body.
    fn refuse(&mut self, truncation: Truncation) -> ReceivedBody<'a> {
        self.spool.cut(0);
        ReceivedBody::plain(Some(truncation), true)
    }

    async fn read(&mut self, framing: BodyFraming, rule: SpoolRule<'a>) -> Result<ReceivedBody<'a>, Failure> {
        match framing {
            BodyFraming::Empty => self.sized(0).await,
            BodyFraming::Length(length) => self.sized(length).await,
            BodyFraming::Chunked => self.chunked(rule).await,
            BodyFraming::Close => self.until_closed().await,
        }
    }

    async fn sized(&mut self, length: u64) -> Result<ReceivedBody<'a>, Failure> {
        while self.spool.len() < length {
            if self.spool.is_due(length) {
                self.spool.spill().await?;
            }
            self.spool.reserve(length - self.spool.len());
            match self.more().await {
                More::Some => (),
                More::End | More::Broken => return Ok(ReceivedBody::plain(Some(Truncation::Disconnect), false)),
                More::Late(_) if self.spool.len() >= length => (),
                More::Late(truncation) => return Ok(ReceivedBody::plain(Some(truncation), false)),
            }
        }
        let excess = self.spool.len() > length;
        let unasked = excess && !self.spool.is_blank_after(length);
        self.spool.cut(length);
        Ok(ReceivedBody { unasked, ..ReceivedBody::plain(None, excess) })
    }

    async fn until_closed(&mut self) -> Result<ReceivedBody<'a>, Failure> {
        loop {
            if self.spool.len() > self.max_size {
                self.spool.cut(self.max_size);
                return Ok(ReceivedBody::plain(Some(Truncation::Length), true));
            }
            if self.spool.is_due(0) {
                self.spool.spill().await?;
            }
            self.reserve_more();
            match self.more().await {
                More::Some => (),
                More::End => return Ok(ReceivedBody::plain(None, false)),
                More::Broken => return Ok(ReceivedBody::plain(Some(Truncation::Disconnect), false)),
                More::Late(truncation) => return Ok(ReceivedBody::plain(Some(truncation), false)),
            }
        }
    }

    async fn chunked(&mut self, rule: SpoolRule<'a>) -> Result<ReceivedBody<'a>, Failure> {
        let mut frames = Dechunker::new(self.max_size);
        let mut contents = Contents::new(rule);
        // Framing may take its share, but not without bound.
        let most_wire = self.max_size.saturating_add(self.max_size / 2).saturating_add(64 * 1024);
        let (mut start, mut seen) = (self.spool.start(), self.spool.start());
        let (truncated, excess) = loop {
            let wire = &self.spool.buf[..];
            let from = seen;
            let progress = frames.feed(&wire[from..], |r| contents.push(wire, from + r.start..from + r.end));
            seen = wire.len();
            match progress {
                ChunkProgress::More if self.spool.len() > most_wire => break (Some(Truncation::Length), true),
                ChunkProgress::More => (),
                ChunkProgress::Done(len) => {
                    let excess = from + len < seen;
                    self.spool.buf.truncate(from + len);
                    break (None, excess);
                }
                ChunkProgress::Full(len) => {
                    self.spool.buf.truncate(from + len);
                    break (Some(Truncation::Length), true);
                }
                ChunkProgress::Broken(_) => break (Some(Truncation::Disconnect), true),
            }
            if self.spool.is_due(0) {
                contents.settle(&self.spool.buf);
                contents.spill_if_due().await?;
                self.spool.spill().await?;
                (start, seen) = (0, 0);
            }
            self.reserve_more();
            match self.more().await {
                More::Some => (),
                More::End | More::Broken => break (Some(Truncation::Disconnect), false),
                More::Late(truncation) => break (Some(truncation), false),
            }
        };
        if self.spool.ends_in_file() {
            contents.settle(&self.spool.buf);
        }
        Ok(ReceivedBody { contents: Some(contents), start, ..ReceivedBody::plain(truncated, excess) })
    }

    /// Doubles the buffer when the length is unknown.
    fn reserve_more(&mut self) {
        let buf = &self.spool.buf;
        if buf.capacity() - buf.len() < 2 * 1024 {
            let held = buf.len() as u64;
            self.spool.reserve(held.max(8 * 1024));
        }
    }

    async fn more(&mut self) -> More {
        loop {
            let deadline = self.clock.body_deadline(self.conn.stream.held());
            let read = self.conn.read(&mut self.spool.buf, deadline).await;
            let bytes = match read {
                Some(Ok(0)) => return More::End,
                Some(Ok(bytes)) => bytes,
                Some(Err(_)) => return More::Broken,
                None => 0,
            };
            if bytes > 0 {
                self.watch.received(bytes);
            }
            match self.clock.tick(bytes, self.conn.stream.held()) {
                Some(truncation) => return More::Late(truncation),
                None if bytes > 0 => return More::Some,
                None => (),
            }
        }
    }
}
