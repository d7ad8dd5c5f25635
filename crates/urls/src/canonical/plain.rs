//! Is this link already spelt the way a browser would spell it?
//!
//! Nearly all links are. For them, resolving is slicing: the full WHATWG parser, which checks every
//! character against every special case, would return the same text. Anything that parser might
//! change (upper case in a host, dot segments, spaces, non-ASCII characters, an odd port) is not
//! handled here and falls through to it. A property test compares both paths.

use crate::address::{Address, PartOffsets, mark};
use std::net::Ipv4Addr;
use std::ops::Range;

/// Flags per byte: whether the parser leaves it unchanged in a path, whether in a query, and
/// whether a canonicalisation rule may care about it in a path.
const KEPT: [u8; 256] = {
    let mut kept = [0; 256];
    let (path, query, ruled) = (b"!$&'()*+,-./:;=@_~%[]|", b"!$&()*+,-./:;=@_~%?[]|", b"%;(");
    let mut i = 0;
    while i < 128 {
        if (i as u8).is_ascii_alphanumeric() {
            kept[i] = PATH | QUERY;
        }
        i += 1;
    }
    i = 0;
    while i < path.len() {
        kept[path[i] as usize] |= PATH;
        i += 1;
    }
    i = 0;
    while i < query.len() {
        kept[query[i] as usize] |= QUERY;
        i += 1;
    }
    i = 0;
    while i < ruled.len() {
        kept[ruled[i] as usize] |= RULED;
        i += 1;
    }
    kept
};
const PATH: u8 = 1;
const QUERY: u8 = 2;
const RULED: u8 = 4;

/// How to assemble an address: a prefix of the base, then a slice of the reference.
pub(crate) struct SplicePlan {
    /// Length of the prefix kept from the base.
    kept: usize,
    /// The slice taken from the reference.
    taken: Range<usize>,
    marks: PartOffsets,
    /// Whether there is no query, no escape, and nothing else that a rule other than `lowercase`
    /// could change.
    pub(super) bare: bool,
}

impl SplicePlan {
    /// Length of the resulting address.
    pub(crate) fn len(&self) -> usize {
        self.kept + self.taken.len()
    }

    /// Builds the address.
    pub(crate) fn joined(self, base: &str, href: &str) -> Address {
        let mut text = String::with_capacity(self.len());
        text.push_str(&base[..self.kept]);
        text.push_str(&href[self.taken]);
        Address::marked(text, self.marks)
    }

    /// Builds the address in the reference's buffer, as far as its capacity allows.
    pub(super) fn spliced(self, base: &str, mut href: String) -> Address {
        href.truncate(self.taken.end);
        if href[..self.taken.start] != base[..self.kept] {
            href.drain(..self.taken.start);
            href.insert_str(0, &base[..self.kept]);
        }
        Address::marked(href, self.marks)
    }
}

/// An absolute web URL that is visibly canonical, or `None` if that takes a full parse. Drops the
/// fragment.
pub(crate) fn absolute(text: &str) -> Option<SplicePlan> {
    let (scheme, usual) = if text.starts_with("http://") {
        (4, 80)
    } else if text.starts_with("https://") {
        (5, 443)
    } else {
        return None;
    };
    let start = scheme + 3;
    let path = start + memchr::memchr(b'/', &text.as_bytes()[start..])?;
    let (host, port) = match text[start..path].split_once(':') {
        None => (&text[start..path], None),
        Some((host, port)) => (host, Some(plain_port(port, usual)?)),
    };
    if !is_plain_host(host) {
        return None;
    }
    let tail = plain_tail(&text[path..])?;
    let marks = PartOffsets {
        scheme: mark(scheme),
        host: (mark(start), mark(start + host.len())),
        port,
        path: mark(path),
        query: tail.query.map(|at| mark(path + at)),
    };
    Some(SplicePlan { kept: 0, taken: 0..path + tail.len, marks, bare: tail.bare })
}

/// Resolves a trimmed, non-empty reference, or returns `None` if that takes more than concatenating
/// two slices.
pub(super) fn cut(base: &Address, href: &str) -> Option<SplicePlan> {
    let whole = base.as_str();
    let marks = base.marks();
    let path = marks.path as usize;
    let has_userinfo = marks.host.0 != marks.scheme + 3;
    let (kept, skipped) = match href.as_bytes() {
        // Most links that name a host name the page's own, whose parts are already known.
        [b'h', b't', b't', b'p', ..] if is_absolute(href) => match href.strip_prefix(&whole[..path]) {
            Some(rest) if rest.starts_with('/') && !has_userinfo => (path, path),
            _ => return absolute(href),
        },
        _ if has_userinfo => return None,
        [b'/', b'/', ..] => return of_scheme(base, href),
        [b'/', ..] => (path, 0),
        [b'?', ..] => (path + base.path().len(), 0),
        _ => relative(base.path(), href).map(|(kept, rest)| (path + kept, href.len() - rest.len()))?,
    };
    let tail = plain_tail(&href[skipped..])?;
    let bare = tail.bare && whole[path..kept].bytes().all(|b| KEPT[usize::from(b)] & RULED == 0);
    let marks = PartOffsets { query: tail.query.map(|at| mark(kept + at)), ..marks };
    Some(SplicePlan { kept, taken: skipped..skipped + tail.len, marks, bare })
}

