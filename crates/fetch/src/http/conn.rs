//! What is one HTTP/1.1 connection, and how does it end?
//!
//! Gracefully if possible: both sides shut down, and only then is its slot free. Abruptly (RST) if
//! the server has more to send than we want: a reset ends the connection on both sides at once.

use super::connect::Dialed;
use super::pool::Slot;
use super::stream::Stream;
use crate::intake::Timer;
use crate::line::{GOODBYE, say_goodbye};
use bytes::BytesMut;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

/// Minimum and maximum buffer for a response of unknown length.
const ROOM: (usize, usize) = (4 * 1024, 128 * 1024);

/// A connection with its slot in the pool.
#[derive(Debug)]
pub(super) struct Conn {
    pub(super) stream: Stream,
    pub(super) timer: Timer,
    /// The server's address; `None` if a proxy hides it.
    pub(super) peer: Option<SocketAddr>,
    /// The requested address.
    pub(super) addr: Option<IpAddr>,
    /// Size of the last response: the next is likely to be similar.
    last: usize,
    /// Time to connect, an estimate of the round-trip time.
    rtt: Duration,
    /// Whether dropping it resets the connection.
    abrupt: bool,
    /// Declared last, so it is dropped last: the slot is free once the socket is closed.
    pub(super) slot: Slot,
}

impl Conn {
    pub(super) fn new(dialed: Dialed, addr: Option<IpAddr>, mut slot: Slot) -> Box<Self> {
        slot.speaks_http1();
        let Dialed { stream, peer, rtt, .. } = dialed;
        let (timer, last) = (Timer::default(), 16 * 1024);
        Box::new(Self { stream, timer, peer, addr, last, rtt, abrupt: true, slot })
    }

    /// A buffer for the expected size of the next response.
    pub(super) fn buffer(&self) -> BytesMut {
        BytesMut::with_capacity((self.last + self.last / 8).clamp(ROOM.0, ROOM.1))
    }

    /// Records the size of a response.
    pub(super) const fn remember(&mut self, size: usize) {
        self.last = size;
    }

    /// Reads into `buf`: the number of bytes, 0 at the end; `None` on timeout.
    pub(super) async fn read(&mut self, buf: &mut BytesMut, deadline: Instant) -> Option<io::Result<usize>> {
        match self.timer.before(deadline, self.stream.read_buf(buf)).await? {
            // Many servers close TLS without close_notify.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Some(Ok(0)),
            result => Some(result),
        }
    }

    /// Closes a connection in the background. If the peer has closed it already, it counts until
    /// our own FIN has probably arrived.
    pub(super) fn close(mut self) {
        let over = !self.stream.is_quiet();
        let Ok(runtime) = Handle::try_current() else { return };
        let closing = self.slot.permit.closing();
        runtime.spawn(async move {
            let goodbye = timeout(GOODBYE, async {
                if over {
                    self.stream.shutdown().await?;
                    sleep(self.rtt).await;
                    return Ok(());
                }
                say_goodbye(&mut self.stream).await
            });
            let goodbye = goodbye.await;
            self.abrupt = !matches!(goodbye, Ok(Ok(())));
            drop(closing);
            drop(self);
        });
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        if self.abrupt {
            self.stream.end_abruptly();
        }
    }
}
