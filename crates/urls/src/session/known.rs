//! Which session ids are recognisable by their name or format?
//!
//! The common parameter names are listed. If a name has other uses too (`sid` may be a story id),
//! its value must also look like a session id.

use super::token::cut_out;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Where in a URL a session id appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionIdPlace {
    /// After a semicolon in a path segment.
    PathParameter,
    /// A path segment of its own.
    PathSegment,
    /// A parameter of the query.
    Query,
}

impl SessionIdPlace {
    /// Its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PathParameter => "path parameter",
            Self::PathSegment => "path segment",
            Self::Query => "query",
        }
    }
}

/// A session id found in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionId {
    /// Its name as written; empty for an unnamed path segment.
    pub name: String,
    /// Its value as written.
    pub value: String,
    /// Where it appears.
    pub place: SessionIdPlace,
}

/// When a parameter with a known name is a session id.
#[derive(Clone, Copy)]
enum NameProof {
    /// Always: the name has no other use.
    Name,
    /// Only if its value looks like an id.
    Value,
}

/// Parameter names in lower case. `aspsessionid…` and the pair `cfid` and `cftoken` are handled
/// separately.
const NAMES: &[(&str, NameProof)] = &[
    ("phpsessid", NameProof::Name),
    ("jsessionid", NameProof::Name),
    ("oscsid", NameProof::Name),
    ("zenid", NameProof::Name),
    ("sid", NameProof::Value),
    ("sessionid", NameProof::Value),
    ("session_id", NameProof::Value),
];

/// The session ids in a URL, in order of appearance.
pub fn found(url: &str) -> Vec<SessionId> {
    let tail = &url[tail_of(url)];
    hits(tail)
        .into_iter()
        .map(|hit| SessionId { name: tail[hit.name].to_owned(), value: tail[hit.value].to_owned(), place: hit.place })
        .collect()
}

/// The URL without the session ids recognised by name or format.
pub fn strip(url: &str) -> Cow<'_, str> {
    let range = tail_of(url);
    match without(&url[range.clone()]) {
        None => Cow::Borrowed(url),
        Some(tail) => Cow::Owned([&url[..range.start], &tail, &url[range.end..]].concat()),
    }
}

/// Path and query without session ids, or `None` if there are none.
pub(crate) fn without(tail: &str) -> Option<String> {
    let cuts: Vec<Range<usize>> = hits(tail).into_iter().map(|hit| hit.cut).collect();
    if cuts.is_empty() { None } else { Some(cut_out(tail, &cuts)) }
}

/// A session id in path and query: the ranges of its name and value, and the range to cut.
struct SessionIdHit {
    name: Range<usize>,
    value: Range<usize>,
    cut: Range<usize>,
    place: SessionIdPlace,
}

/// Path and query of a URL: from the first slash after the host to the fragment.
pub(super) fn tail_of(url: &str) -> Range<usize> {
    let bytes = url.as_bytes();
    let end = memchr::memchr(b'#', bytes).unwrap_or(bytes.len());
    let url = &bytes[..end];
    let scheme = memchr::memchr_iter(b':', url).find(|&at| url[at..].starts_with(b"://"));
    let start = scheme.map_or(0, |at| {
        let host = at + 3;
        memchr::memchr2(b'/', b'?', &url[host..]).map_or(end, |len| host + len)
    });
    start..end
}

fn hits(tail: &str) -> Vec<SessionIdHit> {
    let path_end = memchr::memchr(b'?', tail.as_bytes()).unwrap_or(tail.len());
    let mut hits = Vec::new();
    if memchr::memchr2(b';', b'(', &tail.as_bytes()[..path_end]).is_some() {
        path_hits(&tail[..path_end], &mut hits);
    }
    if path_end < tail.len() {
        query_hits(tail, path_end + 1, &mut hits);
    }
    hits
}