/// A scheme-relative reference (`//host/…`).
fn of_scheme(base: &Address, href: &str) -> Option<SplicePlan> {
    let cut = absolute(&[base.scheme(), ":", href].concat())?;
    let kept = base.scheme().len() + 1;
    Some(SplicePlan { kept, taken: 0..cut.len() - kept, ..cut })
}

fn is_absolute(href: &str) -> bool {
    href.starts_with("http://") || href.starts_with("https://")
}

/// How much of the base's path to keep, and what follows it.
fn relative<'a>(path: &str, mut href: &'a str) -> Option<(usize, &'a str)> {
    let ends = href.bytes().find(|byte| matches!(byte, b'/' | b'?' | b'#' | b':'));
    if ends == Some(b':') {
        return None;
    }
    let mut directory = last_slash(path)? + 1;
    loop {
        if let Some(rest) = href.strip_prefix("./") {
            href = rest;
        } else if let Some(rest) = href.strip_prefix("../") {
            href = rest;
            directory = last_slash(&path[..directory.saturating_sub(1)]).map_or(directory, |at| at + 1);
        } else if href.starts_with('/') {
            // An empty segment: the next `..` would remove it and nothing else.
            return None;
        } else {
            return Some((directory, href));
        }
    }
}

fn last_slash(path: &str) -> Option<usize> {
    path.bytes().rposition(|byte| byte == b'/')
}

/// A path and query, or the rest of one, that needs no change.
struct Tail {
    /// Length up to the fragment.
    len: usize,
    /// Offset of the question mark.
    query: Option<usize>,
    /// See [`SplicePlan::bare`].
    bare: bool,
}

/// Accepts a path and query, or the rest of one, if the parser would leave it unchanged.
///
/// Rejects segments that start with a dot or an escaped dot: they may be dot segments.
fn plain_tail(tail: &str) -> Option<Tail> {
    let (mut begins, mut seen) = (true, 0);
    for (i, &byte) in tail.as_bytes().iter().enumerate() {
        let class = KEPT[usize::from(byte)];
        if class & PATH == 0 {
            return if byte == b'?' { plain_query(tail, i) } else { plain_end(byte, i, seen) };
        }
        if begins && matches!(byte, b'.' | b'%') {
            return None;
        }
        seen |= class;
        begins = byte == b'/';
    }
    plain_end(b'#', tail.len(), seen)
}

fn plain_end(byte: u8, len: usize, seen: u8) -> Option<Tail> {
    (byte == b'#').then_some(Tail { len, query: None, bare: seen & RULED == 0 })
}

fn plain_query(tail: &str, at: usize) -> Option<Tail> {
    let query = &tail.as_bytes()[at..];
    let len = query.iter().position(|&b| KEPT[usize::from(b)] & QUERY == 0).unwrap_or(query.len());
    matches!(query.get(len), None | Some(b'#')).then_some(Tail { len: at + len, query: Some(at), bare: false })
}

/// The port as it must be written, if at all.
fn plain_port(port: &str, usual: u16) -> Option<u16> {
    if port.starts_with('0') || !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    port.parse().ok().filter(|&port| port != usual)
}

