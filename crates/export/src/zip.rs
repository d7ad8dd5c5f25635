//! How do many files become one ZIP file?
//!
//! Every entry is stored uncompressed: its content is already compressed, and players read parts of
//! it in place (as WACZ requires). An entry's checksum and length are written into its header when
//! it is done, so the output must be seekable. Sizes beyond 4 GB use the ZIP64 fields (PKWARE
//! APPNOTE 6.3.10, 4.3 and 4.5.3).

use flate2::Crc;
use orb_page::Moment;
use sha2::{Digest, Sha256};
use std::io::{self, Seek, SeekFrom, Write};

/// A ZIP file being written.
pub(super) struct Zip<W: Write + Seek> {
    out: W,
    at: u64,
    entries: Vec<Entry>,
    time: [u8; 4],
    open: Option<Open>,
}

/// A file within it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its name.
    pub(super) path: String,
    /// Its length.
    pub(super) bytes: u64,
    /// Its sha256.
    pub(super) sha256: [u8; 32],
    crc: u32,
    offset: u64,
}

/// The current entry.
struct Open {
    path: String,
    offset: u64,
    crc: Crc,
    sha: Sha256,
    bytes: u64,
}

/// Marks a number that is stored in another field.
const ELSEWHERE: u32 = u32::MAX;
/// Version 4.5 of the format: ZIP64.
const VERSION: u16 = 45;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;

impl<W: Write + Seek> Zip<W> {
    /// An empty one; `now` is the time stamp of its files.
    pub(super) fn new(out: W, now: Moment) -> Self {
        let (year, month, day, hour, minute, second, _) = now.civil();
        let years = u32::try_from(year.clamp(1980, 2107) - 1980).unwrap_or(0);
        let time = hour << 11 | minute << 5 | (second / 2);
        let date = years << 9 | month << 5 | day;
        Self { out, at: 0, entries: Vec::new(), time: (date << 16 | time).to_le_bytes(), open: None }
    }

    /// Starts an entry, which receives everything written from now on.
    pub(super) fn begin(&mut self, path: &str) -> io::Result<()> {
        self.end()?;
        let offset = self.at;
        let name = u16::try_from(path.len()).map_err(io::Error::other)?;
        let mut head = b"PK\x03\x04".to_vec();
        fields(&mut head, &[VERSION, FLAGS, 0]);
        head.extend(self.time);
        head.extend([0; 4]);
        head.extend(ELSEWHERE.to_le_bytes().repeat(2));
        fields(&mut head, &[name, 20]);
        head.extend(path.as_bytes());
        fields(&mut head, &[1, 16]);
        head.extend([0; 16]);
        self.put(&head)?;
        self.open = Some(Open { path: path.to_owned(), offset, crc: Crc::new(), sha: Sha256::new(), bytes: 0 });
        Ok(())
    }

    /// Ends the current entry, and completes its header.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let crc = open.crc.sum();
        self.out.seek(SeekFrom::Start(open.offset + 14))?;
        self.out.write_all(&crc.to_le_bytes())?;
        self.out.seek(SeekFrom::Start(open.offset + 34 + open.path.len() as u64))?;
        self.out.write_all(&open.bytes.to_le_bytes().repeat(2))?;
        self.out.seek(SeekFrom::Start(self.at))?;
        let (path, bytes, sha256) = (open.path, open.bytes, open.sha.finalize().into());
        self.entries.push(Entry { path, bytes, sha256, crc, offset: open.offset });
        Ok(())
    }

    /// The finished entries.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Writes the central directory at the end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end()?;
        let begin = self.at;
        let entries = std::mem::take(&mut self.entries);
        for entry in &entries {
            let line = self.directory_line(entry);
            self.put(&line)?;
        }
        let (length, count) = (self.at - begin, entries.len() as u64);
        let mut end = b"PK\x06\x06".to_vec();
        end.extend(44u64.to_le_bytes());
        fields(&mut end, &[VERSION, VERSION]);
        end.extend([0; 8]);
        for number in [count, count, length, begin] {
            end.extend(number.to_le_bytes());
        }
        end.extend(b"PK\x06\x07\0\0\0\0");
        end.extend(self.at.to_le_bytes());
        end.extend(1u32.to_le_bytes());
        end.extend(b"PK\x05\x06\0\0\0\0");
        let few = u16::try_from(count).unwrap_or(u16::MAX);
        fields(&mut end, &[few, few]);
        end.extend(narrow(length).to_le_bytes());
        end.extend(narrow(begin).to_le_bytes());
        end.extend([0; 2]);
        self.put(&end)?;
        self.out.flush()
    }

    fn directory_line(&self, entry: &Entry) -> Vec<u8> {
        let mut wide = Vec::new();
        for number in [entry.bytes, entry.bytes, entry.offset] {
            if narrow(number) == ELSEWHERE {
                wide.extend(number.to_le_bytes());
            }
        }
        let extra = if wide.is_empty() { 0 } else { u16::try_from(wide.len() + 4).unwrap_or(0) };
        let mut line = b"PK\x01\x02".to_vec();
        fields(&mut line, &[VERSION, VERSION, FLAGS, 0]);
        line.extend(self.time);
        line.extend(entry.crc.to_le_bytes());
        line.extend(narrow(entry.bytes).to_le_bytes().repeat(2));
        // The name's length was checked when the entry began.
        fields(&mut line, &[u16::try_from(entry.path.len()).unwrap_or(0), extra, 0, 0, 0]);
        line.extend([0; 4]);
        line.extend(narrow(entry.offset).to_le_bytes());
        line.extend(entry.path.as_bytes());
        if extra > 0 {
            fields(&mut line, &[1, extra - 4]);
            line.extend(wide);
        }
        line
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}

impl<W: Write + Seek> Write for Zip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        if let Some(open) = &mut self.open {
            open.crc.update(bytes);
            open.sha.update(bytes);
            open.bytes += bytes.len() as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn fields(out: &mut Vec<u8>, numbers: &[u16]) {
    out.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(ELSEWHERE)
}
