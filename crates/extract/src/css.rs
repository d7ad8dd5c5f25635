//! Where does a style sheet point?
//!
//! Finds `url(…)` and `@import "…"` with a byte scanner that knows strings, comments and escapes
//! and nothing else of CSS (CSS Syntax Level 3, 4.3). An unterminated string ends with its line, as
//! in the standard.

use crate::gather::{Gather, trim};
use crate::{Extract, TypedContent};
use memchr::memmem;
use orb_page::LinkKind;
use std::borrow::Cow;

/// Extracts links from `text/css`.
#[derive(Debug)]
pub(crate) struct CssExtractor;

impl Extract for CssExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime == "text/css"
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        urls(&text, |target, at| {
            found.link(LinkKind::Css, target, at);
        });
    }
}

/// Calls `found` with every target in a style sheet and its offset. Skips fragments of the sheet
/// itself (`#id`).
pub(crate) fn urls(css: &str, mut found: impl FnMut(&str, usize)) {
    let src = css.as_bytes();
    let mut emit = |range: std::ops::Range<usize>| {
        let target = unescape(css.get(range.clone()).unwrap_or(""));
        let target = trim(&target);
        if !target.is_empty() && !target.starts_with('#') {
            found(target, range.start);
        }
    };
    let mut i = 0;
    while let Some(&byte) = src.get(i) {
        i = match byte {
            b'"' | b'\'' => end_of_string(src, i).1,
            b'\\' => i + 2,
            b'/' if src.get(i + 1) == Some(&b'*') => {
                memmem::find(src.get(i + 2..).unwrap_or(&[]), b"*/").map_or(src.len(), |n| i + n + 4)
            }
            b'(' if is_url_before(src, i) => {
                let (range, next) = url_token(src, i + 1);
                emit(range);
                next
            }
            b'@' => at_rule(src, i, &mut emit),
            _ => i + 1,
        };
    }
}

fn is_url_before(src: &[u8], parenthesis: usize) -> bool {
    let word = parenthesis.checked_sub(3).and_then(|start| src.get(start..parenthesis));
    let before = parenthesis.checked_sub(4).and_then(|i| src.get(i));
    let starts_word = before.is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'-' && *b != b'_' && *b != b'\\');
    starts_word && word.is_some_and(|w| w.eq_ignore_ascii_case(b"url"))
}

fn skip_space(src: &[u8], mut i: usize) -> usize {
    while src.get(i).is_some_and(u8::is_ascii_whitespace) {
        i += 1;
    }
    i
}

/// The content of `url(` and the offset after it.
fn url_token(src: &[u8], after_parenthesis: usize) -> (std::ops::Range<usize>, usize) {
    let start = skip_space(src, after_parenthesis);
    if matches!(src.get(start), Some(b'"' | b'\'')) {
        let (end, next) = end_of_string(src, start);
        return (start + 1..end, next);
    }
    let mut i = start;
    while let Some(&byte) = src.get(i) {
        match byte {
            b')' => return (start..i, i + 1),
            b'\\' => i += 2,
            b'"' | b'\'' | b'(' | b'<' | b'{' => return (start..start, i),
            _ => i += 1,
        }
    }
    (start..src.len(), src.len())
}

/// The end of the string that opens at `start`, and the offset after its closing quote.
fn end_of_string(src: &[u8], start: usize) -> (usize, usize) {
    let quote = src.get(start);
    let mut i = start + 1;
    while let Some(byte) = src.get(i) {
        match byte {
            b'\\' => i += 2,
            b'\n' => return (i, i + 1),
            b if Some(b) == quote => return (i, i + 1),
            _ => i += 1,
        }
    }
    (src.len(), src.len())
}

/// Emits the target of `@import "…"`; ignores `@namespace`, which is not a location. Returns the
/// offset at which to continue.
fn at_rule(src: &[u8], at: usize, emit: &mut impl FnMut(std::ops::Range<usize>)) -> usize {
    let is = |name: &[u8]| {
        let end = at + 1 + name.len();
        src.get(at + 1..end).is_some_and(|w| w.eq_ignore_ascii_case(name)).then_some(end)
    };
    if let Some(end) = is(b"import") {
        let start = skip_space(src, end);
        if matches!(src.get(start), Some(b'"' | b'\'')) {
            let (end, next) = end_of_string(src, start);
            emit(start + 1..end);
            return next;
        }
        return end;
    }
    match is(b"namespace") {
        Some(end) => memchr::memchr(b';', src.get(end..).unwrap_or(&[])).map_or(src.len(), |n| end + n),
        None => at + 1,
    }
}

/// A target with its CSS escapes decoded.
fn unescape(source: &str) -> Cow<'_, str> {
    if !source.contains('\\') {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let (mut code, mut digits) = (0, 0);
        while digits < 6
            && let Some(digit) = chars.peek().and_then(|c| c.to_digit(16))
        {
            code = code * 16 + digit;
            digits += 1;
            chars.next();
        }
        if digits > 0 {
            out.push(char::from_u32(code).filter(|&c| c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER));
            chars.next_if(char::is_ascii_whitespace);
        } else if let Some(escaped) = chars.next().filter(|&c| c != '\n') {
            out.push(escaped);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(css: &str, expected: &[&str]) {
        let mut targets = Vec::new();
        urls(css, |target, at| {
            assert!(at <= css.len());
            targets.push(target.to_owned());
        });
        assert_eq!(targets, expected, "{css}");
    }

    #[test]
    fn urls_are_found_quoted_and_bare() {
        check("a{background:url(a.png)} b{src: URL( 'b c.woff' ) , url(\"d\")}", &["a.png", "b c.woff", "d"]);
        check("@import 'a.css' screen;@import url(b.css);@IMPORT \"c.css\"", &["a.css", "b.css", "c.css"]);
        check("a{b:url(a\\)b\\20 c)}", &["a)b c"]);
        check("url(#gradient) url() url('') url(\u{1}#x) url('\\20 #y')", &[]);
    }

    #[test]
    fn strings_comments_and_name_spaces_hold_none() {
        check("/* url(a) */ b{content:'url(c)'} @namespace svg url(http://x/); d{e:url(f)}", &["f"]);
        check("a{b:curl(c)} d{e:my-url(f)}", &[]);
    }

    #[test]
    fn what_is_not_terminated_ends_with_the_sheet() {
        check("url(a", &["a"]);
        check("url('a", &["a"]);
        check("@import 'a\nb{c:url(d)}", &["a", "d"]);
        check("url(a\\", &["a"]);
        check("/* url(a)", &[]);
        check("\\", &[]);
    }
}
