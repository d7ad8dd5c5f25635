//! How are changes appended to a JSON Lines file, each exactly once?
//!
//! The last line of the file says how far it has come, whatever the cursor says: a line that a
//! crash left incomplete is truncated, and a complete one is not written again.

use super::{CHANGES, OutputSource, PAGE};
use crate::CrawlError;
use serde::Deserialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Maximum length of a line.
const LONGEST: u64 = 1 << 20;

/// What the last line must contain.
#[derive(Deserialize)]
struct Last {
    seq: u64,
}

/// Appends what the file does not contain yet.
pub(super) fn append(source: &OutputSource<'_>, path: &Path) -> Result<u64, CrawlError> {
    let fail = |e: io::Error| CrawlError::Output { path: path.to_owned(), source: e };
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(fail)?;
    }
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(fail)?;
    let held = cut_back(&mut file).map_err(fail)?;
    if held > source.reader.last_change()? {
        return Err(fail(io::Error::other("it tells of changes that the catalogue does not know; put it aside")));
    }
    let (mut cursor, mut delivered) = (source.cursor().max(held), 0);
    let mut out = BufWriter::new(file);
    loop {
        let rows = source.reader.feed(cursor, &CHANGES, PAGE)?;
        let Some(last) = rows.last().and_then(|row| row.seq) else { break };
        for row in &rows {
            serde_json::to_writer(&mut out, row).map_err(|e| fail(e.into()))?;
            out.write_all(b"\n").map_err(fail)?;
        }
        (cursor, delivered) = (last, delivered + rows.len() as u64);
    }
    out.into_inner().map_err(|e| fail(e.into_error()))?.sync_data().map_err(fail)?;
    source.mark_delivered(cursor)?;
    Ok(delivered)
}

/// Truncates an incomplete line, and returns the change of the last complete one; 0 if there is
/// none.
fn cut_back(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let begin = length.saturating_sub(2 * LONGEST);
    file.seek(SeekFrom::Start(begin))?;
    let mut tail = Vec::new();
    (&*file).take(2 * LONGEST).read_to_end(&mut tail)?;
    let Some(end) = tail.iter().rposition(|b| *b == b'\n').map(|at| at + 1) else {
        if begin > 0 {
            return Err(io::Error::other("it is not a file of changes; move it out of the way"));
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        return Ok(0);
    };
    let line = tail[..end - 1].rsplit(|b| *b == b'\n').next().unwrap_or_default();
    let last: Last = serde_json::from_slice(line)
        .map_err(|_| io::Error::other("its last line is not a change; move it out of the way"))?;
    let whole = begin + end as u64;
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(whole))?;
    Ok(last.seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_whole_is_cut_off_and_the_last_whole_one_says_how_far_it_is() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("f");
        for (text, kept, seq) in [
            ("", "", Some(0)),
            ("{\"seq\":1", "", Some(0)),
            ("{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3", "{\"seq\":1}\n{\"seq\":2}\n", Some(2)),
            ("{\"seq\":4,\"x\":[]}\n", "{\"seq\":4,\"x\":[]}\n", Some(4)),
            ("dear diary\n", "dear diary\n", None),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
            assert_eq!(cut_back(&mut file).ok(), seq, "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), kept);
        }
    }
}
