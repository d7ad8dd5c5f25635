//! How does an exchange become records?
//!
//! This runs in the threads that extract, so that the recorder only copies finished bytes. Bodies
//! in memory are compressed in one shot (at level 1 by [`Deflater`], above by libdeflate), spooled
//! ones are streamed through zlib-rs into another unnamed file. Data that is already compressed (a
//! gzip body, an image) is recognised by its bytes and stored: compressing it again gains nothing
//! and costs most.

use super::deflate::Deflater;
use super::density;
use super::header::{Header, RecordId, RecordIds, WarcType, push_digest};
use super::http;
use crate::error::{Result, StoreError};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor};
use orb_page::{Body, Conversation, Moment, Truncation};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::net::IpAddr;
use std::path::PathBuf;

/// Larger buffers are freed.
const KEEP: usize = 1 << 20;

/// One request with its response.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The requested URL.
    pub url: &'a str,
    /// Its key in CDXJ files (`orb_urls::surt::cdx_key`).
    pub key: &'a str,
    /// When the request was sent.
    pub at: Moment,
    /// What the answer is recorded as.
    pub recorded_as: RecordedAs<'a>,
    /// The request's head as sent; empty to record no request.
    pub request_head: &'a [u8],
    /// The answer's head as received, with its empty line. Of a resource, bytes that belong in
    /// front of `wire`; usually none.
    pub head: &'a [u8],
    /// Everything after it as received.
    pub wire: &'a Body,
    /// sha256 of `wire`, if already computed.
    pub digest: Option<[u8; 32]>,
    /// Why `wire` is incomplete, if it is.
    pub truncated: Option<Truncation>,
    /// The server's IP address.
    pub ip: Option<IpAddr>,
    /// Set to record only the head, and that the body equals an earlier one.
    pub revisit: Option<Revisit<'a>>,
}

/// What an answer is recorded as. The fetcher knows; the bytes are not asked.
#[derive(Clone, Copy, Debug)]
pub enum RecordedAs<'a> {
    /// A `response` record: an HTTP/1 message.
    Response,
    /// A `resource` record: a document without a message around it.
    Resource {
        /// Its media type.
        mime: &'a str,
        /// What was said to get it, which becomes a `metadata` record beside it.
        conversation: Option<&'a Conversation>,
    },
    /// A `conversion` record: what was made of another record. Replay tools leave it out.
    Conversion {
        /// Its media type.
        mime: &'a str,
        /// The record it was made of.
        of: RecordId,
    },
}

/// The earlier record whose payload a response repeats.
#[derive(Clone, Copy, Debug)]
pub struct Revisit<'a> {
    /// Its URL.
    pub url: &'a str,
    /// When it was fetched.
    pub at: Moment,
}

/// An exchange as it will be stored in the archive.
#[derive(Debug)]
pub struct Encoded {
    /// The gzip members: the answer, then the request or the conversation.
    pub(crate) members: Body,
    /// Length of the response's member.
    pub(crate) answer: u64,
    /// Its line in the CDXJ file, if it has one.
    pub(crate) line: Option<IndexLine>,
    id: RecordId,
    /// Whether it stands behind the one that answers for the visit.
    pub(crate) beside: bool,
}

impl Encoded {
    /// Length in the archive in bytes.
    pub fn len(&self) -> u64 {
        self.members.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The same as an addition to the exchange before it.
    #[must_use]
    pub fn as_addition(self) -> Self {
        Self { beside: true, ..self }
    }

    /// The id of its answer.
    pub fn id(&self) -> RecordId {
        self.id
    }
}

/// A CDXJ line, as far as it is known before the record has its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexLine(pub(crate) String);

impl IndexLine {
    /// Key, time (fourteen digits), URL, and what is known about media type, status and digest.
    pub(super) fn new(key: &str, at: &str, url: &str, known: [Option<&str>; 3]) -> Self {
        let mut line = String::with_capacity(key.len() + url.len() + 200);
        for c in key.chars() {
            line.push(if c <= ' ' { '_' } else { c });
        }
        let _ = write!(line, " {at} {{\"url\": ");
        quote(&mut line, url);
        for (name, value) in ["mime", "status", "digest"].into_iter().zip(known) {
            if let Some(value) = value {
                let _ = write!(line, ", \"{name}\": ");
                quote(&mut line, value);
            }
        }
        Self(line)
    }

    /// The complete line, now that the record has its position.
    pub(crate) fn write_at(&self, out: &mut Vec<u8>, length: u64, offset: u64, file: &str) {
        out.extend_from_slice(self.0.as_bytes());
        // Writing to memory does not fail.
        let _ = writeln!(out, ", \"length\": \"{length}\", \"offset\": \"{offset}\", \"filename\": \"{file}\"}}");
    }
}

/// Appends a JSON string in ASCII.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// Turns exchanges into records. One per thread: it reuses its buffers.
pub struct Encoder {
    ids: RecordIds,
    packer: Packer,
    level: i32,
    header: Header,
    raw: Vec<u8>,
    packed: Vec<u8>,
    /// Where large records are made.
    spool_dir: PathBuf,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("level", &self.level).finish_non_exhaustive()
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new(Self::LEVEL)
    }
}

