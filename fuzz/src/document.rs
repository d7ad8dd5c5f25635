//! Is what an extractor found really there, and within its limits?

use crate::options;
use crate::response::gzip;
use orb_extract::{Content, distance, extract, header_links, language, simhash, sniff, text_of};
use orb_page::{Document, LinkKind};

const TYPES: &[Option<&str>] = &[
    None,
    Some("text/html"),
    Some("application/xhtml+xml"),
    Some("text/plain"),
    Some("text/xml"),
    Some("text/css"),
    Some("application/json"),
    Some("text/javascript"),
    Some("application/gzip"),
    Some("application/octet-stream"),
    Some("image/svg+xml"),
    Some("text/html; charset=shift_jis"),
    Some("application/rss+xml"),
    Some("image/png"),
    Some("text/markdown"),
    Some("; ="),
];

/// Any bytes as a document of any type. Input: a byte for the type, then the document.
pub fn page(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let mime = TYPES[usize::from(choice & 15)];
    let packed = choice & 0x10 != 0;
    let bytes = if packed { gzip(bytes) } else { bytes.to_vec() };
    let content = Content { bytes: &bytes, mime, charset: None, url: "http://example.org/a/sitemap.txt.gz" };
    let doc = read(&content);
    assert_eq!(sniff(&bytes, mime).to_ascii_lowercase(), sniff(&bytes, mime), "a type in one spelling");
    let hash = simhash(&doc.text);
    assert_eq!(distance(hash, simhash(&doc.text)), 0);
    assert!(language(&doc.text).is_none_or(|l| l.len() == 2));
}

/// Extracts a document and checks the invariants of any result.
pub(crate) fn read(content: &Content<'_>) -> Document {
    let doc = extract(content);
    assert_eq!(doc, extract(content), "read twice");
    let is_line = |text: &str| !text.contains(['\n', '\t', '\u{c}']);
    for link in &doc.links {
        let target = &link.target;
        assert!(target.len() <= 8 << 10 && target.trim_matches(|c| c <= ' ') == target, "{target:?}");
        assert!(!target.is_empty() || matches!(link.kind, LinkKind::A | LinkKind::Area), "{link:?}");
        assert!(link.anchor.chars().count() <= 500 && is_line(&link.anchor), "{:?}", link.anchor);
        assert!(
            link.rel.split_ascii_whitespace().collect::<Vec<_>>().join(" ").len() == link.rel.len(),
            "{:?}",
            link.rel
        );
    }
    assert!(doc.links.len() <= 100_000 && doc.images.len() <= 50_000 && doc.text.len() <= 4 << 20);
    assert!(
        doc.title.as_deref().is_none_or(|t| !t.is_empty() && is_line(t) && t.chars().count() <= 1_000),
        "{:?}",
        doc.title
    );
    assert!(doc.headings.iter().all(|h| (1..=6).contains(&h.level) && !h.text.is_empty() && is_line(&h.text)));
    assert!(!["\n\n", "  ", " \n", "\n "].iter().any(|gap| doc.text.contains(gap)), "{:?}", doc.text);
    assert!(doc.text.trim_matches([' ', '\n']).len() == doc.text.len(), "{:?}", doc.text);
    assert!(doc.problems.iter().all(|p| p.detail.lines().count() == 1), "{:?}", doc.problems);
    assert!(serde_json::to_string(&doc).is_ok());
    doc
}

/// Extracts UTF-8 text of a type; every link is at the offset it claims, for types in which that
/// can be checked.
fn read_text(text: &str, mime: &str) -> Document {
    let content =
        Content { bytes: text.as_bytes(), mime: Some(mime), charset: Some("utf-8"), url: "http://example.org/" };
    let doc = read(&content);
    // What turns out to be a document of another kind, such as RTF, is read from its own text.
    let text = if doc.mime == mime { text_of(&content) } else { doc.text.clone().into() };
    for link in &doc.links {
        assert!(text.is_char_boundary(link.position as usize) && link.position as usize <= text.len(), "{link:?}");
    }
    doc
}

