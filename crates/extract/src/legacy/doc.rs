//! What does a binary Word document say?
//!
//! The stream `WordDocument` holds the characters in pieces, in the order in which they were
//! written; a table in another stream puts them in the order of the text ([MS-DOC] 2.4.1). Behind
//! the body follow footnotes, headers, comments, endnotes and text boxes, so that reading all
//! pieces reads all of these. Fields stand in the text with their codes. Word 6 and 95 keep the
//! characters in one piece, unless the document was saved quickly: then what was changed stands
//! behind the rest, and a table of pieces in the same stream says where.

use super::code_page;
use crate::compound::CompoundFile;
use crate::flow::TextFlow;
use crate::office::{formula, hyperlink};
use crate::package::{u16_at, u32_at};
use crate::rtf::page_of_charset;
use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

/// Maximum number of pieces.
const MAX_PIECES: usize = 1_000_000;
/// How deep fields may be nested.
const MAX_FIELDS: usize = 64;
/// Maximum length of a field's code in bytes.
const MAX_CODE: usize = 16 << 10;
/// Whether a piece has a byte for each character.
const NARROW: u32 = 1 << 30;
/// Where a document of Word 97, and one of Word 6, says where its table of pieces is.
const PIECES: usize = 0x1A2;
const OLD_PIECES: usize = 0x160;
/// Whether a document of Word 6 or 95 was saved quickly, and whether it has two bytes for each
/// character.
const IN_PIECES: u16 = 1 << 2;
const WIDE: u16 = 1 << 12;

/// Reads a document; false if it is encrypted.
pub(super) fn read(file: &CompoundFile<'_>, flow: &mut TextFlow<'_>) -> bool {
    let Some(stream) = file.stream("WordDocument") else { return true };
    let flags = u16_at(&stream, 10).unwrap_or(0);
    if flags & 0x0100 != 0 {
        return false;
    }
    // Word 97 wrote this version first.
    let is_old = u16_at(&stream, 2).unwrap_or(0) < 0xC1;
    let mut reader = WordText::new(if is_old { old_encoding(&stream) } else { WINDOWS_1252 });
    let pieces = if !is_old {
        let table = file.stream(if flags & 0x0200 != 0 { "1Table" } else { "0Table" }).unwrap_or_default();
        pieces(&stream, PIECES, &table)
    } else if flags & IN_PIECES != 0 {
        pieces(&stream, OLD_PIECES, &stream)
    } else {
        None
    };
    let is_narrow = !is_old || flags & WIDE == 0;
    let mut pieces = pieces.filter(|p| !p.is_empty()).or_else(|| whole(&stream, is_narrow)).unwrap_or_default();
    if is_old {
        pieces.iter_mut().for_each(|piece| piece.is_narrow = is_narrow);
    }
    pieces.iter().for_each(|piece| reader.piece(&stream, piece, flow));
    reader.end(flow);
    true
}

/// The text of a document without a table of pieces: its characters as they stand.
fn whole(stream: &[u8], is_narrow: bool) -> Option<Vec<WordPiece>> {
    let (start, end) = (u32_at(stream, 0x18)? as usize, u32_at(stream, 0x1C)? as usize);
    let characters = end.saturating_sub(start) / if is_narrow { 1 } else { 2 };
    Some(vec![WordPiece { start, characters, is_narrow }])
}

/// A run of characters in the stream.
struct WordPiece {
    start: usize,
    characters: usize,
    is_narrow: bool,
}

/// The pieces in the order of the text. Their table is where the stream says `at` an offset.
fn pieces(stream: &[u8], at: usize, table: &[u8]) -> Option<Vec<WordPiece>> {
    let (start, len) = (u32_at(stream, at)? as usize, u32_at(stream, at + 4)? as usize);
    let mut rest = table.get(start..)?;
    rest = rest.get(..len).unwrap_or(rest);
    // Formatting comes first, each in a block with its length.
    while rest.first() == Some(&1) {
        rest = rest.get(3 + usize::from(u16_at(rest, 1)?)..)?;
    }
    if rest.first() != Some(&2) {
        return None;
    }
    let rest = rest.get(5..)?;
    let count = (rest.len().checked_sub(4)? / 12).min(MAX_PIECES);
    let described = rest.get((count + 1) * 4..)?;
    let piece = |n: usize| {
        let (from, to) = (u32_at(rest, n * 4)?, u32_at(rest, n * 4 + 4)?);
        let at = u32_at(described, n * 8 + 2)?;
        let is_narrow = at & NARROW != 0;
        let at = (at & !NARROW) as usize;
        let characters = to.checked_sub(from)? as usize;
        Some(WordPiece { start: if is_narrow { at / 2 } else { at }, characters, is_narrow })
    };
    Some((0..count).map_while(piece).collect())
}

