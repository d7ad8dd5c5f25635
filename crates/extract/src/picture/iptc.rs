//! What did a newsroom write into a picture?
//!
//! Datasets of IPTC-IIM (version 4.2, chapter 1.5) in one of the resource blocks that Photoshop
//! keeps in JPEG.

use super::{PictureFacts, fill};
use encoding_rs::WINDOWS_1252;

/// Maximum number of blocks and of datasets.
const MAX_PARTS: usize = 10_000;
/// The block with the datasets.
const DATASETS: u16 = 0x0404;

/// Reads the resource blocks of a segment: signature, number, name, length, content.
pub(super) fn read(mut rest: &[u8], facts: &mut PictureFacts) -> Option<()> {
    for _ in 0..MAX_PARTS {
        rest = rest.strip_prefix(b"8BIM")?;
        let number = u16::from_be_bytes(*rest.first_chunk()?);
        let name = 1 + usize::from(*rest.get(2)?);
        rest = rest.get(2 + name + name % 2..)?;
        let length = u32::from_be_bytes(*rest.first_chunk()?) as usize;
        let body = rest.get(4..)?;
        let content = body.get(..length).unwrap_or(body);
        if number == DATASETS {
            datasets(content, facts);
        }
        rest = body.get(length.checked_add(length % 2)?..)?;
    }
    Some(())
}

/// Reads datasets: a mark, the number of the record, that of the dataset, its length.
fn datasets(mut rest: &[u8], facts: &mut PictureFacts) -> Option<()> {
    let (mut people, mut keywords) = (Vec::new(), Vec::new());
    for _ in 0..MAX_PARTS {
        let Some(&[0x1C, record, dataset, high, low]) = rest.first_chunk() else { break };
        let length = usize::from(u16::from_be_bytes([high, low]));
        // Longer ones say how long their length is; nothing that is read here is.
        let Some(value) = rest.get(5..5 + length) else { break };
        rest = rest.get(5 + length..)?;
        match (record, dataset) {
            (2, 5) => fill(&mut facts.title, &text(value)),
            (2, 25) => keywords.push(text(value)),
            (2, 55) => facts.created = facts.created.take().or_else(|| day(value)),
            (2, 80) => people.push(text(value)),
            (2, 105) => fill(&mut facts.headline, &text(value)),
            (2, 116) => fill(&mut facts.copyright, &text(value)),
            (2, 120) => fill(&mut facts.description, &text(value)),
            _ => {}
        }
    }
    fill(&mut facts.author, &people.join(", "));
    fill(&mut facts.keywords, &keywords.join(", "));
    Some(())
}

/// UTF-8 if it is, whether it says so or not; the default is no encoding that anybody uses.
fn text(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(value).0.into_owned(),
    }
}

/// `20181231` as RFC 3339 writes it.
fn day(value: &[u8]) -> Option<String> {
    let digits = std::str::from_utf8(value).ok().filter(|d| d.len() == 8 && d.bytes().all(|b| b.is_ascii_digit()))?;
    crate::stamp::moment(&format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..]))
}