/// A style sheet.
pub fn css(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let doc = read_text(&text, "text/css");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for link in &doc.links {
        assert!(link.kind == LinkKind::Css && !link.target.starts_with('#'), "{link:?}");
        let here = text.get(link.position as usize..).unwrap_or("").trim_start_matches(|c| c <= ' ');
        assert!(here.contains('\\') || here.starts_with(&link.target), "{link:?} stands before {here:?}");
    }
    // Embedded in a page it gives the same links.
    if !text.contains("</") {
        let within = read_text(&format!("<style>{text}</style>"), "text/html");
        let targets = |doc: &Document| doc.links.iter().map(|l| l.target.clone()).collect::<Vec<_>>();
        assert_eq!(targets(&within), targets(&doc));
    }
}

/// A script, and JSON.
pub fn script(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let doc = read_text(&text, "text/javascript");
    assert_eq!(doc.links, read_text(&text, "application/json").links);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for link in &doc.links {
        let before = text.get(..link.position as usize).unwrap_or("");
        assert!(before.ends_with(['"', '\'', '`']), "{link:?} does not begin a string");
        assert!(!link.target.contains([' ', '"', '<']) || text.contains('\\'), "{link:?}");
    }
}

/// Plain text.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let doc = read_text(&text, "text/plain");
    if doc.mime != "text/plain" {
        return;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for link in &doc.links {
        let here = text.get(link.position as usize..).unwrap_or("");
        let written = link.target.strip_prefix("http://").filter(|_| here.starts_with("www.")).unwrap_or(&link.target);
        assert!(here.starts_with(written), "{link:?} stands before {here:?}");
        assert!(!link.target.contains(|c: char| c.is_ascii_whitespace()), "{link:?}");
    }
}

/// A PDF. A document that takes the parser down by its stack or its memory is for the process that
/// reads it aside; what returns must be in order.
pub fn pdf(bytes: &[u8]) {
    let content = Content { bytes, mime: Some("application/pdf"), charset: None, url: "http://example.org/a.pdf" };
    let doc = read(&content);
    for link in &doc.links {
        assert!(matches!(link.kind, LinkKind::Document | LinkKind::ScriptText | LinkKind::Text), "{link:?}");
        assert!(link.position as usize <= doc.text.len() || link.kind != LinkKind::Text, "{link:?}");
    }
    assert!(doc.images.is_empty() && doc.forms.is_empty());
}

/// XML: sitemaps and sitemap indexes, feeds, anything else. Input: a byte for the root element,
/// then its content.
pub fn xml(bytes: &[u8]) {
    let (options, text) = options(bytes);
    match ["urlset", "sitemapindex", "rss", "feed", "rdf:RDF", "x"][usize::from(options) % 6] {
        root @ ("urlset" | "sitemapindex") => sitemap(root, &text),
        root => {
            let xml = format!("<?xml version='1.0'?><{root}>{text}</{root}>");
            let doc = read_text(&xml, "application/xml");
            assert!(doc.text.len() <= xml.len() * 3, "{} bytes out of {}", doc.text.len(), xml.len());
        }
    }
}

fn sitemap(root: &str, text: &str) {
    let xml = format!("<{root}>{text}</{root}>");
    let doc = read_text(&xml, "application/xml");
    let packed = gzip(xml.as_bytes());
    let unpacked = read(&Content {
        bytes: &packed,
        mime: Some("application/gzip"),
        charset: None,
        url: "http://example.org/s.xml.gz",
    });
    if !text.contains(|c: char| c.is_control()) && sniff(xml.as_bytes(), None).ends_with("xml") {
        assert_eq!(unpacked.links, doc.links, "packed");
    }
    for link in &doc.links {
        assert!(matches!(link.kind, LinkKind::Sitemap | LinkKind::Img | LinkKind::Link), "{link:?}");
        assert!(link.kind != LinkKind::Sitemap || (link.rel == "sitemap") == (root == "sitemapindex"), "{link:?}");
    }
    // Nothing expands: a NUL becomes a three-byte character, and no entity is much longer than its
    // name.
    let said: usize = doc.links.iter().map(|l| l.target.len()).sum();
    assert!(said <= xml.len() * 3, "{said} bytes out of {}", xml.len());
}

/// The links of a `Link` field, for [`crate::headers`].
pub(crate) fn links_of(name: &str, value: &[u8]) -> Vec<orb_page::Link> {
    header_links(&[(name, value)].into_iter().collect())
}