/// The encoding of texts in a language, by its number in Windows.
fn encoding_of(language: u16) -> &'static Encoding {
    let page = match language & 0x3FF {
        0x02 | 0x19 | 0x22 | 0x23 | 0x2F => 1251,
        0x05 | 0x0E | 0x15 | 0x18 | 0x1B | 0x1C | 0x24 => 1250,
        // Croatian and Serbian, which is Cyrillic in one of its forms.
        0x1A if language == 0x0C1A => 1251,
        0x1A => 1250,
        0x08 => 1253,
        0x1F => 1254,
        0x0D => 1255,
        0x01 => 1256,
        0x25..=0x27 => 1257,
        0x11 => 932,
        0x12 => 949,
        0x04 if language == 0x0804 => 936,
        0x04 => 950,
        0x1E => 874,
        _ => 1252,
    };
    code_page(page).unwrap_or(WINDOWS_1252)
}

/// The encoding of the first font of Word 6 or 95 that is not a western one.
fn encoding_of_fonts(stream: &[u8]) -> Option<&'static Encoding> {
    let (start, len) = (u32_at(stream, 0xD0)? as usize, u32_at(stream, 0xD4)? as usize);
    let mut rest = stream.get(start..start.checked_add(len)?)?.get(2..)?;
    while let Some((&size, font)) = rest.split_first() {
        // How it is drawn, how bold it is, its character set.
        let page = font.get(3).and_then(|set| page_of_charset(i32::from(*set)));
        if let Some(encoding) = page.and_then(code_page).filter(|e| *e != WINDOWS_1252 && *e != MACINTOSH) {
            return Some(encoding);
        }
        rest = font.get(usize::from(size)..)?;
    }
    None
}

/// The encoding of a document of Word 6 or 95: that of its language, or of its fonts, which may be
/// in another script in a document of a western Word.
fn old_encoding(stream: &[u8]) -> &'static Encoding {
    let told = u16_at(stream, 6).map_or(WINDOWS_1252, encoding_of);
    if told == WINDOWS_1252 { encoding_of_fonts(stream).unwrap_or(told) } else { told }
}

struct WordText {
    /// What characters of one byte are in.
    narrow: &'static Encoding,
    /// The codes of the open fields, and whether their results are links.
    fields: Vec<(String, bool)>,
    /// How many open fields still show their codes.
    coding: usize,
    /// Characters since the last control character.
    run: String,
    /// What was read so far: a table of pieces may name the same characters again and again.
    spent: usize,
}

impl WordText {
    fn new(narrow: &'static Encoding) -> Self {
        Self { narrow, fields: Vec::new(), coding: 0, run: String::new(), spent: 0 }
    }

    fn piece(&mut self, stream: &[u8], piece: &WordPiece, flow: &mut TextFlow<'_>) {
        let rest = stream.get(piece.start..).unwrap_or(&[]);
        let size = if piece.is_narrow { piece.characters } else { piece.characters.saturating_mul(2) };
        let bytes = rest.get(..size).unwrap_or(rest);
        self.spent += bytes.len();
        if self.spent > stream.len().saturating_mul(2) || flow.is_full() {
            return;
        }
        if piece.is_narrow {
            self.characters(&self.narrow.decode_without_bom_handling(bytes).0, flow);
        } else {
            let units = bytes.chunks_exact(2).filter_map(|two| u16_at(two, 0));
            let text: String = char::decode_utf16(units).map(|c| c.unwrap_or('\u{FFFD}')).collect();
            self.characters(&text, flow);
        }
    }

