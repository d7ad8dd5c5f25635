//! Which records does a binary workbook consist of?
//!
//! A stream of records: a type, a length, up to 8 kB ([MS-XLS] 2.1.4). What is longer continues in
//! records of type `CONTINUE`. Strings are in the code page of the workbook up to Excel 95, then in
//! UTF-16 or its lower half; one that continues in another record says again which of the two.

use crate::package::{u16_at, u32_at};
use encoding_rs::Encoding;

/// The type of a record that continues the one before.
const CONTINUE: u16 = 0x3C;
/// Maximum length of a string in characters: as long as a cell may be.
const MAX_STRING: usize = 32_768;

/// A record.
#[derive(Clone, Copy, Debug)]
pub(super) struct BiffRecord<'a> {
    pub(super) kind: u16,
    pub(super) body: &'a [u8],
    /// What follows it.
    rest: &'a [u8],
}

/// The records of a stream from an offset on.
pub(super) fn records(stream: &[u8], start: usize) -> impl Iterator<Item = BiffRecord<'_>> {
    let mut at = start;
    std::iter::from_fn(move || {
        let header = stream.get(at..)?;
        let (kind, len) = (u16_at(header, 0)?, usize::from(u16_at(header, 2)?));
        let body = header.get(4..)?;
        let (body, rest) = body.split_at_checked(len).unwrap_or((body, &[]));
        let record = BiffRecord { kind, body, rest };
        at += 4 + len;
        Some(record)
    })
}

impl<'a> BiffRecord<'a> {
    /// Its content, with that of the records that continue it.
    pub(super) fn pieces(&self) -> BiffPieces<'a> {
        let mut pieces = vec![self.body];
        pieces.extend(records(self.rest, 0).take_while(|r| r.kind == CONTINUE).map(|r| r.body));
        BiffPieces { pieces, piece: 0, at: 0 }
    }
}

/// A content in several pieces, which is read as one.
#[derive(Debug)]
pub(super) struct BiffPieces<'a> {
    pieces: Vec<&'a [u8]>,
    piece: usize,
    at: usize,
}

