//! Where do the bytes of a body go: memory, or a file if there are many?
//!
//! Bytes are read straight into the buffer that later is the body. Beyond `spool_over` the buffer
//! is spilled to an unnamed temporary file, step by step and off the I/O threads, so a hundred
//! large downloads cost disk and not memory.

use bytes::{Bytes, BytesMut};
use orb_page::{Body, Failure, FailureKind};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// How much is buffered before it is written to a file.
const STEP: usize = 256 * 1024;
/// Maximum reserved on the server's word alone.
const LARGEST_RESERVE: usize = 4 << 20;

/// When and where bodies leave memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpoolRule<'a> {
    pub(crate) over: u64,
    pub(crate) dir: &'a Path,
}

/// Bytes on their way into memory or a file.
#[derive(Debug)]
pub(crate) struct Spool<'a> {
    rule: SpoolRule<'a>,
    /// What has arrived and is not in the file; the head precedes it as long as there is no file.
    pub(crate) buf: BytesMut,
    head_len: usize,
    head: Option<Bytes>,
    file: Option<File>,
    filed: u64,
}

impl<'a> Spool<'a> {
    /// Takes over a buffer that begins with a head and perhaps the first bytes of its body.
    pub(crate) const fn new(rule: SpoolRule<'a>, buf: BytesMut, head_len: usize) -> Self {
        Self { rule, buf, head_len, head: None, file: None, filed: 0 }
    }

    /// Bytes of the body so far.
    pub(crate) fn len(&self) -> u64 {
        self.filed + (self.buf.len() - self.head_len) as u64
    }

    /// Where the body begins in the buffer.
    pub(crate) const fn start(&self) -> usize {
        self.head_len
    }

    /// Truncates the body to `len` bytes, which must not have been written to a file.
    pub(crate) fn cut(&mut self, len: u64) {
        let keep = usize::try_from(len.saturating_sub(self.filed)).unwrap_or(usize::MAX);
        self.buf.truncate(self.head_len.saturating_add(keep));
    }

    /// Whether only line endings follow the first `len` bytes of the body, as some servers send
    /// them.
    pub(crate) fn is_blank_after(&self, len: u64) -> bool {
        let keep = usize::try_from(len.saturating_sub(self.filed)).unwrap_or(usize::MAX);
        let rest = self.buf.get(self.head_len.saturating_add(keep)..).unwrap_or_default();
        rest.iter().all(|b| matches!(b, b'\r' | b'\n'))
    }

    /// Whether this many bytes belong in a file.
    pub(crate) fn is_large(&self, expected: u64) -> bool {
        self.file.is_some() || expected > self.rule.over
    }

    /// Whether the body goes into a file if it ends here.
    pub(crate) fn ends_in_file(&self) -> bool {
        self.is_large(self.len())
    }

    /// Reserves capacity for what is expected.
    pub(crate) fn reserve(&mut self, expected: u64) {
        let most = if self.is_large(expected) { STEP } else { LARGEST_RESERVE };
        // A little more than expected, so that the last read is a short one: then the socket is
        // known to be drained.
        let more = usize::try_from(expected).unwrap_or(usize::MAX).saturating_add(64).min(most);
        if self.buf.capacity() - self.buf.len() < more {
            self.buf.reserve(more);
        }
    }

    /// Whether to spill the buffer to the file, if `expected` bytes are to come in total.
    pub(crate) fn is_due(&self, expected: u64) -> bool {
        let step = usize::try_from(self.rule.over).unwrap_or(STEP).clamp(1, STEP);
        self.is_large(expected.max(self.len())) && self.buf.len() - self.head_len >= step
    }

    /// Spills the buffer to the file.
    pub(crate) async fn spill(&mut self) -> Result<(), Failure> {
        if self.head.is_none() {
            self.head = Some(self.buf.split_to(self.head_len).freeze());
            self.head_len = 0;
        }
        let part = self.buf.split().freeze();
        self.buf.reserve(STEP);
        self.filed += part.len() as u64;
        let (file, dir) = (self.file.take(), self.rule.dir.to_owned());
        let write = move || -> io::Result<File> {
            let mut file = file.map_or_else(|| tempfile::tempfile_in(&dir), Ok)?;
            file.write_all(&part)?;
            Ok(file)
        };
        let written = tokio::task::spawn_blocking(write).await.unwrap_or_else(|e| Err(io::Error::other(e)));
        self.file = Some(written.map_err(|e| spool_failure(self.rule.dir, &e))?);
        Ok(())
    }

    /// The head and the body.
    pub(crate) async fn finish(mut self) -> Result<(Bytes, Body), Failure> {
        if self.ends_in_file() && self.buf.len() > self.head_len {
            self.spill().await?;
        }
        Ok(match self.file {
            Some(file) => (self.head.unwrap_or_default(), Body::Spooled { file, len: self.filed }),
            None => {
                let head = self.buf.split_to(self.head_len).freeze();
                (head, Body::Memory(self.buf.freeze()))
            }
        })
    }
}

/// A body that cannot be stored.
pub(crate) fn spool_failure(dir: &Path, error: &io::Error) -> Failure {
    Failure::new(FailureKind::Local, format!("cannot keep a large body in {}: {error}", dir.display()))
}

/// The content between chunk frames: shared with the wire bytes if there is one chunk, copied if
/// there are more.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    /// The only range of content so far, while the wire bytes are all in memory.
    only: Option<Range<usize>>,
    copied: Spool<'a>,
}

impl<'a> Contents<'a> {
    pub(crate) fn new(rule: SpoolRule<'a>) -> Self {
        Self { only: None, copied: Spool::new(rule, BytesMut::new(), 0) }
    }

    /// Adds a range of the wire buffer.
    pub(crate) fn push(&mut self, wire: &[u8], range: Range<usize>) {
        match &mut self.only {
            None if self.copied.len() == 0 => self.only = Some(range),
            // A chunk that arrives in several reads is still one range.
            Some(only) if only.end == range.start => only.end = range.end,
            _ => {
                self.settle(wire);
                self.copied.buf.extend_from_slice(&wire[range]);
            }
        }
    }

    /// Copies the marked range before the wire buffer goes away.
    pub(crate) fn settle(&mut self, wire: &[u8]) {
        if let Some(only) = self.only.take() {
            self.copied.buf.extend_from_slice(&wire[only]);
        }
    }

    /// Writes copied content to its file if there is much of it.
    pub(crate) async fn spill_if_due(&mut self) -> Result<(), Failure> {
        if self.copied.is_due(0) { self.copied.spill().await } else { Ok(()) }
    }

    /// The content; `start` is where the wire bytes began in the buffer in which the ranges were
    /// marked.
    pub(crate) async fn finish(self, wire: &Body, start: usize) -> Result<Body, Failure> {
        match (self.only, wire) {
            (Some(only), Body::Memory(bytes)) => Ok(Body::Memory(bytes.slice(only.start - start..only.end - start))),
            _ => self.copied.finish().await.map(|(_, body)| body),
        }
    }
}