    fn characters(&mut self, text: &str, flow: &mut TextFlow<'_>) {
        for c in text.chars() {
            match c {
                '\r' | '\u{7}' | '\u{B}' | '\u{C}' | '\u{E}' => {
                    self.flush(flow);
                    if self.coding == 0 {
                        flow.line();
                    }
                }
                '\u{13}' => self.begin(flow),
                '\u{14}' => self.separate(flow),
                '\u{15}' => self.finish(flow),
                '\u{1E}' => self.run.push('-'),
                '\t' => self.run.push(' '),
                // Optional hyphens, and the places of pictures and notes.
                '\0'..='\u{1F}' => {}
                c => self.run.push(c),
            }
        }
        self.flush(flow);
    }

    fn flush(&mut self, flow: &mut TextFlow<'_>) {
        if self.coding == 0 {
            flow.text(&self.run);
        } else if let Some((code, _)) = self.fields.last_mut().filter(|(c, _)| c.len() + self.run.len() <= MAX_CODE) {
            code.push_str(&self.run);
        }
        self.run.clear();
    }

    fn begin(&mut self, flow: &mut TextFlow<'_>) {
        self.flush(flow);
        if self.fields.len() < MAX_FIELDS {
            self.fields.push((String::new(), false));
            self.coding += 1;
        }
    }

    fn separate(&mut self, flow: &mut TextFlow<'_>) {
        self.flush(flow);
        let Some((code, linked)) = self.fields.last_mut() else { return };
        self.coding = self.coding.saturating_sub(1);
        let target = hyperlink(&std::mem::take(code));
        if let Some(target) = target.filter(|_| self.coding == 0 && !*linked) {
            *linked = true;
            flow.begin_link(&target);
        }
        // Marked as shown: what follows is no code.
        code.push('\u{14}');
    }

    fn finish(&mut self, flow: &mut TextFlow<'_>) {
        self.flush(flow);
        if let Some((code, linked)) = self.fields.pop() {
            if linked {
                flow.end_link();
            }
            if !code.starts_with('\u{14}') {
                self.coding = self.coding.saturating_sub(1);
                if let Some(formula) = formula(&code).filter(|_| self.coding == 0) {
                    flow.text(&formula);
                }
            }
        }
    }

    fn end(&mut self, flow: &mut TextFlow<'_>) {
        while !self.fields.is_empty() {
            self.finish(flow);
        }
        flow.line();
    }
}

#[cfg(test)]
mod tests {
    use crate::compound::tests::compound;
    use crate::{Content, extract};

    /// A document of one wide and one narrow piece.
    fn document(wide: &str, narrow: &[u8]) -> Vec<u8> {
        let mut stream = vec![0; 0x400];
        stream[..4].copy_from_slice(&[0xEC, 0xA5, 0xC1, 0]);
        let first: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (first_at, second_at) = (stream.len(), stream.len() + first.len());
        stream.extend(&first);
        stream.extend(narrow);
        let mut table = vec![2, 0, 0, 0, 0];
        let middle = first.len() / 2;
        for place in [0, middle, middle + narrow.len()] {
            table.extend(u32::try_from(place).expect("small").to_le_bytes());
        }
        for at in [u32::try_from(first_at).expect("small"), (u32::try_from(second_at).expect("small") * 2) | 1 << 30] {
            table.extend([0, 0]);
            table.extend(at.to_le_bytes());
            table.extend([0, 0]);
        }
        stream[0x1A6..0x1AA].copy_from_slice(&u32::try_from(table.len()).expect("small").to_le_bytes());
        compound(&[("WordDocument", &stream), ("0Table", &table)])
    }

    #[test]
    fn pieces_and_fields_are_read_in_the_order_of_the_text() {
        let bytes = document(
            "Größe\rSee \u{13} HYPERLINK \"http://a.example/\" \u{14}he",
            b"re\x15 \x93now\x94.\rone\x07two\x07",
        );
        let doc = extract(&Content { bytes: &bytes, mime: Some("text/plain"), charset: None, url: "" });
        assert_eq!(doc.mime, "application/msword");
        assert_eq!(doc.text, "Größe\nSee here “now”.\none\ntwo");
        assert_eq!((doc.links[0].target.as_str(), doc.links[0].anchor.as_str()), ("http://a.example/", "here"));
    }