impl<'a> BiffPieces<'a> {
    /// What is left of the current piece; `None` at the end.
    fn rest(&mut self) -> Option<&'a [u8]> {
        loop {
            let piece = self.pieces.get(self.piece)?;
            match piece.get(self.at..).filter(|rest| !rest.is_empty()) {
                Some(rest) => return Some(rest),
                None => self.next_piece(),
            }
        }
    }

    /// Continues with the next piece.
    pub(super) fn next_piece(&mut self) {
        self.piece += 1;
        self.at = 0;
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.rest()?.first()?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte()?, self.byte()?]))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from(self.u16()?) | (u32::from(self.u16()?) << 16))
    }

    fn skip(&mut self, mut len: usize) {
        while len > 0 {
            let Some(rest) = self.rest() else { return };
            let step = rest.len().min(len);
            self.at += step;
            len -= step;
        }
    }

    /// A string of Excel 97 and later with its formatting: `cch`, flags, characters.
    pub(super) fn rich_string(&mut self) -> Option<String> {
        let len = usize::from(self.u16()?);
        let flags = self.byte()?;
        let runs = if flags & 8 != 0 { usize::from(self.u16()?) } else { 0 };
        let extra = if flags & 4 != 0 { self.u32()? as usize } else { 0 };
        let mut text = self.characters(len, flags & 1 != 0);
        self.skip(runs * 4);
        if let Some(spoken) = self.pronunciation(extra) {
            text.push(' ');
            text.push_str(&spoken);
        }
        Some(text)
    }

    /// How a string is pronounced, from what follows it ([MS-XLS] 2.5.86).
    fn pronunciation(&mut self, len: usize) -> Option<String> {
        let mut left = len;
        let mut bytes: Vec<u8> = Vec::new();
        while left > 0 {
            let Some(rest) = self.rest() else { break };
            let step = rest.len().min(left);
            if bytes.len() < 2 * MAX_STRING {
                bytes.extend_from_slice(rest.get(..step)?);
            }
            self.at += step;
            left -= step;
        }
        let characters = usize::from(u16_at(&bytes, 12)?);
        let text = utf16(bytes.get(14..14 + 2 * characters)?);
        Some(text).filter(|text| !text.is_empty() && u16_at(&bytes, 0) == Some(1))
    }

    /// As many characters, where every piece says how wide they are.
    fn characters(&mut self, len: usize, wide: bool) -> String {
        let mut units: Vec<u16> = Vec::new();
        let mut wide = wide;
        let mut left = len;
        let mut piece = self.piece;
        while left > 0 {
            let Some(mut rest) = self.rest() else { break };
            if self.piece != piece {
                piece = self.piece;
                wide = rest.first().is_some_and(|flags| flags & 1 != 0);
                self.at += 1;
                rest = rest.get(1..).unwrap_or(&[]);
            }
            let width = if wide { 2 } else { 1 };
            let count = (rest.len() / width).min(left);
            units.extend(rest.chunks_exact(width).take(count).map(|unit| match unit {
                [low, high] => u16::from_le_bytes([*low, *high]),
                [byte, ..] => u16::from(*byte),
                [] => 0,
            }));
            left -= count;
            // An odd byte at the end of a piece belongs to nothing.
            self.at += if count == 0 { rest.len() } else { count * width };
            if units.len() > MAX_STRING {
                units.clear();
            }
        }
        String::from_utf16_lossy(&units)
    }

    /// The text of a drawing, which is in the pieces after the first.
    pub(super) fn drawn_text(&mut self, len: usize) -> String {
        self.next_piece();
        let wide = self.byte().is_some_and(|flags| flags & 1 != 0);
        self.characters(len.min(MAX_STRING), wide)
    }
}

/// A string whose length has one or two bytes, and what follows it.
pub(super) fn short_string(body: &[u8], length_bytes: usize, code: BiffText) -> Option<(String, &[u8])> {
    let len = match length_bytes {
        1 => usize::from(*body.first()?),
        _ => usize::from(u16_at(body, 0)?),
    };
    let body = body.get(length_bytes..)?;
    match code {
        BiffText::Bytes(encoding) => {
            let (text, rest) = body.split_at_checked(len).unwrap_or((body, &[]));
            Some((encoding.decode_without_bom_handling(text).0.into_owned(), rest))
        }
        BiffText::Unicode => {
            let (&flags, body) = body.split_first()?;
            // Some labels have formatting, the numbers of which stand before the characters.
            let skipped = if flags & 8 != 0 { 2 } else { 0 } + if flags & 4 != 0 { 4 } else { 0 };
            let body = body.get(skipped..)?;
            let wide = flags & 1 != 0;
            let size = if wide { len * 2 } else { len };
            let (text, rest) = body.split_at_checked(size).unwrap_or((body, &[]));
            let units: Vec<u16> = match wide {
                true => text.chunks_exact(2).filter_map(|two| u16_at(two, 0)).collect(),
                false => text.iter().map(|&b| u16::from(b)).collect(),
            };
            Some((String::from_utf16_lossy(&units), rest))
        }
    }
}

