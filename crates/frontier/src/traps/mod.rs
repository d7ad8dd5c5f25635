//! Is this link worth following, or does the site go on for ever?
//!
//! Every newly discovered address passes here once. A trap is known by its shape alone (ever deeper paths, repeating segments, calendars
//! without end, exploding queries: Heritrix's and Nutch's rules of thumb) or by what its area gave so far (the same content again and again).
//! What is cut off is recorded with the name of the trap; nothing here is fatal. Counters live in bounded memory and start
//! again with the program: a restart may let a trap give a little more.

use crate::recent::Recent;
use orb_page::HostId;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Paths and areas counted at a time.
const COUNTERS: usize = 200_000;

/// Where a trap begins. The defaults are generous: sites written by people stay within them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrapLimits {
    /// Characters of a URL.
    pub url_length: usize,
    /// Segments of a path.
    pub path_depth: usize,
    /// How often one segment may stand in a path.
    pub repeated_segment: usize,
    /// Parameters of a query.
    pub query_parameters: usize,
    /// Queries of one path; ten times as many where they have a single parameter.
    pub query_variants: u32,
    /// Years ahead of now in an address that looks like a calendar's.
    pub years_ahead: i64,
    /// Years before now in such an address.
    pub years_back: i64,
    /// By how many the pages of one area with content seen before may outnumber the others.
    pub repeated_content: u32,
}

impl Default for TrapLimits {
    fn default() -> Self {
        Self {
            url_length: 2_000,
            path_depth: 20,
            repeated_segment: 4,
            query_parameters: 32,
            query_variants: 1_000,
            years_ahead: 10,
            years_back: 250,
            repeated_content: 200,
        }
    }
}

/// An address as the trap rules see it: parts of a canonical URL.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The host.
    pub host: HostId,
    /// Length of the whole URL.
    pub length: usize,
    /// Path, with its first slash.
    pub path: &'a str,
    /// Query, without its question mark.
    pub query: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// The parts of a canonical URL.
    pub fn of(host: HostId, url: &'a str) -> Self {
        let rest = path_and_query(url);
        let (path, query) = rest.split_once('?').map_or((rest, None), |(p, q)| (p, Some(q)));
        Self { host, length: url.len(), path, query }
    }
}

/// The path with its query of a canonical URL.
pub(crate) fn path_and_query(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |i| i + 3);
    memchr::memchr(b'/', &url.as_bytes()[authority..]).map_or("/", |i| &url[authority + i..])
}

/// Knows traps when it sees them.
#[derive(Debug)]
pub struct Traps {
    limits: TrapLimits,
    counts: Recent<u64, u32>,
}

impl Traps {
    /// Nothing counted yet.
    pub fn new(limits: TrapLimits) -> Self {
        Self { limits, counts: Recent::new(COUNTERS) }
    }

    /// The name of the trap an address belongs to, if any. To be asked once for each page discovered; `year` is the present one.
    pub fn judge(&mut self, target: Target<'_>, year: i64) -> Option<&'static str> {
        if target.length > self.limits.url_length {
            return Some("trap-length");
        }
        let mut segments = [""; 64];
        let count = fill(&mut segments, target.path);
        if count > self.limits.path_depth {
            return Some("trap-depth");
        }
        let segments = &segments[..count.min(64)];
        if repeats(segments, self.limits.repeated_segment) {
            return Some("trap-repeat");
        }
        let window = year - self.limits.years_back..=year + self.limits.years_ahead;
        if year_of(segments, target.query).is_some_and(|y| !window.contains(&y)) {
            return Some("trap-calendar");
        }
        if let Some(query) = target.query.filter(|q| !q.is_empty())
            && let Some(name) = self.judge_query(target, query)
        {
            return Some(name);
        }
        let repeated = self.counts.peek(&area(target)).is_some_and(|n| *n >= self.limits.repeated_content);
        repeated.then_some("trap-content")
    }

    fn judge_query(&mut self, target: Target<'_>, query: &str) -> Option<&'static str> {
        let parameters = query.split(['&', ';']).filter(|p| !p.is_empty()).count();
        if parameters > self.limits.query_parameters {
            return Some("trap-parameters");
        }
        let most = self.limits.query_variants.saturating_mul(if parameters < 2 { 10 } else { 1 });
        let seen = self.counts.get_or_insert(key(1, target.host, target.path), 1);
        if *seen >= most {
            return Some("trap-query");
        }
        *seen += 1;
        None
    }

    /// Takes note of a page whose content had been seen before (`repeated`) or was new, in the area of its address.
    pub fn note_content(&mut self, target: Target<'_>, repeated: bool) {
        let count = self.counts.get_or_insert(area(target), 1);
        *count = if repeated { count.saturating_add(1) } else { count.saturating_sub(1) };
    }
}

fn key(family: u64, host: HostId, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), family << 32 | u64::from(host.0))
}

