//! Does anything happen on a connection?
//!
//! A connection is idle while no request of it is under way, and stuck when its client does not
//! take what was written. Neither is seen by looking at requests alone, so the stream itself is
//! counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What has happened on a connection.
#[derive(Debug)]
pub(crate) struct Traffic {
    opened: Instant,
    begun: AtomicUsize,
    under_way: AtomicUsize,
    written: AtomicUsize,
    /// Whether the last write found no room.
    is_full: AtomicBool,
    /// When a request last began or ended, in milliseconds after the connection was opened.
    active_at: AtomicU64,
}

impl Default for Traffic {
    fn default() -> Self {
        let (begun, under_way, written, is_full, active_at) = Default::default();
        Self { opened: Instant::now(), begun, under_way, written, is_full, active_at }
    }
}

impl Traffic {
    /// A request has come.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.note();
    }

    /// Its response was sent.
    pub(crate) fn end(&self) {
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        self.note();
    }

    fn note(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.active_at.store(now, Ordering::Relaxed);
    }

    /// Requests that have come and bytes that were taken: as long as it is the same, nothing has
    /// happened.
    pub(crate) fn now(&self) -> (usize, usize) {
        (self.begun.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed))
    }

    /// Whether nothing can happen unless the client does something.
    pub(crate) fn is_stuck(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0 || self.is_full.load(Ordering::Relaxed)
    }

    /// Whether no request is under way, and none has been for so long.
    pub(crate) fn is_idle_for(&self, time: Duration) -> bool {
        let active = Duration::from_millis(self.active_at.load(Ordering::Relaxed));
        self.under_way.load(Ordering::Relaxed) == 0 && self.opened.elapsed().saturating_sub(active) >= time
    }
}

/// A stream whose traffic is counted.
pub(crate) struct MeteredStream<S> {
    stream: S,
    traffic: Arc<Traffic>,
}

impl<S> MeteredStream<S> {
    pub(crate) fn new(stream: S, traffic: Arc<Traffic>) -> Self {
        Self { stream, traffic }
    }

    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.traffic.is_full.store(written.is_pending(), Ordering::Relaxed);
        if let Poll::Ready(Ok(bytes)) = written {
            self.traffic.written.fetch_add(bytes, Ordering::Relaxed);
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
