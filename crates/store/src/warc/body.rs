//! How is an archived body streamed in bounded memory?
//!
//! A record is decompressed as it is read, and its chunked framing is removed on the fly, as
//! leniently as when a record is read whole: what cannot be parsed as chunks is returned as it is,
//! and broken chunks as far as they go.

use super::header::WarcType;
use super::http::{self, chunk_size};
use super::scan::{bad, read_fields, read_head};
use super::stored::ArchiveReader;
use crate::error::Result;
use flate2::bufread::GzDecoder;
use orb_page::{Headers, WarcPosition};
use std::io::{self, BufRead, BufReader, Read, Take};

/// A line that gives the size of a chunk is never longer.
const LINE: u64 = 1 << 20;

/// A record's content, decompressed as it is read.
type PayloadReader = Take<BufReader<GzDecoder<Box<dyn BufRead + Send>>>>;

/// The body of an archived answer, read as a stream. The content coding is still on.
pub struct StoredBody {
    /// The fields of the answer's head.
    pub headers: Headers,
    framing: PayloadFraming<PayloadReader>,
}

enum PayloadFraming<R> {
    Plain(R),
    Chunked(Dechunked<R>),
}

impl ArchiveReader {
    /// The body at this place, as a stream.
    pub fn body(&self, at: &WarcPosition) -> Result<StoredBody> {
        opened(BufReader::with_capacity(32 << 10, self.member(at)?)).map_err(|e| self.damaged(at, &e))
    }
}

fn opened(mut input: BufReader<GzDecoder<Box<dyn BufRead + Send>>>) -> io::Result<StoredBody> {
    let fields = read_fields(&mut input)?;
    let field = |name: &str| fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str());
    let length = field("Content-Length").and_then(|v| v.parse().ok()).ok_or_else(|| bad("it has no length"))?;
    let mut payload = input.take(length);
    let head = if WarcType::of(&fields).is_http() { read_head(&mut payload)? } else { Vec::new() };
    let headers = http::headers(&head);
    let framing = match http::is_chunked(&headers) {
        true => PayloadFraming::Chunked(Dechunked { inner: payload, at: At::Size { first: true } }),
        false => PayloadFraming::Plain(payload),
    };
    Ok(StoredBody { headers, framing })
}

impl Read for StoredBody {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let payload = match &mut self.framing {
            PayloadFraming::Plain(payload) => payload,
            PayloadFraming::Chunked(chunks) => return chunks.read(out),
        };
        match payload.read(out)? {
            0 if !out.is_empty() && payload.limit() > 0 => Err(bad("it is shorter than it says")),
            n => Ok(n),
        }
    }
}

/// Takes the framing off chunks as they are read.
struct Dechunked<R> {
    inner: R,
    at: At,
}

/// Where in the framing we are.
enum At {
    /// Before the line with a chunk's size.
    Size { first: bool },
    /// Inside a chunk, with this many bytes left.
    Chunk(usize),
    /// Behind a chunk, before its line end.
    Gap,
    /// It is not chunked at all: what was read to find out, and how much of that was given.
    AsIs(Vec<u8>, usize),
    /// At the end.
    End,
}

impl<R: BufRead> Read for Dechunked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            self.at = match &mut self.at {
                At::Size { first } => {
                    let mut line = Vec::new();
                    (&mut self.inner).take(LINE).read_until(b'\n', &mut line)?;
                    match chunk_size(&line) {
                        Some((0, _)) => At::End,
                        Some((size, _)) => At::Chunk(size),
                        None if *first => At::AsIs(line, 0),
                        None => At::End,
                    }
                }
                At::Chunk(0) => At::Gap,
                At::Chunk(left) => {
                    let most = out.len().min(*left);
                    let n = self.inner.read(&mut out[..most])?;
                    *left -= n;
                    if n > 0 || most == 0 {
                        return Ok(n);
                    }
                    At::End
                }
                At::Gap => self.gap()?,
                At::AsIs(line, given) => {
                    let n = (&line[*given..]).read(out)?;
                    *given += n;
                    return if n > 0 { Ok(n) } else { self.inner.read(out) };
                }
                At::End => return Ok(0),
            };
        }
    }
}

impl<R: BufRead> Dechunked<R> {
    /// Skips the line end behind a chunk; without one, the chunks are broken and end here.
    fn gap(&mut self) -> io::Result<At> {
        loop {
            let next = self.inner.fill_buf()?.first().copied();
            match next {
                Some(b'\r') => self.inner.consume(1),
                Some(b'\n') => {
                    self.inner.consume(1);
                    return Ok(At::Size { first: false });
                }
                _ => return Ok(At::End),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn streamed(wire: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        // A small buffer, so that chunks and lines lie across its ends.
        let inner = BufReader::with_capacity(3, wire);
        Dechunked { inner, at: At::Size { first: true } }.read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn chunks_are_joined_as_when_they_are_read_whole() {
        for wire in [
            &b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"[..],
            b"3\r\nabc\r\n5\r\nde",
            b"no chunks at all\nreally",
            b"no line end",
            b"3 anything\r\nabc\r\r\n0\r\n\r\n",
            b"3\r\nabcde",
            b"",
            b"0\r\n\r\n",
        ] {
            assert_eq!(streamed(wire), http::dechunk(wire), "{}", String::from_utf8_lossy(wire));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_dechunked_alike(wire in "([0-9a-f]{1,2}(\r\n|\n|;x\r\n)[a-f]{0,9}(\r\n)?){0,4}(0\r\n\r\n)?") {
            prop_assert_eq!(streamed(wire.as_bytes()), http::dechunk(wire.as_bytes()));
        }
    }
}
