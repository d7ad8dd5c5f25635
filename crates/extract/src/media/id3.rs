//! Which tags does an MP3 have?
//!
//! ID3 version 2 before the sound, in frames; version 1 in the last 128 bytes (id3.org).

use super::MediaTags;
use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Reads both versions; the second says more.
pub(super) fn read(bytes: &[u8], tags: &mut MediaTags) {
    let mut sound = bytes;
    if bytes.starts_with(b"ID3") {
        frames(bytes, tags);
        let size = bytes.get(6..10).map_or(0, synchsafe);
        sound = bytes.get(size.saturating_add(10)..).unwrap_or(&[]);
    }
    tags.seconds = super::mp3::seconds(sound);
    let last = bytes.len().checked_sub(128).and_then(|at| bytes.get(at..)).filter(|t| t.starts_with(b"TAG"));
    if let Some(last) = last {
        for (name, from, to) in
            [("title", 3, 33), ("artist", 33, 63), ("album", 63, 93), ("year", 93, 97), ("comment", 97, 127)]
        {
            let field = last.get(from..to).unwrap_or(&[]);
            let end = field.iter().position(|&b| b == 0).unwrap_or(field.len());
            tags.set(name, &WINDOWS_1252.decode_without_bom_handling(field.get(..end).unwrap_or(field)).0);
        }
    }
}

fn frames(bytes: &[u8], tags: &mut MediaTags) -> Option<()> {
    let (version, flags) = (*bytes.get(3)?, *bytes.get(5)?);
    let size = synchsafe(bytes.get(6..10)?);
    let end = size.saturating_add(10).min(bytes.len());
    let mut rest = bytes.get(10..end)?;
    if version >= 3 && flags & 0x40 != 0 {
        let skipped = if version == 4 { synchsafe(rest.get(..4)?) } else { big(rest.get(..4)?).saturating_add(4) };
        rest = rest.get(skipped..)?;
    }
    let (name_len, head): (usize, usize) = if version == 2 { (3, 6) } else { (4, 10) };
    while rest.first().is_some_and(|&b| b != 0) {
        let name = rest.get(..name_len)?;
        let sized = rest.get(name_len..name_len + if version == 2 { 3 } else { 4 })?;
        let len = if version == 4 { synchsafe(sized) } else { big(sized) };
        let body = rest.get(head..head.checked_add(len)?)?;
        frame(name, body, tags);
        rest = rest.get(head + len..)?;
    }
    Some(())
}

fn frame(name: &[u8], body: &[u8], tags: &mut MediaTags) {
    let to = match name {
        b"TIT2" | b"TT2" => "title",
        b"TPE1" | b"TP1" => "artist",
        b"TPE2" | b"TP2" => "albumartist",
        b"TALB" | b"TAL" => "album",
        b"TYER" | b"TYE" | b"TDRC" | b"TDRL" => "date",
        b"TCOM" | b"TCM" => "composer",
        b"TCON" | b"TCO" => "genre",
        b"TCOP" | b"TCR" => "copyright",
        b"COMM" | b"COM" | b"USLT" | b"ULT" => {
            // A language and a short description come first.
            let (Some(&encoding), Some(rest)) = (body.first(), body.get(4..)) else { return };
            let text = decoded(encoding, rest);
            tags.set("comment", text.split_once('\0').map_or("", |(_, text)| text));
            return;
        }
        _ => return,
    };
    if let Some((&encoding, text)) = body.split_first() {
        tags.set(to, &decoded(encoding, text).replace('\0', " "));
    }
}

fn decoded(encoding: u8, text: &[u8]) -> String {
    match encoding {
        0 => WINDOWS_1252.decode_without_bom_handling(text).0.into_owned(),
        // Both parts of a comment may begin with a mark.
        1 => UTF_16LE.decode(text).0.replace('\u{FEFF}', ""),
        2 => UTF_16BE.decode(text).0.into_owned(),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

fn synchsafe(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, &b| (n << 7) | usize::from(b & 0x7F))
}

fn big(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, &b| (n << 8) | usize::from(b))
}
