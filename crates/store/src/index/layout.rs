//! How are the index's keys and values laid out?
//!
//! `seen`: URL key → page. `digest`: first half of the sha256 → the page that first had it.
//! `queue`: host, rank, page (big-endian, so that key order is queue order) → nothing; before them
//! all, under host 0, the length of each host's queue and the mark at which they were folded.
//! `host`: by a leading letter, `h` record, `r` robots.txt, `n` hash of scheme, name and port →
//! number, `o` a block of pages left outside, `m` the mark.

use super::varint::{put_varint, take_varint};
use crate::sqlite::Watermark;
use crate::{HostRecord, RobotsRecord};
use orb_page::{HostId, Moment, PageId};
use std::io::Write as _;

/// The key of the mark in the `host` space.
pub(crate) const MARK: &[u8] = b"m";

/// A key of the `queue` space.
pub(crate) type QueueKey = [u8; 20];

/// The key of the mark in the `queue` space.
pub(crate) const FOLDED: QueueKey = [0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0];

/// The letters of the `host` space.
pub(crate) const RECORD: u8 = b'h';
/// See [`RECORD`].
pub(crate) const ROBOTS: u8 = b'r';
/// See [`RECORD`].
pub(crate) const PARKED: u8 = b'o';

/// How far the index has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexMark {
    pub(crate) watermark: Watermark,
    pub(crate) next_page: u64,
    pub(crate) next_host: u32,
    /// Number of URLs in the seen set.
    pub(crate) seen: u64,
}

impl Default for IndexMark {
    /// The mark of an empty index.
    fn default() -> Self {
        Self { watermark: Watermark::default(), next_page: 1, next_host: 1, seen: 0 }
    }
}

impl IndexMark {
    pub(crate) fn encode(self) -> [u8; 36] {
        let mut out = [0; 36];
        out[..8].copy_from_slice(&self.watermark.no.to_le_bytes());
        out[8..16].copy_from_slice(&self.watermark.nonce.to_le_bytes());
        out[16..24].copy_from_slice(&self.next_page.to_le_bytes());
        out[24..32].copy_from_slice(&self.seen.to_le_bytes());
        out[32..].copy_from_slice(&self.next_host.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 36] = bytes.try_into().ok()?;
        let u64_at = |i: usize| bytes[i..].first_chunk().map(|b| u64::from_le_bytes(*b));
        Some(Self {
            watermark: Watermark { no: u64_at(0)?, nonce: u64_at(8)? },
            next_page: u64_at(16)?,
            seen: u64_at(24)?,
            next_host: u32::from_le_bytes(*bytes[32..].first_chunk()?),
        })
    }
}

/// The key of a digest: half of it is collision-free enough.
pub(crate) fn digest_key(digest: &[u8; 32]) -> u128 {
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    u128::from_be_bytes(half)
}

/// Maximum length of name, scheme and port that fits a stack buffer.
const LONG_NAME: usize = 320;

/// The key of a host's name.
pub(crate) fn name_key(scheme: &str, name: &str, port: u16) -> u128 {
    // Called for every new page: a name of normal length needs no allocation.
    let mut text = [0; LONG_NAME];
    let mut rest = &mut text[..];
    match write!(rest, "{scheme}://{name}:{port}") {
        Ok(()) => {
            let length = LONG_NAME - rest.len();
            xxhash_rust::xxh3::xxh3_128(&text[..length])
        }
        Err(_) => xxhash_rust::xxh3::xxh3_128(format!("{scheme}://{name}:{port}").as_bytes()),
    }
}

/// The key of a host's name in the `host` space.
pub(crate) fn name_slot(key: u128) -> [u8; 17] {
    let mut out = [b'n'; 17];
    out[1..].copy_from_slice(&key.to_be_bytes());
    out
}

/// The range of name keys in the `host` space, from one on.
pub(crate) fn name_range(from: u128) -> (Vec<u8>, Vec<u8>) {
    (name_slot(from).to_vec(), name_slot(u128::MAX).to_vec())
}

/// A key of the `host` space.
pub(crate) fn host_slot(letter: u8, host: HostId) -> [u8; 5] {
    let [a, b, c, d] = host.0.to_be_bytes();
    [letter, a, b, c, d]
}

/// The key of a block in the `host` space.
pub(crate) fn block_slot(block: u32) -> [u8; 5] {
    host_slot(PARKED, HostId(block))
}

/// The host in a key of the `host` space.
pub(crate) fn slot_host(key: &[u8]) -> Option<HostId> {
    key.get(1..)?.try_into().ok().map(|b| HostId(u32::from_be_bytes(b)))
}

/// The key of a queue entry.
pub(crate) fn queue_key(host: HostId, rank: u64, page: PageId) -> QueueKey {
    let mut out = [0; 20];
    out[..4].copy_from_slice(&host.0.to_be_bytes());
    out[4..12].copy_from_slice(&rank.to_be_bytes());
    out[12..].copy_from_slice(&page.0.to_be_bytes());
    out
}

/// Host, rank and page of a queue entry's key.
pub(crate) fn parse_queue_key(place: &QueueKey) -> (HostId, u64, PageId) {
    let mut host = [0; 4];
    let (mut rank, mut page) = ([0; 8], [0; 8]);
    host.copy_from_slice(&place[..4]);
    rank.copy_from_slice(&place[4..12]);
    page.copy_from_slice(&place[12..]);
    (HostId(u32::from_be_bytes(host)), u64::from_be_bytes(rank), PageId(u64::from_be_bytes(page)))
}

