//! Is this link spelt already as a browser would spell it?
//!
//! Nearly all are. Then reading it is cutting: the URL standard's parser, which looks at every character with every exception in mind,
//! would give the same text back. What it might change in any way (upper case in a host, dot segments, spaces, anything beyond ASCII, an
//! odd port) is not read here and left to it; a property test holds the two against each other.

use crate::address::{Address, Marks, mark};
use std::net::Ipv4Addr;

/// What the parser leaves as it is: 1 in a path, 2 in a query.
const KEPT: [u8; 256] = {
    let mut kept = [0; 256];
    let (path, query) = (b"!$&'()*+,-./:;=@_~%[]|", b"!$&()*+,-./:;=@_~%?[]|");
    let mut i = 0;
    while i < 128 {
        if (i as u8).is_ascii_alphanumeric() {
            kept[i] = 3;
        }
        i += 1;
    }
    i = 0;
    while i < path.len() {
        kept[path[i] as usize] |= 1;
        i += 1;
    }
    i = 0;
    while i < query.len() {
        kept[query[i] as usize] |= 2;
        i += 1;
    }
    kept
};
const PATH: u8 = 1;
const QUERY: u8 = 2;

/// An absolute URL of the web that stands in its one spelling, or nothing where that is not plain to see.
pub(crate) fn absolute(text: &str) -> Option<Address> {
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
    let query = plain_tail(&text[path..])?;
    let marks = Marks {
        scheme: mark(scheme),
        host: (mark(start), mark(start + host.len())),
        port,
        path: mark(path),
        query: query.map(|at| mark(path + at)),
    };
    Some(Address::marked(text.to_owned(), marks))
}

/// A reference on a page, trimmed and not empty, or nothing where it takes more than putting two texts together.
pub(super) fn joined(base: &Address, href: &str) -> Option<Address> {
    let href = href.split('#').next()?;
    if href.starts_with("http") && href.contains("://") {
        return absolute(href);
    }
    let whole = base.as_str();
    let marks = base.marks();
    let path_start = marks.path as usize;
    if whole[marks.scheme as usize..path_start].contains('@') {
        return None;
    }
    let (kept, rest) = match href.as_bytes() {
        [b'/', b'/', ..] => return absolute(&[base.scheme(), ":", href].concat()),
        [b'/', ..] => (path_start, href),
        [b'?', ..] => (path_start + base.path().len(), href),
        _ => relative(base.path(), href).map(|(kept, rest)| (path_start + kept, rest))?,
    };
    let query = plain_tail(rest)?;
    let mut text = String::with_capacity(kept + rest.len());
    text.push_str(&whole[..kept]);
    text.push_str(rest);
    Some(Address::marked(text, Marks { query: query.map(|at| mark(kept + at)), ..marks }))
}

/// How much of the base's path stays, and what follows it.
fn relative<'a>(path: &str, mut href: &'a str) -> Option<(usize, &'a str)> {
    let first = href.find(['/', '?']).unwrap_or(href.len());
    if href[..first].contains(':') {
        return None;
    }
    let mut directory = path.rfind('/')? + 1;
    loop {
        if let Some(rest) = href.strip_prefix("./") {
            href = rest;
        } else if let Some(rest) = href.strip_prefix("../") {
            href = rest;
            directory = path[..directory.saturating_sub(1)].rfind('/').map_or(directory, |at| at + 1);
        } else if href.starts_with('/') {
            // An empty segment, in which the next step up would end.
            return None;
        } else {
            return Some((directory, href));
        }
    }
}

/// Whether path and query, or the end of them, are read as they stand, and where the question mark is.
///
/// Segments that begin with a dot, or with its escape, may be dot segments.
fn plain_tail(tail: &str) -> Option<Option<usize>> {
    let mut begins = true;
    for (i, &byte) in tail.as_bytes().iter().enumerate() {
        if KEPT[usize::from(byte)] & PATH == 0 {
            let query = &tail.as_bytes()[i..];
            return (byte == b'?' && query.iter().all(|&b| KEPT[usize::from(b)] & QUERY != 0)).then_some(Some(i));
        }
        if begins && matches!(byte, b'.' | b'%') {
            return None;
        }
        begins = byte == b'/';
    }
    Some(None)
}

/// The port as it would be written, if it has to be.
fn plain_port(port: &str, usual: u16) -> Option<u16> {
    if port.starts_with('0') || !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    port.parse().ok().filter(|&port| port != usual)
}

/// A name of lower-case ASCII labels that stands for itself, or an IPv4 address in its usual form.
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

    #[test]
    fn what_stands_on_most_pages_is_read_here() {
        let base = absolute("https://www.example.com/docs/guide/intro.html?x=1").unwrap();
        for href in [
            "chapter1.html",
            "../reference/section-1/index.html",
            "../../../far.html",
            "./",
            "../",
            "/news/2024/05/a-longer-title",
            "x.html#part",
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
        let base = absolute("https://example.com/a/b").unwrap();
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
            let Some(base) = absolute(&text) else { return Ok(()) };
            prop_assert_eq!(parts(&base), slow(None, &text));
            let href = href.trim_matches(|c: char| c <= ' ');
            if !href.is_empty() && !href.starts_with('#') && let Some(read) = joined(&base, href) {
                prop_assert_eq!(parts(&read), slow(Some(&text), href), "{}", href);
            }
        }
    }
}