fn path_hits(path: &str, hits: &mut Vec<SessionIdHit>) {
    let mut start = 0;
    for segment in path.split('/') {
        let end = start + segment.len();
        let first = hits.len();
        let mut at = start;
        let mut others = false;
        for (index, piece) in segment.split(';').enumerate() {
            if index > 0 {
                match parameter(piece, at) {
                    Some((name, value)) if is_session(&path[name.clone()], &path[value.clone()]) => {
                        hits.push(SessionIdHit {
                            name,
                            value,
                            cut: at - 1..at + piece.len(),
                            place: SessionIdPlace::PathParameter,
                        });
                    }
                    _ => others = true,
                }
            }
            at += piece.len() + 1;
        }
        let bare = segment.split(';').next().unwrap_or_default();
        if !others {
            let shift = |r: Range<usize>| r.start + start..r.end + start;
            let cut = start..(end + 1).min(path.len());
            let hit = |(name, value)| SessionIdHit {
                name: shift(name),
                value: shift(value),
                cut: cut.clone(),
                place: SessionIdPlace::PathSegment,
            };
            hits.splice(first..first, cookieless(bare).into_iter().map(hit));
        }
        start = end + 1;
    }
}

fn query_hits(tail: &str, start: usize, hits: &mut Vec<SessionIdHit>) {
    let has = |wanted: &str| {
        tail[start..].split('&').any(|p| p.split_once('=').is_some_and(|(n, _)| n.eq_ignore_ascii_case(wanted)))
    };
    let mut coldfusion = None;
    let mut at = start;
    for part in tail[start..].split('&') {
        if let Some((name, value)) = parameter(part, at) {
            let written = &tail[name.clone()];
            let is_half = written.eq_ignore_ascii_case("cfid") || written.eq_ignore_ascii_case("cftoken");
            let is_id = if is_half {
                *coldfusion.get_or_insert_with(|| has("cfid") && has("cftoken"))
            } else {
                is_session(written, &tail[value.clone()])
            };
            if is_id {
                let cut = at..(at + part.len() + 1).min(tail.len());
                hits.push(SessionIdHit { name, value, cut, place: SessionIdPlace::Query });
            }
        }
        at += part.len() + 1;
    }
}

/// The ranges of name and value of `name=value`, for a part that starts at offset `at`.
fn parameter(part: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let equals = memchr::memchr(b'=', part.as_bytes())?;
    Some((at..at + equals, at + equals + 1..at + part.len()))
}

pub(super) fn is_session(name: &str, value: &str) -> bool {
    if name.get(..12).is_some_and(|start| start.eq_ignore_ascii_case("aspsessionid")) {
        return true;
    }
    match NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, NameProof::Name)) => true,
        Some((_, NameProof::Value)) => looks_like_id(value),
        None => false,
    }
}

/// Whether a value is a random id rather than a word or a short number: at least eight letters and
/// digits with both present, or sixteen digits, or a UUID.
fn looks_like_id(value: &str) -> bool {
    let is_uuid = value.len() == 36 && [8, 13, 18, 23].iter().all(|&at| value.as_bytes()[at] == b'-');
    let plain = |b: u8| b.is_ascii_alphanumeric() || (is_uuid && b == b'-');
    let digits = value.bytes().any(|b| b.is_ascii_digit());
    let letters = value.bytes().any(|b| b.is_ascii_alphabetic());
    value.bytes().all(plain) && digits && value.len() >= if letters { 8 } else { 16 }
}

