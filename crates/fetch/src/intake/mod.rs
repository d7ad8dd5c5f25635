//! How is a body taken in, whatever protocol it comes by?
//!
//! With four clocks running ([`ExchangeTimers`]), no further than the size limit, and into a file
//! where it is large ([`Spool`]). [`receive`] does all of it for a protocol whose bodies end with
//! the connection.

mod clock;
mod spool;
mod timer;

pub(crate) use clock::ExchangeTimers;
pub(crate) use spool::{Contents, Spool, SpoolRule};
pub(crate) use timer::Timer;

use crate::lines::LineStream;
use crate::{FetchConfig, Socket, Watch};
use bytes::BytesMut;
use orb_page::{Body, Failure, FailureKind, Truncation};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

/// How much is read at a time.
const STEP: u64 = 16 * 1024;

/// A body taken in.
#[derive(Debug)]
pub struct Received {
    /// The bytes that came.
    pub body: Body,
    /// Why they are not all, if they are not. The socket is then of no further use.
    pub truncated: Option<Truncation>,
}

/// Something that a body is read from, under the bandwidth of the line.
pub(crate) trait Paced: AsyncRead + Unpin {
    /// How long the bandwidth limit has delayed it.
    fn held(&self) -> Duration;
}

impl Paced for Socket {
    fn held(&self) -> Duration {
        Socket::held(self)
    }
}

impl Paced for LineStream {
    fn held(&self) -> Duration {
        LineStream::held(self)
    }
}

/// Reads what comes on a socket until its end, or until the limits of size, time and speed cut it
/// off. Fails where nothing came at all in time.
pub async fn receive(socket: &mut Socket, config: &FetchConfig, watch: &dyn Watch) -> Result<Received, Failure> {
    receive_from(socket, config, config.max_size, watch).await
}

/// The same for whatever carries the bytes, at most this many.
pub(crate) async fn receive_from<S: Paced>(
    socket: &mut S,
    config: &FetchConfig,
    most: u64,
    watch: &dyn Watch,
) -> Result<Received, Failure> {
    let mut clock = ExchangeTimers::new(config, socket.held());
    let rule = SpoolRule { over: config.spool_over, dir: &config.spool_dir };
    let (mut spool, mut timer, mut begun) = (Spool::new(rule, BytesMut::new(), 0), Timer::default(), false);
    let truncated = loop {
        if spool.len() > most {
            spool.cut(most);
            break Some(Truncation::Length);
        }
        if spool.is_due(0) {
            spool.spill().await?;
        }
        spool.reserve(STEP);
        let held = socket.held();
        let deadline = if begun { clock.body_deadline(held) } else { clock.head_deadline(held) };
        let read = match timer.before(deadline, socket.read_buf(&mut spool.buf)).await {
            Some(Ok(0)) => break None,
            Some(Ok(read)) => read,
            Some(Err(_)) if begun => break Some(Truncation::Disconnect),
            Some(Err(error)) => {
                let line = format!("the connection ended without an answer: {error}");
                return Err(Failure::new(FailureKind::Protocol, line));
            }
            None => 0,
        };
        if read > 0 {
            watch.received(read);
        }
        if !begun && read > 0 {
            clock.body_begins();
            begun = true;
        } else if !begun && Instant::now() >= clock.head_deadline(socket.held()) {
            return Err(clock.head_failure());
        }
        if begun && let Some(late) = clock.tick(read, socket.held()) {
            break Some(late);
        }
    };
    let (_, body) = spool.finish().await?;
    Ok(Received { body, truncated })
}
