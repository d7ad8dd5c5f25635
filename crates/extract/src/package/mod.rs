//! What is inside a zip file?
//!
//! OOXML, OpenDocument and EPUB are zip files of XML parts. A [`ZipPackage`] finds the parts by
//! name, in a damaged file as far as there are any, and unpacks them within the limits that hold
//! for a whole document: what a bomb costs is bounded before it is opened. Names of parts are
//! compared without regard to case, as OPC asks (ECMA-376-2, 6.2.2).

mod directory;
mod names;
mod part;

pub(crate) use directory::PackedEntry;
pub(crate) use directory::{u16_at, u32_at};
pub(crate) use part::{Onward, XmlNode, XmlTag, decode_xml, walk_xml};

use crate::gather::Gather;
use flate2::read::DeflateDecoder;
use std::collections::HashMap;
use std::io::Read;

/// Maximum size of all unpacked parts of a document.
const MAX_DOCUMENT: usize = 64 << 20;
/// Maximum size of an unpacked part.
const MAX_PART: usize = 16 << 20;
/// Maximum size of an unpacked part in multiples of its packed size…
const MAX_RATIO: usize = 200;
/// … beyond this size, up to which any ratio is allowed.
const FREE: usize = 1 << 20;

/// A zip file.
#[derive(Debug)]
pub(crate) struct ZipPackage<'a> {
    bytes: &'a [u8],
    entries: Vec<PackedEntry<'a>>,
    /// The entries by their names in lower case.
    by_name: HashMap<String, usize>,
    /// What has been unpacked so far.
    spent: usize,
    /// Whether a part was cut short by a limit.
    cut: bool,
    /// Whether a part is damaged.
    damaged: bool,
    /// Whether a part is encrypted.
    encrypted: bool,
}

impl<'a> ZipPackage<'a> {
    /// Opens a zip file. A file without any entry is as good as an empty one.
    pub(crate) fn open(bytes: &'a [u8]) -> Self {
        let (entries, whole) = directory::entries(bytes);
        let mut by_name = HashMap::with_capacity(entries.len());
        for (number, entry) in entries.iter().enumerate() {
            by_name.entry(entry.name.to_ascii_lowercase()).or_insert(number);
        }
        Self { bytes, entries, by_name, spent: 0, cut: false, damaged: !whole, encrypted: false }
    }

    /// Its entries in the order of its directory.
    pub(crate) fn entries(&self) -> &[PackedEntry<'a>] {
        &self.entries
    }

    /// Whether there is a part of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(&key(name))
    }

    /// The unpacked content of a part, as far as it can be had.
    pub(crate) fn read(&mut self, name: &str) -> Option<Vec<u8>> {
        let entry = self.entries.get(*self.by_name.get(&key(name))?)?;
        if entry.encrypted {
            self.encrypted = true;
            return None;
        }
        let packed = directory::content(self.bytes, entry)?;
        let by_ratio = packed.len().saturating_mul(MAX_RATIO).max(FREE);
        let cap = MAX_PART.min(by_ratio).min(MAX_DOCUMENT.saturating_sub(self.spent));
        let (unpacked, whole) = match entry.method {
            0 => (packed.get(..cap).unwrap_or(packed).to_vec(), true),
            8 => inflate(packed, usize::try_from(entry.size).unwrap_or(0), cap),
            _ => return None,
        };
        self.cut |= unpacked.len() >= cap;
        self.damaged |= !whole;
        self.spent += unpacked.len();
        Some(unpacked)
    }

    /// The text of an XML part.
    pub(crate) fn xml(&mut self, name: &str) -> Option<String> {
        self.read(name).map(decode_xml)
    }

    /// Marks it as encrypted by means of its format.
    pub(crate) fn set_encrypted(&mut self) {
        self.encrypted = true;
    }

    /// Records what was wrong with it.
    pub(crate) fn report(&self, found: &mut Gather) {
        if self.encrypted {
            found.problem("encrypted", "it is encrypted, so that nothing can be read without its password");
        }
        if self.cut {
            found.problem("truncated", "it unpacks to more than is read of a document; the rest was left out");
        }
        if self.damaged {
            found.problem("zip-damaged", "the zip file is damaged or breaks off; it was read as far as possible");
        }
    }
}

fn key(name: &str) -> String {
    name.trim_start_matches('/').to_ascii_lowercase()
}

/// Unpacks up to `cap` bytes, and says whether the stream was sound so far.
fn inflate(packed: &[u8], expected: usize, cap: usize) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(expected.min(cap).min(packed.len().saturating_mul(8)) + 1);
    let outcome = DeflateDecoder::new(packed).take(cap as u64).read_to_end(&mut out);
    (out, outcome.is_ok())
}

/// The name of a part relative to another, as relationships and manifests give it.
pub(crate) fn resolve(base: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or(target);
    let joined = match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => match base.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{target}"),
            None => target.to_owned(),
        },
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::write::SimpleFileOptions;

    /// A zip file of these parts.
    pub(crate) fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in parts {
            let method =
                if *name == "mimetype" { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
            writer
                .start_file(*name, SimpleFileOptions::default().compression_method(method))
                .expect("a name that zip allows");
            writer.write_all(content).expect("to memory");
        }
        writer.finish().expect("to memory").into_inner()
    }

    #[test]
    fn parts_are_found_whatever_their_case() {
        let bytes = zipped(&[("mimetype", b"x/y"), ("Word/Document.xml", b"<a/>")]);
        let mut package = ZipPackage::open(&bytes);
        assert_eq!(package.read("mimetype").as_deref(), Some(&b"x/y"[..]));
        assert_eq!(package.xml("/word/document.XML").as_deref(), Some("<a/>"));
        assert!(!package.has("other") && package.read("other").is_none());
    }

    #[test]
    fn what_is_left_of_a_broken_file_is_read() {
        let long: String = (0..20_000).map(|n| format!("<p>{n}</p>")).collect();
        let bytes = zipped(&[("a.xml", b"<a/>"), ("b.xml", long.as_bytes())]);
        let mut package = ZipPackage::open(&bytes[..bytes.len() / 2]);
        assert_eq!(package.xml("a.xml").as_deref(), Some("<a/>"));
        let rest = package.xml("b.xml").expect("its beginning");
        assert!(rest.len() > 1_000 && long.starts_with(&rest));
        let mut found = Gather::default();
        package.report(&mut found);
        assert_eq!(found.doc.problems[0].code, "zip-damaged");
    }

    #[test]
    fn a_bomb_costs_no_more_than_a_part_may() {
        let bytes = zipped(&[("a", &vec![b' '; 40 << 20]), ("b", &vec![0; 40 << 20])]);
        let mut package = ZipPackage::open(&bytes);
        assert!(package.read("a").expect("its beginning").len() <= MAX_PART);
        for _ in 0..100 {
            package.read("b");
        }
        assert!(package.spent <= MAX_DOCUMENT);
        let mut found = Gather::default();
        package.report(&mut found);
        assert_eq!(found.doc.problems[0].code, "truncated");
    }

    #[test]
    fn names_are_resolved_against_the_part_that_gives_them() {
        assert_eq!(resolve("word/document.xml", "media/a.png"), "word/media/a.png");
        assert_eq!(resolve("ppt/slides/s1.xml", "../notes/./n1.xml"), "ppt/notes/n1.xml");
        assert_eq!(resolve("a.xml", "/x/y"), "x/y");
        assert_eq!(resolve("a.xml", "../../../etc/x#f"), "etc/x");
    }
}