/// Whether a host is made of lower-case ASCII labels, or is an IPv4 address in dotted decimal.
fn is_plain_host(host: &str) -> bool {
    let mut labels = host.split('.');
    let is_name = |label: &str| {
        let bytes = label.as_bytes();
        !label.is_empty()
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
            && !label.starts_with("xn--")
    };
    match labels.next_back() {
        Some(last) if last.starts_with(|c: char| c.is_ascii_lowercase()) => is_name(last) && labels.all(is_name),
        _ => host.parse::<Ipv4Addr>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Canonicaliser, Rules};
    use proptest::prelude::*;
    use url::Url;

    /// The address and all its parts, as text.
    fn parts(a: &Address) -> String {
        let parts = (a.scheme(), a.host(), a.port(), a.unusual_port(), a.path(), a.query(), a.path_and_query());
        format!("{a} {parts:?}")
    }

    fn slow(base: Option<&str>, href: &str) -> String {
        let base = base.and_then(|base| Url::parse(base).ok());
        let mut url = Url::options().base_url(base.as_ref()).parse(href).unwrap();
        url.set_fragment(None);
        parts(&Address::checked(url).unwrap())
    }

    fn read(text: &str) -> Option<Address> {
        absolute(text).map(|cut| cut.joined("", text))
    }

    /// Asserts that both ways of building an address agree.
    fn joined(base: &Address, href: &str) -> Option<Address> {
        let joined = cut(base, href)?.joined(base.as_str(), href);
        let spliced = cut(base, href)?.spliced(base.as_str(), href.to_owned());
        assert_eq!(parts(&joined), parts(&spliced));
        Some(joined)
    }

    #[test]
    fn what_stands_on_most_pages_is_read_here() {
        let base = read("https://www.example.com/docs/guide/intro.html?x=1").unwrap();
        for href in [
            "chapter1.html",
            "../reference/section-1/index.html",
            "../../../far.html",
            "./",
            "../",
            "/news/2024/05/a-longer-title",
            "x.html#part",
            "/x?a=1#part",
            "https://www.example.com/own#part",
            "https://www.example.com/shop/item?id=1&lang=en",
            "https://other.example.org:8080/about",
            "http://127.0.0.1:8081/p1.html",
            "/wiki/Stra%C3%9Fe",
            "?page=2",
            "//cdn.example.net/app.min.js",
            "a/b:c",
        ] {
            let read = joined(&base, href).unwrap_or_else(|| panic!("{href} was not read"));
            assert_eq!(parts(&read), slow(Some(base.as_str()), href), "{href}");
        }
    }

    #[test]
    fn what_a_browser_would_respell_is_left_to_the_parser() {
        let base = read("https://example.com/a/b").unwrap();
        for href in
            ["a b", "a/../b", "..", ".hidden", "%2e%2e/x", "\\x", "a:b", "é", "x?a'b", "https:x", "HTTP://x/", ".//x"]
        {
            assert!(joined(&base, href).is_none(), "{href}");
        }
        for text in
            ["http://x", "http://X/", "http://x:80/", "http://x:/", "http://1.2/", "http://0x7f/", "http://a@b/"]
        {
            assert!(absolute(text).is_none(), "{text}");
        }
    }

    /// Whether a segment looks like a drive of Windows. The parser spares it from `..` with every
    /// scheme; by the standard, and in browsers, only `file` has drives.
    fn has_drive(path: &str) -> bool {
        let is_drive = |segment: &[u8]| matches!(segment, [letter, b':' | b'|'] if letter.is_ascii_alphabetic());
        path.split(['/', '?', '#']).any(|segment| is_drive(segment.as_bytes()))
    }

    #[test]
    fn only_file_has_drives() {
        let base = read("http://example.com/a:/b").unwrap();
        assert_eq!(joined(&base, "../c").unwrap().as_str(), "http://example.com/c");
    }

    fn anything() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-z0-9]{1,3}",
            4 => "[/?.:&=-]{1,2}",
            1 => "[#!$'()*+,;@_~%|^`\\[\\]{}<>\" \\\\]",
            1 => Just("%2e".to_owned()),
            1 => Just("xn--".to_owned()),
            1 => Just("../".to_owned()),
            1 => any::<char>().prop_map(|c| c.to_string()),
        ];
        prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn cutting_gives_what_the_parser_gives(
            head in prop_oneof!["https?://[a-z0-9.-]{1,8}(:[0-9]{1,5})?", "http://([0-9]{1,3}[.]){3}[0-9]{1,3}"],
            tail in anything(),
            href in anything(),
        ) {
            let text = format!("{head}/{tail}");
            let Some(base) = read(&text) else { return Ok(()) };
            prop_assert_eq!(parts(&base), slow(None, &text));
            if has_drive(&text) || has_drive(&href) {
                return Ok(());
            }
            let href = href.trim_matches(|c: char| c <= ' ');
            if !href.is_empty() && !href.starts_with('#') && let Some(read) = joined(&base, href) {
                prop_assert_eq!(parts(&read), slow(Some(&text), href), "{}", href);
                let all = Rules { sort_query: true, ..Rules::default() };
                let changed = Canonicaliser::new(all).respelt(read.path_and_query());
                prop_assert!(changed.is_none() || !cut(&base, href).is_some_and(|cut| cut.bare), "{}", read);
            }
            for own in [format!("{head}/{href}"), format!("{head}{href}")] {
                if let Some(read) = joined(&base, &own) {
                    prop_assert_eq!(parts(&read), slow(Some(&text), &own), "{}", own);
                }
            }
        }
    }
}