/// The key of the length of a host's queue.
pub(crate) fn count_key(host: u32) -> QueueKey {
    queue_key(HostId(0), u64::from(host), PageId(0))
}

/// The lengths of all hosts' queues, without the mark.
pub(crate) fn count_range() -> std::ops::Range<QueueKey> {
    count_key(0)..FOLDED
}

/// A number as a value.
pub(crate) fn number(n: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(5);
    put_varint(&mut out, n);
    out
}

/// The number in a value.
pub(crate) fn parse_number(mut value: &[u8]) -> Option<u64> {
    take_varint(&mut value)
}

/// Encodes a host without its robots.txt.
pub(crate) fn host_value(host: &HostRecord) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + host.name.len());
    put_varint(&mut out, u64::from(host.port));
    out.push(u8::from(host.not_before.is_some()));
    out.extend_from_slice(&host.not_before.unwrap_or_default().0.to_le_bytes());
    put_varint(&mut out, host.backoff_ms);
    put_varint(&mut out, host.scheme.len() as u64);
    out.extend_from_slice(host.scheme.as_bytes());
    out.extend_from_slice(host.name.as_bytes());
    out
}

/// Decodes a host without its robots.txt.
pub(crate) fn parse_host(id: HostId, mut value: &[u8]) -> Option<HostRecord> {
    let port = u16::try_from(take_varint(&mut value)?).ok()?;
    let (&some, rest) = value.split_first()?;
    let (moment, mut rest) = rest.split_first_chunk()?;
    let backoff_ms = take_varint(&mut rest)?;
    let scheme = usize::try_from(take_varint(&mut rest)?).ok()?;
    let (scheme, name) = rest.split_at_checked(scheme)?;
    Some(HostRecord {
        id,
        scheme: std::str::from_utf8(scheme).ok()?.to_owned(),
        name: std::str::from_utf8(name).ok()?.to_owned(),
        port,
        robots: None,
        not_before: (some == 1).then_some(Moment(i64::from_le_bytes(*moment))),
        backoff_ms,
    })
}

/// Encodes a robots.txt.
pub(crate) fn robots_value(robots: &RobotsRecord) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + robots.text.len());
    out.extend_from_slice(&robots.at.0.to_le_bytes());
    out.extend_from_slice(&robots.status.to_le_bytes());
    out.push(u8::from(robots.crawl_delay.is_some()));
    out.extend_from_slice(&robots.crawl_delay.unwrap_or(0.0).to_le_bytes());
    out.extend_from_slice(robots.text.as_bytes());
    out
}

/// Decodes a robots.txt.
pub(crate) fn parse_robots(value: &[u8]) -> Option<RobotsRecord> {
    let (at, rest) = value.split_first_chunk()?;
    let (status, rest) = rest.split_first_chunk()?;
    let (&some, rest) = rest.split_first()?;
    let (delay, text) = rest.split_first_chunk()?;
    Some(RobotsRecord {
        at: Moment(i64::from_le_bytes(*at)),
        status: u16::from_le_bytes(*status),
        text: std::str::from_utf8(text).ok()?.to_owned(),
        crawl_delay: (some == 1).then_some(f64::from_le_bytes(*delay)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_order_of_keys_is_the_order_of_queues() {
        let keys = [(1, 0, 9), (1, 1, 3), (1, 256, 2), (2, 0, 1), (256, 0, 1)];
        let bytes: Vec<_> = keys.iter().map(|(h, r, p)| queue_key(HostId(*h), *r, PageId(*p))).collect();
        assert!(bytes.is_sorted());
        assert_eq!(parse_queue_key(&bytes[2]), (HostId(1), 256, PageId(2)));
        assert!(count_range().contains(&count_key(u32::MAX)) && FOLDED < queue_key(HostId(1), 0, PageId(0)));
    }

    #[test]
    fn long_names_have_keys_like_short_ones() {
        for long in [1, 200, 305, 306, 307, 400] {
            let name = "a".repeat(long);
            let key = xxhash_rust::xxh3::xxh3_128(format!("https://{name}:443").as_bytes());
            assert_eq!(name_key("https", &name, 443), key, "{long}");
        }
    }

    proptest! {
        #[test]
        fn hosts_and_robots_round_trip(name in "[a-z.]{0,40}", port: u16, at: Option<i64>, backoff_ms: u64, delay in prop::option::of(0.0f64..99.0), text: String) {
            let host = HostRecord {
                id: HostId(7), scheme: "https".into(), name, port, robots: None, not_before: at.map(Moment), backoff_ms,
            };
            prop_assert_eq!(parse_host(HostId(7), &host_value(&host)), Some(host));
            let robots = RobotsRecord { at: Moment(at.unwrap_or(3)), status: port, text, crawl_delay: delay };
            prop_assert_eq!(parse_robots(&robots_value(&robots)), Some(robots));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = (parse_host(HostId(1), &bytes), parse_robots(&bytes), parse_number(&bytes), IndexMark::decode(&bytes));
        }
    }
}
