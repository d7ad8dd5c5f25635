//! What do the bytes of HTTP travel on?
//!
//! A metered socket of the line, under TLS or not.

use crate::line::{Metered, ThrottledTime};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, BufReader, ReadBuf};
use tokio_rustls::client::TlsStream;

/// A connection to a server, in plain text or under TLS.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(Metered),
    Tls(Box<TlsStream<BufReader<Metered>>>),
}

impl Stream {
    fn metered(&self) -> &Metered {
        match self {
            Self::Plain(metered) => metered,
            Self::Tls(tls) => tls.get_ref().0.get_ref(),
        }
    }

    fn metered_mut(&mut self) -> &mut Metered {
        match self {
            Self::Plain(metered) => metered,
            Self::Tls(tls) => tls.get_mut().0.get_mut(),
        }
    }

    /// From now on reads wait for their turn.
    pub(super) fn join_line(&mut self) {
        self.metered_mut().join_line();
    }

    /// How long the bandwidth limit has delayed this connection, including the current wait.
    pub(super) fn held(&self) -> Duration {
        self.metered().held()
    }

    /// The same, for callers that will not have the connection itself.
    pub(super) fn hold(&self) -> Arc<ThrottledTime> {
        self.metered().hold()
    }

    /// Makes the socket reset when dropped (zero linger), so that no state lingers in any table on
    /// the way.
    pub(super) fn end_abruptly(&self) {
        self.metered().end_abruptly();
    }

    /// Whether an idle connection is still usable: open, and without unsolicited data.
    pub(super) fn is_quiet(&mut self) -> bool {
        let (mut byte, mut cx) = ([0], Context::from_waker(Waker::noop()));
        // A full line must not make a dead connection look alive.
        self.metered_mut().leave_line();
        let quiet = Pin::new(&mut *self).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending();
        self.metered_mut().join_line();
        quiet
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
