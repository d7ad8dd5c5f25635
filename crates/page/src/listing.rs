//! What lies in a directory?
//!
//! FTP, SFTP, newsgroups and file systems have no hyperlinks: they list. A listing is the body of a
//! page of its own, written by the protocol and read by an extractor, so that a directory is
//! crawled, archived and tracked like any other page.
//!
//! One line an entry, three columns separated by tabs: size in bytes, time of the last change in
//! milliseconds since the epoch, and the name as a relative reference, with a slash at the end of a
//! directory's. `-` stands for what is not known. The order is the protocol's; equal directories
//! should give equal listings.

use crate::Moment;
use std::fmt::Write as _;

/// The entries of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// In the order of the listing.
    pub entries: Vec<ListingEntry>,
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingEntry {
    /// Its name as a relative reference: escaped, with a slash at the end of a directory's.
    pub reference: String,
    /// Its length, where the listing says so.
    pub size: Option<u64>,
    /// When it was last changed, where the listing says so.
    pub modified: Option<Moment>,
}

impl ListingEntry {
    /// An entry with the name that the server gave. Names are data: nothing that leads out of the
    /// directory, and nothing without a name, is an entry.
    pub fn new(name: &[u8], is_directory: bool) -> Option<Self> {
        if matches!(name, b"" | b"." | b"..") || name.iter().any(|b| matches!(b, b'/' | 0 | b'\r' | b'\n')) {
            return None;
        }
        let mut reference = String::with_capacity(name.len() + 1);
        for &byte in name {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => reference.push(byte.into()),
                _ => _ = write!(reference, "%{byte:02X}"),
            }
        }
        if is_directory {
            reference.push('/');
        }
        Some(Self { reference, size: None, modified: None })
    }

    /// Its name, with escapes undone and what is not UTF-8 replaced.
    pub fn name(&self) -> String {
        let (mut name, mut rest) = (Vec::with_capacity(self.reference.len()), self.reference.as_bytes());
        while let Some((&byte, after)) = rest.split_first() {
            let escape = after.get(..2).filter(|_| byte == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
            let meant = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            name.push(meant.unwrap_or(byte));
            rest = if meant.is_some() { &after[2..] } else { after };
        }
        String::from_utf8_lossy(&name).into_owned()
    }
}

impl Listing {
    /// The media type of a listing. It is our own: no server sends it.
    pub const MIME: &'static str = "application/x-orb-listing";

    /// The listing as the body of a page.
    pub fn render(&self) -> Vec<u8> {
        let mut out = String::new();
        for entry in &self.entries {
            let size = entry.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
            let modified = entry.modified.map_or_else(|| "-".to_owned(), |at| at.0.to_string());
            // Writing to memory does not fail.
            let _ = writeln!(out, "{size}\t{modified}\t{}", entry.reference);
        }
        out.into_bytes()
    }

    /// Reads a body back, and how many of its lines are no entries.
    pub fn parse(body: &[u8]) -> (Self, usize) {
        let text = String::from_utf8_lossy(body);
        let (mut entries, mut broken) = (Vec::new(), 0);
        for line in text.lines() {
            match entry(line) {
                Some(entry) => entries.push(entry),
                None => broken += 1,
            }
        }
        (Self { entries }, broken)
    }
}

fn entry(line: &str) -> Option<ListingEntry> {
    let mut columns = line.splitn(3, '\t');
    let (size, modified, reference) = (columns.next()?, columns.next()?, columns.next()?);
    let size = if size == "-" { None } else { Some(size.parse().ok()?) };
    let modified = if modified == "-" { None } else { Some(Moment(modified.parse().ok()?)) };
    (!reference.is_empty()).then(|| ListingEntry { reference: reference.to_owned(), size, modified })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_comes_back_as_it_was_written() {
        let file = ListingEntry::new("a b\u{e4}:100%.txt".as_bytes(), false).unwrap();
        let file = ListingEntry { size: Some(12), modified: Some(Moment(1_794_715_409_123)), ..file };
        let directory = ListingEntry::new(b"sub\xff", true).unwrap();
        let listing = Listing { entries: vec![file, directory] };
        let body = listing.render();
        assert_eq!(body, b"12\t1794715409123\ta%20b%C3%A4%3A100%25.txt\n-\t-\tsub%FF/\n");
        assert_eq!(Listing::parse(&body), (listing.clone(), 0));
        assert_eq!(listing.entries[0].name(), "a b\u{e4}:100%.txt");
        assert_eq!(listing.entries[1].name(), "sub\u{fffd}/");
    }

    #[test]
    fn names_that_lead_out_of_the_directory_are_no_entries() {
        for name in ["", ".", "..", "a/b", "/", "a\0", "a\r\nb"] {
            assert_eq!(ListingEntry::new(name.as_bytes(), false), None, "{name:?}");
        }
        assert!(ListingEntry::new(b"...", false).is_some());
    }

    #[test]
    fn lines_that_are_no_entries_are_counted() {
        let (listing, broken) = Listing::parse(b"1\t2\ta\nx\t-\tb\n\n-\t-\t\n-\t-\tc\td");
        let names: Vec<_> = listing.entries.iter().map(|e| e.reference.as_str()).collect();
        assert_eq!((names, broken), (vec!["a", "c\td"], 3));
    }
}
