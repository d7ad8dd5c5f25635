//! Which tags does a film in MP4 or QuickTime have?
//!
//! Boxes in boxes (ISO 14496-12): the header of the film says when it was made and how long it is,
//! a list in its user data has the tags.

use super::MediaTags;
use crate::stamp::unix_time;

/// How deep boxes are opened.
const MAX_DEPTH: usize = 8;
/// Maximum number of boxes.
const MAX_BOXES: usize = 100_000;
/// The seconds from 1904, where QuickTime begins to count, to 1970.
const MAC_EPOCH: i64 = 2_082_844_800;

/// Reads the boxes of a file.
pub(super) fn read(bytes: &[u8], tags: &mut MediaTags) {
    let mut left = MAX_BOXES;
    boxes(bytes, tags, &mut left, 0);
}

fn boxes(mut rest: &[u8], tags: &mut MediaTags, left: &mut usize, depth: usize) -> Option<()> {
    while *left > 0 && depth < MAX_DEPTH {
        *left -= 1;
        let small = u32::from_be_bytes(*rest.first_chunk()?);
        let name = rest.get(4..8)?;
        let (head, size) = match small {
            0 => (8, rest.len()),
            1 => (16, usize::try_from(u64::from_be_bytes(*rest.get(8..)?.first_chunk()?)).unwrap_or(usize::MAX)),
            size => (8, size as usize),
        };
        let body = rest.get(head..size.min(rest.len())).unwrap_or(&[]);
        match name {
            b"moov" | b"udta" | b"ilst" => {
                boxes(body, tags, left, depth + 1);
            }
            // In QuickTime it has no version and flags before its boxes.
            b"meta" => {
                let skipped = if body.get(4..8) == Some(b"hdlr") { 0 } else { 4 };
                boxes(body.get(skipped..).unwrap_or(&[]), tags, left, depth + 1);
            }
            b"mvhd" => {
                header(body, tags);
            }
            _ => tag(name, body, tags),
        }
        rest = rest.get(size.max(8)..)?;
    }
    Some(())
}

fn header(body: &[u8], tags: &mut MediaTags) -> Option<()> {
    let small = |at: usize| Some(u64::from(u32::from_be_bytes(*body.get(at..)?.first_chunk()?)));
    let large = |at: usize| Some(u64::from_be_bytes(*body.get(at..)?.first_chunk()?));
    let (created, scale, duration) = match body.first()? {
        1 => (large(4)?, small(20)?, large(24)?),
        _ => (small(4)?, small(12)?, small(16)?),
    };
    tags.seconds = duration.checked_div(scale);
    let since = i64::try_from(created).ok()?.checked_sub(MAC_EPOCH)?;
    tags.created = unix_time(since).filter(|_| created > 0 && since > 0);
    Some(())
}

fn tag(name: &[u8], body: &[u8], tags: &mut MediaTags) {
    let to = match name {
        b"\xA9nam" | b"titl" => "title",
        b"\xA9ART" | b"perf" => "artist",
        b"aART" => "albumartist",
        b"\xA9alb" => "album",
        b"\xA9day" => "date",
        b"\xA9cmt" | b"desc" | b"ldes" | b"\xA9des" => "comment",
        b"\xA9lyr" => "lyrics",
        b"\xA9wrt" => "composer",
        b"\xA9gen" => "genre",
        b"cprt" | b"\xA9cpy" => "copyright",
        _ => return,
    };
    let value = match body.get(4..8) {
        Some(b"data") => body.get(16..),
        // A length and a language, as QuickTime has it.
        _ if name.first() == Some(&0xA9) => body.get(4..),
        _ => body.get(6..),
    };
    tags.set(to, &String::from_utf8_lossy(value.unwrap_or(&[])));
}
