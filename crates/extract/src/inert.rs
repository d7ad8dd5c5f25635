//! How is a page shown without anything that acts?
//!
//! The page is taken apart and rewritten: of its elements those that only arrange text, tables
//! and pictures, of their attributes a few that do not act, everything else dropped and all text
//! escaped. What is written contains neither raw text nor SVG nor MathML, so there is nothing that
//! a browser could read differently. Addresses are whatever the caller makes of them; without one,
//! a link is text and a picture is its description.

use crate::entity::{ReferenceContext, unescape};
use crate::html::name::NameKey;
use crate::html::raw::Raw;
use crate::html::scan::{Attributes, HtmlToken, Scanner, TextMode};
use orb_page::escape_markup;
use std::ops::Range;

/// What an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressUse {
    /// To be followed.
    Link,
    /// To be shown.
    Picture,
}

/// Elements that are kept.
const KEPT: &[&str] = &[
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
];

/// Attributes that are kept, on any element.
const KEPT_ATTRIBUTES: &[&str] = &["alt", "colspan", "dir", "height", "lang", "rowspan", "start", "width"];

/// Elements whose content is not markup, and not shown.
const RAW: &[(&str, Raw)] = &[
    ("script", Raw::Script),
    ("style", Raw::Literal),
    ("xmp", Raw::Literal),
    ("iframe", Raw::Literal),
    ("noembed", Raw::Literal),
    ("noframes", Raw::Literal),
    ("title", Raw::Referenced),
    ("textarea", Raw::Referenced),
    ("plaintext", Raw::Endless),
];

/// The attributes of a tag, as ranges of the source.
#[derive(Default)]
struct WrittenAttributes(Vec<(Range<usize>, Range<usize>)>);

impl Attributes for WrittenAttributes {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn attribute(&mut self, _: NameKey, name: Range<usize>, value: Range<usize>) {
        self.0.push((name, value));
    }
}

/// The page as markup that does nothing. `address` gives the address to use in place of one that
/// is written in the page; `None` leaves it out.
pub fn inert(html: &str, mut address: impl FnMut(AddressUse, &str) -> Option<String>) -> String {
    let mut out = String::with_capacity(html.len() / 2);
    let mut scanner = Scanner::new(html);
    let mut attributes = WrittenAttributes::default();
    let mut is_raw = false;
    while let Some(token) = scanner.next(&mut attributes) {
        let was_raw = std::mem::take(&mut is_raw);
        match token {
            HtmlToken::Text(range, mode) if !was_raw => {
                let text = html.get(range).unwrap_or_default();
                match mode {
                    TextMode::Referenced => out += &escaped(&unescape(text, ReferenceContext::Text)),
                    TextMode::Literal => out += &escaped(text),
                }
            }
            HtmlToken::Start => {
                let name = html.get(scanner.tag().name.clone()).unwrap_or_default().to_ascii_lowercase();
                if let Some((_, raw)) = RAW.iter().find(|(raw, _)| *raw == name) {
                    scanner.raw(*raw);
                    is_raw = true;
                } else {
                    start(&mut out, html, &name, &attributes, &mut address);
                }
            }
            HtmlToken::End => {
                let name = html.get(scanner.tag().name.clone()).unwrap_or_default().to_ascii_lowercase();
                if KEPT.contains(&name.as_str()) && !matches!(name.as_str(), "br" | "col" | "hr" | "img" | "wbr") {
                    out += &format!("</{name}>");
                }
            }
            HtmlToken::Text(..) | HtmlToken::Comment(_) | HtmlToken::Doctype(_) => {}
        }
    }
    out
}

/// Writes a start tag, if the element is kept.
fn start(
    out: &mut String,
    html: &str,
    name: &str,
    attributes: &WrittenAttributes,
    address: &mut impl FnMut(AddressUse, &str) -> Option<String>,
) {
    let Some(kept) = KEPT.iter().find(|kept| **kept == name) else { return };
    let value = |wanted: &str| {
        let named = |(name, _): &&(Range<usize>, Range<usize>)| {
            html.get(name.clone()).is_some_and(|name| name.eq_ignore_ascii_case(wanted))
        };
        let (_, value) = attributes.0.iter().find(named)?;
        Some(unescape(html.get(value.clone())?, ReferenceContext::Attribute))
    };
    let led = match *kept {
        "a" => value("href").and_then(|href| address(AddressUse::Link, href.trim())).map(|led| ("href", led)),
        "img" => value("src").and_then(|src| address(AddressUse::Picture, src.trim())).map(|led| ("src", led)),
        _ => None,
    };
    if *kept == "img" && led.is_none() {
        let said = value("alt").filter(|alt| !alt.trim().is_empty());
        *out += &said.map(|alt| format!("[{}]", escaped(&alt))).unwrap_or_default();
        return;
    }
    *out += &format!("<{kept}");
    for attribute in KEPT_ATTRIBUTES {
        if let Some(value) = value(attribute) {
            *out += &format!(" {attribute}=\"{}\"", escaped(&value));
        }
    }
    if let Some((attribute, led)) = led {
        let target = if attribute == "href" { " target=\"_top\" rel=\"noreferrer nofollow\"" } else { "" };
        *out += &format!(" {attribute}=\"{}\"{target}", escaped(&led));
    }
    out.push('>');
}

fn escaped(text: &str) -> String {
    escape_markup(text, |c, out| out.push(if c == '\0' { '\u{FFFD}' } else { c }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str) -> String {
        inert(html, |what, url| match what {
            AddressUse::Link => url.starts_with('/').then(|| format!("/archived{url}")),
            AddressUse::Picture => (url == "/p.png").then(|| "data:image/png;base64,AA==".to_owned()),
        })
    }

    #[test]
    fn text_tables_links_and_pictures_stay() {
        assert_eq!(
            shown(
                "<P class=x>A &amp; B <a href=/x onclick=y>on</a><table><td colspan=2>c</table><img alt='\"P\"' src=/p.png>"
            ),
            "<p>A &amp; B <a href=\"/archived/x\" target=\"_top\" rel=\"noreferrer nofollow\">on</a>\
             <table><td colspan=\"2\">c</table><img alt=\"&quot;P&quot;\" src=\"data:image/png;base64,AA==\">"
        );
        assert_eq!(shown("<a href=javascript:x>t</a><img src=/q alt=Q><img src=/q>"), "<a>t</a>[Q]");
    }

    #[test]
    fn whatever_acts_is_dropped() {
        for hostile in [
            "<script>alert(1)</script>",
            "<style>@import 'x'</style><title>t</title><textarea><img></textarea>",
            "<!--><script>alert(1)</script>-->",
            "<svg onload=alert(1)></svg>",
            "<math><mi xlink:href='data:x,<script>alert(1)</script>'></mi></math>",
            "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
            "<form action=/x><input autofocus onfocus=alert(1)><button formaction=/y></button></form>",
            "<meta http-equiv=refresh content='0;url=//evil'><base href=//evil><link rel=stylesheet href=x>",
            "<noembed><img src=x onerror=alert(1)></noembed>",
            "<video src=x></video><object data=x></object><embed src=x>",
        ] {
            let shown = shown(hostile);
            assert!(!shown.contains(['<', '=']) || shown == "--&gt;", "{hostile}: {shown}");
        }
        assert_eq!(shown("<b style=x onmouseover=y id=z>t</b>"), "<b>t</b>");
        assert_eq!(shown("&lt;script&gt;<plaintext><b>"), "&lt;script&gt;");
        assert_eq!(shown("<p title='\"><script>'>a<b"), "<p>a");
    }
}
