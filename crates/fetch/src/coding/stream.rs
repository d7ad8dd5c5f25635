//! What does a body say that is too long to be decoded in memory?
//!
//! The same as when it is decoded whole, read as a stream: a few windows and buffers are in memory,
//! whatever the length. Whether a coding that was announced was applied is decided on the first
//! bytes, which are decoded twice. After that a broken stream ends where it breaks, as a truncated
//! page does, while a failure of the source itself stays one.

use super::{Brotli, Coding, ZSTD_WINDOW_LOG, codings, has_zlib_header};
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a stream decides whether its coding was applied.
const PREFIX: usize = 64 << 10;

/// Buffers between two codings.
const BUFFER: usize = 32 << 10;

/// A stream with some of its codings removed.
type Layer = Box<dyn BufRead + Send>;

/// What decodes a stream: `deflate` may be either of two.
#[derive(Clone, Copy)]
enum Format {
    Gzip,
    Zlib,
    Deflate,
    Brotli,
    Zstd,
}

/// Removes the codings of a `Content-Encoding` from a body while it is read. Fails if the body was
/// coded as announced and its very beginning is broken, or if it cannot be read.
pub fn decode_stream(body: impl Read + Send + 'static, encodings: &str) -> io::Result<Box<dyn Read + Send>> {
    let codings = codings(encodings).unwrap_or_default();
    let failed = Arc::new(AtomicBool::new(false));
    let source = Source { inner: body, failed: Arc::clone(&failed) };
    let mut layer: Layer = Box::new(BufReader::with_capacity(BUFFER, source));
    for coding in codings.into_iter().rev() {
        layer = coding.peel(layer, &failed)?;
    }
    Ok(Box::new(layer))
}

/// The body as it is stored; remembers that it could not be read.
struct Source<R> {
    inner: R,
    failed: Arc<AtomicBool>,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out).inspect_err(|e| {
            if e.kind() != io::ErrorKind::Interrupted {
                self.failed.store(true, Ordering::Relaxed);
            }
        })
    }
}

/// A decoder whose stream ends where it breaks.
struct Lenient {
    decoder: Box<dyn Read + Send>,
    failed: Arc<AtomicBool>,
    is_over: bool,
}

impl Read for Lenient {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.is_over {
            return Ok(0);
        }
        self.decoder.read(out).or_else(|e| {
            self.is_over = true;
            // What could be decoded was decoded, unless the bytes themselves are missing.
            if self.failed.load(Ordering::Relaxed) { Err(e) } else { Ok(0) }
        })
    }
}

impl Coding {
    /// Removes this coding, if it was applied.
    fn peel(self, mut layer: Layer, failed: &Arc<AtomicBool>) -> io::Result<Layer> {
        let mut prefix = Vec::new();
        (&mut layer).take(PREFIX as u64).read_to_end(&mut prefix)?;
        let is_whole = prefix.len() < PREFIX;
        let format = if prefix.is_empty() { None } else { self.format_of(&prefix, is_whole)? };
        let whole = Cursor::new(prefix).chain(layer);
        let Some(format) = format else { return Ok(Box::new(whole)) };
        let lenient = Lenient { decoder: format.open(whole)?, failed: Arc::clone(failed), is_over: false };
        Ok(Box::new(BufReader::with_capacity(BUFFER, lenient)))
    }

    /// The format of a stream that begins with these bytes; `None` if the coding was announced and
    /// never applied, as many servers do.
    fn format_of(self, prefix: &[u8], is_whole: bool) -> io::Result<Option<Format>> {
        let formats: &[Format] = match self {
            Self::Gzip => &[Format::Gzip],
            Self::Deflate if has_zlib_header(prefix) => &[Format::Zlib, Format::Deflate],
            Self::Deflate => &[Format::Deflate],
            Self::Brotli => &[Format::Brotli],
            Self::Zstd => &[Format::Zstd],
        };
        let mut why = io::Error::from(io::ErrorKind::InvalidData);
        for format in formats {
            match format.begins(prefix, is_whole) {
                Ok(()) => return Ok(Some(*format)),
                Err(e) => why = e,
            }
        }
        match self.looks_right(prefix) {
            true => Err(io::Error::new(why.kind(), format!("{self:?} stream: {why}"))),
            false => Ok(None),
        }
    }
}