impl Encoder {
    /// The level with the best trade-off for pages of 20 kB (see the bench `encode`).
    pub const LEVEL: i32 = 1;

    /// An encoder with a level from 1 (fast) to 12 (small).
    pub fn new(level: i32) -> Self {
        let level = level.clamp(1, 12);
        Self {
            ids: RecordIds::new(),
            packer: Packer::new(level),
            level,
            header: Header::default(),
            raw: Vec::new(),
            packed: Vec::new(),
            spool_dir: std::env::temp_dir(),
        }
    }

    /// The same with records too large for memory written to unnamed files of this directory. On
    /// the disk of the archive they take the room that `store.min_free` counts, and not that of a
    /// small temporary file system.
    #[must_use]
    pub fn spooling_in(self, spool_dir: PathBuf) -> Self {
        Self { spool_dir, ..self }
    }

    /// The records of one exchange.
    pub fn exchange(&mut self, x: &Exchange<'_>) -> Result<Encoded> {
        let kind = AnswerKind::of(x);
        let digest = payload_digest(x, kind).map_err(|e| self.spool_error(e))?;
        let id = self.ids.next();
        let length = x.head.len() as u64 + if kind == AnswerKind::Revisit { 0 } else { x.wire.len() };
        self.begin_answer(x, kind, id, &digest);
        self.raw.clear();
        self.raw.extend_from_slice(self.header.end(content_type(x), length));
        self.raw.extend_from_slice(x.head);
        self.packed.clear();
        let spooled = match (x.wire, kind) {
            (Body::Spooled { .. }, AnswerKind::Response | AnswerKind::Resource | AnswerKind::Conversion) => {
                Some(self.stream(x.wire).map_err(|e| self.spool_error(e))?)
            }
            (Body::Memory(bytes), AnswerKind::Response | AnswerKind::Resource | AnswerKind::Conversion) => {
                self.raw.extend_from_slice(bytes);
                self.finish_member(density::is_dense(bytes));
                None
            }
            (_, AnswerKind::Revisit) => {
                self.finish_member(false);
                None
            }
        };
        let answer = spooled.as_ref().map_or(self.packed.len() as u64, |(_, len)| *len);
        match x.recorded_as {
            RecordedAs::Resource { conversation: Some(said), .. } => {
                self.beside(x, id, WarcType::Metadata, (said.mime, &said.text));
            }
            _ if x.request_head.is_empty() => {}
            _ => self.beside(x, id, WarcType::Request, ("application/http; msgtype=request", x.request_head)),
        }
        let members = match spooled {
            None => Body::Memory(Bytes::copy_from_slice(&self.packed)),
            Some((mut file, len)) => {
                file.write_all(&self.packed).map_err(|e| self.spool_error(e))?;
                Body::Spooled { file, len: len + self.packed.len() as u64 }
            }
        };
        if self.raw.capacity() > KEEP {
            (self.raw, self.packed) = (Vec::new(), Vec::new());
        }
        let line = (kind != AnswerKind::Conversion).then(|| index_line(x, kind, &digest));
        Ok(Encoded { members, answer, line, id, beside: false })
    }

    fn begin_answer(&mut self, x: &Exchange<'_>, kind: AnswerKind, id: RecordId, digest: &[u8; 32]) {
        self.header.begin(kind.warc_type(), id, x.at);
        self.header.target(x.url);
        self.header.address(x.ip);
        self.header.digest(digest);
        if let RecordedAs::Conversion { of, .. } = x.recorded_as {
            self.header.field("WARC-Refers-To", of);
        }
        if let Some(earlier) = x.revisit {
            self.header.field("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
            self.header.field("WARC-Refers-To-Target-URI", earlier.url);
            self.header.field("WARC-Refers-To-Date", earlier.at.seconds());
        }
        self.header.truncated(x.truncated);
    }

    /// A record that belongs to the answer: the request, or the conversation.
    fn beside(&mut self, x: &Exchange<'_>, answer: RecordId, kind: WarcType, (mime, block): (&str, &[u8])) {
        let id = self.ids.next();
        self.header.begin(kind, id, x.at);
        self.header.target(x.url);
        self.header.address(x.ip);
        self.header.field("WARC-Concurrent-To", answer);
        self.raw.clear();
        self.raw.extend_from_slice(self.header.end(mime, block.len() as u64));
        self.raw.extend_from_slice(block);
        self.finish_member(false);
    }

    /// Finishes the record in `raw` and adds it to `packed`, compressed unless that is pointless.
    fn finish_member(&mut self, dense: bool) {
        self.raw.extend_from_slice(b"\r\n\r\n");
        if dense {
            density::store(&self.raw, &mut self.packed);
        } else {
            self.packer.compress(&self.raw, &mut self.packed);
        }
    }

    fn spool_error(&self, e: io::Error) -> StoreError {
        StoreError::io("spool a record in", &self.spool_dir, e)
    }

    /// The record whose head is in `raw`, with the body streamed, in an unnamed file.
    fn stream(&mut self, wire: &Body) -> io::Result<(std::fs::File, u64)> {
        let mut sample = [0; density::SAMPLE];
        let read = read_up_to(&mut wire.reader()?, &mut sample)?;
        let level = u32::try_from(self.level).unwrap_or(1).min(6);
        let level = if density::is_dense(&sample[..read]) { 0 } else { level };
        let mut gzip = GzEncoder::new(BufWriter::new(tempfile::tempfile_in(&self.spool_dir)?), Compression::new(level));
        gzip.write_all(&self.raw)?;
        io::copy(&mut wire.reader()?, &mut gzip)?;
        gzip.write_all(b"\r\n\r\n")?;
        let mut file = gzip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        let len = file.stream_position()?;
        Ok((file, len))
    }
}

/// Fills the buffer as far as there is input.
fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}

