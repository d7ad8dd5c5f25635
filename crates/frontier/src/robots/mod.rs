//! May this agent request this path?
//!
//! A robots.txt is read once per host, before any of its pages is leased, and consulted twice per
//! page: when a link to it is found and again before the request. The rules are those of RFC 9309,
//! and where sites deviate from it, those of the parser Google published with it: all its 145 test
//! cases pass. The groups of our product token apply, merged; failing that, the `*` groups; the
//! longest matching rule decides, and `Allow` wins a tie.
//!
//! One point is stricter than Google's parser, as RFC 9309 section 2.2.2 requires: a
//! percent-encoded letter or digit in a `Disallow` also covers the plain one, because the frontier
//! only requests canonical URLs, which do not contain such escapes.

#[cfg(test)]
mod cases;
mod parse;
mod pattern;
mod shelf;

pub(crate) use shelf::RulesCache;

use orb_store::RobotsRecord;
use parse::{AgentGroup, RuleLine};
use pattern::{Escapes, Side};
use std::borrow::Cow;
use std::time::Duration;

/// How many bytes of a robots.txt are parsed: the minimum of RFC 9309 section 2.5.
pub const MAX_BYTES: usize = 500 * 1024;

/// Maximum redirects to a robots.txt (RFC 9309 section 2.3.1.2).
pub const MAX_REDIRECTS: u8 = 5;

/// What one robots.txt says to one agent.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    allow: Side,
    disallow: Side,
    shut: bool,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

/// The verdict of a robots.txt on one path, and the deciding line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Whether it may be requested.
    pub allowed: bool,
    /// The deciding line, by number (from 1) and text; `None` if no rule matches.
    pub rule: Option<(u32, String)>,
}

/// What the status of a `/robots.txt` response means (RFC 9309 section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It exists: obey it.
    Read,
    /// It does not exist: everything is allowed.
    Unavailable,
    /// Unknown: nothing is allowed for now.
    Unreachable,
}

impl Access {
    /// The meaning of a status; 0 stands for no response.
    pub const fn of(status: u16) -> Self {
        match status {
            200..=299 => Self::Read,
            300..=428 | 430..=499 => Self::Unavailable,
            _ => Self::Unreachable,
        }
    }
}

/// Whether a response settles what is allowed, even if it says nothing.
pub(crate) fn is_conclusive(record: &RobotsRecord) -> bool {
    Access::of(record.status) != Access::Unreachable
}

impl Robots {
    /// Parses a robots.txt for an agent: a product token, or a whole `User-Agent` that begins with
    /// one.
    pub fn parse(text: &[u8], agent: &str) -> Self {
        let group = AgentGroup::read(text, product_token(agent));
        let mut robots = Self { sitemaps: group.sitemaps, crawl_delay: group.crawl_delay, ..Self::default() };
        let (mut allow, mut disallow) = (Vec::new(), Vec::new());
        for RuleLine { number, allow: allows, value } in group.rules {
            if allows {
                allow.push((pattern::normalise(value, Escapes::Marks), number));
                if let Some(directory) = pattern::directory_of_index(value) {
                    allow.push((pattern::normalise(&directory, Escapes::Marks), number));
                }
            } else {
                disallow.push((pattern::normalise(value, Escapes::Unreserved), number));
            }
        }
        robots.allow = Side::new(allow, false);
        robots.disallow = Side::new(disallow, true);
        robots
    }

    /// What a response with this status and text means to an agent.
    pub fn from_status(status: u16, text: &[u8], agent: &str) -> Self {
        match Access::of(status) {
            Access::Read => Self::parse(text, agent),
            Access::Unavailable => Self::default(),
            Access::Unreachable => Self::shut(),
        }
    }

    /// What a stored robots.txt means to an agent.
    pub fn of(record: &RobotsRecord, agent: &str) -> Self {
        Self::from_status(record.status, record.text.as_bytes(), agent)
    }

    /// A robots.txt that allows nothing.
    pub fn shut() -> Self {
        Self { shut: true, ..Self::default() }
    }

    /// Whether a path with its query is allowed, and by which line.
    pub fn allows(&self, path_and_query: &str) -> Ruling {
        let (allow, disallow) = self.best(path_and_query);
        let allowed = self.verdict(path_and_query, allow, disallow);
        let deciding = if allowed { allow.map(|r| (r, "Allow")) } else { disallow.map(|r| (r, "Disallow")) };
        let rule = deciding.map(|(r, name)| (r.line, format!("{name}: {}", String::from_utf8_lossy(&r.text))));
        Ruling { allowed, rule }
    }

    /// Whether a path with its query is allowed.
    pub fn is_allowed(&self, path_and_query: &str) -> bool {
        let (allow, disallow) = self.best(path_and_query);
        self.verdict(path_and_query, allow, disallow)
    }

    /// Its Crawl-delay.
    pub const fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps it lists, as written, in any group.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Approximate memory use in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.allow.heap_bytes() + self.disallow.heap_bytes()
    }

    /// The same without what only the store needs.
    pub(crate) fn without_sitemaps(mut self) -> Self {
        self.sitemaps = Vec::new();
        self
    }

    fn best(&self, path: &str) -> (Option<&pattern::PathRule>, Option<&pattern::PathRule>) {
        let exact: Cow<'_, [u8]> = pattern::unescape(path.as_bytes(), Escapes::Marks);
        let loose: Cow<'_, [u8]> = pattern::unescape(path.as_bytes(), Escapes::Unreserved);
        (self.allow.best(&exact), self.disallow.best(&loose))
    }

    fn verdict(&self, path: &str, allow: Option<&pattern::PathRule>, disallow: Option<&pattern::PathRule>) -> bool {
        if path == "/robots.txt" {
            return true;
        }
        !self.shut && disallow.map_or(0, |r| r.text.len()) <= allow.map_or(0, |r| r.text.len())
    }
}

/// The product token of an agent: its leading letters, `-` and `_`.
///
/// `Orbweaver/1.0 (+https://…)` is `Orbweaver`. Several bare words (`Foo Bar`) are not a product,
/// as in Google's parser: such an agent obeys the `*` groups.
pub fn product_token(agent: &str) -> &str {
    let agent = agent.trim();
    let end = parse::token_length(agent.as_bytes());
    let (token, rest) = agent.split_at(end);
    let follows_word = rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
    if rest.starts_with(char::is_whitespace) && follows_word { "" } else { token }
}

/// Path and query of a URL as written, or `/` if it has none: what rules are matched against.
///
/// Nothing is normalised, so that a URL can be judged exactly as typed.
pub fn path_of(url: &str) -> Cow<'_, str> {
    let starts = |c: char| matches!(c, '/' | '?' | ';');
    let from = if url.starts_with("//") { 2 } else { 0 };
    let early = url[from..].find(starts).map(|i| i + from);
    let authority = match url[from..].find("://").map(|i| i + from) {
        Some(i) if early.is_none_or(|e| e > i) => i + 3,
        _ => from,
    };
    let fragment = url[from..].find('#').map_or(url.len(), |i| i + from);
    match url[authority..].find(starts).map(|i| i + authority) {
        Some(start) if start < fragment && url[start..].starts_with('/') => Cow::Borrowed(&url[start..fragment]),
        Some(start) if start < fragment => Cow::Owned(format!("/{}", &url[start..fragment])),
        _ => Cow::Borrowed("/"),
    }
}
