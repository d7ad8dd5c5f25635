//! Which characters are in a text string?
//!
//! Titles, names and replacement texts of a PDF are in UTF-16 or UTF-8 with a byte order mark, else
//! in PDFDocEncoding (ISO 32000-2, annex D.3), which is Latin-1 but for two rows.

use crate::prose::cut;

/// Maximum length of a line in characters.
const MAX_LINE: usize = 1_000;
/// PDFDocEncoding from 0x18 to 0x1F.
const ACCENTS: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
/// PDFDocEncoding from 0x80 to 0xA0.
const MARKS: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ',
    'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{FFFD}', '€',
];

/// The characters of a text string.
pub(super) fn decode(bytes: &[u8]) -> String {
    let units = |from_bytes: fn([u8; 2]) -> u16| {
        let units = bytes.get(2..).unwrap_or_default().chunks_exact(2).map(|pair| from_bytes([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    match bytes {
        [0xFE, 0xFF, ..] => without_language(&units(u16::from_be_bytes)),
        [0xFF, 0xFE, ..] => without_language(&units(u16::from_le_bytes)),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|b| character(*b)).collect(),
    }
}

fn character(byte: u8) -> char {
    match byte {
        0x18..=0x1F => ACCENTS[usize::from(byte - 0x18)],
        0x80..=0xA0 => MARKS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Removes language codes, which stand between two escapes.
fn without_language(text: &str) -> String {
    if !text.contains('\u{1B}') {
        return text.to_owned();
    }
    text.split('\u{1B}').step_by(2).collect()
}

/// One line without control characters, white space collapsed; `None` if nothing is left.
pub(super) fn line(bytes: &[u8]) -> Option<String> {
    let text = decode(bytes);
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let mut line = words.join(" ");
    cut(&mut line, MAX_LINE);
    (!line.is_empty()).then_some(line)
}

/// The characters of a glyph as they are searched for: ligatures and presentation forms apart,
/// without what stands for nothing.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{3000}' | '\t' | '\n' | '\r' => plain.push(' '),
            '\u{FB00}'..='\u{FB06}' | '\u{FB13}'..='\u{FB4F}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' => {
                plain.extend(unicode_normalization::UnicodeNormalization::nfkc(std::iter::once(c)));
            }
            '\u{E000}'..='\u{F8FF}' | '\u{FEFF}' | '\u{FFFD}'..='\u{FFFF}' | '\u{200B}'..='\u{200F}' => {}
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{F0000}'..='\u{10FFFF}' => {}
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_string_says_its_encoding_by_its_first_bytes() {
        assert_eq!(decode(b"\xFE\xFF\0A\x20\xAC\xD8\x3D\xDE\x00"), "A€😀");
        assert_eq!(decode(b"\xFF\xFEA\0"), "A");
        assert_eq!(decode(b"\xEF\xBB\xBF\xC4\x8D"), "č");
        assert_eq!(decode(b"caf\xE9 \x93\x84\xA0"), "café ﬁ—€");
        assert_eq!(decode(b"\xFE\xFF\0\x1B\0e\0n\0\x1B\0x"), "x");
    }

    #[test]
    fn a_line_is_collapsed_or_not_there() {
        assert_eq!(line(b" a\r\n b\0 ").as_deref(), Some("a b"));
        assert_eq!(line(b" \0"), None);
    }

    #[test]
    fn ligatures_and_presentation_forms_are_taken_apart() {
        assert_eq!(plain("ﬁﬃ"), "fiffi");
        assert_eq!(plain("\u{FEFB}"), "\u{644}\u{627}");
        assert_eq!(plain("\u{F0B7}\u{A0}\u{7}"), " ");
    }
}
