//! What does a JSON document say?
//!
//! Its strings are its text, its addresses its links. Names of members are neither. Nothing is
//! parsed into a tree, so depth and size do not matter; only a JSON Feed, which says that it is
//! one, is read as what it means (jsonfeed.org, 1.1).

use crate::gather::{Gather, MAX_ANCHOR};
use crate::html;
use crate::prose::{Prose, folded_literal};
use crate::script;
use crate::{Extract, TypedContent};
use memchr::{memchr2, memmem};
use orb_page::LinkKind;
use serde_json::Value;
use std::borrow::Cow;

/// The largest feed that is read as one.
const MAX_FEED: usize = 16 << 20;

/// Extracts JSON.
#[derive(Debug)]
pub(crate) struct JsonExtractor;

impl Extract for JsonExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        let subtype = source.mime.split_once('/').map_or("", |(_, s)| s);
        subtype == "json" || subtype.ends_with("+json")
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        if is_feed(&text)
            && let Ok(feed) = serde_json::from_str::<Value>(&text)
        {
            return read_feed(&feed, found);
        }
        script::urls(&text, |target, at| {
            found.link(LinkKind::ScriptText, target, at);
        });
        let mut prose = Prose::with_room_for(text.len());
        strings(&text, |value| {
            prose.line();
            prose.lines(value);
        });
        found.doc.text = prose.finish();
    }
}

/// Calls `found` with every string that is a value.
fn strings(json: &str, mut found: impl FnMut(&str)) {
    let src = json.as_bytes();
    let mut at = 0;
    while let Some(open) = src.get(at..).and_then(|rest| memchr::memchr(b'"', rest)).map(|i| at + i) {
        let Some(end) = end_of_string(src, open + 1) else { return };
        at = end + 1;
        let is_name = src.get(at..).and_then(|rest| rest.iter().find(|b| !b.is_ascii_whitespace())) == Some(&b':');
        if !is_name && let Some(raw) = json.get(open + 1..end) {
            found(&unescaped(raw));
        }
    }
}

/// Where the string that starts at `at` ends.
fn end_of_string(src: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', src.get(at..)?)?;
        if src.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// A string without its escapes.
fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return raw.into();
    }
    serde_json::from_str::<String>(&format!("\"{raw}\"")).map_or(raw.into(), Cow::from)
}

fn is_feed(json: &str) -> bool {
    let start = json.as_bytes().get(..2_048).unwrap_or(json.as_bytes());
    json.len() <= MAX_FEED && memmem::find(start, b"jsonfeed.org").is_some()
}

fn read_feed(feed: &Value, found: &mut Gather) {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    let mut prose = Prose::default();
    let title = folded_literal(&text(feed, "title"), MAX_ANCHOR);
    prose.literal(&title);
    found.doc.title = Some(title);
    found.doc.description = Some(folded_literal(&text(feed, "description"), MAX_ANCHOR)).filter(|d| !d.is_empty());
    found.doc.lang = feed.get("language").and_then(Value::as_str).map(str::to_owned).filter(|l| !l.is_empty());
    for name in ["home_page_url", "feed_url", "next_url"] {
        found.link(LinkKind::Feed, &text(feed, name), 0);
    }
    for item in feed.get("items").and_then(Value::as_array).into_iter().flatten() {
        let title = folded_literal(&text(item, "title"), MAX_ANCHOR);
        prose.line();
        prose.literal(&title);
        for name in ["url", "external_url"] {
            if let Some(link) = found.link(LinkKind::Feed, &text(item, name), 0) {
                link.anchor.clone_from(&title);
            }
        }
        for name in ["image", "banner_image"] {
            found.link(LinkKind::Img, &text(item, name), 0);
        }
        prose.line();
        let html = html::fragment(&text(item, "content_html"), 0, found);
        prose.lines(&html);
        prose.line();
        prose.lines(&text(item, if html.is_empty() { "content_text" } else { "summary" }));
        for attachment in item.get("attachments").and_then(Value::as_array).into_iter().flatten() {
            found.link(LinkKind::Media, &text(attachment, "url"), 0);
        }
    }
    found.doc.text = prose.finish();
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(json: &str) -> Document {
        extract(&Content { bytes: json.as_bytes(), mime: Some("application/json"), charset: None, url: "" })
    }

    #[test]
    fn strings_are_text_and_addresses_are_links() {
        let doc = read(r#"{"name": "A \"b\" \u00e9", "n": 1, "list": ["x\ny", "http:\/\/a.example\/"], "open": "wide"#);
        assert_eq!(doc.text, "A \"b\" é\nx\ny\nhttp://a.example/");
        assert_eq!(doc.links[0].target, "http://a.example/");
        assert_eq!(read(&"[\"\\\"".repeat(100_000)).links.len(), 0);
    }

    #[test]
    fn a_json_feed_is_a_feed() {
        let doc = read(
            r#"{"version": "https://jsonfeed.org/version/1.1", "title": "News", "home_page_url": "http://a.example/", "items": [
            {"id": "1", "url": "http://a.example/1", "title": "One", "content_html": "<p>See <a href='/2'>two</a></p>", "attachments": [{"url": "m.mp3"}]},
            {"id": "2", "external_url": "http://b.example/", "content_text": "plain"}]}"#,
        );
        let links: Vec<_> = doc.links.iter().map(|l| (l.kind.name(), l.target.as_str(), l.anchor.as_str())).collect();
        assert_eq!(
            links,
            [
                ("feed", "http://a.example/", ""),
                ("feed", "http://a.example/1", "One"),
                ("a", "/2", "two"),
                ("media", "m.mp3", ""),
                ("feed", "http://b.example/", ""),
            ]
        );
        assert_eq!((doc.title.as_deref(), doc.text.as_str()), (Some("News"), "News\nOne\nSee two\nplain"));
    }
}
