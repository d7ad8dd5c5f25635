//! What did a camera write into a picture?
//!
//! EXIF is a directory of TIFF, with another one inside of it. Each is read once, so that
//! directories that lead to each other do no harm.

use super::{PictureFacts, fill};
use crate::stamp::moment;

/// Maximum number of entries of a directory.
const MAX_ENTRIES: usize = 1_000;
/// Maximum length of a text.
const MAX_TEXT: usize = 16 << 10;

/// Reads a block in the form of TIFF.
pub(super) fn read(tiff: &[u8], facts: &mut PictureFacts) {
    let reader = TiffReader { tiff, is_big: tiff.starts_with(b"MM") };
    let mut inner = None;
    if let Some(at) = reader.u32(4) {
        reader.directory(at as usize, facts, &mut inner);
    }
    if let Some(at) = inner {
        reader.directory(at, facts, &mut None);
    }
}

struct TiffReader<'a> {
    tiff: &'a [u8],
    is_big: bool,
}

impl TiffReader<'_> {
    fn u16(&self, at: usize) -> Option<u16> {
        let two = *self.tiff.get(at..)?.first_chunk()?;
        Some(if self.is_big { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) })
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let four = *self.tiff.get(at..)?.first_chunk()?;
        Some(if self.is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
    }

    fn directory(&self, at: usize, facts: &mut PictureFacts, inner: &mut Option<usize>) -> Option<()> {
        let count = usize::from(self.u16(at)?).min(MAX_ENTRIES);
        let (mut width, mut height) = (None, None);
        for entry in (0..count).map(|i| at.saturating_add(2 + i * 12)) {
            let number = || match self.u16(entry + 2)? {
                3 => self.u16(entry + 8).map(u32::from),
                _ => self.u32(entry + 8),
            };
            match self.u16(entry)? {
                0x0100 => width = number(),
                0x0101 => height = number(),
                0x010E => fill(&mut facts.description, &self.text(entry)),
                0x013B => fill(&mut facts.author, &self.text(entry)),
                0x8298 => fill(&mut facts.copyright, &self.text(entry).replace('\0', " ")),
                0x0132 => facts.created = facts.created.take().or_else(|| moment(&self.text(entry))),
                // When it was taken, rather than last changed.
                0x9003 => facts.created = moment(&self.text(entry)).or(facts.created.take()),
                0x9C9B => fill(&mut facts.title, &self.wide_text(entry)),
                0x9C9C => fill(&mut facts.comment, &self.wide_text(entry)),
                0x9C9D => fill(&mut facts.author, &self.wide_text(entry)),
                0x9286 => fill(&mut facts.comment, &self.user_comment(entry)),
                0x8769 => *inner = self.u32(entry + 8).map(|at| at as usize),
                _ => {}
            }
        }
        facts.size = facts.size.or(width.zip(height));
        Some(())
    }

    /// The bytes of a value, which stand in the entry if there are at most four.
    fn bytes(&self, entry: usize) -> &[u8] {
        let len = self.u32(entry + 4).map_or(0, |n| n as usize).min(MAX_TEXT);
        let at = if len <= 4 { entry + 8 } else { self.u32(entry + 8).map_or(usize::MAX, |at| at as usize) };
        self.tiff.get(at..at.saturating_add(len)).unwrap_or(&[])
    }

    /// A text without the zero byte at its end.
    fn text(&self, entry: usize) -> String {
        String::from_utf8_lossy(self.bytes(entry)).trim_end_matches('\0').to_owned()
    }

    /// A comment, which says in its first eight bytes how it is encoded.
    fn user_comment(&self, entry: usize) -> String {
        let Some((encoding, text)) = self.bytes(entry).split_first_chunk::<8>() else { return String::new() };
        match encoding {
            b"UNICODE\0" if self.is_big => encoding_rs::UTF_16BE.decode(text).0.into_owned(),
            b"UNICODE\0" => encoding_rs::UTF_16LE.decode(text).0.into_owned(),
            b"ASCII\0\0\0" => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        }
    }

    fn wide_text(&self, entry: usize) -> String {
        crate::legacy::utf16(self.bytes(entry))
    }
}
