//! Which strings in a script are URLs?
//!
//! Nothing is parsed: a quoted string counts as a URL if it is an absolute `http(s)` URL, an
//! absolute path with a page's extension, or if the script navigates to it (`location.href = '…'`,
//! `window.open('…')`). This is deliberately conservative: a wrong guess costs a request to
//! somebody's server. A string concatenated to others with `+` is only part of a URL and is
//! ignored. Links in HTML that a script writes (`document.write('<a href="…">')`) count, too, also
//! those to relative URLs of pages. What an event handler calls is likelier to lead somewhere:
//! there, the only string of a call counts as well if it looks like the relative URL of a page
//! (`go('next.html')`).

use crate::gather::{Gather, has_scheme};
use crate::{Extract, TypedContent};
use memchr::{memchr, memchr3, memmem};
use orb_page::LinkKind;
use std::borrow::Cow;
use std::collections::HashSet;

/// Extracts JavaScript.
#[derive(Debug)]
pub(crate) struct ScriptExtractor;

impl Extract for ScriptExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        let subtype = source.mime.split_once('/').map_or("", |(_, s)| s);
        matches!(subtype, "javascript" | "x-javascript" | "ecmascript")
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        urls(&text, |target, at| {
            found.link(LinkKind::ScriptText, target, at);
        });
    }
}

/// Maximum length of such a string in bytes.
const MAX_LENGTH: usize = 2_048;

/// Extensions of pages and documents.
const PAGE_ENDINGS: &[&str] = &[
    "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "jspx", "cfm", "cgi", "pl", "do", "action", "pdf",
    "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "txt", "xml", "rss",
];

/// Calls `found` with every URL in a script and its offset.
pub(crate) fn urls(script: &str, mut found: impl FnMut(&str, usize)) {
    let src = script.as_bytes();
    let mut from = 0;
    while let Some(slash) = memchr(b'/', src.get(from..).unwrap_or(&[])).map(|i| from + i) {
        from = slash + 1;
        let Some(start) = start_of_address(src, slash) else { continue };
        let Some(address) = quoted(script, start) else { continue };
        from = from.max(start + address.len());
        let target = without_escapes(address);
        if is_address(&target) {
            found(&target, start);
        }
    }
    for verb in ["location", "open("] {
        for at in memmem::find_iter(src, verb.as_bytes()) {
            if let Some((start, target)) = navigation(script, at, verb)
                && !is_address(&target)
            {
                found(&target, start);
            }
        }
    }
    for at in memmem::find_iter(src, b" href=") {
        if let Some((start, target)) = written_link(script, at + " href=".len()) {
            found(&target, start);
        }
    }
}

/// The relative target of a link in HTML that stands in a string of a script, and its offset.
fn written_link(script: &str, at: usize) -> Option<(usize, Cow<'_, str>)> {
    let rest = script.as_bytes().get(at..)?;
    let escape = usize::from(rest.first() == Some(&b'\\'));
    let quote = rest.get(escape).filter(|b| matches!(b, b'"' | b'\''))?;
    let inside = rest.get(escape + 1..)?;
    let end =
        inside.iter().take(MAX_LENGTH).position(|b| matches!(b, b'"' | b'\'' | b'\\' | b'<' | b'>' | 0..=b' '))?;
    // The end of another string: what follows is put together with it.
    let is_whole = inside.get(end..)?.starts_with(if escape == 1 { &b"\\"[..] } else { &[] })
        && inside.get(end + escape) == Some(quote);
    let start = at + escape + 1;
    let target = script.get(start..start + end).filter(|_| is_whole)?;
    let is_new = !is_address(target) && !target.contains("${");
    (is_new && (ends_like_a_page(target) || is_query(target))).then(|| (start, target.into()))
}

/// Calls `found` with every URL in an inline event handler or a `javascript:` URL.
pub(crate) fn handler_urls(code: &str, mut found: impl FnMut(&str)) {
    let mut known = HashSet::new();
    urls(code, |target, at| {
        known.insert(at);
        found(target);
    });
    let src = code.as_bytes();
    let mut from = 0;
    while let Some(open) = memchr3(b'"', b'\'', b'`', src.get(from..).unwrap_or(&[])).map(|i| from + i) {
        let quote = src[open];
        let Some(len) = memchr(quote, &src[open + 1..]) else { break };
        from = open + len + 2;
        let is_new = !known.contains(&(open + 1)) && is_only_argument(src, open, open + 1 + len);
        if let Some(target) = quoted(code, open + 1).filter(|_| is_new).map(without_escapes)
            && (ends_like_a_page(&target) || is_query(&target))
        {
            found(&target);
        }
    }
}