impl Format {
    /// Whether a stream of this format may begin with these bytes: they yield a byte, or all of
    /// them are understood and more is to come.
    fn begins(self, prefix: &[u8], is_whole: bool) -> io::Result<()> {
        let left = Arc::new(AtomicBool::new(false));
        let spied = Spied { inner: Cursor::new(prefix.to_vec()), is_drained: Arc::clone(&left) };
        match self.open(spied)?.read(&mut [0]) {
            Ok(_) => Ok(()),
            Err(_) if !is_whole && left.load(Ordering::Relaxed) => Ok(()),
            Err(e) => Err(e),
        }
    }

    fn open(self, input: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(input)),
            Self::Zlib => Box::new(ZlibDecoder::new(input)),
            Self::Deflate => Box::new(DeflateDecoder::new(input)),
            Self::Brotli => Box::new(Brotli::new(input, 8 * 1024)),
            Self::Zstd => {
                let mut reader = zstd::stream::read::Decoder::with_buffer(input)?;
                reader.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(reader)
            }
        })
    }
}

/// Bytes that tell whether all of them were taken.
struct Spied {
    inner: Cursor<Vec<u8>>,
    is_drained: Arc<AtomicBool>,
}

impl Read for Spied {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        self.note();
        Ok(n)
    }
}

impl BufRead for Spied {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.inner.consume(n);
        self.note();
    }
}

impl Spied {
    fn note(&self) {
        let is_drained = self.inner.position() >= self.inner.get_ref().len() as u64;
        self.is_drained.store(is_drained, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::super::tests::{br, gz, raw, zlib, zst};
    use super::*;
    use orb_page::Body;
    use proptest::prelude::*;

    fn streamed(bytes: &[u8], encodings: &str) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        decode_stream(Cursor::new(bytes.to_vec()), encodings)?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn whole(bytes: &[u8], encodings: &str) -> Vec<u8> {
        decode(&Body::Memory(bytes.to_vec().into()), encodings, u64::MAX).bytes.to_vec()
    }

    /// More than the prefix, whatever the coding.
    fn noise() -> Vec<u8> {
        (0..60_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n % 31).to_be_bytes()).collect()
    }

    #[test]
    fn a_stream_says_what_the_whole_body_says() {
        let (text, noise) = (b"the quick brown fox ".repeat(9_000), noise());
        for text in [&text[..], &noise, b"short", b""] {
            for (bytes, name) in [
                (gz(text), "gzip"),
                ([gz(text), gz(text)].concat(), "x-gzip"),
                ([&gz(text)[..], b"\0\0\0garbage"].concat(), "gzip"),
                (zlib(text), "deflate"),
                (raw(text), "deflate"),
                (br(text), "br"),
                (zst(text), "zstd"),
                (zst(&br(&gz(text))), "gzip,br , zstd"),
                (text.to_vec(), "gzip"),
                (text.to_vec(), "deflate"),
                (text.to_vec(), "br"),
                (text.to_vec(), "zstd"),
                (text.to_vec(), "exi"),
                (text.to_vec(), ""),
            ] {
                if text.is_empty() && bytes.ends_with(b"garbage") {
                    continue; // Nothing was decoded, so there is nothing to tell it by.
                }
                let streamed = streamed(&bytes, name).unwrap();
                assert!(streamed == whole(&bytes, name), "{name}, {} bytes", text.len());
            }
        }
    }

    #[test]
    fn a_broken_stream_gives_what_it_had() {
        let noise = noise();
        for (bytes, name) in
            [(gz(&noise), "gzip"), (zlib(&noise), "deflate"), (br(&noise), "br"), (zst(&noise), "zstd")]
        {
            let got = streamed(&bytes[..bytes.len() / 2], name).unwrap();
            assert!(!got.is_empty() && noise.starts_with(&got), "{name}: {} bytes", got.len());
        }
        assert!(streamed(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff\xff", "gzip").is_err());
    }

    #[test]
    fn a_source_that_fails_is_no_end() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        for (bytes, name) in [(gz(&noise()), "gzip"), (br(&noise()), "br"), (zst(&noise()), "zstd"), (noise(), "")] {
            let half = Cursor::new(bytes[..bytes.len() / 2].to_vec()).chain(Failing);
            let read = decode_stream(half, name).unwrap().read_to_end(&mut Vec::new());
            assert!(read.is_err(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_a_stream(data: Vec<u8>, cut in 0_usize..200) {
            for name in ["gzip", "deflate", "br", "zstd", "gzip, br"] {
                let _ = streamed(&data, name);
                let mut spoilt = gz(&data);
                spoilt.truncate(spoilt.len().saturating_sub(cut));
                let _ = streamed(&spoilt, name);
            }
        }
    }
}