    #[test]
    fn an_old_document_is_in_the_script_of_its_fonts() {
        let mut stream = vec![0; 0x300];
        stream[..8].copy_from_slice(&[0xDC, 0xA5, 0x68, 0, 0, 0, 0x09, 0x04]);
        let mut fonts = vec![0, 0];
        for (set, name) in [(0, &b"Arial\0"[..]), (204, b"Arial Cyr\0")] {
            fonts.push(u8::try_from(5 + name.len()).expect("short"));
            fonts.extend([0x12, 0x90, 1, set, 0]);
            fonts.extend(name);
        }
        let text = b"\xC2\xE8\xED\xEE\r";
        let place = |at: usize| u32::try_from(at).expect("small").to_le_bytes();
        stream[0x18..0x1C].copy_from_slice(&place(0x300));
        stream[0x1C..0x20].copy_from_slice(&place(0x300 + text.len()));
        stream[0xD0..0xD4].copy_from_slice(&place(0x300 + text.len()));
        stream[0xD4..0xD8].copy_from_slice(&place(fonts.len()));
        stream.extend(text);
        stream.extend(fonts);
        let bytes = compound(&[("WordDocument", &stream)]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.text, "Вино");
    }

    #[test]
    fn a_formula_field_says_what_is_in_its_code() {
        let bytes = document("\u{13} EQ \\* jc2 \\o\\ad(\\s\\up 10(ruby),base) \u{15}\r", b"on");
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.text, "ruby base\non");
    }

    #[test]
    fn an_old_document_that_was_saved_quickly_is_read_in_the_order_of_its_pieces() {
        let mut stream = vec![0; 0x300];
        stream[..8].copy_from_slice(&[0xDC, 0xA5, 0x68, 0, 0, 0, 0x19, 0x04]);
        stream[10] = 0x04;
        // What was written later stands behind the rest, and belongs between its halves.
        let text = b"\xC2\xE8\xED\xEE \xE1\xE5\xEB\xEE\xE5 \xE8 ";
        let mut table = vec![2, 0, 0, 0, 0];
        for place in [0u32, 5, 7, 13] {
            table.extend(place.to_le_bytes());
        }
        for at in [0u32, 11, 5] {
            table.extend([0, 0]);
            table.extend((0x300 + at).to_le_bytes());
            table.extend([0, 0]);
        }
        let place = |at: usize| u32::try_from(at).expect("small").to_le_bytes();
        stream[0x18..0x1C].copy_from_slice(&place(0x300));
        stream[0x1C..0x20].copy_from_slice(&place(0x300 + text.len()));
        stream[0x160..0x164].copy_from_slice(&place(0x300 + text.len()));
        stream[0x164..0x168].copy_from_slice(&place(table.len()));
        stream.extend(text);
        stream.extend(table);
        let bytes = compound(&[("WordDocument", &stream)]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.text, "Вино и белое");
    }

    #[test]
    fn an_old_document_may_have_two_bytes_for_each_character() {
        let mut stream = vec![0; 0x300];
        stream[..8].copy_from_slice(&[0x99, 0xA6, 0x68, 0, 0, 0, 0x11, 0x04]);
        stream[11] = 0x10;
        let text: Vec<u8> = "東京 here".encode_utf16().flat_map(u16::to_le_bytes).collect();
        stream[0x18..0x1C].copy_from_slice(&0x300u32.to_le_bytes());
        let end = u32::try_from(0x300 + text.len()).expect("small");
        stream[0x1C..0x20].copy_from_slice(&end.to_le_bytes());
        stream.extend(text);
        stream.extend(b"b\0e\0h\0i\0n\0d\0");
        let bytes = compound(&[("WordDocument", &stream)]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.text, "東京 here");
    }

    #[test]
    fn fields_without_end_and_tables_without_sense_end() {
        let open = "\u{13}".repeat(10_000);
        extract(&Content { bytes: &document(&open, b"\x14\x14\x15"), mime: None, charset: None, url: "" });
        let mut bytes = document("a", b"b");
        let table = memchr::memmem::rfind(&bytes, &[2, 0, 0, 0, 0, 0, 0, 0, 0]).expect("the table");
        bytes[table + 9..table + 13].fill(0xFF);
        extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
    }
}
