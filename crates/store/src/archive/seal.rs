//! How is an archive file closed?

use super::FileEnd;
use crate::error::{Result, StoreError};
use crate::fault;
use crate::warc::{Scan, line_offset, write_sorted};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The CDXJ file beside an archive file.
pub(crate) fn index_path(warc: &Path) -> PathBuf {
    warc.with_extension("").with_extension("cdxj")
}

/// The unsorted lines of a file that is not closed yet.
pub(crate) fn tail_path(warc: &Path) -> PathBuf {
    warc.with_extension("").with_extension("cdxj.tail")
}

/// Writes the CDXJ file of an archive file: from the tail if it has a line for every record,
/// otherwise by reading the records.
pub(crate) fn seal(warc: &Path, end: &FileEnd) -> Result<()> {
    let tail = tail_path(warc);
    fault::point("before-seal").map_err(|e| StoreError::io("close", warc, e))?;
    let text = match fs::read(&tail) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(StoreError::io("read", &tail, e)),
    };
    let lines = whole_lines(&text, end.length);
    if lines.len() as u64 == end.records {
        write_sorted(&index_path(warc), lines)?;
    } else {
        let lines = read_lines(warc, &end.name)?;
        write_sorted(&index_path(warc), lines.iter().map(Vec::as_slice).collect())?;
    }
    match fs::remove_file(&tail) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", &tail, e)),
        _ => fault::point("after-seal").map_err(|e| StoreError::io("close", warc, e)),
    }
}

/// The complete lines that refer to an offset before `length`.
fn whole_lines(text: &[u8], length: u64) -> Vec<&[u8]> {
    let whole = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
    text[..whole]
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty() && line_offset(line).is_some_and(|at| at < length))
        .collect()
}

/// The CDXJ lines of an archive file, from its records.
pub(crate) fn read_lines(warc: &Path, name: &str) -> Result<Vec<Vec<u8>>> {
    let mut scan = Scan::open(warc, 0)?;
    let mut lines = Vec::new();
    while let Some(record) = scan.next()? {
        if record.is_indexed() {
            lines.extend(record.line(name, orb_urls::surt::cdx_key));
        }
    }
    Ok(lines)
}
