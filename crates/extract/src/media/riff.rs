//! Which tags does a sound or film in RIFF have (WAV, AVI)?

use super::MediaTags;
use crate::package::u32_at;

/// Maximum number of chunks.
const MAX_CHUNKS: usize = 100_000;

/// Reads the list `INFO` of a file, and how long it takes.
pub(super) fn read(bytes: &[u8], tags: &mut MediaTags) {
    let mut rate = None;
    for (name, body) in chunks(bytes.get(12..).unwrap_or(&[])) {
        match name {
            b"fmt " => rate = u32_at(body, 8),
            b"data" => {
                let length = u64::try_from(body.len()).unwrap_or(0);
                tags.seconds = rate.and_then(|rate| length.checked_div(u64::from(rate)));
            }
            b"LIST" if body.starts_with(b"hdrl") => {
                let header = chunks(body.get(4..).unwrap_or(&[])).find(|(name, _)| *name == b"avih");
                let frames = header.and_then(|(_, header)| Some((u32_at(header, 0)?, u32_at(header, 16)?)));
                tags.seconds = frames.map(|(micros, frames)| u64::from(micros) * u64::from(frames) / 1_000_000);
            }
            b"LIST" if body.starts_with(b"INFO") => {
                for (name, value) in chunks(body.get(4..).unwrap_or(&[])) {
                    let to = match name {
                        b"INAM" => "title",
                        b"IART" => "artist",
                        b"IPRD" => "album",
                        b"ICRD" => "date",
                        b"ICMT" => "comment",
                        b"ICOP" => "copyright",
                        b"IGNR" => "genre",
                        _ => continue,
                    };
                    tags.set(to, &String::from_utf8_lossy(value));
                }
            }
            _ => {}
        }
    }
}

/// The chunks one after another, each on an even offset.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    let mut rest = bytes;
    let next = move || {
        let name = rest.first_chunk::<4>()?;
        let len = u32_at(rest, 4)? as usize;
        let body = rest.get(8..)?;
        let (body, after) = body.split_at_checked(len).unwrap_or((body, &[]));
        rest = if len % 2 == 1 { after.get(1..).unwrap_or(&[]) } else { after };
        Some((name, body))
    };
    std::iter::from_fn(next).take(MAX_CHUNKS)
}
