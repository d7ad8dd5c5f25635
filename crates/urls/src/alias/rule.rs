//! What may differ between two addresses of one page?

use serde::{Deserialize, Serialize};
use std::fmt;

/// One way to write an address of a host differently without meaning another page. Applied, a rule
/// makes an address shorter, or equally long and smaller in order, so that applying any of them
/// again and again ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AliasRule {
    /// `//` in the path is `/`.
    Slashes,
    /// The letter case of the path does not matter; the normal form is lower case.
    Case,
    /// A path that begins with one prefix is the one with the other prefix. Whole segments;
    /// `to` may be empty.
    Prefix {
        /// The prefix of the alias, such as `/mirror`.
        from: String,
        /// The prefix of the page.
        to: String,
    },
    /// The path without this segment in its middle is the same.
    Segment(String),
    /// The path without this last segment is the same: `/x/print`.
    Tail(String),
    /// This file is its directory: `index.html`.
    Index(String),
    /// The path without its trailing slash is the same.
    Slash,
    /// The query without this parameter is the same.
    Parameter(String),
}

/// The parts of a canonical URL that rules change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UrlParts<'a> {
    /// Scheme and authority.
    pub(super) origin: &'a str,
    /// With its leading slash.
    pub(super) path: String,
    /// Without its question mark.
    pub(super) query: Option<String>,
}

impl<'a> UrlParts<'a> {
    /// Splits a canonical URL; `None` if it has no path.
    pub(super) fn of(url: &'a str) -> Option<Self> {
        let after = url.find("://")? + 3;
        let slash = after + url[after..].find('/')?;
        let (origin, rest) = url.split_at(slash);
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        Some(Self { origin, path: path.to_owned(), query: query.map(str::to_owned) })
    }

    /// The URL.
    pub(super) fn joined(&self) -> String {
        match &self.query {
            Some(query) => format!("{}{}?{query}", self.origin, self.path),
            None => format!("{}{}", self.origin, self.path),
        }
    }

    /// The values of a parameter.
    pub(super) fn values<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let parameters = self.query.iter().flat_map(|query| query.split('&'));
        parameters.map(|p| p.split_once('=').unwrap_or((p, ""))).filter(move |(n, _)| *n == name).map(|(_, v)| v)
    }
}

impl AliasRule {
    /// Applies it; returns whether something changed.
    pub(super) fn apply(&self, url: &mut UrlParts<'_>) -> bool {
        let path = match self {
            Self::Parameter(name) => return drop_parameter(url, name),
            Self::Slashes => url.path.contains("//").then(|| collapsed(&url.path)),
            Self::Case => url.path.bytes().any(|b| b.is_ascii_uppercase()).then(|| lowered(&url.path)),
            Self::Prefix { from, to } => {
                let rest = url.path.strip_prefix(from.as_str()).filter(|rest| rest.starts_with('/'));
                rest.map(|rest| format!("{to}{rest}"))
            }
            Self::Segment(name) => without_segment(&url.path, name),
            Self::Tail(name) => {
                let rest = url.path.strip_suffix(name.as_str()).and_then(|rest| rest.strip_suffix('/'));
                rest.filter(|rest| !rest.is_empty()).map(str::to_owned)
            }
            Self::Index(name) => {
                url.path.strip_suffix(name.as_str()).filter(|rest| rest.ends_with('/')).map(str::to_owned)
            }
            Self::Slash => url.path.strip_suffix('/').filter(|rest| !rest.is_empty()).map(str::to_owned),
        };
        // The only capitals of a path may be digits of its escapes.
        match path.filter(|path| *path != url.path) {
            Some(path) => {
                url.path = path;
                true
            }
            None => false,
        }
    }

    /// Whether relative links on the same bytes may lead elsewhere by this rule: then equal content
    /// is not enough, and the links must agree, too.
    pub fn moves_links(&self) -> bool {
        !matches!(self, Self::Parameter(_) | Self::Index(_) | Self::Case)
    }
}

impl fmt::Display for AliasRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slashes => f.write_str("'//' is '/'"),
            Self::Case => f.write_str("letter case does not matter"),
            Self::Prefix { from, to } => write!(f, "'{from}/' is '{to}/'"),
            Self::Segment(name) => write!(f, "'/{name}/' within a path does not matter"),
            Self::Tail(name) => write!(f, "'/{name}' at the end does not matter"),
            Self::Index(name) => write!(f, "'{name}' is its directory"),
            Self::Slash => f.write_str("a trailing slash does not matter"),
            Self::Parameter(name) => write!(f, "the parameter '{name}' does not matter"),
        }
    }
}

pub(super) fn collapsed(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    out
}

/// In lower case, but for the digits of percent escapes, which are upper case in a canonical URL.
pub(super) fn lowered(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut digits = 0u8;
    for c in path.chars() {
        out.push(if digits > 0 { c } else { c.to_ascii_lowercase() });
        digits = if c == '%' { 2u8 } else { digits.saturating_sub(1) };
    }
    out
}

/// Without the first segment of this name that is neither the first nor the last.
fn without_segment(path: &str, name: &str) -> Option<String> {
    let segments: Vec<&str> = path.split('/').collect();
    let inner = segments.len().checked_sub(1)?;
    let at = (2..inner).find(|at| segments[*at] == name)?;
    Some([&segments[..at], &segments[at + 1..]].concat().join("/"))
}

fn drop_parameter(url: &mut UrlParts<'_>, name: &str) -> bool {
    let Some(query) = url.query.as_deref() else { return false };
    let is_other = |parameter: &&str| parameter.split('=').next() != Some(name);
    let kept: Vec<&str> = query.split('&').filter(is_other).collect();
    if kept.len() == query.split('&').count() {
        return false;
    }
    let kept = kept.join("&");
    url.query = (!kept.is_empty()).then_some(kept);
    true
}
