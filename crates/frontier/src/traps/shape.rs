//! What does a URL alone give away?
//!
//! The stateless part of the trap rules: repeating segments, implausible years, and the area a URL
//! belongs to, in which random ids and counters are treated as equal.

use orb_page::HostId;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Maximum path segments examined.
pub(super) const SEGMENTS: usize = 64;

/// Path and query of a canonical URL.
pub(crate) fn path_and_query(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |i| i + 3);
    memchr::memchr(b'/', &url.as_bytes()[authority..]).map_or("/", |i| &url[authority + i..])
}

/// The host name in a canonical URL, without user info, port and brackets.
pub(super) fn host_name(url: &str) -> &str {
    let rest = url.find("://").map_or(url, |i| &url[i + 3..]);
    let authority = &rest[..memchr::memchr3(b'/', b'?', b'#', rest.as_bytes()).unwrap_or(rest.len())];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or(address),
        None => host.split(':').next().unwrap_or(host),
    }
}

/// Splits a path into its non-empty segments and returns their number, even if they do not all fit.
pub(super) fn fill<'a>(segments: &mut [&'a str; SEGMENTS], path: &'a str) -> usize {
    let mut count = 0;
    for segment in path.split('/').filter(|s| !s.is_empty()) {
        if let Some(place) = segments.get_mut(count) {
            *place = segment;
        }
        count += 1;
    }
    count
}

/// Whether one segment occurs `most` times in the path (half as often again for single characters,
/// which shard real archives), or a group of two or more occurs three times in a row.
pub(super) fn repeats(segments: &[&str], most: usize) -> bool {
    if segments.len() < most.min(6) {
        return false;
    }
    let often = segments.iter().enumerate().any(|(i, s)| {
        let limit = if s.len() < 2 { most + most / 2 } else { most };
        segments.len() - i >= limit && segments[i..].iter().filter(|t| *t == s).count() >= limit
    });
    often || (2..=segments.len() / 3).any(|period| cycles(segments, period))
}

fn cycles(segments: &[&str], period: usize) -> bool {
    let mut run = 0;
    for i in period..segments.len() {
        run = if segments[i] == segments[i - period] { run + 1 } else { 0 };
        if run >= 2 * period {
            return true;
        }
    }
    false
}

/// The year in a calendar URL: `/2026/11/`, `/2026-11-15`, `?year=2026&month=11`, `?date=2026-11`.
pub(super) fn year_of(segments: &[&str], query: Option<&str>) -> Option<i64> {
    let month = |s: &str| s.len() <= 2 && s.parse::<u8>().is_ok_and(|m| (1..=12).contains(&m));
    for pair in segments.windows(2) {
        if let Some(year) = whole_year(pair[0])
            && month(pair[1])
        {
            return Some(year);
        }
    }
    let values = query.unwrap_or_default().split('&').filter_map(|p| p.split_once('='));
    let dated = values.filter_map(|(name, value)| match name {
        "year" | "yr" | "cal_year" => whole_year(value),
        _ => date(value),
    });
    segments.last().and_then(|s| date(s)).or_else(|| dated.into_iter().next())
}

/// Four or five digits, since endless calendars go beyond the year 9999.
fn whole_year(s: &str) -> Option<i64> {
    let digits = matches!(s.len(), 4 | 5) && s.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| s.parse().ok()).flatten()
}

/// `2026-11`, `2026-11-15` and the same with `_` or `.`.
fn date(s: &str) -> Option<i64> {
    let mut parts = s.splitn(4, ['-', '_', '.']);
    let (year, month, day, rest) = (parts.next()?, parts.next()?, parts.next(), parts.next());
    let two = |s: &str, max: u8| s.len() == 2 && s.parse::<u8>().is_ok_and(|n| (1..=max).contains(&n));
    let shaped = two(month, 12) && day.is_none_or(|d| two(d, 31)) && rest.is_none();
    whole_year(year).filter(|_| shaped)
}

/// The key of a counter of this family, for a text of a host.
pub(super) fn key(family: u64, host: HostId, text: &str) -> u64 {
    // Of a short text, XXH3 only adds the seed to the characters: seeds that differ in a few bits
    // make two short names one key.
    let seed = xxh3_64(&(family << 32 | u64::from(host.0)).to_le_bytes());
    xxh3_64_with_seed(text.as_bytes(), seed)
}

/// Pages whose contents are compared with each other: those that differ only in the query, or else
/// those in the same two top-level directories.
pub(super) fn area(host: HostId, path: &str, has_query: bool) -> u64 {
    let (family, depth) = if has_query { (2, SEGMENTS) } else { (3, 2) };
    let directories = if has_query { path } else { path.rsplit_once('/').map_or("", |(dirs, _)| dirs) };
    let segments = directories.split('/').filter(|s| !s.is_empty()).take(depth);
    segments.fold(key(family, host, ""), |hash, segment| xxh3_64_with_seed(kind_of(segment).as_bytes(), hash))
}

/// A segment as far as it distinguishes areas: all numbers are equal, and so are random-looking
/// ids.
fn kind_of(segment: &str) -> &str {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let letters = segment.bytes().all(|b| b.is_ascii_alphanumeric() || (b == b'-' && digits > 7));
    let drawn = letters && segment.len() >= 8 && digits >= 2;
    if digits == segment.len() || drawn { "#" } else { segment }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn short_names_have_keys_of_their_own_in_every_family() {
        let letters = || (b'a'..=b'z').map(char::from);
        let names: Vec<String> = letters().flat_map(|a| letters().map(move |b| format!("{a}{b}.test"))).collect();
        let singles = letters().flat_map(|a| [format!("{a}.test"), format!("{a}.de")]);
        let all: Vec<String> = names.into_iter().chain(singles).collect();
        let keys: HashSet<u64> =
            (1..12).flat_map(|family| all.iter().map(move |name| key(family, HostId(0), name))).collect();
        assert_eq!(keys.len(), 11 * all.len());
    }

    #[test]
    fn the_host_is_read_from_any_canonical_address() {
        for (url, name) in [
            ("http://a.example/x", "a.example"),
            ("http://a.example:8080?x", "a.example"),
            ("https://u:p@a.example", "a.example"),
            ("http://[::1]:81/", "::1"),
            ("http://", ""),
            ("", ""),
        ] {
            assert_eq!(host_name(url), name, "{url}");
        }
    }

    #[test]
    fn numbers_and_drawn_ids_stand_for_each_other() {
        let of = |path| area(HostId(1), path, false);
        assert_eq!(of("/s/AB12CD34EF/view.html"), of("/s/99ffab12cd/index.html"));
        assert_eq!(of("/2026/11/"), of("/1999/02/x"));
        assert_ne!(of("/essays/river.html"), of("/maps/river.html"));
        assert_ne!(of("/w/cpp/x"), of("/w/c/x"));
        assert_eq!(of("/w/cpp/algorithm/x"), of("/w/cpp/ranges/y"));
        assert_ne!(area(HostId(1), "/a", true), area(HostId(2), "/a", true));
        assert_ne!(area(HostId(1), "/a/b/c/d", true), area(HostId(1), "/a/b/c/e", true));
    }
}
