//! Which files are in a RAR archive?
//!
//! A signature, then blocks one after the other, each of which says how long it is. RAR 5 wrote
//! all of it again: numbers of any length instead of fields, names in UTF-8 instead of an encoding
//! of its own.

use super::MAX_FILES;
use crate::package::{u16_at, u32_at};

const OLD: &[u8] = b"Rar!\x1A\x07\0";
const NEW: &[u8] = b"Rar!\x1A\x07\x01\0";
/// Kinds of blocks of old archives: the archive itself, and a file.
const OLD_MAIN: u8 = 0x73;
const OLD_FILE: u8 = 0x74;
/// Kinds of blocks of new ones: a file, and a key, behind which everything is encrypted.
const NEW_FILE: u64 = 2;
const NEW_KEY: u64 = 4;
/// The longest name in bytes.
const MAX_NAME: usize = 4_096;

/// The names in an archive, and whether they are encrypted.
#[derive(Debug, Default)]
pub(super) struct RarNames {
    pub(super) names: Vec<String>,
    pub(super) is_encrypted: bool,
}

impl RarNames {
    /// The names in an archive, as far as it goes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        if let Some(blocks) = bytes.strip_prefix(OLD) {
            let mut rest = Some(blocks);
            while let Some(block) = rest.filter(|_| found.has_room()) {
                rest = found.old_block(block);
            }
        } else if let Some(blocks) = bytes.strip_prefix(NEW) {
            let mut rest = Some(blocks);
            while let Some(block) = rest.filter(|_| found.has_room()) {
                rest = found.new_block(block);
            }
        }
        found
    }

    fn has_room(&self) -> bool {
        self.names.len() < MAX_FILES && !self.is_encrypted
    }

    /// Reads a block of RAR 1.5 to 4, and returns what follows it.
    fn old_block<'a>(&mut self, block: &'a [u8]) -> Option<&'a [u8]> {
        let (kind, flags, size) = (*block.get(2)?, u16_at(block, 3)?, usize::from(u16_at(block, 5)?));
        let head = block.get(..size).filter(|_| size >= 7)?;
        self.is_encrypted = kind == OLD_MAIN && flags & 0x80 != 0;
        let mut content = if flags & 0x8000 != 0 { u64::from(u32_at(head, 7)?) } else { 0 };
        if kind == OLD_FILE {
            let is_large = flags & 0x100 != 0;
            if is_large {
                content |= u64::from(u32_at(head, 32)?) << 32;
            }
            let start = if is_large { 40 } else { 32 };
            let name = head.get(start..)?;
            let name = name.get(..usize::from(u16_at(head, 26)?)).unwrap_or(name);
            let name = if flags & 0x200 != 0 { old_name(name) } else { String::from_utf8_lossy(name).into_owned() };
            self.names.push(name.replace('\\', "/"));
        }
        block.get(size..)?.get(usize::try_from(content).ok()?..)
    }

    /// Reads a block of RAR 5, and returns what follows it.
    fn new_block<'a>(&mut self, block: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = block.get(4..)?;
        let size = usize::try_from(number(&mut rest)?).ok()?;
        let (mut head, after) = rest.split_at_checked(size)?;
        let (kind, flags) = (number(&mut head)?, number(&mut head)?);
        if flags & 1 != 0 {
            number(&mut head)?;
        }
        let content = if flags & 2 != 0 { number(&mut head)? } else { 0 };
        self.is_encrypted = kind == NEW_KEY;
        if kind == NEW_FILE {
            let own = number(&mut head)?;
            // Its size and attributes, its time and checksum, how and on what it was packed.
            for stamps in [own & 6, 0] {
                number(&mut head)?;
                number(&mut head)?;
                head = head.get(4 * stamps.count_ones() as usize..)?;
            }
            let len = usize::try_from(number(&mut head)?).ok()?.min(MAX_NAME);
            self.names.push(String::from_utf8_lossy(head.get(..len).unwrap_or(head)).into_owned());
        }
        after.get(usize::try_from(content).ok()?..)
    }
}

