//! Which tags does a film in Matroska or WebM have?
//!
//! EBML: elements with an id, a length and a content, both numbers of as many bytes as their first
//! bits say (RFC 8794, RFC 9559).

use super::MediaTags;
use crate::stamp::unix_time;

const SEGMENT: u32 = 0x1853_8067;
const FACTS: u32 = 0x1549_A966;
const TITLE: u32 = 0x7BA9;
const DURATION: u32 = 0x4489;
const SCALE: u32 = 0x002A_D7B1;
const DATE: u32 = 0x4461;
const TAGS: u32 = 0x1254_C367;
const TAG: u32 = 0x7373;
const SIMPLE_TAG: u32 = 0x67C8;
const TAG_NAME: u32 = 0x45A3;
const TAG_STRING: u32 = 0x4487;

/// How deep elements are opened.
const MAX_DEPTH: usize = 8;
/// Maximum number of elements.
const MAX_ELEMENTS: usize = 100_000;
/// The seconds from 1970 to 2001, where Matroska begins to count.
const EPOCH: i64 = 978_307_200;

/// Reads the elements of a file.
pub(super) fn read(bytes: &[u8], tags: &mut MediaTags) {
    let mut reader =
        MatroskaReader { tags, left: MAX_ELEMENTS, name: String::new(), scale: 1_000_000.0, duration: 0.0 };
    reader.elements(bytes, 0);
    let seconds = reader.duration * reader.scale / 1e9;
    if seconds.is_finite() && (1.0..1e9).contains(&seconds) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range just tested")]
        let whole = seconds as u64;
        tags.seconds = Some(whole);
    }
}

struct MatroskaReader<'t> {
    tags: &'t mut MediaTags,
    left: usize,
    /// The name of the tag whose value follows.
    name: String,
    /// Nanoseconds of a unit of time.
    scale: f64,
    duration: f64,
}

impl MatroskaReader<'_> {
    fn elements(&mut self, mut rest: &[u8], depth: usize) -> Option<()> {
        while self.left > 0 && depth < MAX_DEPTH {
            self.left -= 1;
            let (id, id_len) = number(rest, false)?;
            let (len, len_len) = number(rest.get(id_len..)?, true)?;
            let body = rest.get(id_len + len_len..)?;
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let (body, after) = body.split_at_checked(len).unwrap_or((body, &[]));
            self.element(u32::try_from(id).unwrap_or(0), body, depth);
            rest = after;
        }
        Some(())
    }

    fn element(&mut self, id: u32, body: &[u8], depth: usize) {
        let text = || String::from_utf8_lossy(body).into_owned();
        match id {
            SEGMENT | FACTS | TAGS | TAG | SIMPLE_TAG => {
                self.elements(body, depth + 1);
            }
            TITLE => self.tags.set("title", &text()),
            TAG_NAME => self.name = text(),
            TAG_STRING => {
                let name = match self.name.as_str() {
                    "DATE_RELEASED" | "DATE_RECORDED" => "date".to_owned(),
                    name => name.to_owned(),
                };
                self.tags.set(&name, &text());
            }
            DURATION => {
                self.duration = match body.len() {
                    4 => body.first_chunk().map_or(0.0, |b| f64::from(f32::from_be_bytes(*b))),
                    _ => body.first_chunk().map_or(0.0, |b| f64::from_be_bytes(*b)),
                };
            }
            SCALE => self.scale = body.iter().take(4).fold(0.0, |n, &b| n * 256.0 + f64::from(b)),
            DATE => {
                let since = body.first_chunk().map(|b| i64::from_be_bytes(*b) / 1_000_000_000);
                self.tags.created = since.and_then(|s| unix_time(s.checked_add(EPOCH)?));
            }
            _ => {}
        }
    }
}

/// A number, with or without the bit that marks its length, and that length.
fn number(bytes: &[u8], unmarked: bool) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let len = first.leading_zeros() as usize + 1;
    let all = bytes.get(..len).filter(|_| len <= 8)?;
    let value = all.iter().fold(0u64, |n, &b| (n << 8) | u64::from(b));
    let mark = 1u64 << (7 * len);
    Some((if unmarked { value & (mark - 1) } else { value }, len))
}
