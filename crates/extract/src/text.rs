//! Which URLs are in plain text?
//!
//! `http://`, `https://` and `ftp://` anywhere, and names that start with `www.`. Punctuation that
//! ends a sentence is not part of a URL. A plain-text sitemap is read the same way, and its entries
//! count as a sitemap's.

use crate::gather::Gather;
use crate::prose::Prose;
use crate::{Extract, TypedContent};
use memchr::memmem;
use orb_page::LinkKind;

/// Extracts anything else that is text.
#[derive(Debug)]
pub(crate) struct TextExtractor;

impl Extract for TextExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime.starts_with("text/")
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        let kind = if is_sitemap(source.url) { LinkKind::Sitemap } else { LinkKind::Text };
        urls(&text, |target, at| {
            found.link(kind, target, at);
        });
        let mut prose = Prose::with_room_for(text.len().saturating_mul(2));
        prose.lines(&text);
        if prose.truncated {
            found.problem("text-truncated", "the text beyond the first 2 MB was left out");
        }
        found.doc.text = prose.finish();
    }
}

/// Whether a text is a sitemap, by its file name.
fn is_sitemap(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or("");
    let file = path.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
    file.contains("sitemap") && file.ends_with(".txt")
}

/// Calls `found` with every URL in a text and its offset.
pub(crate) fn urls(text: &str, mut found: impl FnMut(&str, usize)) {
    let src = text.as_bytes();
    let (colons, names) = (memmem::Finder::new(b"://"), memmem::Finder::new(b"www."));
    let find =
        |finder: &memmem::Finder<'_>, from: usize| src.get(from..).and_then(|s| finder.find(s)).map(|i| from + i);
    let (mut from, mut colon, mut name) = (0, find(&colons, 0), find(&names, 0));
    while let Some(at) = [colon, name].into_iter().flatten().min() {
        let start = if colon == Some(at) { scheme_before(src, from, at) } else { name_start(src, from, at) };
        from = at + 3;
        if let Some(start) = start {
            let end = end_of_address(src, start, from);
            from = end.max(from);
            if let Some(address) = text.get(start..end).filter(|_| end > at + 4) {
                if colon == Some(at) { found(address, start) } else { found(&format!("http://{address}"), start) }
            }
        }
        colon = if colon.is_some_and(|c| c < from) { find(&colons, from) } else { colon };
        name = if name.is_some_and(|n| n < from) { find(&names, from) } else { name };
    }
}

fn scheme_before(src: &[u8], from: usize, colon: usize) -> Option<usize> {
    let before = src.get(from..colon)?;
    [&b"https"[..], b"http", b"ftp"].into_iter().find_map(|scheme| {
        let start = before.len().checked_sub(scheme.len())?;
        let whole = start.checked_sub(1).and_then(|i| before.get(i)).is_none_or(|b| !b.is_ascii_alphanumeric());
        (whole && before.get(start..)?.eq_ignore_ascii_case(scheme)).then_some(from + start)
    })
}

fn name_start(src: &[u8], from: usize, at: usize) -> Option<usize> {
    let before = src.get(from..at)?.last();
    let whole = before.is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b'<' | b'"' | b'\'' | b'['));
    let named = src.get(at + 4).is_some_and(u8::is_ascii_alphanumeric);
    (whole && named).then_some(at)
}

/// The end of the URL that starts at `start` and extends at least to `from`.
fn end_of_address(src: &[u8], start: usize, from: usize) -> usize {
    let rest = src.get(from..).unwrap_or(&[]);
    let stops = |b: &u8| b.is_ascii_whitespace() || *b < b' ' || b"<>\"`{}|\\^".contains(b);
    let mut end = from + rest.iter().position(stops).unwrap_or(rest.len());
    let (mut open, mut close) = (0u32, 0u32);
    for b in src.get(start..end).unwrap_or(&[]) {
        open += u32::from(*b == b'(');
        close += u32::from(*b == b')');
    }
    while end > from {
        match src.get(end - 1) {
            Some(b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' | b']' | b'*' | b'_') => {}
            Some(b')') if close > open => close -= 1,
            _ => break,
        }
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, extract};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut targets = Vec::new();
        urls(text, |target, at| {
            assert!(text.is_char_boundary(at));
            targets.push(target.to_owned());
        });
        assert_eq!(targets, expected, "{text}");
    }

    #[test]
    fn addresses_end_where_the_sentence_goes_on() {
        check(
            "See http://a.example/x. Or (https://b.example/y_(z)), <ftp://c.example>!",
            &["http://a.example/x", "https://b.example/y_(z)", "ftp://c.example"],
        );
        check(
            "www.a.example, xwww.b.example http://www.c.example/",
            &["http://www.a.example", "http://www.c.example/"],
        );
        check("'http://a.example/é' \"HTTP://B.example\"", &["http://a.example/é", "HTTP://B.example"]);
    }

    #[test]
    fn what_is_no_address_is_none() {
        check("http:// :// foo://bar xhttp://a.example/ http://", &[]);
        check("www. www", &[]);
        check("", &[]);
        check("http://http://a.example", &["http://http://a.example"]);
    }

    #[test]
    fn a_text_sitemap_is_known_by_its_name() {
        let read = |url| {
            extract(&Content {
                bytes: b"\xEF\xBB\xBFhttp://a.example/1\r\nhttp://a.example/2",
                mime: Some("text/plain"),
                charset: None,
                url,
            })
        };
        let doc = read("http://a.example/sitemap.txt");
        let found: Vec<_> = doc.links.iter().map(|l| (l.kind, l.target.as_str())).collect();
        assert_eq!(found, [(LinkKind::Sitemap, "http://a.example/1"), (LinkKind::Sitemap, "http://a.example/2")]);
        let doc = read("http://a.example/readme.txt");
        assert_eq!((doc.links[0].kind, doc.text.as_str()), (LinkKind::Text, "http://a.example/1\nhttp://a.example/2"));
    }
}