/// Whether the string between these quotes is the only string that a call gets.
fn is_only_argument(src: &[u8], open: usize, close: usize) -> bool {
    const LOOK: usize = 128;
    let is_quote = |b: &u8| matches!(b, b'"' | b'\'' | b'`');
    let before = src.get(open.saturating_sub(LOOK)..open).unwrap_or(&[]);
    let after = src.get(close + 1..src.len().min(close + 1 + LOOK)).unwrap_or(&[]);
    let Some(call) = before.iter().rposition(|b| *b == b'(' || is_quote(b)).filter(|at| before[*at] == b'(') else {
        return false;
    };
    let is_named = call > 0 && (before[call - 1].is_ascii_alphanumeric() || matches!(before[call - 1], b'_' | b'$'));
    is_named && after.iter().find(|b| **b == b')' || is_quote(b)) == Some(&b')')
}

/// Whether a target is a query, with or without a path before it.
fn is_query(target: &str) -> bool {
    let Some((path, query)) = target.split_once('?') else { return false };
    let is_path = path.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/%".contains(&b));
    is_path && query.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['(', ' ', '?']))
}

/// Whether what an attribute for scripts holds is plausibly the URL of a page.
pub(crate) fn is_target(text: &str) -> bool {
    let is_whole = !text.contains(|c: char| c <= ' ' || matches!(c, '"' | '\'' | '<' | '>' | '{' | '}' | '\\'));
    let is_path = text.starts_with('/') || text.starts_with("./") || text.starts_with("../");
    is_whole && text.len() > 1 && (is_address(text) || is_path || ends_like_a_page(text) || is_query(text))
}

/// The start of the quoted string whose first slash this may be: `"/`, `"http:/`, `"https:\/`.
fn start_of_address(src: &[u8], slash: usize) -> Option<usize> {
    let before = src.get(..slash)?;
    let before = before.strip_suffix(b"\\").unwrap_or(before);
    let lower = |s: &[u8], tail: &[u8]| s.len() >= tail.len() && s[s.len() - tail.len()..].eq_ignore_ascii_case(tail);
    let start = if lower(before, b"http:") {
        before.len() - 5
    } else if lower(before, b"https:") {
        before.len() - 6
    } else {
        before.len()
    };
    matches!(src.get(start.checked_sub(1)?), Some(b'"' | b'\'' | b'`')).then_some(start)
}

/// The string from `start` to its closing quote, if it contains nothing that a URL cannot.
fn quoted(script: &str, start: usize) -> Option<&str> {
    let src = script.as_bytes();
    let quote = src.get(start.checked_sub(1)?)?;
    let window = src.get(start..src.len().min(start + MAX_LENGTH))?;
    let len = window.iter().position(|b| matches!(b, 0..=b' ' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'{' | b'}'))?;
    if window.get(len) != Some(quote) || is_glued(src, start - 1, start + len) {
        return None;
    }
    script.get(start..start + len)
}

/// Whether the string between these quotes is concatenated with `+`.
fn is_glued(src: &[u8], open: usize, close: usize) -> bool {
    const LOOK: usize = 16;
    let before = src.get(open.saturating_sub(LOOK)..open).unwrap_or(&[]).trim_ascii_end();
    let after = src.get(close + 1..src.len().min(close + 1 + LOOK)).unwrap_or(&[]).trim_ascii_start();
    before.last() == Some(&b'+') || after.first() == Some(&b'+')
}

fn is_address(target: &str) -> bool {
    if has_scheme(target, "http") || has_scheme(target, "https") {
        let host = target.split_once("://").map_or("", |(_, rest)| rest);
        return host.starts_with(|c: char| c.is_alphanumeric() || c == '[');
    }
    if let Some(host) = target.strip_prefix("//") {
        return host.split('/').next().is_some_and(|h| h.contains('.') && h.starts_with(char::is_alphanumeric));
    }
    target.starts_with('/') && ends_like_a_page(target)
}

fn ends_like_a_page(target: &str) -> bool {
    let path = target.split(['?', '#']).next().unwrap_or("");
    let file = path.rsplit('/').next().unwrap_or("");
    let is_path = path.bytes().all(|b| b.is_ascii_alphanumeric() || b >= 0x80 || b"-._~/%+,;:@!$&()=".contains(&b));
    is_path && file.rsplit_once('.').is_some_and(|(_, e)| PAGE_ENDINGS.iter().any(|p| p.eq_ignore_ascii_case(e)))
}

/// The navigation target at `at`, where `location` or `open(` occurs: the string assigned or passed
/// to it.
fn navigation<'a>(script: &'a str, at: usize, verb: &str) -> Option<(usize, Cow<'a, str>)> {
    let src = script.as_bytes();
    let mut i = at + verb.len();
    if verb == "location" {
        let rest = src.get(i..)?;
        let calls = [&b".assign("[..], b".replace("].into_iter().find(|c| rest.starts_with(c));
        i += match calls {
            Some(call) => call.len(),
            None => assignment(rest)?,
        };
    }
    i += src.get(i..)?.iter().take(8).take_while(|b| b.is_ascii_whitespace()).count();
    if !matches!(src.get(i), Some(b'"' | b'\'' | b'`')) {
        return None;
    }
    let target = without_escapes(quoted(script, i + 1)?);
    let plausible = target.bytes().any(|b| matches!(b, b'/' | b'.' | b'?')) && !has_scheme(&target, "javascript");
    (plausible && !has_scheme(&target, "about")).then_some((i + 1, target))
}

