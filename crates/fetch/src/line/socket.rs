//! What does a protocol read from and write to?
//!
//! A [`Socket`] is a TCP connection whose address has passed the guard, which counts under the
//! connection caps until it is really closed, and whose reads keep to the bandwidth.

use super::{Metered, OpenedConnection, Permit};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a server may take to close its side.
pub(crate) const GOODBYE: Duration = Duration::from_secs(2);
/// How much it may still send in doing so.
const LAST_WORDS: usize = 64 * 1024;

/// A connection opened by [`Line::connect`](super::Line::connect). Dropping it resets the
/// connection; [`close`](Self::close) ends it in order.
#[derive(Debug)]
pub struct Socket {
    metered: Metered,
    peer: Option<SocketAddr>,
    abrupt: bool,
    /// Declared last and therefore dropped last: it is given back once the socket is closed. Where
    /// a session opens one connection after another under one permit, it is shared with it.
    permit: Arc<Permit>,
}

impl Socket {
    pub(crate) fn new(opened: OpenedConnection, permit: impl Into<Arc<Permit>>) -> Self {
        let OpenedConnection { mut metered, peer, .. } = opened;
        metered.join_line();
        Self { metered, peer, abrupt: true, permit: permit.into() }
    }

    /// The server's address; `None` where a proxy hides it.
    pub const fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// How long the bandwidth limit has delayed this connection, which is not the server's fault.
    pub fn held(&self) -> Duration {
        self.metered.held()
    }

    /// Closes the connection in order, in the background. It counts until both sides have closed.
    pub fn close(mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let closing = self.permit.closing();
        runtime.spawn(async move {
            self.abrupt = !matches!(timeout(GOODBYE, say_goodbye(&mut self)).await, Ok(Ok(())));
            drop(closing);
            drop(self);
        });
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.abrupt {
            self.metered.end_abruptly();
        }
    }
}

/// Closes our side, and reads what the other side still sends until it closes its own.
pub(crate) async fn say_goodbye(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<()> {
    stream.shutdown().await?;
    let (mut rest, mut heard) = ([0; 1024], 0);
    loop {
        match stream.read(&mut rest).await? {
            0 => return Ok(()),
            n => heard += n,
        }
        if heard > LAST_WORDS {
            return Err(io::Error::other("does not stop talking"));
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.metered).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.metered).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.metered).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.metered).poll_shutdown(cx)
    }
}