/// Pages whose contents are compared with each other: those that differ in the query alone, or else the two uppermost directories.
fn area(target: Target<'_>) -> u64 {
    if target.query.is_some() {
        return key(2, target.host, target.path);
    }
    let slashes = memchr::memchr_iter(b'/', target.path.as_bytes());
    let end = slashes.take(3).last().map_or(0, |i| i + 1);
    key(3, target.host, &target.path[..end])
}

/// Splits a path into its segments, empty ones left out, and returns how many there are, be they more than fit.
fn fill<'a>(segments: &mut [&'a str; 64], path: &'a str) -> usize {
    let mut count = 0;
    for segment in path.split('/').filter(|s| !s.is_empty()) {
        if let Some(place) = segments.get_mut(count) {
            *place = segment;
        }
        count += 1;
    }
    count
}

/// Whether one segment stands `most` times in the path (half as often again for single characters, which shard real archives), or a
/// group of two or more stands three times in a row.
fn repeats(segments: &[&str], most: usize) -> bool {
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

/// The year of an address that looks like a calendar's: `/2026/11/`, `/2026-11-15`, `?year=2026&month=11`, `?date=2026-11`.
fn year_of(segments: &[&str], query: Option<&str>) -> Option<i64> {
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

/// Four or five digits, as calendars count on beyond the year 9999.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn traps() -> Traps {
        Traps::new(TrapLimits::default())
    }

    fn judge(url: &str) -> Option<&'static str> {
        traps().judge(Target::of(HostId(1), url), 2026)
    }

    #[test]
    fn traps_are_known_by_their_shape() {
        for (url, expected) in [
            ("http://h/a/b/a/b/a/b/", Some("trap-repeat")),
            ("http://h/x/yy/zz/yy/zz/yy/zz/w", Some("trap-repeat")),
            ("http://h/dir/dir/dir/dir/", Some("trap-repeat")),
            ("http://h/dir/one/dir/two/dir/three/dir", Some("trap-repeat")),
            ("http://h/cal/2093/05/", Some("trap-calendar")),
            ("http://h/cal/1600/5", Some("trap-calendar")),
            ("http://h/cal/12026/05/", Some("trap-calendar")),
            ("http://h/cal/2093-05", Some("trap-calendar")),
            ("http://h/cal?year=2093&month=5", Some("trap-calendar")),
            ("http://h/cal?date=2093-05-31", Some("trap-calendar")),
            (&format!("http://h/?{}", "a&".repeat(33)), Some("trap-parameters")),
            (&format!("http://h/{}", "x".repeat(2_000)), Some("trap-length")),
            (&format!("http://h/{}", (0..21).map(|i| format!("s{i}/")).collect::<String>()), Some("trap-depth")),
        ] {
            assert_eq!(judge(url), expected, "{url}");
        }
    }

    #[test]
    fn addresses_written_by_people_are_no_traps() {
        for url in [
            "http://h",
            "http://h/",
            "http://h/?",
            "http://h/a/b/c/d/e/f/g/h/i/j/k/l/m/n",
            "http://h/javase/8/docs/api/java/util/java/util/List.html",
            "http://h/w/cpp/algorithm/ranges/ranges.html",
            "http://h/2026/11/15/title",
            "http://h/1850/03/newspaper",
            "http://h/5400/12-volt",
            "http://h/part/9100",
            "http://h/objects/a/a/b/a/c/a/d",
            "http://h/search?q=2093&lang=en",
            "http://h/rfc/9309",
            "http://h/?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9&j=10",
        ] {
            assert_eq!(judge(url), None, "{url}");
        }
    }

    #[test]
    fn the_queries_of_one_path_are_bounded_and_other_paths_are_not_touched() {
        let mut traps = traps();
        let mut cut = |path: &str, query: &str, n: u32| {
            (0..n)
                .filter(|i| traps.judge(Target::of(HostId(1), &format!("http://h/{path}?{query}{i}")), 2026).is_some())
                .count()
        };
        assert_eq!(cut("shop", "c=1&p=", 1_500), 500);
        assert_eq!(cut("page", "p=", 1_500), 0);
        assert_eq!(traps.judge(Target::of(HostId(2), "http://i/shop?c=1&p=1"), 2026), None);
    }

    #[test]
    fn an_area_with_nothing_but_repeated_content_is_left() {
        let mut traps = traps();
        let page = |i: u32| format!("http://h/soft/{i}");
        for i in 0..200 {
            assert_eq!(traps.judge(Target::of(HostId(1), &page(i)), 2026), None);
            traps.note_content(Target::of(HostId(1), &page(i)), true);
        }
        assert_eq!(traps.judge(Target::of(HostId(1), &page(201)), 2026), Some("trap-content"));
        assert_eq!(traps.judge(Target::of(HostId(1), "http://h/real/1"), 2026), None);
        traps.note_content(Target::of(HostId(1), &page(1)), false);
        assert_eq!(traps.judge(Target::of(HostId(1), &page(202)), 2026), None);
    }

    proptest! {
        #[test]
        fn no_address_breaks_the_judge(url in "[a-z:/?&=;0-9%.é-]{0,300}") {
            let _ = judge(&url);
        }
    }
}
