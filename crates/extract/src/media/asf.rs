//! Which tags does a sound or film in ASF have (WMA, WMV)?
//!
//! Objects with an id and a length, all of which that matter are parts of the first (Advanced
//! Systems Format, 3).

use super::MediaTags;
use crate::package::u16_at;
use crate::stamp::windows_time;

/// Maximum number of objects.
const MAX_OBJECTS: usize = 1_000;
/// How ids begin: of the object with titles, of that with figures, of that with other tags.
const DESCRIPTION: [u8; 4] = [0x33, 0x26, 0xB2, 0x75];
const PROPERTIES: [u8; 4] = [0xA1, 0xDC, 0xAB, 0x8C];
const OTHERS: [u8; 4] = [0x40, 0xA4, 0xD0, 0xD2];

/// Reads the objects of a file's header.
pub(super) fn read(bytes: &[u8], tags: &mut MediaTags) -> Option<()> {
    // Id, length, number of objects, two reserved bytes.
    let mut rest = bytes.get(30..)?;
    for _ in 0..MAX_OBJECTS {
        let length = usize::try_from(u64_at(rest, 16)?).ok()?.max(24);
        let body = rest.get(24..length.min(rest.len()))?;
        match *rest.first_chunk()? {
            DESCRIPTION => description(body, tags)?,
            PROPERTIES => {
                tags.created = windows_time(u64_at(body, 24)?);
                // What is read ahead, in milliseconds, counts as played.
                let played = u64_at(body, 40)? / 10_000;
                tags.seconds = Some(played.saturating_sub(u64_at(body, 56)?) / 1_000);
            }
            OTHERS => others(body, tags)?,
            _ => {}
        }
        rest = rest.get(length..)?;
    }
    Some(())
}

/// Five texts: all lengths, then all texts.
fn description(body: &[u8], tags: &mut MediaTags) -> Option<()> {
    let mut at = 10;
    for (place, name) in ["title", "artist", "copyright", "description", "rating"].into_iter().enumerate() {
        let length = usize::from(u16_at(body, place * 2)?);
        tags.set(name, &text(body.get(at..at + length)?));
        at += length;
    }
    Some(())
}

/// Names with values: a count, then length and name, type, length and value of each.
fn others(body: &[u8], tags: &mut MediaTags) -> Option<()> {
    let mut rest = body.get(2..)?;
    for _ in 0..u16_at(body, 0)? {
        let (name, after) = rest.get(2..)?.split_at_checked(usize::from(u16_at(rest, 0)?))?;
        let (value, next) = after.get(4..)?.split_at_checked(usize::from(u16_at(after, 2)?))?;
        if u16_at(after, 0)? == 0 {
            match text(name).as_str() {
                "WM/AlbumTitle" => tags.set("album", &text(value)),
                "WM/Year" => tags.set("date", &text(value)),
                "WM/Genre" => tags.set("genre", &text(value)),
                "WM/Composer" => tags.set("composer", &text(value)),
                "WM/Lyrics" => tags.set("lyrics", &text(value)),
                _ => {}
            }
        }
        rest = next;
    }
    Some(())
}

fn text(bytes: &[u8]) -> String {
    crate::legacy::utf16(bytes).trim_end_matches('\0').to_owned()
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}
