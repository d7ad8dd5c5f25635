//! Where in a zip file are its entries?
//!
//! By the central directory at its end, or, if the file is cut off, by the headers before each
//! entry. Sizes and offsets are claims: nothing is allocated by them, and what they point at is
//! looked up within the file (APPNOTE.TXT, 4.3).

use super::names::name;
use memchr::memmem;
use std::borrow::Cow;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 65_536;
/// Lengths of the fixed parts of a local header, a central header and the end record.
const LOCAL: usize = 30;
const CENTRAL: usize = 46;
const END: usize = 22;
/// How far from the end the end record may begin: its comment has up to 64 kB.
const END_ZONE: usize = END + (64 << 10);

/// An entry of a zip file.
#[derive(Clone, Debug)]
pub(crate) struct PackedEntry<'a> {
    /// Its path, separated by slashes.
    pub(crate) name: Cow<'a, str>,
    /// Its size unpacked, as claimed.
    pub(crate) size: u64,
    /// How it is packed: 0 stored, 8 deflated.
    pub(super) method: u16,
    /// Whether a password is needed.
    pub(super) encrypted: bool,
    packed: u64,
    /// Where its local header begins.
    offset: usize,
}

/// The entries, and whether they come from a directory that is whole.
pub(super) fn entries(bytes: &[u8]) -> (Vec<PackedEntry<'_>>, bool) {
    let central = from_directory(bytes).unwrap_or_default();
    if central.is_empty() { (from_headers(bytes), is_empty(bytes)) } else { (central, true) }
}

/// Whether a file is nothing but the end record of an empty archive.
fn is_empty(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x05\x06")
}

/// The packed content of an entry, as far as it is there.
pub(super) fn content<'a>(bytes: &'a [u8], entry: &PackedEntry<'_>) -> Option<&'a [u8]> {
    let header = bytes.get(entry.offset..)?;
    if !header.starts_with(b"PK\x03\x04") {
        return None;
    }
    let start = LOCAL + usize::from(u16_at(header, 26)?) + usize::from(u16_at(header, 28)?);
    let rest = header.get(start..)?;
    let packed = usize::try_from(entry.packed).unwrap_or(usize::MAX);
    Some(rest.get(..packed).unwrap_or(rest))
}

fn from_directory(bytes: &[u8]) -> Option<Vec<PackedEntry<'_>>> {
    let zone = bytes.len().saturating_sub(END_ZONE);
    let end = zone + memmem::rfind(bytes.get(zone..)?, b"PK\x05\x06")?;
    let record = bytes.get(end..)?;
    let (size, claimed) = (u64::from(u32_at(record, 12)?), u64::from(u32_at(record, 16)?));
    let (size, claimed, end) = large(bytes, end).unwrap_or((size, claimed, end));
    // Where something was put before the archive, offsets count from where it began.
    let start = end.checked_sub(usize::try_from(size).ok()?).unwrap_or(usize::MAX);
    let claimed = usize::try_from(claimed).ok()?;
    let is_there = |at: usize| bytes.get(at..).is_some_and(|b| b.starts_with(b"PK\x01\x02"));
    let (start, shift) = if is_there(start) { (start, start.saturating_sub(claimed)) } else { (claimed, 0) };
    let mut entries = Vec::new();
    let mut rest = bytes.get(start..)?;
    while rest.starts_with(b"PK\x01\x02") && entries.len() < MAX_ENTRIES {
        let (entry, len) = central(rest, shift)?;
        entries.push(entry);
        rest = rest.get(len..).unwrap_or(&[]);
    }
    Some(entries)
}

/// Size and offset of the directory of a file with 64-bit fields, and where the directory ends.
fn large(bytes: &[u8], end: usize) -> Option<(u64, u64, usize)> {
    let locator = bytes.get(end.checked_sub(20)?..)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return None;
    }
    let at = usize::try_from(u64_at(locator, 8)?).ok()?;
    let record = bytes.get(at..).filter(|r| r.starts_with(b"PK\x06\x06"))?;
    Some((u64_at(record, 40)?, u64_at(record, 48)?, at))
}

/// An entry of the directory, and its length there.
fn central(header: &[u8], shift: usize) -> Option<(PackedEntry<'_>, usize)> {
    let [name_len, extra_len, comment_len] = [u16_at(header, 28)?, u16_at(header, 30)?, u16_at(header, 32)?];
    let name_end = CENTRAL + usize::from(name_len);
    let extra_end = name_end + usize::from(extra_len);
    let extra = header.get(name_end..extra_end)?;
    let mut wide = large_fields(extra);
    let mut field = |at: usize| -> Option<u64> {
        let value = u32_at(header, at)?;
        Some(if value == u32::MAX { wide.next().unwrap_or(u64::MAX) } else { u64::from(value) })
    };
    let (size, packed, offset) = (field(24)?, field(20)?, field(42)?);
    let entry = PackedEntry {
        name: name(header.get(CENTRAL..name_end)?),
        size,
        method: u16_at(header, 10)?,
        encrypted: u16_at(header, 8)? & 1 != 0,
        packed,
        offset: usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(shift),
    };
    Some((entry, extra_end + usize::from(comment_len)))
}

/// The 64-bit fields that stand in for 32-bit ones, in order.
fn large_fields(mut extra: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut values: &[u8] = &[];
    while let (Some(kind), Some(len)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let end = 4 + usize::from(len);
        if kind == 1 {
            values = extra.get(4..end).unwrap_or(&[]);
        }
        extra = extra.get(end..).unwrap_or(&[]);
    }
    values.chunks_exact(8).filter_map(|eight| u64_at(eight, 0))
}

/// The entries by the headers before each of them.
fn from_headers(bytes: &[u8]) -> Vec<PackedEntry<'_>> {
    let finder = memmem::Finder::new(b"PK\x03\x04");
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(offset) = bytes.get(at..).and_then(|rest| finder.find(rest)).map(|i| at + i) {
        at = offset + 4;
        let Some((mut entry, start)) = local(bytes, offset) else { continue };
        if entry.packed == 0 && entry.method == 8 {
            // The size follows the content, which ends where the next header begins.
            entry.packed = u64::MAX;
        } else {
            at = start.saturating_add(usize::try_from(entry.packed).unwrap_or(0)).min(bytes.len()).max(at);
        }
        entries.push(entry);
        if entries.len() >= MAX_ENTRIES {
            break;
        }
    }
    entries
}

fn local(bytes: &[u8], offset: usize) -> Option<(PackedEntry<'_>, usize)> {
    let header = bytes.get(offset..)?;
    let name_end = LOCAL + usize::from(u16_at(header, 26)?);
    let entry = PackedEntry {
        name: name(header.get(LOCAL..name_end)?),
        size: u64::from(u32_at(header, 22)?),
        method: u16_at(header, 8)?,
        encrypted: u16_at(header, 6)? & 1 != 0,
        packed: u64::from(u32_at(header, 18)?),
        offset,
    };
    Some((entry, offset + name_end + usize::from(u16_at(header, 28)?)))
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}
