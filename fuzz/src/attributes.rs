//! Are the micro-syntaxes of attributes and header fields parsed as the standards say?
//!
//! The oracles are the algorithms of the HTML standard, transcribed here step by step.

use crate::document::links_of;
use crate::options;
use orb_extract::{Content, extract, x_robots};
use orb_page::{Headers, LinkKind};

/// `Link`, `Refresh` and `X-Robots-Tag` fields: one per line, chosen by its first letter.
pub fn headers(bytes: &[u8]) {
    let fields = bytes.split(|b| *b == b'\n').filter_map(|line| {
        let (first, value) = line.split_first()?;
        let name = match first {
            b'l' => "Link",
            b'r' => "Refresh",
            b'x' => "X-Robots-Tag",
            b'c' => "Content-Type",
            _ => return None,
        };
        Some((name.to_owned(), value.to_vec()))
    });
    let headers: Headers = fields.collect();
    for link in orb_extract::header_links(&headers) {
        assert!(matches!(link.kind, LinkKind::Header | LinkKind::Refresh), "{link:?}");
        assert!(!link.target.is_empty() && link.anchor.chars().count() <= 500, "{link:?}");
    }
    let everybody = x_robots(&headers, "");
    let ours = x_robots(&headers, "Orbweaver/1.0");
    assert!(!everybody.noindex || headers.all("x-robots-tag").any(|v| v.to_ascii_lowercase().contains("no")));
    assert_eq!(ours, x_robots(&headers, "orbweaver"), "by its name in any case, with any version");
    assert!(headers.mime().is_none_or(|mime| !mime.contains(';') && mime == mime.to_ascii_lowercase()));
    assert!(headers.charset().is_none_or(|charset| !charset.is_empty()));
}

/// The targets of one kind on a page that contains the text in an attribute.
fn on_a_page(before: &str, text: &str, kind: LinkKind) -> Vec<String> {
    let html = format!("{before}'{}'>", text.replace('&', "&amp;").replace('\'', "&#39;"));
    let doc = extract(&Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: Some("utf-8"), url: "" });
    doc.links.into_iter().filter(|l| l.kind == kind).map(|l| l.target).collect()
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r')
}

/// Whether a target is one that a page's links may have.
fn is_kept(target: &str) -> bool {
    let data = target.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("data:"));
    !target.is_empty() && !data && target.len() <= 8 << 10
}

/// A `srcset` or a refresh. Input: a byte that chooses, then the text.
pub fn attributes(bytes: &[u8]) {
    let (options, text) = options(bytes);
    let text = text.replace('\0', "");
    if options & 1 == 0 { srcset(&text) } else { refresh(&text) }
}

/// HTML 4.8.4.2.1.
fn srcset(text: &str) {
    let found = on_a_page("<img srcset=", text, LinkKind::Img);
    let wanted = candidates(text).into_iter().map(|c| c.trim_matches(|c| c <= ' ').to_owned());
    assert_eq!(found, wanted.filter(|c| is_kept(c)).collect::<Vec<_>>(), "{text:?}");
}

/// The URLs of a `srcset`, ignoring their descriptors.
fn candidates(input: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = input;
    loop {
        rest = rest.trim_start_matches(|c| is_space(c) || c == ',');
        if rest.is_empty() {
            return found;
        }
        let end = rest.find(is_space).unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        let bare = url.trim_end_matches(',');
        found.push(bare.to_owned());
        rest = after;
        if bare.len() < url.len() {
            continue;
        }
        let mut within = false;
        let comma = rest.char_indices().find(|(_, c)| {
            within = match c {
                '(' => true,
                ')' => false,
                _ => within,
            };
            *c == ',' && !within
        });
        rest = comma.map_or("", |(at, _)| &rest[at + 1..]);
    }
}

/// In a page and in a header field (HTML 4.2.5.3, the shared declarative refresh steps).
fn refresh(text: &str) {
    let wanted: Vec<String> = target_of_refresh(text).filter(|t| is_kept(t)).into_iter().collect();
    assert_eq!(on_a_page("<meta http-equiv=refresh content=", text, LinkKind::Refresh), wanted, "{text:?}");
    let in_header: Vec<String> = links_of("refresh", text.as_bytes()).into_iter().map(|l| l.target).collect();
    assert!(in_header == wanted || text.trim().len() != text.len() || !text.is_ascii(), "{text:?}: {in_header:?}");
}

/// The target of a refresh; `None` if it reloads its own page.
fn target_of_refresh(input: &str) -> Option<String> {
    let input = input.trim_start_matches(is_space);
    let rest = input.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == input.len() && !rest.starts_with('.') {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with(|c| matches!(c, ';' | ',') || is_space(c)) {
        return None;
    }
    let rest = rest.trim_start_matches(is_space);
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start_matches(is_space);
    let url = after_url(rest).unwrap_or(rest);
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or(""),
        _ => url,
    };
    Some(url.trim_matches(|c| c <= ' ').to_owned())
}

/// What follows `url =`.
fn after_url(rest: &str) -> Option<&str> {
    let word = rest.get(..3)?;
    let rest = word.eq_ignore_ascii_case("url").then(|| rest[3..].trim_start_matches(is_space))?;
    Some(rest.strip_prefix('=')?.trim_start_matches(is_space))
}
