//! What came over the wire?

use crate::headers::Headers;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::SocketAddr;
use std::sync::Arc;

/// One response, with the bytes exactly as received.
#[derive(Debug)]
pub struct Response {
    /// Status code. Protocols other than HTTP answer in its terms: 200 for a document, 304 where it
    /// is as it was before, 404 where it is gone.
    pub status: u16,
    /// What came: an HTTP message, or a resource by another protocol.
    pub kind: ResponseKind,
    /// The header fields in order, names as received. Of a resource, those that HTTP would have
    /// said the same by: `Content-Type`, `Last-Modified`, `ETag`.
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

/// What a response is, and so what the archive records it as.
#[derive(Clone, Debug)]
pub enum ResponseKind {
    /// An HTTP message.
    Http {
        /// The request as sent: its head including the empty line, and its body. Passwords are
        /// redacted.
        request_head: Bytes,
        /// The status line and header fields as received, including the empty line. For HTTP/2 and
        /// later, which have no such bytes, an HTTP/1.1 rendering.
        head: Bytes,
        /// Whether the status line says HTTP/1.0 or HTTP/1.1. Archive tools refuse any other, so
        /// such an answer is archived as plain bytes.
        standard: bool,
    },
    /// A document by a protocol that has no message around it.
    Resource {
        /// What was said to get it, where an archive keeps that.
        conversation: Option<Conversation>,
    },
    /// What a browser has made of an HTTP message: its body is the document as HTML.
    Rendered {
        /// The message.
        original: Arc<Response>,
    },
}

/// What two machines said to each other besides the document, passwords redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its media type, such as `text/x-ftp-control-conversation`.
    pub mime: &'static str,
    /// The lines of both sides, in order.
    pub text: Bytes,
}

impl Response {
    /// A document by another protocol than HTTP.
    pub fn resource(status: u16, mime: &str, body: Body, protocol: &'static str) -> io::Result<Self> {
        Ok(Self {
            status,
            kind: ResponseKind::Resource { conversation: None },
            headers: [("Content-Type", mime)].into_iter().collect(),
            wire: body.share()?,
            body,
            truncated: None,
            excess: false,
            challenged: false,
            peer: None,
            protocol,
        })
    }

    /// What a browser has made of this response.
    pub fn rendered(self, html: String) -> Self {
        let about_bytes = ["content-type", "content-encoding", "content-length", "transfer-encoding"];
        // What scripts make of a page changes without the server's knowing.
        let about_version = ["etag", "last-modified"];
        let is_about =
            |name: &[u8]| about_bytes.iter().chain(&about_version).any(|n| name.eq_ignore_ascii_case(n.as_bytes()));
        let mut headers: Headers = self.headers.iter().filter(|(name, _)| !is_about(name)).collect();
        headers.push(b"Content-Type", Self::RENDERED.as_bytes());
        let body = Bytes::from(html);
        Self {
            status: self.status,
            headers,
            wire: Body::Memory(body.clone()),
            body: Body::Memory(body),
            truncated: None,
            excess: false,
            challenged: false,
            peer: self.peer,
            protocol: self.protocol,
            kind: ResponseKind::Rendered { original: Arc::new(self) },
        }
    }

    /// The media type of a rendered page.
    pub const RENDERED: &'static str = "text/html; charset=utf-8";

    /// The response as it came over the wire.
    pub fn original(&self) -> &Self {
        match &self.kind {
            ResponseKind::Rendered { original } => original,
            _ => self,
        }
    }

    /// The status line and header fields as received; empty for a resource.
    pub fn head(&self) -> &[u8] {
        match &self.kind {
            ResponseKind::Http { head, .. } => head,
            ResponseKind::Resource { .. } | ResponseKind::Rendered { .. } => &[],
        }
    }

    /// The request as sent; empty for a resource.
    pub fn request_head(&self) -> &[u8] {
        match &self.kind {
            ResponseKind::Http { request_head, .. } => request_head,
            ResponseKind::Resource { .. } | ResponseKind::Rendered { .. } => &[],
        }
    }
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
