//! Which lines does the index of an archive file have?

use super::FileEnd;
use super::seal::{index_path, tail_path};
use crate::error::{Result, StoreError};
use crate::warc::line_offset;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

/// Lines that come one by one, in byte order.
pub type IndexLines = Box<dyn Iterator<Item = io::Result<Vec<u8>>>>;

/// The index lines of an archive file that the catalogue knows, sorted; for a growing file, from
/// its tail.
pub fn index_lines(dir: &Path, file: &FileEnd) -> Result<IndexLines> {
    let (path, length) = (dir.join(&*file.name), file.length);
    let (index, tail) = (index_path(&path), tail_path(&path));
    let known = move |line: &[u8]| line_offset(line).is_some_and(|offset| offset < length);
    match fs::read(&tail) {
        Ok(text) => {
            let mut lines: Vec<Vec<u8>> =
                text.split(|b| *b == b'\n').filter(|line| known(line)).map(<[u8]>::to_vec).collect();
            lines.sort_unstable();
            Ok(Box::new(lines.into_iter().map(Ok)))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let lines = File::open(&index).map_err(|e| StoreError::io("open", &index, e))?;
            let wanted = move |line: &io::Result<Vec<u8>>| line.as_ref().map_or(true, |line| known(line));
            Ok(Box::new(BufReader::new(lines).split(b'\n').filter(wanted)))
        }
        Err(e) => Err(StoreError::io("read", &tail, e)),
    }
}