/// The record type of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerKind {
    Response,
    Revisit,
    /// Bytes by another protocol, or with a head that is no HTTP/1: tools refuse such a `response`.
    Resource,
    Conversion,
}

impl AnswerKind {
    fn of(x: &Exchange<'_>) -> Self {
        match (x.revisit, x.recorded_as) {
            (Some(_), _) => Self::Revisit,
            (None, RecordedAs::Response) => Self::Response,
            (None, RecordedAs::Resource { .. }) => Self::Resource,
            (None, RecordedAs::Conversion { .. }) => Self::Conversion,
        }
    }

    fn warc_type(self) -> WarcType {
        match self {
            Self::Response => WarcType::Response,
            Self::Revisit => WarcType::Revisit,
            Self::Resource => WarcType::Resource,
            Self::Conversion => WarcType::Conversion,
        }
    }
}

/// The media type of an answer's block.
fn content_type<'a>(x: &Exchange<'a>) -> &'a str {
    match x.recorded_as {
        RecordedAs::Response => "application/http; msgtype=response",
        RecordedAs::Resource { mime, .. } | RecordedAs::Conversion { mime, .. } => mime,
    }
}

fn payload_digest(x: &Exchange<'_>, kind: AnswerKind) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    match (x.digest, kind) {
        (Some(digest), AnswerKind::Response | AnswerKind::Revisit | AnswerKind::Conversion) => return Ok(digest),
        (Some(digest), AnswerKind::Resource) if x.head.is_empty() => return Ok(digest),
        (_, AnswerKind::Resource) => hash.update(x.head),
        (None, AnswerKind::Response | AnswerKind::Revisit | AnswerKind::Conversion) => {}
    }
    if let Body::Memory(bytes) = x.wire {
        hash.update(bytes);
        return Ok(hash.finalize().into());
    }
    let mut reader = x.wire.reader()?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            n => hash.update(&buffer[..n]),
        }
    }
}

fn index_line(x: &Exchange<'_>, kind: AnswerKind, digest: &[u8; 32]) -> IndexLine {
    let (status, mime) = http::summary(x.head);
    let (status, mime) = match kind {
        AnswerKind::Response => (Some(status.as_str()), mime.as_deref()),
        AnswerKind::Revisit => (Some(status.as_str()), Some("warc/revisit")),
        AnswerKind::Resource | AnswerKind::Conversion => (None, Some(content_type(x))),
    };
    let mut text = String::with_capacity(71);
    push_digest(&mut text, digest);
    IndexLine::new(x.key, &x.at.compact(), x.url, [mime, status, Some(&text)])
}

/// What produces gzip members.
enum Packer {
    /// Fast.
    Quick(Box<Deflater>),
    /// Small, according to its level.
    Thorough(Compressor),
}

impl Packer {
    fn new(level: i32) -> Self {
        match CompressionLvl::new(level) {
            Ok(thorough) if level > 1 => Self::Thorough(Compressor::new(thorough)),
            _ => Self::Quick(Box::new(Deflater::new())),
        }
    }

    /// Appends one gzip member.
    fn compress(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Quick(deflater) => deflater.gzip(raw, out),
            Self::Thorough(compressor) => {
                let from = out.len();
                out.resize(from + compressor.gzip_compress_bound(raw.len()), 0);
                // The bound suffices for any input, so this does not fail.
                let len = compressor.gzip_compress(raw, &mut out[from..]).unwrap_or(0);
                out.truncate(from + len);
            }
        }
    }
}

/// The `warcinfo` record that begins every file, as a gzip member.
pub(crate) fn warcinfo(file: &str, project: &str, at: Moment) -> Vec<u8> {
    let fields = format!(
        "software: orbweaver/{}\r\nformat: WARC File Format 1.1\r\nconformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\nisPartOf: {project}\r\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut header = Header::default();
    header.begin(WarcType::Warcinfo, RecordIds::new().next(), at);
    header.field("WARC-Filename", file);
    let mut raw = header.end("application/warc-fields", fields.len() as u64).to_vec();
    raw.extend_from_slice(fields.as_bytes());
    raw.extend_from_slice(b"\r\n\r\n");
    let mut out = Vec::new();
    Packer::new(6).compress(&raw, &mut out);
    out
}