/// The length of `.href =` or `=`, unless it is a comparison.
fn assignment(rest: &[u8]) -> Option<usize> {
    let property = if rest.starts_with(b".href") { 5 } else { 0 };
    let spaces = rest.get(property..)?.iter().take(8).take_while(|b| b.is_ascii_whitespace()).count();
    let equals = property + spaces;
    (rest.get(equals) == Some(&b'=') && rest.get(equals + 1) != Some(&b'=')).then_some(equals + 1)
}

/// Decodes `\/` and `\u0026` in a script's string.
fn without_escapes(source: &str) -> Cow<'_, str> {
    if !source.contains('\\') {
        return Cow::Borrowed(source);
    }
    Cow::Owned(source.replace("\\/", "/").replace("\\u0026", "&").replace("\\u002F", "/").replace("\\u003d", "="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        let mut targets = Vec::new();
        urls(script, |target, at| {
            assert!(script.is_char_boundary(at));
            targets.push(target.to_owned());
        });
        assert_eq!(targets, expected, "{script}");
    }

    #[test]
    fn absolute_addresses_and_root_paths_of_pages_are_taken() {
        check(
            "var a = 'http://a.example/x', b = \"https://b.example/y?z=1\";",
            &["http://a.example/x", "https://b.example/y?z=1"],
        );
        check("{\"url\":\"https:\\/\\/a.example\\/b\\u0026c\"}", &["https://a.example/b&c"]);
        check("go('/news/1.html'); go(`/x.php?id=3`)", &["/news/1.html", "/x.php?id=3"]);
        check("load('//cdn.example/lib.js')", &["//cdn.example/lib.js"]);
    }

    #[test]
    fn what_only_looks_like_an_address_is_left_alone() {
        check("a = '/'; b = '/api/v1'; c = '/regex/g'; d = x/'2'/y; // http://comment.example", &[]);
        check("a = '/page.html' + id; b = base + '/page.html'; c = '/a b.html'", &[]);
        check("a = 'http://' ; b = 'https:///'; c=\"//\" ; d='http://${host}/'", &[]);
        check("'<a href=\"/x.html\">'", &["/x.html"]);
    }

    #[test]
    fn links_that_a_script_writes_are_taken() {
        check("document.write('<a class=x href=\"menu.html\">m<\\/a>')", &["menu.html"]);
        check("w(\"<li><a href=\\\"sub/b.php?id=3\\\">\"); w('<a href=\\'c.html\\'>')", &["sub/b.php?id=3", "c.html"]);
        check("w('<a href=\"/once.html\">')", &["/once.html"]);
        check("w('<a href=\"' + x + '.html\">'); w(`<a href=\"${x}.html\">`); w('<a href=\"#top\">'); a.href='x'", &[]);
        check("w('<a href=\"page.html?id='+n+'\">'); w('<link href=\"style.css\">'); w(' href=", &[]);
    }

    #[test]
    fn where_a_script_goes_is_taken_as_it_is() {
        check("location.href='next.html'", &["next.html"]);
        check("window.location = \"?page=2\"; top.location.replace('a/b')", &["?page=2", "a/b"]);
        check("window.open('popup.php','w','width=3')", &["popup.php"]);
        check("document.location='/deep/'", &["/deep/"]);
        check("location.href='http://a.example/'", &["http://a.example/"]);
        check("if (location.href == 'a.html') open(x); location.href='a.html'+q; window.open('')", &[]);
    }

    #[test]
    fn the_only_string_of_a_call_in_a_handler_leads_somewhere() {
        #[track_caller]
        fn check(code: &str, expected: &[&str]) {
            let mut targets = Vec::new();
            handler_urls(code, |target| targets.push(target.to_owned()));
            assert_eq!(targets, expected, "{code}");
        }
        check("go('next.html')", &["next.html"]);
        check("return show(this, \"a/b.php?id=3#c\", 4);", &["a/b.php?id=3#c"]);
        check("javascript:page('?p=2'); void(0)", &["?p=2"]);
        check("location.href='x.html'; go('x.html')", &["x.html", "x.html"]);
        check("go('/n.html')", &["/n.html"]);
        check("go('a.html','b.html'); go('a.html'+x); f(g('t'), 'a.html')", &[]);
        check("a.className='x.html'; ('y.html'); alert('Really?'); go('top'); go('v1.2'); swap('a.gif')", &[]);
        check("go('a.html", &[]);
        check("'(')", &[]);
    }

    #[test]
    fn attributes_for_scripts_hold_targets_or_anything() {
        for target in ["/a", "../x", "http://a.example/", "b.html", "?q=1", "//a.example/x"] {
            assert!(is_target(target), "{target}");
        }
        for other in ["", "/", "#top", "modal", "{{url}}", "javascript:x()", "two words.html", "v1.2"] {
            assert!(!is_target(other), "{other}");
        }
    }

    #[test]
    fn broken_scripts_end() {
        check("location", &[]);
        check("location.href='", &[]);
        check("'/", &[]);
        check("'\\/", &[]);
        check("/", &[]);
    }
}
