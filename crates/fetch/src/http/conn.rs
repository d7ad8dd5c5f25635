//! What is one HTTP/1.1 connection, and how does it end?
//!
//! Politely where it can: we say goodbye, the server does too, and only then is its place free for another. Abruptly
//! where the server has more to say than we want to hear: a reset ends the connection on both sides at once.

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

/// The bounds of what is reserved for an answer whose length is not yet known.
const ROOM: (usize, usize) = (4 * 1024, 128 * 1024);

/// A connection with its place in the pool.
#[derive(Debug)]
pub(super) struct Conn {
    pub(super) stream: Stream,
    pub(super) timer: Timer,
    /// The server's address; `None` where a proxy hides it.
    pub(super) peer: Option<SocketAddr>,
    /// The address asked for.
    pub(super) addr: Option<IpAddr>,
    /// How large the last answer was: the next is likely to be alike.
    last: usize,
    /// How long it took to open, and so about as long as an answer of the other side's system takes.
    rtt: Duration,
    /// Whether dropping it ends it abruptly.
    abrupt: bool,
    /// Declared last and thereby dropped last: the place is free once the socket is closed.
    pub(super) slot: Slot,
}

impl Conn {
    pub(super) fn new(dialed: Dialed, addr: Option<IpAddr>, slot: Slot) -> Box<Self> {
        let Dialed { stream, peer, rtt, .. } = dialed;
        let (timer, last) = (Timer::default(), 16 * 1024);
        Box::new(Self { stream, timer, peer, addr, last, rtt, abrupt: true, slot })
    }

    /// A buffer as large as the next answer is likely to need.
    pub(super) fn buffer(&self) -> BytesMut {
        BytesMut::with_capacity((self.last + self.last / 8).clamp(ROOM.0, ROOM.1))
    }

    /// Remembers how large an answer was.
    pub(super) const fn remember(&mut self, size: usize) {
        self.last = size;
    }

    /// Reads on into `buf`: how many bytes came, nothing at the end; `None` where the deadline comes first.
    pub(super) async fn read(&mut self, buf: &mut BytesMut, deadline: Instant) -> Option<io::Result<usize>> {
        match self.timer.before(deadline, self.stream.read_buf(buf)).await? {
            // Many servers end TLS without saying so.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Some(Ok(0)),
            result => Some(result),
        }
    }

    /// Ends a connection that has nothing more to say, in the background. Where the other side has ended it already, it counts until our own
    /// goodbye is likely to have been heard.
    pub(super) fn close(mut self) {
        let over = !self.stream.is_quiet();
        let Ok(runtime) = Handle::try_current() else { return };
        let closing = self.slot.closing();
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
