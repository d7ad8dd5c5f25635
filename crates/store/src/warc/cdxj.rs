//! Where in the archive is a URL?
//!
//! Each archive file has a CDXJ file beside it: key, time and position of each response, sorted, as
//! pywb and others read it. While the archive file grows, its lines go unsorted into a tail file;
//! they are sorted when the file is closed.

use crate::error::{Result, StoreError};
use crate::fault;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// The offset in a line.
pub(crate) fn line_offset(line: &[u8]) -> Option<u64> {
    const NAME: &[u8] = b"\"offset\": \"";
    let at = memchr::memmem::rfind(line, NAME)? + NAME.len();
    let digits = line[at..].split(|b| *b == b'"').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Writes the lines sorted, atomically.
pub(crate) fn write_sorted(path: &Path, mut lines: Vec<&[u8]>) -> Result<()> {
    lines.sort_unstable();
    let fail = |e| StoreError::io("write", path, e);
    let unfinished = path.with_extension("cdxj.new");
    let mut out = BufWriter::new(File::create(&unfinished).map_err(fail)?);
    for line in lines {
        out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(fail)?;
    }
    let file = out.into_inner().map_err(|e| fail(e.into_error()))?;
    file.sync_data().and_then(|()| fault::point("lines-written")).map_err(fail)?;
    fs::rename(&unfinished, path).and_then(|()| fault::point("lines-kept")).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_its_offset_even_if_the_url_pretends_one() {
        let line = br#"com,a)/ 2026 {"url": "http://a.com/\"offset\": \"9", "length": "5", "offset": "77", "filename": "x.warc.gz"}"#;
        assert_eq!(line_offset(line), Some(77));
        assert_eq!(line_offset(b"nothing"), None);
    }
}