/// Names and values of the segment that ASP.NET adds when cookies are refused: `(S(id))`,
/// `(A(id)S(id))`, `(X(1)S(id))` after it has probed for cookies, or in its first versions `(id)`
/// with 24 characters from `a` to `z` and `0` to `5`.
fn cookieless(segment: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let Some(inner) = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return Vec::new() };
    let is_old = inner.len() == 24 && inner.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'5'));
    if is_old && inner.bytes().any(|b| b.is_ascii_digit()) {
        return vec![(1..1, 1..25)];
    }
    let Some(groups) = inner.strip_suffix(')') else { return Vec::new() };
    let (mut ids, mut at) = (Vec::new(), 1);
    for group in groups.split(')') {
        let is_id = group.split_once('(').is_some_and(|(name, value)| {
            matches!(name.as_bytes(), [b'A' | b'F' | b'S' | b'X' | b'a' | b'f' | b's' | b'x'])
                && (value.len() >= 8 || group.starts_with(['X', 'x']))
                && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        });
        if !is_id {
            return Vec::new();
        }
        if group.len() >= 8 + 2 {
            ids.push((at..at + 1, at + 2..at + group.len()));
        }
        at += group.len() + 1;
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_session_ids_are_taken_out() {
        for (from, to) in [
            ("http://x/a;jsessionid=1A2B?b=c", "http://x/a?b=c"),
            ("http://x/a;JSESSIONID=1A2B.node1/b", "http://x/a/b"),
            ("http://x/a;v=1;jsessionid=1A2B", "http://x/a;v=1"),
            ("http://x/?PHPSESSID=abc", "http://x/"),
            ("http://x/?a=1&PHPSESSID=abc", "http://x/?a=1"),
            ("http://x/?PHPSESSID=abc&a=1", "http://x/?a=1"),
            ("http://x/?a=1&phpsessid=abc&b=2#c", "http://x/?a=1&b=2#c"),
            ("http://x/?sid=0123456789abcdef&sid=fedcba9876543210", "http://x/"),
            ("http://x/?a=1&sid=0123456789abcdef&sid=fedcba9876543210", "http://x/?a=1"),
            ("http://x/?ASPSESSIONIDQQABCDEF=LKJHGFDSA&q=1", "http://x/?q=1"),
            ("http://x/?CFID=12&q=1&CFTOKEN=34", "http://x/?q=1"),
            ("http://x/?osCsid=1&zenid=2", "http://x/"),
            ("http://x/?session_id=6f9619ff-8b86-d011-b42d-00cf4fc964ff", "http://x/"),
            ("http://x/app/(S(lit3py55t21z5v55vlm25s55))/d.aspx", "http://x/app/d.aspx"),
            ("http://x/(A(aaaaaaaaaa)S(lit3py55t21z5v55vlm25s55))/d", "http://x/d"),
            ("http://x/(s(lit3py55t21z5v55vlm25s55))/d", "http://x/d"),
            ("http://x/(X(1)S(lit3py55t21z5v55vlm25s55))/d", "http://x/d"),
            ("http://x/(lit3py55t21z5v55vlm25s55)/d.aspx", "http://x/d.aspx"),
            ("http://x/a/(S(lit3py55t21z5v55vlm25s55))", "http://x/a/"),
            ("http://x/(S(lit3py55t21z5v55vlm25s55));jsessionid=1/d", "http://x/d"),
        ] {
            assert_eq!(strip(from), to, "{from}");
        }
    }

    #[test]
    fn what_may_name_a_page_stays() {
        for url in [
            "http://x/?sid=12345678",
            "http://x/?sid=electronics",
            "http://x/?sid=99/03/14/0954",
            "http://x/?session_id=42",
            "http://x/?cfid=1",
            "http://x/?a=PHPSESSID",
            "http://x/?PHPSESSID",
            "http://x/?side=0123456789abcdef",
            "http://x/(a(b))/",
            "http://x/(X(1))/",
            "http://x/Paris_(Texas)",
            "http://x/(internationalisationtext)/",
            "http://x/;v=1",
            "http://jsessionid=1@x/",
            "http://x/#?sid=0123456789abcdef",
            "",
            "é;é=é",
        ] {
            assert_eq!(strip(url), url);
            assert_eq!(found(url), []);
        }
    }

    #[test]
    fn ids_are_reported_with_their_names_values_and_places() {
        let url = "http://x/(S(lit3py55t21z5v55vlm25s55))/a;jsessionid=77?q=1&PHPSESSID=88";
        let told: Vec<_> = found(url).into_iter().map(|s| (s.name, s.value, s.place)).collect();
        let id = |n: &str, v: &str, p| (n.to_owned(), v.to_owned(), p);
        assert_eq!(
            told,
            [
                id("S", "lit3py55t21z5v55vlm25s55", SessionIdPlace::PathSegment),
                id("jsessionid", "77", SessionIdPlace::PathParameter),
                id("PHPSESSID", "88", SessionIdPlace::Query),
            ]
        );
        let both: Vec<_> =
            found("http://x/(A(ticket-123)S(lit3py55t21z5v55))/d").into_iter().map(|s| s.value).collect();
        assert_eq!(both, ["ticket-123", "lit3py55t21z5v55"]);
    }

    proptest! {
        #[test]
        fn any_text_is_searched_without_harm(
            url in "(http://x)?[/?&;=#()]{0,3}(([/?&;=()A]|sid|jsessionid|cfid|cftoken|S\\(abcdefgh12\\)|abcdefgh12|é){0,12})"
        ) {
            let stripped = strip(&url).into_owned();
            prop_assert_eq!(stripped == url, found(&url).is_empty());
        }
    }
}
