//! What does a document before 2007 say of itself?
//!
//! The stream `SummaryInformation` is a set of properties, each a number, a type and a value
//! ([MS-OLEPS] 2.18).

use super::code_page;
use crate::compound::CompoundFile;
use crate::gather::Gather;
use crate::package::u32_at;
use crate::prose::folded_literal;
use crate::stamp::windows_time;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Maximum number of properties.
const MAX_PROPERTIES: usize = 1_000;
/// Maximum length of a property in characters.
const MAX_PROPERTY: usize = 1_000;

/// Reads title, author, dates and pages.
pub(crate) fn read(file: &CompoundFile<'_>, found: &mut Gather) {
    if let Some(stream) = file.stream("\u{5}SummaryInformation") {
        properties(&stream, found);
    }
}

fn properties(stream: &[u8], found: &mut Gather) -> Option<()> {
    let section = stream.get(u32_at(stream, 44)? as usize..)?;
    let count = (u32_at(section, 4)? as usize).min(MAX_PROPERTIES);
    let all: Vec<(u32, &[u8])> = (0..count)
        .filter_map(|i| {
            let (id, offset) = (u32_at(section, 8 + i * 8)?, u32_at(section, 12 + i * 8)?);
            Some((id, section.get(offset as usize..)?))
        })
        .collect();
    let page = all.iter().find(|(id, _)| *id == 1).and_then(|(_, value)| u32_at(value, 4));
    // A code page is a signed number of 16 bits: 65001 is negative.
    let encoding = page.and_then(|page| code_page(page & 0xFFFF)).unwrap_or(WINDOWS_1252);
    for (id, value) in all {
        let doc = &mut found.doc;
        match id {
            2 => doc.title = doc.title.take().or(text(value, encoding)),
            4 => doc.author = doc.author.take().or(text(value, encoding)),
            6 => doc.description = doc.description.take().or(text(value, encoding)),
            12 => doc.created = doc.created.take().or(time(value)),
            13 => doc.modified = doc.modified.take().or(time(value)),
            14 => {
                let pages = u32_at(value, 4).filter(|&n| n > 0 && n < 1_000_000);
                doc.page_count = doc.page_count.or(pages);
            }
            _ => {}
        }
    }
    Some(())
}

fn text(value: &[u8], encoding: &'static Encoding) -> Option<String> {
    let len = u32_at(value, 4)? as usize;
    let text = match u32_at(value, 0)? & 0xFFFF {
        0x1E => {
            let bytes = value.get(8..8usize.checked_add(len)?)?;
            let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
            let bytes = bytes.get(..end)?;
            // Some writers use UTF-8 whatever they declare.
            let encoding = if bytes.is_ascii() || std::str::from_utf8(bytes).is_err() { encoding } else { UTF_8 };
            encoding.decode_without_bom_handling(bytes).0.into_owned()
        }
        0x1F => super::utf16(value.get(8..8usize.checked_add(len.checked_mul(2)?)?)?),
        _ => return None,
    };
    Some(folded_literal(&text, MAX_PROPERTY)).filter(|t| !t.is_empty())
}

fn time(value: &[u8]) -> Option<String> {
    if u32_at(value, 0)? != 0x40 {
        return None;
    }
    windows_time(u64::from(u32_at(value, 4)?) | (u64::from(u32_at(value, 8)?) << 32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compound::tests::compound;

    #[test]
    fn properties_are_read_in_their_code_page() {
        let mut values: Vec<(u32, Vec<u8>)> = vec![(1, [2u32.to_le_bytes(), 1251u32.to_le_bytes()].concat())];
        let title = b"\xCC\xE8\xF0\0";
        values.push((2, [&0x1Eu32.to_le_bytes()[..], &4u32.to_le_bytes(), title].concat()));
        values.push((12, [&0x40u32.to_le_bytes()[..], &116_444_736_000_000_000u64.to_le_bytes()].concat()));
        values.push((14, [3u32.to_le_bytes(), 7u32.to_le_bytes()].concat()));
        let mut section = vec![0; 8];
        section[4..8].copy_from_slice(&u32::try_from(values.len()).expect("few").to_le_bytes());
        let mut at = 8 + values.len() * 8;
        for (id, value) in &values {
            section.extend(id.to_le_bytes());
            section.extend(u32::try_from(at).expect("small").to_le_bytes());
            at += value.len();
        }
        section.extend(values.iter().flat_map(|(_, value)| value.clone()));
        let mut stream = vec![0; 48];
        stream[44..48].copy_from_slice(&48u32.to_le_bytes());
        stream.extend(section);
        let bytes = compound(&[("\u{5}SummaryInformation", &stream)]);
        let mut found = Gather::default();
        read(&CompoundFile::open(&bytes).expect("a compound file"), &mut found);
        let doc = found.finish();
        assert_eq!((doc.title.as_deref(), doc.page_count), (Some("Мир"), Some(7)));
        assert_eq!(doc.created.as_deref(), Some("1970-01-01T00:00:00Z"));
    }
}
