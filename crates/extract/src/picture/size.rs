//! How large is a picture?

use crate::package::{u16_at, u32_at};
use memchr::memmem;

/// Width and height by the header of a format.
pub(super) fn of(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = match bytes {
        [0x89, b'P', b'N', b'G', ..] => (big(bytes, 16)?, big(bytes, 20)?),
        [b'G', b'I', b'F', ..] => (u32::from(u16_at(bytes, 6)?), u32::from(u16_at(bytes, 8)?)),
        [b'B', b'M', ..] => (u32_at(bytes, 18)?, u32_at(bytes, 22)?.cast_signed().unsigned_abs()),
        [b'8', b'B', b'P', b'S', ..] => (big(bytes, 18)?, big(bytes, 14)?),
        [b'R', b'I', b'F', b'F', ..] => webp(bytes)?,
        [0, 0, 0, 12, b'j', b'P', ..] => {
            let at = memmem::find(bytes.get(..1 << 10).unwrap_or(bytes), b"ihdr")?;
            (big(bytes, at + 8)?, big(bytes, at + 4)?)
        }
        [0, 0, 1 | 2, 0, ..] | [0, 0, 0 | 1, _, _, _, ..] if bytes.get(4..8) != Some(b"ftyp") => icon(bytes)?,
        _ => high_efficiency(bytes)?,
    };
    Some(size).filter(|&(width, height)| width > 0 && height > 0)
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_be_bytes(*b))
}

fn icon(bytes: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| bytes.get(at).map(|&n| if n == 0 { 256 } else { u32::from(n) });
    Some((side(6)?, side(7)?))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let low = |at: usize| u32_at(bytes, at).map(|n| (n & 0xFF_FFFF) + 1);
    match bytes.get(12..16)? {
        b"VP8X" => Some((low(24)?, low(27).or_else(|| three(bytes, 27))?)),
        b"VP8L" => {
            let packed = u32_at(bytes, 21)?;
            Some(((packed & 0x3FFF) + 1, ((packed >> 14) & 0x3FFF) + 1))
        }
        _ => {
            let at = memmem::find(bytes.get(..64).unwrap_or(bytes), b"\x9D\x01\x2A")? + 3;
            Some((u32::from(u16_at(bytes, at)? & 0x3FFF), u32::from(u16_at(bytes, at + 2)? & 0x3FFF)))
        }
    }
}

/// A number of three bytes at the end of a file, plus one.
fn three(bytes: &[u8], at: usize) -> Option<u32> {
    let &[a, b, c] = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes([a, b, c, 0]) + 1)
}

/// HEIC and AVIF consist of tiles and previews: the largest is the picture.
fn high_efficiency(bytes: &[u8]) -> Option<(u32, u32)> {
    let head = bytes.get(..64 << 10).unwrap_or(bytes);
    let sizes = memmem::find_iter(head, b"ispe").filter_map(|at| Some((big(head, at + 8)?, big(head, at + 12)?)));
    sizes.max_by_key(|&(width, height)| u64::from(width) * u64::from(height))
}
