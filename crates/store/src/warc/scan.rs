//! Which records does a file contain?
//!
//! Reads an archive file from its beginning, one gzip member at a time, in bounded memory; damage
//! ends the scan with a message that says where.

use super::encoder::IndexLine;
use super::header::WarcType;
use super::http;
use crate::error::{Result, StoreError};
use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A longer head is damage.
const HEAD: u64 = 1 << 20;

/// Scans the records of one file.
pub(crate) struct Scan {
    path: PathBuf,
    input: Counted,
    end: u64,
    cap: usize,
}

/// A scanned record.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) fields: Vec<(String, String)>,
    /// The head of the response or request, if it is one.
    pub(crate) head: Vec<u8>,
    /// sha256 of the payload as stored.
    pub(crate) digest: [u8; 32],
    /// The payload's first bytes, up to the given cap.
    pub(crate) payload: Vec<u8>,
    /// The payload's total length.
    pub(crate) payload_length: u64,
}

impl Scanned {
    /// A field of the record's header.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// What it holds.
    pub(crate) fn kind(&self) -> WarcType {
        WarcType::of(&self.fields)
    }

    /// Whether it has a line in the CDXJ file.
    pub(crate) fn is_indexed(&self) -> bool {
        matches!(self.kind(), WarcType::Response | WarcType::Revisit | WarcType::Resource)
    }

    /// Its line in the CDXJ file.
    pub(crate) fn line(&self, file: &str, key: impl Fn(&str) -> String) -> Option<Vec<u8>> {
        let url = self.field("WARC-Target-URI")?;
        let at: String = self.field("WARC-Date")?.chars().filter(char::is_ascii_digit).take(14).collect();
        let (status, mime) = http::summary(&self.head);
        let (status, mime) = match self.kind() {
            WarcType::Response => (Some(status), mime),
            WarcType::Revisit => (Some(status), Some("warc/revisit".to_owned())),
            _ => (None, self.field("Content-Type").map(str::to_owned)),
        };
        let known = [mime.as_deref(), status.as_deref(), self.field("WARC-Payload-Digest")];
        let line = IndexLine::new(&key(url), &at, url, known);
        let mut out = Vec::new();
        line.write_at(&mut out, self.length, self.offset, file);
        out.pop();
        Some(out)
    }
}

impl Scan {
    /// Starts at the beginning of a file; at most `cap` bytes of each payload are kept.
    pub(crate) fn open(path: &Path, cap: usize) -> Result<Self> {
        let file = File::open(path).map_err(|e| StoreError::io("open", path, e))?;
        let end = file.metadata().map_err(|e| StoreError::io("read the length of", path, e))?.len();
        Ok(Self {
            path: path.to_owned(),
            input: Counted { inner: BufReader::with_capacity(256 << 10, file), at: 0 },
            end,
            cap,
        })
    }

    /// Offset of the next record.
    pub(crate) fn position(&self) -> u64 {
        self.input.at
    }

    /// The next record, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Scanned>> {
        let offset = self.input.at;
        if offset >= self.end {
            return Ok(None);
        }
        let mut record = read_record(GzDecoder::new(&mut self.input), self.cap)
            .map_err(|e| StoreError::damaged(&self.path, format!("the record at byte {offset}: {e}")))?;
        record.offset = offset;
        record.length = self.input.at - offset;
        Ok(Some(record))
    }
}

/// Reads one record to the end of its member, keeping at most `cap` bytes of its payload.
pub(super) fn read_record(input: impl Read, cap: usize) -> io::Result<Scanned> {
    let mut input = BufReader::with_capacity(32 << 10, input);
    let fields = read_fields(&mut input)?;
    let mut record = Scanned { fields, ..Scanned::default() };
    let length = record.field("Content-Length").and_then(|v| v.parse().ok()).ok_or_else(|| bad("it has no length"))?;
    let mut block = (&mut input).take(length);
    if record.kind().is_http() {
        record.head = read_head(&mut block)?;
    }
    let mut hash = Sha256::new();
    loop {
        let buffer = block.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        hash.update(buffer);
        let room = cap.saturating_sub(record.payload.len()).min(buffer.len());
        record.payload.extend_from_slice(&buffer[..room]);
        record.payload_length += buffer.len() as u64;
        let n = buffer.len();
        block.consume(n);
    }
    if block.limit() > 0 {
        return Err(bad("it is shorter than it says"));
    }
    record.digest = hash.finalize().into();
    let mut rest = Vec::new();
    input.take(5).read_to_end(&mut rest)?;
    if rest != b"\r\n\r\n" {
        return Err(bad("it does not end where it should"));
    }
    Ok(record)
}

pub(super) fn read_fields(input: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut input = input.take(HEAD);
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| -> io::Result<bool> {
        line.clear();
        input.read_until(b'\n', line)?;
        Ok(line.ends_with(b"\n"))
    };
    if !next(&mut line)? || !line.starts_with(b"WARC/1.") {
        return Err(bad("it does not begin with WARC/1"));
    }
    let mut fields = Vec::new();
    loop {
        if !next(&mut line)? {
            return Err(bad("its head does not end"));
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(fields);
        }
        if let Some(colon) = memchr::memchr(b':', text) {
            let part = |b: &[u8]| String::from_utf8_lossy(b.trim_ascii()).into_owned();
            fields.push((part(&text[..colon]), part(&text[colon + 1..])));
        }
    }
}

/// The head of an HTTP message including its empty line, or everything if it has none. A line of
/// spaces is not empty: the fetcher continues there, and what is read back must be what was
/// received.
pub(super) fn read_head(block: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut block = block.take(HEAD);
    loop {
        let from = head.len();
        if block.read_until(b'\n', &mut head)? == 0 || matches!(&head[from..], b"\n" | b"\r\n") {
            return Ok(head);
        }
    }
}

pub(super) fn bad(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Counts the bytes taken from a buffered file.
struct Counted {
    inner: BufReader<File>,
    at: u64,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.at += n as u64;
        self.inner.consume(n);
    }
}