/// How the strings of a workbook are written.
#[derive(Clone, Copy, Debug)]
pub(super) enum BiffText {
    /// In a code page.
    Bytes(&'static Encoding),
    /// In UTF-16, or its lower half.
    Unicode,
}

/// A number in four bytes.
pub(super) fn rk_number(rk: u32) -> f64 {
    let value =
        if rk & 2 != 0 { f64::from(rk.cast_signed() >> 2) } else { f64::from_bits(u64::from(rk & 0xFFFF_FFFC) << 32) };
    if rk & 1 != 0 { value / 100.0 } else { value }
}

/// A number in eight bytes.
pub(super) fn float_at(bytes: &[u8], at: usize) -> Option<f64> {
    bytes.get(at..)?.first_chunk().map(|b| f64::from_le_bytes(*b))
}

/// The target of a link ([MS-OSHARED] 2.3.7.1), from its class id on.
pub(super) fn link_target(body: &[u8]) -> Option<String> {
    let flags = u32_at(body, 20)?;
    let mut rest = body.get(24..)?;
    for flag in [0x10, 0x80] {
        if flags & flag != 0 {
            rest = counted(rest)?.1;
        }
    }
    let mut target = String::new();
    if flags & 0x100 != 0 {
        let (text, after) = counted(rest)?;
        (target, rest) = (text, after);
    } else if flags & 1 != 0 {
        let (text, after) = moniker(rest)?;
        (target, rest) = (text, after);
    }
    if flags & 8 != 0
        && let Some((place, _)) = counted(rest)
        && !target.is_empty()
        && !place.is_empty()
    {
        target = format!("{target}#{place}");
    }
    Some(target).filter(|t| !t.is_empty())
}

/// A counted string in UTF-16, and what follows.
fn counted(bytes: &[u8]) -> Option<(String, &[u8])> {
    let size = (u32_at(bytes, 0)? as usize).checked_mul(2)?;
    let text = bytes.get(4..size.checked_add(4)?)?;
    Some((utf16(text), bytes.get(4 + size..)?))
}

fn moniker(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (class, rest) = bytes.split_at_checked(16)?;
    if class.starts_with(&[0xE0, 0xC9, 0xEA, 0x79]) {
        let size = u32_at(rest, 0)? as usize;
        let text = rest.get(4..size.checked_add(4)?)?;
        return Some((utf16(text), rest.get(4 + size..)?));
    }
    // A file: how many directories up, and its path.
    let size = u32_at(rest, 2)? as usize;
    let path = rest.get(6..size.checked_add(6)?)?;
    let path = String::from_utf8_lossy(path).trim_end_matches('\0').replace('\\', "/");
    Some((path, &[]))
}

/// Characters in UTF-16, up to the first zero.
pub(crate) fn utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).filter_map(|two| u16_at(two, 0)).take_while(|&u| u != 0);
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_four_bytes_are_whole_or_not() {
        assert_eq!(rk_number(0x3FF0_0000), 1.0);
        assert_eq!(rk_number(0x3FF0_0001), 0.01);
        assert_eq!(rk_number((1234 << 2) | 2), 1234.0);
        assert_eq!(rk_number((1234 << 2) | 3), 12.34);
        assert_eq!(rk_number(((-5i32) << 2).cast_unsigned() | 2), -5.0);
    }

    #[test]
    fn how_a_string_is_pronounced_follows_it() {
        let mut body = vec![1, 0, 5, 18, 0, 0, 0, 0x71, 0x67];
        body.extend([1, 0, 14, 0, 0, 0, 0, 0, 1, 0, 2, 0, 2, 0, 0xC8, 0x30, 0xB6, 0x30]);
        body.extend([1, 0, 0, b'b']);
        let mut stream = vec![0xFC, 0, u8::try_from(body.len()).expect("short"), 0];
        stream.extend(&body);
        let mut pieces = records(&stream, 0).next().expect("a record").pieces();
        assert_eq!(pieces.rich_string().as_deref(), Some("東 トザ"));
        assert_eq!(pieces.rich_string().as_deref(), Some("b"));
    }

    #[test]
    fn a_string_goes_on_in_the_next_record() {
        let mut stream = vec![0xFC, 0, 7, 0, 4, 0, 0, b'a', b'b', 0, 0];
        stream.truncate(4 + 5);
        stream[2] = 5;
        stream.extend([0x3C, 0, 5, 0, 1, b'c', 0, b'd', 0]);
        let record = records(&stream, 0).next().expect("a record");
        assert_eq!(record.pieces().rich_string().as_deref(), Some("abcd"));
    }
}
