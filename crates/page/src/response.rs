//! What came over the wire?

use crate::headers::Headers;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::SocketAddr;

/// One answer, with the bytes exactly as they came.
#[derive(Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// The request as sent: its head up to and with the empty line, and what was sent along. Passwords are left out.
    pub request_head: Bytes,
    /// The status line and header fields as received, up to and with the empty line. For HTTP/2 and later, which has no such
    /// bytes, an HTTP/1.1 rendering of what was received.
    pub head: Bytes,
    /// The header fields in order, names as received.
    pub headers: Headers,
    /// Everything after the head as received: transfer coding (chunk framing) and content coding still on.
    pub wire: Body,
    /// The body with the transfer coding taken off and the content coding still on; shares its bytes with `wire` where there is no
    /// transfer coding.
    pub body: Body,
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncation>,
    /// Whether more came on the connection than belongs to the answer.
    pub excess: bool,
    /// Whether the server wants to know who asks, and would be told another time.
    pub challenged: bool,
    /// The address that answered; `None` where a proxy hides it.
    pub peer: Option<SocketAddr>,
    /// `http/1.1`, `h2`, …
    pub protocol: &'static str,
}

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// Larger than the limit, by its headers or while streaming.
    Length,
    /// Its media type is not wanted; decided from the headers.
    Unwanted,
    /// It took too long or came too slowly.
    Time,
    /// The connection ended before the announced length, or the framing broke.
    Disconnect,
}

/// Bytes in memory, or in an unnamed temporary file when there are many.
#[derive(Debug)]
pub enum Body {
    /// In memory.
    Memory(Bytes),
    /// In a temporary file without a name, gone when dropped.
    Spooled {
        /// The file.
        file: File,
        /// How many bytes it holds.
        len: u64,
    },
}

impl Body {
    /// A body with nothing in it.
    pub const fn empty() -> Self {
        Self::Memory(Bytes::new())
    }

    /// How many bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(b) => b.len() as u64,
            Self::Spooled { len, .. } => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same bytes once more, without copying them.
    pub fn share(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Memory(b) => Self::Memory(b.clone()),
            Self::Spooled { file, len } => Self::Spooled { file: file.try_clone()?, len: *len },
        })
    }

    /// All of it in memory, up to `cap` bytes.
    pub fn read(&self, cap: u64) -> io::Result<Bytes> {
        match self {
            Self::Memory(b) => Ok(b.slice(..b.len().min(usize::try_from(cap).unwrap_or(usize::MAX)))),
            Self::Spooled { .. } => {
                let mut out = Vec::new();
                self.reader()?.take(cap).read_to_end(&mut out)?;
                Ok(out.into())
            }
        }
    }

    /// A reader from the beginning. Two readers of one spooled body at once would disturb each other.
    pub fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Memory(b) => Box::new(io::Cursor::new(b.clone())),
            Self::Spooled { file, len } => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file.take(*len))
            }
        })
    }
}
