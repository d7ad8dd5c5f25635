//! What do the bytes travel on?
//!
//! A socket whose reads are metered, under TLS or not. The meter sits below everything else, so that one bandwidth
//! holds for all protocols and counts what the line carries.

use crate::Bucket;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_rustls::client::TlsStream;

/// A socket that reads no faster than the bucket allows.
#[derive(Debug)]
pub(super) struct Metered {
    tcp: TcpStream,
    bucket: Arc<Bucket>,
    /// Bytes reserved, since when, and the wait for them.
    waiting: Option<(usize, Instant, Pin<Box<Sleep>>)>,
    /// How long the meter held us up so far: time the server is not to blame for.
    held: Duration,
}

impl Metered {
    pub(super) const fn new(tcp: TcpStream, bucket: Arc<Bucket>) -> Self {
        Self { tcp, bucket, waiting: None, held: Duration::ZERO }
    }

    fn poll_metered(&mut self, rate: u64, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // A place is taken only when there is something to read.
        ready!(self.tcp.poll_read_ready(cx))?;
        let (quantum, since, mut sleep) = match self.waiting.take() {
            Some(waiting) => waiting,
            None => {
                let (quantum, now) = (Bucket::quantum(rate).min(buf.remaining().max(1)), Instant::now());
                (quantum, now, Box::pin(sleep_until(self.bucket.reserve(quantum, now))))
            }
        };
        if sleep.as_mut().poll(cx).is_pending() {
            self.waiting = Some((quantum, since, sleep));
            return Poll::Pending;
        }
        self.held += since.elapsed();
        let most = quantum.min(buf.remaining());
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(most));
        let result = Pin::new(&mut self.tcp).poll_read(cx, &mut part);
        let read = part.filled().len();
        buf.advance(read);
        self.bucket.refund(quantum - read);
        result
    }
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.bucket.rate() {
            None => Pin::new(&mut self.tcp).poll_read(cx, buf),
            Some(rate) => self.poll_metered(rate, cx, buf),
        }
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

/// A connection to a server, in the clear or under TLS.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(Metered),
    Tls(Box<TlsStream<Metered>>),
}

impl Stream {
    fn metered(&self) -> &Metered {
        match self {
            Self::Plain(metered) => metered,
            Self::Tls(tls) => tls.get_ref().0,
        }
    }

    /// How long the bandwidth limit has held this connection up, the present wait included.
    pub(super) fn held(&self) -> Duration {
        let metered = self.metered();
        metered.held + metered.waiting.as_ref().map_or(Duration::ZERO, |(_, since, _)| since.elapsed())
    }

    /// Makes the socket end at once, on both sides, when it is dropped: nothing lingers in any table on the way.
    pub(super) fn end_abruptly(&self) {
        // Where it fails the socket is gone already.
        let _ = self.metered().tcp.set_zero_linger();
    }

    /// Whether an unused connection is still as it was left: open, and nothing said unasked.
    pub(super) fn is_quiet(&mut self) -> bool {
        let (mut byte, mut cx) = ([0], Context::from_waker(Waker::noop()));
        Pin::new(self).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(plain) => Pin::new(plain).poll_read(cx, buf),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(plain) => Pin::new(plain).poll_write(cx, buf),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(plain) => Pin::new(plain).poll_flush(cx),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(plain) => Pin::new(plain).poll_shutdown(cx),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_shutdown(cx),
        }
    }
}
