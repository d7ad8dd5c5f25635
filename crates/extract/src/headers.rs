//! What do the HTTP headers point to and ask for?
//!
//! `Link` (RFC 8288), `Refresh` and `X-Robots-Tag`, parsed leniently: a header is as untrusted as a
//! page.

use crate::directives;
use crate::gather::{Gather, MAX_ANCHOR};
use crate::prose::cut;
use orb_page::{Headers, Link, LinkKind, RobotsMeta};

/// The links in a response's headers.
pub fn header_links(headers: &Headers) -> Vec<Link> {
    let mut found = Gather::default();
    for value in headers.all("link") {
        let mut rest = value.as_str();
        while let Some((target, parameters, after)) = next_link(rest) {
            rest = after;
            let rel = parameter(parameters, "rel").to_ascii_lowercase();
            let rel = rel.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            let names_a_host = rel.split(' ').any(|t| matches!(t, "preconnect" | "dns-prefetch"));
            if !names_a_host && let Some(link) = found.link(LinkKind::Header, target, 0) {
                link.anchor = parameter(parameters, "title");
                cut(&mut link.anchor, MAX_ANCHOR);
                link.rel = rel;
            }
        }
    }
    for value in headers.all("refresh") {
        if let Some(target) = directives::refresh(&value) {
            found.link(LinkKind::Refresh, target, 0);
        }
    }
    found.doc.links
}

/// The target of the next link, its parameters, and the rest.
fn next_link(source: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = source.split_once('<')?;
    let (target, rest) = rest.split_once('>')?;
    let mut quoted = false;
    let mut escaped = false;
    let end = rest.bytes().position(|b| {
        let ends = b == b',' && !quoted;
        quoted ^= b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    });
    let (parameters, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
    Some((target, parameters, after))
}

/// The first value of a parameter, unquoted; empty if absent.
fn parameter(parameters: &str, name: &str) -> String {
    let mut rest = parameters;
    while let Some((_, after)) = rest.split_once(';') {
        let key_end = after.find([';', '=']).unwrap_or(after.len());
        let (key, after_key) = after.split_at_checked(key_end).unwrap_or((after, ""));
        let (value, next) = match after_key.strip_prefix('=').map(str::trim_ascii_start) {
            None => (String::new(), after_key),
            Some(value) => match value.strip_prefix('"') {
                Some(quoted) => unquote(quoted),
                None => {
                    let (value, next) =
                        value.split_at_checked(value.find(';').unwrap_or(value.len())).unwrap_or_default();
                    (value.trim().to_owned(), next)
                }
            },
        };
        if key.trim().eq_ignore_ascii_case(name) {
            return value;
        }
        rest = next;
    }
    String::new()
}

/// A quoted string without its quotes, and the rest.
fn unquote(source: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = source.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return (value, source.get(i + 1..).unwrap_or("")),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

/// Directives of `X-Robots-Tag` that take a value after a colon, so the word before the colon is
/// not a robot's name.
const VALUED: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// What `X-Robots-Tag` asks of all robots and of the one with this product name.
pub fn x_robots(headers: &Headers, agent: &str) -> RobotsMeta {
    let product = agent.split(['/', ' ']).next().unwrap_or("");
    let mut said = RobotsMeta::default();
    for value in headers.all("x-robots-tag") {
        let mut for_us = true;
        for token in value.split(',') {
            let mut directive = token.trim();
            if let Some((name, rest)) = directive.split_once(':')
                && !VALUED.iter().any(|v| name.trim().eq_ignore_ascii_case(v))
            {
                for_us = name.trim().eq_ignore_ascii_case(product);
                directive = rest;
            }
            if for_us {
                said = said.merge(directives::directive(directive));
            }
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&str, &str)]) -> Headers {
        fields.iter().copied().collect()
    }

    fn links(value: &str) -> Vec<(String, String, String)> {
        let found = header_links(&headers(&[("LINK", value)]));
        found.into_iter().map(|l| (l.target, l.rel, l.anchor)).collect()
    }

    #[test]
    fn every_link_of_a_header_is_found() {
        let found = links(
            "</a,b>; rel=\"Next  last\"; title=\"a, \\\"b\\\"\", <c>;rel=canonical , < d >; foo; rel = prev;x=\"y;rel=z\"",
        );
        assert_eq!(found[0], ("/a,b".into(), "next last".into(), "a, \"b\"".into()));
        assert_eq!(found[1], ("c".into(), "canonical".into(), String::new()));
        assert_eq!(found[2], ("d".into(), "prev".into(), String::new()));
        assert_eq!(links("<https://cdn.example>; rel=preconnect, <>; rel=x, <e"), []);
    }

    #[test]
    fn a_refresh_is_a_link() {
        let found = header_links(&headers(&[("Refresh", "0; url=/next")]));
        assert_eq!((found[0].kind, found[0].target.as_str()), (LinkKind::Refresh, "/next"));
    }

    #[test]
    fn robots_tags_speak_to_everybody_or_to_us() {
        let said = |value| x_robots(&headers(&[("X-Robots-Tag", value)]), "Orbweaver/1.0 (+http://a.example)");
        assert!(said("noindex").noindex);
        assert!(said("googlebot: noindex, nofollow") == RobotsMeta::default());
        assert!(
            said("googlebot: nofollow, orbweaver: noindex, noarchive")
                == RobotsMeta { noindex: true, nofollow: false, noarchive: true }
        );
        assert!(said("unavailable_after: 25 Jun 2030 15:00:00 PST, none").nofollow);
    }
}