/// A number of any length: seven bits a byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F).checked_shl(7 * place)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// A name of old archives that is not ASCII: once in some code page, then, behind a zero, how it
/// differs from that in UTF-16.
fn old_name(bytes: &[u8]) -> String {
    let Some((plain, coded)) = memchr::memchr(0, bytes).and_then(|at| Some((&bytes[..at], bytes.get(at + 1..)?)))
    else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let mut units: Vec<u16> = Vec::new();
    decode(plain, coded, &mut units);
    String::from_utf16_lossy(&units)
}

/// Two bits say of each character how it is written: in one byte, in one with a common upper half,
/// in two, or as so many characters of the plain name.
fn decode(plain: &[u8], coded: &[u8], units: &mut Vec<u16>) -> Option<()> {
    let mut rest = coded.iter().copied();
    let high = u16::from(rest.next()?) << 8;
    while units.len() < MAX_NAME {
        let ways = rest.next()?;
        for shift in [6, 4, 2, 0] {
            match ways >> shift & 3 {
                0 => units.push(u16::from(rest.next()?)),
                1 => units.push(high | u16::from(rest.next()?)),
                2 => units.push(u16::from_le_bytes([rest.next()?, rest.next()?])),
                _ => {
                    let length = rest.next()?;
                    let (added, high) = if length & 0x80 != 0 { (rest.next()?, high) } else { (0, 0) };
                    for _ in 0..usize::from(length & 0x7F) + 2 {
                        let byte = plain.get(units.len())?.wrapping_add(added);
                        units.push(high | u16::from(byte));
                    }
                }
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, extract};

    fn old_file(name: &[u8], flags: u16, content: &[u8]) -> Vec<u8> {
        let size = u16::try_from(32 + name.len()).expect("short");
        let mut block = vec![0, 0, OLD_FILE];
        block.extend((flags | 0x8000).to_le_bytes());
        block.extend(size.to_le_bytes());
        block.extend(u32::try_from(content.len()).expect("small").to_le_bytes());
        block.extend([0; 15]);
        block.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
        block.extend([0; 4]);
        block.extend(name);
        block.extend(content);
        block
    }

    fn new_file(name: &str, content: &[u8]) -> Vec<u8> {
        let len = |bytes: usize| u8::try_from(bytes).expect("short");
        // The last number of all is the length of the name.
        let mut head = vec![2, 2, len(content.len()), 0x04, 0x80, 0x01, 0, 1, 2, 3, 4, 0, 1, len(name.len())];
        head.extend(name.as_bytes());
        [&[0; 4][..], &[len(head.len())], &head, content].concat()
    }

    fn read(bytes: &[u8]) -> orb_page::Document {
        extract(&Content { bytes, mime: None, charset: None, url: "" })
    }

    #[test]
    fn names_are_the_text_of_an_archive_of_either_kind() {
        let main = [0, 0, OLD_MAIN, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0];
        // The plain name, the upper half of the first character, its lower half, four as they are.
        let second = old_file(b"?.txt\0\x04\x70\x34\x02", 0x200, b"");
        let doc = read(&[OLD, &main, &old_file(b"a\\b.txt", 0, b"content"), &second].concat());
        assert_eq!((doc.mime.as_str(), doc.text.as_str()), ("application/x-rar-compressed", "a/b.txt\nд.txt"));
        let new = [NEW, &new_file("größe/c.txt", b"some content"), &new_file("d.txt", b"")].concat();
        assert_eq!(read(&new).text, "größe/c.txt\nd.txt");
    }

    #[test]
    fn encrypted_names_are_a_problem_and_lying_sizes_end() {
        let main = [0, 0, OLD_MAIN, 0x80, 0, 13, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(read(&[OLD, &main, &[0xFF; 64]].concat()).problems[0].code, "encrypted");
        assert_eq!(read(&[NEW, &[0, 0, 0, 0, 3, 4, 0, 0]].concat()).problems[0].code, "encrypted");
        read(&[OLD, &[0; 4_096]].concat());
        read(&[NEW, &[0xFF; 4_096]].concat());
        read(&[NEW, &[0; 4_096]].concat());
        let mut lying = old_file(b"a", 0, b"");
        lying[7..11].fill(0xFF);
        assert_eq!(read(&[OLD, &lying].concat()).text, "a");
    }
}
