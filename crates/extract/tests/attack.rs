//! Does hostile input terminate in linear time and with bounded results?
//!
//! At these sizes a quadratic step would take minutes, so a test that ends proves there is none.

use orb_extract::{Content, MarkdownRequest, extract, sniff};
use orb_page::Document;
use proptest::prelude::*;

const SIZE: usize = 1 << 20;

fn read_as(bytes: &[u8], mime: &str) -> Document {
    extract(&Content { bytes, mime: Some(mime), charset: None, url: "http://a.example/" })
}

/// What is repeated.
const THINGS: [&str; 76] = [
    "<",
    ">",
    "&",
    "&#",
    "&#x",
    "&a",
    "&notit",
    "<a ",
    "<a href=x ",
    "</",
    "</a ",
    "<!",
    "<!-",
    "<!--",
    "<!-->",
    "--",
    "<![CDATA[",
    "<svg><![CDATA[]]>",
    "<?",
    "\"",
    "'",
    "=",
    "<a href=\"",
    "<a href='x'>",
    "<div>",
    "<svg>",
    "<svg><g>",
    "</x>",
    "<math><mi>",
    "<table>",
    "<p>",
    "<b>",
    "<select><option>",
    "<form>",
    "<title>",
    "<title></title>",
    "<script>",
    "<script><!--",
    "<!--<script>",
    "</script",
    "</script>",
    "<style>",
    "</style",
    "<textarea>",
    "<template>",
    "<h1>",
    "<plaintext>",
    "<img srcset='a 1x,",
    "<img srcset=",
    "a,",
    "url(",
    "@import '",
    "/*",
    "\\",
    "'/",
    "\"/a",
    "location='",
    "http://",
    "http://http:",
    "www.",
    "://",
    "\0",
    "\r",
    "\u{FFFD}",
    "é",
    "<iframe srcdoc='",
    "<iframe srcdoc=\"<iframe srcdoc=",
    "<object codebase=x data=y archive='a,",
    "<meta http-equiv=refresh content='0;url=",
    "<p onclick=\"open('",
    "<p style='a:url(",
    "<base href=",
    "<a><table><td>",
    "<svg></p>",
    "<svg><p>",
    "<svg><title>",
];

fn markdown(html: &str) -> String {
    orb_extract::markdown(html, &MarkdownRequest::default())
}

#[test]
fn one_thing_over_and_over_ends() {
    for thing in THINGS {
        let many = thing.repeat(SIZE / 4 / thing.len());
        for mime in ["text/html", "application/xml", "text/css", "text/javascript", "text/plain", "application/rss+xml"]
        {
            let doc = read_as(many.as_bytes(), mime);
            assert!(doc.links.len() <= 100_000 && doc.text.len() <= 2 << 20, "{thing} as {mime}");
        }
    }
}

#[test]
fn one_thing_within_another_over_and_over_ends() {
    let inside = [
        ("<title>", "</titl", ""),
        ("<script>", "</scrip", ""),
        ("<script><!--", "<script></script>", ""),
        ("<!--", "-- >", ""),
        ("<a href='", "&amp;", "'>"),
        ("<a ", "x=y ", "href=z>"),
        ("<a onclick='", "open(\"a.b\");", "'>"),
        ("<p style='", "a:url(b);", "'>"),
        ("<img srcset='", "a 1x, ", "'>"),
        ("<style>", "url(a)", "</style>"),
        ("<style>", "/**/", "</style>"),
        ("<script>", "'/a.html',", "</script>"),
        ("<script>", "location='a.b';", "</script>"),
        ("<svg>", "<g></x>", "</svg>"),
        ("<form>", "<input name=x>", "</form>"),
        ("<select>", "<option>x", "</select>"),
        ("<a href=x>", "<img alt=y>", "</a>"),
        ("<iframe srcdoc='", "<a href=x>", "'>"),
        ("<svg>", "<![CDATA[x]]>", "</svg>"),
        ("<a ", "onx=1 ", ">"),
        ("<a href=x>", "word ", "</a>"),
        ("<h1>", "word ", "</h1>"),
    ];
    for (before, thing, after) in inside {
        let many = format!("{before}{}{after}", thing.repeat(SIZE / 2 / thing.len()));
        let doc = read_as(many.as_bytes(), "text/html");
        assert!(doc.links.len() <= 100_000 && doc.images.len() <= 50_000, "{before}{thing}{after}");
    }
}

