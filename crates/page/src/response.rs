//! What came over the wire?

use crate::headers::Headers;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::SocketAddr;

/// One response, with the bytes exactly as received.
#[derive(Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// The request as sent: its head including the empty line, and its body. Passwords are
    /// redacted.
    pub request_head: Bytes,
    /// The status line and header fields as received, including the empty line. For HTTP/2 and
    /// later, which have no such bytes, an HTTP/1.1 rendering.
    pub head: Bytes,
    /// The header fields in order, names as received.
    pub headers: Headers,
    /// Everything after the head as received, with transfer coding (chunked framing) and content
    /// coding intact.
    pub wire: Body,
    /// The body without its transfer coding but with its content coding; shares its bytes with
    /// `wire` if there is no transfer coding.
    pub body: Body,
    /// Why the body is incomplete, if it is.
    pub truncated: Option<Truncation>,
    /// Whether the connection carried more bytes than belong to the response.
    pub excess: bool,
    /// Whether the server asked for authentication that a retry would provide.
    pub challenged: bool,
    /// The peer's address; `None` if a proxy hides it.
    pub peer: Option<SocketAddr>,
    /// `http/1.1`, `h2`, …
    pub protocol: &'static str,
}

/// Why a body is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// Larger than the limit, by its headers or while streaming.
    Length,
    /// Its media type is not wanted; decided from the headers.
    Unwanted,
    /// It took too long or arrived too slowly.
    Time,
    /// The connection ended before the announced length, or the framing broke.
    Disconnect,
}

/// Bytes in memory, or in an unnamed temporary file if there are many.
#[derive(Debug)]
pub enum Body {
    /// In memory.
    Memory(Bytes),
    /// In an unnamed temporary file, deleted on drop.
    Spooled {
        /// The file.
        file: File,
        /// Its length in bytes.
        len: u64,
    },
}

impl Body {
    /// An empty body.
    pub const fn empty() -> Self {
        Self::Memory(Bytes::new())
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(b) => b.len() as u64,
            Self::Spooled { len, .. } => *len,
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shares the same bytes without copying.
    pub fn share(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Memory(b) => Self::Memory(b.clone()),
            Self::Spooled { file, len } => Self::Spooled { file: file.try_clone()?, len: *len },
        })
    }

    /// Reads up to `cap` bytes into memory.
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

    /// A reader from the beginning. Concurrent readers of one spooled body share a file offset and
    /// would disturb each other.
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
