//! Which comments does a recording in Ogg or FLAC have?

use super::MediaTags;
use crate::package::u32_at;

/// How much of an Ogg file is searched for comments.
const MAX_HEAD: usize = 2 << 20;
/// Maximum number of comments.
const MAX_COMMENTS: u32 = 10_000;

/// Reads the comments of Vorbis or Opus, which follow in the first pages of a file.
pub(super) fn read_ogg(bytes: &[u8], tags: &mut MediaTags) {
    let mut packets = Vec::new();
    let mut rest = bytes;
    while rest.starts_with(b"OggS") && packets.len() < MAX_HEAD {
        let count = rest.get(26).map_or(0, |&n| usize::from(n));
        let Some(table) = rest.get(27..27 + count) else { break };
        let len: usize = table.iter().map(|&n| usize::from(n)).sum();
        let body = rest.get(27 + count..).unwrap_or(&[]);
        let (body, after) = body.split_at_checked(len).unwrap_or((body, &[]));
        packets.extend_from_slice(body);
        rest = after;
    }
    for mark in [&b"\x03vorbis"[..], b"OpusTags", b"\x81theora"] {
        if let Some(at) = memchr::memmem::find(&packets, mark) {
            comments(packets.get(at + mark.len()..).unwrap_or(&[]), tags);
        }
    }
    tags.seconds = seconds(bytes, &packets);
}

/// How long a sound takes: its last page says how many samples there have been. Pages of films
/// count frames in ways of their own.
fn seconds(bytes: &[u8], packets: &[u8]) -> Option<u64> {
    /// Opus counts as if it were sampled so often.
    const OPUS: u64 = 48_000;
    let find = |mark: &[u8]| memchr::memmem::find(packets, mark);
    if find(b"\x80theora").is_some() {
        return None;
    }
    let rate = match find(b"\x01vorbis") {
        Some(at) => u64::from(u32_at(packets, at + 12)?),
        None => find(b"OpusHead").map(|_| OPUS)?,
    };
    let last = memchr::memmem::rfind(bytes, b"OggS")?;
    let samples = u64::from_le_bytes(*bytes.get(last + 6..)?.first_chunk()?);
    samples.checked_div(rate).filter(|seconds| *seconds < 10_000_000)
}

/// Reads the blocks before the sound of a FLAC file.
pub(super) fn read_flac(bytes: &[u8], tags: &mut MediaTags) {
    let mut rest = bytes.get(4..).unwrap_or(&[]);
    while let Some(&[kind, a, b, c]) = rest.first_chunk() {
        let len = (usize::from(a) << 16) | (usize::from(b) << 8) | usize::from(c);
        let body = rest.get(4..).unwrap_or(&[]);
        let (body, after) = body.split_at_checked(len).unwrap_or((body, &[]));
        match kind & 0x7F {
            0 => tags.seconds = duration(body),
            4 => {
                comments(body, tags);
            }
            _ => {}
        }
        if kind & 0x80 != 0 {
            break;
        }
        rest = after;
    }
}

/// The length of a recording: the number of samples by their rate.
fn duration(stream: &[u8]) -> Option<u64> {
    let packed = u64::from_be_bytes(*stream.get(10..)?.first_chunk()?);
    (packed & 0xF_FFFF_FFFF).checked_div(packed >> 44)
}

fn comments(bytes: &[u8], tags: &mut MediaTags) -> Option<()> {
    let vendor = u32_at(bytes, 0)? as usize;
    let mut rest = bytes.get(4usize.checked_add(vendor)?..)?;
    let count = u32_at(rest, 0)?.min(MAX_COMMENTS);
    rest = rest.get(4..)?;
    for _ in 0..count {
        let len = u32_at(rest, 0)? as usize;
        let (comment, after) = rest.get(4..)?.split_at_checked(len)?;
        if let Some((name, value)) = String::from_utf8_lossy(comment).split_once('=') {
            tags.set(name, value);
        }
        rest = after;
    }
    Some(())
}