#[test]
fn entities_of_a_documents_own_are_noted_and_never_expanded() {
    let levels: String = (1..30).map(|n| format!("<!ENTITY l{n} '{}'>", format!("&l{};", n - 1).repeat(10))).collect();
    let types = format!(
        "<!DOCTYPE x [<!ENTITY l0 'ha'>{levels}<!ENTITY f SYSTEM 'file:///etc/passwd'><!ENTITY % p SYSTEM 'http://127.0.0.1/'>%p;]>"
    );
    for (root, mime) in [
        ("urlset", "text/xml"),
        ("rss", "application/rss+xml"),
        ("x", "application/xml"),
        ("feed", "application/atom+xml"),
    ] {
        let xml = format!(
            "<?xml version='1.0'?>{types}<{root}><url><loc>http://a.example/&f;</loc></url><item><title>&l29;&f;</title></item></{root}>"
        );
        let doc = read_as(xml.as_bytes(), mime);
        assert!(doc.problems.iter().any(|p| p.code == "entities"), "{root}: {:?}", doc.problems);
        assert!(
            doc.text.len() < xml.len() && !doc.text.contains("haha") && !doc.text.contains("root:"),
            "{root}: {}",
            doc.text
        );
        let targets: Vec<_> = doc.links.iter().map(|l| l.target.as_str()).collect();
        assert!(targets.iter().all(|t| *t == "http://a.example/&f;"), "{root}: {targets:?}");
        assert_eq!(targets.len(), usize::from(root == "urlset"), "{root}");
    }
}

#[test]
fn a_feed_of_one_endless_entry_is_read() {
    let entries: String = (0..50_000).map(|i| format!("<guid>http://a.example/{i}</guid></item>")).collect();
    let doc = read_as(format!("<rss><item>{entries}").as_bytes(), "application/rss+xml");
    assert_eq!(doc.links.len(), 50_000);
}

#[test]
fn a_hundred_thousand_nested_elements_are_read() {
    let deep = format!("{}<a href=x>deep</a>{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    let doc = read_as(deep.as_bytes(), "text/html");
    assert_eq!((doc.links[0].anchor.as_str(), doc.text.as_str()), ("deep", "deep"));
    assert_eq!(markdown(&deep).trim(), "deep");
}

#[test]
fn fifty_thousand_attributes_do_not_hide_the_fifty_thousand_and_first() {
    let many: String = (0..50_000).map(|i| format!(" a{i}=x on{i}=y")).collect();
    let doc = read_as(format!("<a{many} href=first href=second>").as_bytes(), "text/html");
    assert_eq!(doc.links[0].target, "first");
}

#[test]
fn lists_are_bounded_and_say_so() {
    let codes = |html: &str| -> Vec<String> {
        read_as(html.as_bytes(), "text/html").problems.into_iter().map(|p| p.code).collect()
    };
    assert_eq!(codes(&"<a href=x>".repeat(100_001)), ["too-many-links"]);
    assert_eq!(codes(&"<img alt=x src=y>".repeat(50_001)), ["too-many-images"]);
    assert_eq!(codes(&format!("<form>{}", "<input>".repeat(100_000))), ["too-many-fields"]);
    assert_eq!(codes(&format!("<form><select>{}", "<option value=x>".repeat(100_000))), ["too-many-options"]);
    assert_eq!(codes(&"<h1>x</h1>".repeat(10_001)), ["too-many-headings"]);
    assert_eq!(codes(&"<form></form>".repeat(10_001)), ["too-many-forms"]);
    assert_eq!(codes(&format!("<a href='{}'>", "x".repeat(10_000))), ["long-target"]);
    assert_eq!(codes(&"many words ".repeat(300_000)), ["text-truncated"]);
}

#[test]
fn a_page_in_no_encoding_at_all_is_read() {
    let bytes: Vec<u8> = (0..=255u8).cycle().take(100_000).collect();
    for mime in ["text/html", "text/plain", "application/xml", "text/css", "text/javascript", ""] {
        read_as(&bytes, mime);
    }
    let broken = [b"<meta charset=utf-8><p>", &b"\xC3\xA9\xE9"[..], b"\xC3\xA9 \xC3\xA9 <a href=x>"].concat();
    let doc = read_as(&broken, "text/html");
    assert_eq!((doc.links.len(), doc.problems[0].code.as_str()), (1, "charset-replaced"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_as_anything_are_read(
        bytes in prop::collection::vec(any::<u8>(), 0..500),
        mime in prop::sample::select(&["", "text/html", "text/plain", "text/xml", "text/css", "application/json", "application/gzip", "image/png", "é"][..]),
        charset in prop::option::of(prop::sample::select(&["utf-8", "utf-16le", "gbk", "iso-2022-jp", "x-user-defined", "nonsense", "replacement"][..])),
        url in "[a-zé:/.@\\[\\]#?]{0,20}",
    ) {
        let doc = extract(&Content { bytes: &bytes, mime: Some(mime), charset, url: &url });
        prop_assert!(doc.text.len() <= 4 * bytes.len() + 16);
        sniff(&bytes, None);
    }

    #[test]
    fn any_markup_is_read(text in "(<|>|/|a|!|-|=|'|\"|&|;|#|x|s|v|g|\\[|\\]|CDATA|script|style|href|url\\(|location|open\\(| |\\\\|\n|é){0,80}") {
        for mime in ["text/html", "application/xhtml+xml", "text/xml", "application/rss+xml", "text/css", "text/javascript", "text/plain"] {
            let doc = extract(&Content { bytes: text.as_bytes(), mime: Some(mime), charset: None, url: "" });
            for link in &doc.links {
                prop_assert!(link.position as usize <= text.len());
            }
        }
        markdown(&text);
    }
}
