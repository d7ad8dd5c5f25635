//! Is a damaged archive read as far as possible, and never trusted beyond that?

use crate::response::gzip;
use crate::{project_in, scratch};
use orb_page::WarcPosition;
use orb_store::{Archive, ArchiveReader, ArchiveStart, FileEnd};
use serde_json::Value;
use std::fs;
use std::path::Path;

const NAME: &str = "p-20260101000000-00000.warc.gz";
/// Separates the records of an input.
const BETWEEN: u8 = 0x1e;

/// An archive file. Input: an option byte, and records that are compressed one by one; or the file
/// as it is, if the lowest bit is set; or the index lines of an intact file, if the highest is.
pub fn warc(bytes: &[u8]) {
    let Some((options, rest)) = bytes.split_first() else { return };
    if options & 0x80 != 0 {
        return cdxj(u64::from(options & 3), &String::from_utf8_lossy(rest));
    }
    let file = if options & 1 == 1 { rest.to_vec() } else { rest.split(|b| *b == BETWEEN).flat_map(gzip).collect() };
    scratch(|dir| {
        let project = project_in(dir);
        let start = opened(&project.archive(), &file, None, u64::from(*options));
        let Some(index) = index(&project.archive()) else { return assert_eq!(start.damaged.len(), 1) };
        assert!(start.damaged.is_empty());
        let reader = ArchiveReader::open(&project);
        let mut lines: Vec<&str> = Vec::new();
        for line in index.lines() {
            let (url, position) = place(line);
            let stored = reader.exchange(&position).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(stored.url, url);
            assert!(stored.body.len() <= stored.wire.len());
            lines.push(line);
        }
        assert!(lines.is_sorted());
    });
}

/// The URL of an index line and the position of its record.
fn place(line: &str) -> (String, WarcPosition) {
    let (_, rest) = line.split_once(' ').unwrap_or_else(|| panic!("no key: {line}"));
    let (at, json) = rest.split_once(' ').unwrap_or_else(|| panic!("no time: {line}"));
    assert!(at.len() <= 14 && at.bytes().all(|b| b.is_ascii_digit()), "{line}");
    let value: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{line}: {e}"));
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("no {name}: {line}"));
    let number = |name: &str| text(name).parse().unwrap_or_else(|e| panic!("{line}: {e}"));
    assert_eq!(text("filename"), NAME);
    (text("url").to_owned(), WarcPosition { file: NAME.into(), offset: number("offset"), length: number("length") })
}

/// Opens an archive with one file that was left open, and optionally its index lines.
fn opened(dir: &Path, file: &[u8], tail: Option<&[u8]>, records: u64) -> ArchiveStart {
    fs::write(dir.join(NAME), file).unwrap_or_else(|e| panic!("{e}"));
    if let Some(tail) = tail {
        fs::write(dir.join("p-20260101000000-00000.cdxj.tail"), tail).unwrap_or_else(|e| panic!("{e}"));
    }
    let known = FileEnd { name: NAME.into(), length: file.len() as u64, records };
    Archive::open(dir, "p", &[known]).unwrap_or_else(|e| panic!("{e}")).1
}

fn index(dir: &Path) -> Option<String> {
    fs::read_to_string(dir.join("p-20260101000000-00000.cdxj")).ok()
}

/// The index lines of a file that was left open, with as many records as the catalogue knows.
fn cdxj(records: u64, tail: &str) {
    let record = |url: &str| {
        let head =
            format!("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n");
        gzip(format!("{head}Content-Length: 1\r\n\r\nx\r\n\r\n").as_bytes())
    };
    let file = [record("http://b.example/"), record("http://a.example/")].concat();
    scratch(|dir| {
        let start = opened(dir, &file, Some(tail.as_bytes()), records);
        assert_eq!(start, ArchiveStart::default());
        let index = index(dir).unwrap_or_else(|| panic!("no index"));
        // Complete lines: one may end in CR.
        assert!(index.split_terminator('\n').is_sorted());
        let given: Vec<&str> = tail.split('\n').collect();
        let made = index.lines().count() == 2 && index.lines().all(|line| line.contains(NAME));
        assert!(made || index.split_terminator('\n').all(|line| given.contains(&line)), "{index}");
        assert!(!dir.join("p-20260101000000-00000.cdxj.tail").exists());
    });
}
