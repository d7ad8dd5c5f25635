//! How fast may a socket be read?
//!
//! A socket whose reads are metered. The meter sits below everything else, so that one bandwidth
//! holds for all protocols and counts what the line carries.

use super::TokenBucket;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A socket that reads no faster than the bucket allows.
#[derive(Debug)]
pub(crate) struct Metered {
    tcp: TcpStream,
    bucket: Arc<TokenBucket>,
    /// Bytes reserved and not yet read; 0 for none.
    reserved: usize,
    /// The timer for them, reused.
    sleep: Option<Pin<Box<Sleep>>>,
    held: Arc<ThrottledTime>,
    /// Whether reads are counted but not delayed.
    free: bool,
}

/// How long the meter held a connection up so far: time the server is not to blame for. Who makes a
/// request on a connection that others read from (HTTP/2) has a share in this.
#[derive(Debug)]
pub(crate) struct ThrottledTime {
    base: Instant,
    /// Microseconds of completed waits.
    over: AtomicU64,
    /// Start of the current wait, in microseconds from the base; 0 for none.
    since: AtomicU64,
}

impl ThrottledTime {
    fn new() -> Arc<Self> {
        Arc::new(Self { base: Instant::now(), over: AtomicU64::new(0), since: AtomicU64::new(0) })
    }

    fn clock(&self) -> u64 {
        u64::try_from(self.base.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    fn begin(&self) {
        self.since.store(self.clock(), Ordering::Relaxed);
    }

    fn end(&self) {
        let since = self.since.swap(0, Ordering::Relaxed);
        if since > 0 {
            self.over.fetch_add(self.clock().saturating_sub(since), Ordering::Relaxed);
        }
    }

    /// All waits, the present one included.
    pub(crate) fn so_far(&self) -> Duration {
        let since = self.since.load(Ordering::Relaxed);
        let present = if since > 0 { self.clock().saturating_sub(since) } else { 0 };
        Duration::from_micros(self.over.load(Ordering::Relaxed) + present)
    }
}

impl Metered {
    /// A socket whose reads are counted but not held up as yet: nobody should miss a handshake
    /// because the line is full.
    pub(crate) fn new(tcp: TcpStream, bucket: Arc<TokenBucket>) -> Self {
        Self { tcp, bucket, reserved: 0, sleep: None, held: ThrottledTime::new(), free: true }
    }

    /// From now on reads wait for their turn.
    pub(crate) fn join_line(&mut self) {
        self.free = false;
    }

    /// From now on reads are counted but not delayed.
    pub(crate) fn leave_line(&mut self) {
        self.free = true;
    }

    /// How long the bandwidth limit has delayed this connection, including the current wait.
    pub(crate) fn held(&self) -> Duration {
        self.held.so_far()
    }

    /// The same, for callers that do not have the connection itself at hand.
    pub(crate) fn hold(&self) -> Arc<ThrottledTime> {
        Arc::clone(&self.held)
    }

    /// Resets the connection when it is dropped, so that nothing lingers in any table on the way.
    pub(crate) fn end_abruptly(&self) {
        // Where it fails the socket is gone already.
        let _ = self.tcp.set_zero_linger();
    }

    fn poll_metered(&mut self, rate: u64, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // Reserve only when there is something to read.
        ready!(self.tcp.poll_read_ready(cx))?;
        if self.reserved == 0 {
            let now = Instant::now();
            self.reserved = TokenBucket::quantum(rate).min(buf.remaining().max(1));
            let place = self.bucket.reserve(self.reserved, now);
            if place > now {
                self.held.begin();
                match &mut self.sleep {
                    Some(sleep) => sleep.as_mut().reset(place),
                    None => self.sleep = Some(Box::pin(sleep_until(place))),
                }
            }
        }
        if self.held.since.load(Ordering::Relaxed) > 0
            && let Some(sleep) = &mut self.sleep
        {
            ready!(sleep.as_mut().poll(cx));
            self.held.end();
        }
        let quantum = std::mem::take(&mut self.reserved);
        let most = quantum.min(buf.remaining());
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(most));
        let result = Pin::new(&mut self.tcp).poll_read(cx, &mut part);
        let read = part.filled().len();
        buf.advance(read);
        self.bucket.refund(quantum - read);
        result
    }

    /// Drops a reservation in a queue that no longer exists.
    fn leave(&mut self) {
        self.held.end();
        self.reserved = 0;
    }
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let rate = self.bucket.rate();
        if let (Some(rate), false) = (rate, self.free) {
            return self.poll_metered(rate, cx, buf);
        }
        if self.reserved > 0 && rate.is_none() {
            self.leave();
        }
        let before = buf.filled().len();
        let result = Pin::new(&mut self.tcp).poll_read(cx, buf);
        if rate.is_some() && buf.filled().len() > before {
            self.bucket.reserve(buf.filled().len() - before, Instant::now());
        }
        result
    }
}

impl AsyncWrite for Metered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}
