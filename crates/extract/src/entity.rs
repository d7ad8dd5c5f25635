//! What does `&amp;` stand for?
//!
//! HTML character references (13.2.5.72 and following). Names without a semicolon are recognised in
//! text, but in an attribute not before a letter, digit or `=`. Numbers in the C1 range mean
//! windows-1252. XML's five names are a subset of HTML's, so feeds and sitemaps use the same rules.

use memchr::memchr2;
use std::borrow::Cow;

/// The context of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceContext {
    /// In text.
    Text,
    /// In an attribute value.
    Attribute,
}

/// The expansion of a reference: at most two characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion {
    bytes: [u8; 8],
    len: u8,
    /// Number of source bytes consumed.
    pub(crate) consumed: usize,
}

impl Expansion {
    fn new(bytes: &[u8], consumed: usize) -> Option<Self> {
        let mut expansion = Self { bytes: [0; 8], len: u8::try_from(bytes.len()).ok()?, consumed };
        expansion.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(expansion)
    }

    /// Its characters.
    pub(crate) fn text(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or(&[]);
        std::str::from_utf8(bytes).unwrap_or("")
    }
}

/// Expands the reference at the start of `src`, whose first byte is `&`; `None` if it is not one.
pub(crate) fn reference(src: &[u8], place: ReferenceContext) -> Option<Expansion> {
    match src {
        [_, b'l', b't', b';', ..] => Expansion::new(b"<", 4),
        [_, b'g', b't', b';', ..] => Expansion::new(b">", 4),
        [_, b'a', b'm', b'p', b';', ..] => Expansion::new(b"&", 5),
        [_, b'q', b'u', b'o', b't', b';', ..] => Expansion::new(b"\"", 6),
        [_, b'n', b'b', b's', b'p', b';', ..] => Expansion::new("\u{A0}".as_bytes(), 6),
        [_, b'#', ..] => numeric(src),
        [_, b, ..] if b.is_ascii_alphanumeric() => named(src, place),
        _ => None,
    }
}

fn named(src: &[u8], place: ReferenceContext) -> Option<Expansion> {
    let (min, max) = (htmlize::ENTITY_MIN_LENGTH, htmlize::ENTITY_MAX_LENGTH);
    let window = src.get(..max.min(src.len()))?;
    let name_end = 1 + window.get(1..)?.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    let look_up = |len: usize| Some((htmlize::ENTITIES.get(src.get(..len)?)?, len));
    if window.get(name_end) == Some(&b';')
        && let Some((expansion, len)) = look_up(name_end + 1)
    {
        return Expansion::new(expansion, len);
    }
    let longest = name_end.min(htmlize::BARE_ENTITY_MAX_LENGTH);
    let (expansion, len) = (min..=longest).rev().find_map(look_up)?;
    let next = src.get(len);
    let in_query = next.is_some_and(|&b| b == b'=' || b.is_ascii_alphanumeric());
    if place == ReferenceContext::Attribute && in_query { None } else { Expansion::new(expansion, len) }
}

fn numeric(src: &[u8]) -> Option<Expansion> {
    let (radix, start) = if matches!(src.get(2), Some(b'x' | b'X')) { (16, 3) } else { (10, 2) };
    let digits = src.get(start..)?.iter().map_while(|&b| char::from(b).to_digit(radix));
    let (mut code, mut end) = (0u32, start);
    for digit in digits {
        code = code.saturating_mul(radix).saturating_add(digit);
        end += 1;
    }
    if end == start {
        return None;
    }
    let end = end + usize::from(src.get(end) == Some(&b';'));
    let mut buffer = [0; 4];
    Expansion::new(character(code).encode_utf8(&mut buffer).as_bytes(), end)
}

/// The windows-1252 characters from 0x80 to 0x9F; 0 if unassigned.
const C1: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0, 0,
    0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

fn character(code: u32) -> char {
    let index = code.wrapping_sub(0x80) as usize;
    let code = match C1.get(index) {
        Some(&mapped) if mapped != 0 => u32::from(mapped),
        _ => code,
    };
    char::from_u32(code).filter(|&c| c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// `source` with its references expanded and NULs replaced; borrowed if there are none.
pub(crate) fn unescape(source: &str, place: ReferenceContext) -> Cow<'_, str> {
    let src = source.as_bytes();
    let Some(first) = memchr2(b'&', 0, src) else { return Cow::Borrowed(source) };
    let mut out = String::with_capacity(src.len());
    let (mut copied, mut next) = (0, Some(first));
    while let Some(i) = next {
        let rest = src.get(i..).unwrap_or(&[]);
        let mut from = i + 1;
        if rest.first() == Some(&0) {
            out.push_str(source.get(copied..i).unwrap_or(""));
            out.push('\u{FFFD}');
            copied = from;
        } else if let Some(expansion) = reference(rest, place) {
            out.push_str(source.get(copied..i).unwrap_or(""));
            out.push_str(expansion.text());
            from = i + expansion.consumed;
            copied = from;
        }
        next = memchr2(b'&', 0, src.get(from..).unwrap_or(&[])).map(|n| from + n);
    }
    out.push_str(source.get(copied..).unwrap_or(""));
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, text: &str, attribute: &str) {
        assert_eq!(unescape(source, ReferenceContext::Text), text);
        assert_eq!(unescape(source, ReferenceContext::Attribute), attribute);
    }

    #[test]
    fn names_without_a_semicolon_count_in_text_and_not_in_a_query() {
        check("a=1&copy=2", "a=1©=2", "a=1&copy=2");
        check("&notit;", "¬it;", "&notit;");
        check("&notin;&not;", "∉¬", "∉¬");
        check("&copy &amp", "© &", "© &");
        check("&ampx", "&x", "&ampx");
        check("&nGg;&&unknown;&;", "⋙̸&&unknown;&;", "⋙̸&&unknown;&;");
    }

    #[test]
    fn numbers_are_read_as_browsers_do() {
        check("&#65;&#x41&#x1F600;", "AA😀", "AA😀");
        check("&#150;&#x80;", "–€", "–€");
        check("&#0;&#xD800;&#99999999999;", "\u{FFFD}\u{FFFD}\u{FFFD}", "\u{FFFD}\u{FFFD}\u{FFFD}");
        check("&#;&#x;", "&#;&#x;", "&#;&#x;");
    }

    #[test]
    fn every_entity_there_is_expands_to_what_the_table_says() {
        for (name, expansion) in htmlize::ENTITIES.entries() {
            let found = reference(name, ReferenceContext::Text).expect("an entity");
            assert_eq!(
                (found.text().as_bytes(), found.consumed),
                (*expansion, name.len()),
                "{}",
                String::from_utf8_lossy(name)
            );
        }
    }
}
