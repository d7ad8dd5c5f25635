//! Which lines of a robots.txt apply to us?
//!
//! The first half of [`super::Robots::parse`]: from bytes to the rules of one group. It never
//! fails: it skips what it does not understand.

use super::MAX_BYTES;
use memchr::{memchr, memchr2};
use std::time::Duration;

/// Significant bytes of a line: eight times the longest URL of old browsers, minus the terminating
/// zero, as in Google's parser.
const MAX_LINE: usize = 2083 * 8 - 1;

/// Maximum delay a file can ask for; politeness lowers it further.
const MAX_DELAY: f64 = 86_400.0;

/// Maximum number of sitemaps, and maximum length of each.
const MAX_SITEMAPS: usize = 1_000;
const MAX_SITEMAP_URL: usize = 8_192;

/// A rule as written.
pub(super) struct RuleLine<'a> {
    /// Its line number, from 1.
    pub(super) number: u32,
    /// Whether it is `Allow` rather than `Disallow`.
    pub(super) allow: bool,
    /// Its pattern, trimmed.
    pub(super) value: &'a [u8],
}

/// Everything the file says to one agent.
#[derive(Default)]
pub(super) struct AgentGroup<'a> {
    pub(super) rules: Vec<RuleLine<'a>>,
    pub(super) crawl_delay: Option<Duration>,
    pub(super) sitemaps: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RobotsKey {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
    Unknown,
}

/// The accepted spellings of each key, by prefix and ignoring case. The misspellings are those that
/// Google's parser accepts.
const SPELLINGS: &[(&str, RobotsKey)] = &[
    ("user-agent", RobotsKey::UserAgent),
    ("useragent", RobotsKey::UserAgent),
    ("user agent", RobotsKey::UserAgent),
    ("allow", RobotsKey::Allow),
    ("disallow", RobotsKey::Disallow),
    ("dissallow", RobotsKey::Disallow),
    ("dissalow", RobotsKey::Disallow),
    ("disalow", RobotsKey::Disallow),
    ("diasllow", RobotsKey::Disallow),
    ("disallaw", RobotsKey::Disallow),
    ("crawl-delay", RobotsKey::CrawlDelay),
    ("crawldelay", RobotsKey::CrawlDelay),
    ("crawl delay", RobotsKey::CrawlDelay),
    ("sitemap", RobotsKey::Sitemap),
    ("site-map", RobotsKey::Sitemap),
];

impl<'a> AgentGroup<'a> {
    /// The rules for a product token, or those for `*` if no group names it.
    pub(super) fn read(text: &'a [u8], token: &'a str) -> Self {
        let mut reader = GroupReader { token: token.as_bytes(), ..GroupReader::default() };
        let text = without_mark(&text[..text.len().min(MAX_BYTES)]);
        let lines = Lines { rest: Some(text), number: 0 };
        for (number, line) in lines {
            if let Some((key, value)) = key_and_value(&line[..line.len().min(MAX_LINE)]) {
                reader.take(number, key, value);
            }
        }
        let mut group = if reader.named { reader.ours } else { reader.any };
        group.sitemaps = reader.sitemaps;
        group
    }
}

/// Parser state: whether the agents just listed are ours, anybody's, or others'.
#[derive(Default)]
struct GroupReader<'a> {
    token: &'a [u8],
    ours: AgentGroup<'a>,
    any: AgentGroup<'a>,
    sitemaps: Vec<String>,
    named: bool,
    in_ours: bool,
    in_any: bool,
    rules_begun: bool,
}

impl<'a> GroupReader<'a> {
    fn take(&mut self, number: u32, key: RobotsKey, value: &'a [u8]) {
        match key {
            RobotsKey::UserAgent => self.agent(value),
            RobotsKey::Allow | RobotsKey::Disallow => {
                let allow = key == RobotsKey::Allow;
                if let Some(group) = self.group() {
                    if !value.is_empty() {
                        group.rules.push(RuleLine { number, allow, value });
                    }
                    self.rules_begun = true;
                }
            }
            RobotsKey::CrawlDelay => {
                if let Some(group) = self.group() {
                    group.crawl_delay = group.crawl_delay.max(delay(value));
                }
            }
            RobotsKey::Sitemap => {
                if self.sitemaps.len() < MAX_SITEMAPS && value.len() <= MAX_SITEMAP_URL && !value.is_empty() {
                    self.sitemaps.push(String::from_utf8_lossy(value).into_owned());
                }
            }
            RobotsKey::Unknown => {}
        }
    }

    /// Consecutive agents share the rules that follow. Only `Allow` and `Disallow` end the list:
    /// other lines must not interfere (RFC 9309 section 2.2.4).
    fn agent(&mut self, value: &[u8]) {
        if self.rules_begun {
            (self.in_ours, self.in_any, self.rules_begun) = (false, false, false);
        }
        if value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace) {
            self.in_any = true;
        } else if !self.token.is_empty() && value[..token_length(value)].eq_ignore_ascii_case(self.token) {
            (self.in_ours, self.named) = (true, true);
        }
    }

    fn group(&mut self) -> Option<&mut AgentGroup<'a>> {
        match (self.in_ours, self.in_any) {
            (true, _) => Some(&mut self.ours),
            (false, true) => Some(&mut self.any),
            (false, false) => None,
        }
    }
}

/// Length of the product token at the start.
pub(super) fn token_length(value: &[u8]) -> usize {
    value.iter().take_while(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_')).count()
}

/// The text without a byte order mark, even a truncated one.
fn without_mark(text: &[u8]) -> &[u8] {
    let mark = [0xEF, 0xBB, 0xBF];
    let common = text.iter().zip(mark).take_while(|(a, b)| **a == *b).count();
    &text[common..]
}

/// Lines ended by LF, CR or CRLF, with their numbers.
struct Lines<'a> {
    rest: Option<&'a [u8]>,
    number: u32,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        self.number += 1;
        let Some(end) = memchr2(b'\n', b'\r', rest) else {
            return Some((self.number, rest));
        };
        let next = if rest[end] == b'\r' && rest.get(end + 1) == Some(&b'\n') { end + 2 } else { end + 1 };
        self.rest = Some(&rest[next..]);
        Some((self.number, &rest[..end]))
    }
}

/// Splits `key: value`, or `key value` if the colon is missing and there are exactly two words.
fn key_and_value(line: &[u8]) -> Option<(RobotsKey, &[u8])> {
    let line = line[..memchr(b'#', line).unwrap_or(line.len())].trim_ascii();
    let split = memchr(b':', line).or_else(|| {
        let gap = memchr2(b' ', b'\t', line)?;
        let value = line[gap..].trim_ascii_start();
        memchr2(b' ', b'\t', value).is_none().then_some(gap)
    })?;
    let key = line[..split].trim_ascii();
    if key.is_empty() {
        return None;
    }
    let known =
        |s: &&(&str, RobotsKey)| key.len() >= s.0.len() && key[..s.0.len()].eq_ignore_ascii_case(s.0.as_bytes());
    let key = SPELLINGS.iter().find(known).map_or(RobotsKey::Unknown, |s| s.1);
    Some((key, line[split + 1..].trim_ascii()))
}

/// A number of seconds, possibly fractional; what follows it is ignored.
fn delay(value: &[u8]) -> Option<Duration> {
    let end = value.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let seconds: f64 = std::str::from_utf8(&value[..end]).ok()?.parse().ok()?;
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(MAX_DELAY)))
}
