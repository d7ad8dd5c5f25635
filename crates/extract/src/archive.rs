//! Which files are in an archive?
//!
//! Their names are its text. Nothing inside is opened: an archive is a shelf, not a document. Names
//! are only written down, never used as paths.

mod rar;

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::package::ZipPackage;
use crate::{Extract, TypedContent};
use rar::RarNames;

/// The size of a block of a tar file.
const BLOCK: usize = 512;
/// Maximum number of files.
const MAX_FILES: usize = 65_536;

/// Extracts the names in zip, tar and RAR files.
#[derive(Debug)]
pub(crate) struct ArchiveExtractor;

impl Extract for ArchiveExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        let by_name = matches!(source.mime, "application/x-tar" | "application/x-gtar" | "application/x-ustar");
        by_name
            || [&b"PK\x03\x04"[..], b"PK\x05\x06", b"PK\x07\x08", b"Rar!\x1A\x07"]
                .iter()
                .any(|start| source.bytes.starts_with(start))
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        if source.bytes.starts_with(b"PK") {
            let package = ZipPackage::open(source.bytes);
            let mut flow = TextFlow::new(found, source.bytes.len() / 16);
            for entry in package.entries() {
                flow.paragraph(&entry.name);
            }
            package.report(flow.found);
            flow.finish();
        } else if source.bytes.starts_with(b"Rar!") {
            let RarNames { names, is_encrypted } = RarNames::of(source.bytes);
            let mut flow = TextFlow::new(found, source.bytes.len() / 16);
            names.iter().for_each(|name| flow.paragraph(name));
            if is_encrypted {
                flow.found.problem("encrypted", "the names in it cannot be read without its password");
            }
            flow.finish();
        } else {
            let mut flow = TextFlow::new(found, source.bytes.len() / 16);
            for name in tar_names(source.bytes) {
                flow.paragraph(&name);
            }
            flow.finish();
        }
    }
}

/// The names in a tar file (POSIX 1003.1, pax), with those too long for their header.
fn tar_names(bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0usize;
    let mut long: Option<String> = None;
    while let Some(header) = bytes.get(at..at.saturating_add(BLOCK)).filter(|h| h.first() != Some(&0)) {
        let size = header.get(124..136).and_then(octal).unwrap_or(0);
        let content = bytes.get(at + BLOCK..).unwrap_or(&[]);
        let content = content.get(..size).unwrap_or(content);
        match header.get(156) {
            Some(b'L') => long = Some(text(content)),
            Some(b'x') => long = pax_path(content).or(long),
            Some(b'g' | b'K') => {}
            _ => names.push(long.take().unwrap_or_else(|| name(header))),
        }
        if names.len() >= MAX_FILES {
            break;
        }
        at = at.saturating_add(BLOCK).saturating_add(size.div_ceil(BLOCK).saturating_mul(BLOCK));
    }
    names
}

fn name(header: &[u8]) -> String {
    let own = text(header.get(..100).unwrap_or(&[]));
    let is_posix = header.get(257..263) == Some(b"ustar\0");
    let folder = text(header.get(345..500).filter(|_| is_posix).unwrap_or(&[]));
    if folder.is_empty() { own } else { format!("{folder}/{own}") }
}

/// Characters up to the first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or(bytes)).into_owned()
}

fn octal(digits: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(digits).ok()?.trim_matches(|c: char| c == '\0' || c == ' ');
    usize::from_str_radix(digits, 8).ok()
}

/// The path in the records of an extended header: `27 path=…\n`.
fn pax_path(content: &[u8]) -> Option<String> {
    let records = std::str::from_utf8(content).ok()?;
    let record = records.lines().find_map(|line| line.split_once(' ')?.1.strip_prefix("path="))?;
    Some(record.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::package::tests::zipped;
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(bytes: &[u8]) -> Document {
        extract(&Content { bytes, mime: Some("application/octet-stream"), charset: None, url: "" })
    }

    pub(crate) fn tar_entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut block = vec![0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        block[156] = kind;
        block[257..263].copy_from_slice(b"ustar\0");
        block.extend(content);
        block.resize(block.len().div_ceil(512) * 512, 0);
        block
    }

    #[test]
    fn names_are_the_text_of_an_archive() {
        let doc = read(&zipped(&[("a/b.txt", b"inside"), ("../up.txt", b"x"), ("c.zip", b"PK")]));
        assert_eq!((doc.mime.as_str(), doc.text.as_str()), ("application/zip", "a/b.txt\n../up.txt\nc.zip"));
        let mut tar = tar_entry("first.txt", b'0', b"content");
        tar.extend(tar_entry("x", b'x', b"30 path=a/very/long/name.txt\n"));
        tar.extend(tar_entry("short", b'0', b""));
        tar.extend([0; 1_024]);
        let doc = read(&tar);
        assert_eq!((doc.mime.as_str(), doc.text.as_str()), ("application/x-tar", "first.txt\na/very/long/name.txt"));
    }

    #[test]
    fn many_entries_and_lying_sizes_end() {
        let mut tar = tar_entry("a", b'0', b"");
        tar[124..135].copy_from_slice(b"77777777777");
        assert_eq!(read(&tar).text, "a");
        // Overlapping entries: one content under many names.
        let zip = zipped(&[("one", &vec![0; 1 << 20])]);
        let directory = memchr::memmem::rfind(&zip, b"PK\x01\x02").expect("a directory");
        let end = memchr::memmem::rfind(&zip, b"PK\x05\x06").expect("an end");
        let mut many = zip[..directory].to_vec();
        for _ in 0..65_535 {
            many.extend(&zip[directory..end]);
        }
        let size = u32::try_from((end - directory) * 65_535).expect("4 bytes");
        let mut record = zip[end..].to_vec();
        record[12..16].copy_from_slice(&size.to_le_bytes());
        many.extend(record);
        assert_eq!(read(&many).text.lines().count(), 65_535);
    }
}
