//! How are many files packed into one ZIP file?
//!
//! Entries are stored unless somebody asks for more: most of what goes in is compressed already,
//! and players read ranges of it in place (WACZ requires that). Tables and texts may be deflated.
//! The `zip` crate writes the format; here the length and the SHA-256 of each entry are taken on
//! the way, for the data package that lists them. Local headers have ZIP64 fields throughout,
//! because the length of an entry is not known when it begins.

use orb_page::{CivilTime, Moment};
use sha2::{Digest, Sha256};
use std::io::{self, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A ZIP file that is being written.
pub(super) struct Zip<W: Write + Seek> {
    out: ZipWriter<W>,
    options: SimpleFileOptions,
    entries: Vec<ZipEntry>,
    open: Option<Open>,
}

/// A file within it.
#[derive(Clone, Debug)]
pub(super) struct ZipEntry {
    /// Its name.
    pub(super) path: String,
    /// Its length.
    pub(super) bytes: u64,
    /// Its SHA-256.
    pub(super) sha256: [u8; 32],
}

/// The entry that is being written.
struct Open {
    path: String,
    sha: Sha256,
    bytes: u64,
}

impl<W: Write + Seek> Zip<W> {
    /// An empty one; `now` is when its files were made.
    pub(super) fn new(out: W, now: Moment) -> Self {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(date(now))
            .large_file(true);
        Self { out: ZipWriter::new(out), options, entries: Vec::new(), open: None }
    }

    /// Begins an entry, to which everything belongs that is written from now on.
    pub(super) fn begin(&mut self, path: &str) -> io::Result<()> {
        self.begin_as(path, CompressionMethod::Stored)
    }

    /// The same for one that is compressed.
    pub(super) fn begin_deflated(&mut self, path: &str) -> io::Result<()> {
        self.begin_as(path, CompressionMethod::Deflated)
    }

    fn begin_as(&mut self, path: &str, method: CompressionMethod) -> io::Result<()> {
        self.end();
        self.out.start_file(path, self.options.compression_method(method))?;
        self.open = Some(Open { path: path.to_owned(), sha: Sha256::new(), bytes: 0 });
        Ok(())
    }

    /// Ends the open entry, if there is one.
    pub(super) fn end(&mut self) {
        if let Some(Open { path, sha, bytes }) = self.open.take() {
            self.entries.push(ZipEntry { path, bytes, sha256: sha.finalize().into() });
        }
    }

    /// The entries that are complete.
    pub(super) fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    /// Writes the central directory.
    pub(super) fn finish(self) -> io::Result<()> {
        self.out.finish()?.flush()
    }
}

impl<W: Write + Seek> Write for Zip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        if let Some(open) = &mut self.open {
            open.sha.update(&bytes[..written]);
            open.bytes += written as u64;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A moment as ZIP files tell it: from 1980 to 2107, in UTC.
fn date(moment: Moment) -> DateTime {
    let CivilTime { year, month, day, hour, minute, second, .. } = moment.civil();
    let year = u16::try_from(year.clamp(1980, 2107)).unwrap_or(1980);
    let [month, day, hour, minute, second] =
        [month, day, hour, minute, second].map(|number| u8::try_from(number).unwrap_or(0));
    DateTime::from_date_and_time(year, month, day, hour, minute, second).unwrap_or_default()
}
