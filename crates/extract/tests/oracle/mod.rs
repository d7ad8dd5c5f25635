//! What would a browser's DOM say?
//!
//! The oracle of the HTML reader: html5ever's tree, scripting off, walked for the same links, title
//! and text. It uses the tree alone and shares no code with the reader. Style sheets, scripts,
//! event handlers and refreshes have their own tests and are left out, and so is what the reader
//! reads deliberately but a tree does not contain: `<noframes>` and `srcdoc`.

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, ns, parse_document};
use orb_extract::{Content, extract};
use scraper::node::Element;
use scraper::{Html, HtmlTreeSink, Node};

/// What both sides extract from a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saying {
    /// Kind and target of every link, in order.
    pub(crate) links: Vec<(&'static str, String)>,
    /// The title.
    pub(crate) title: Option<String>,
    /// The visible text without any white space.
    pub(crate) text: String,
    /// The `alt` of every picture.
    pub(crate) alts: Vec<String>,
}

/// What the reader extracts.
pub(crate) fn reader(html: &str) -> Saying {
    let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: Some("utf-8"), url: "" };
    let doc = extract(&content);
    let links = doc.links.into_iter().map(|l| (l.kind.name(), l.target.replace("\r\n", "\n")));
    let links = links.filter(|(kind, _)| !matches!(*kind, "css" | "js" | "onclick" | "refresh")).collect();
    let alts = doc.images.into_iter().map(|i| i.alt.unwrap_or_default()).collect();
    Saying { links, title: doc.title, text: squeezed(&doc.text), alts }
}

/// What the tree contains.
pub(crate) fn tree(html: &str) -> Saying {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let opts = ParseOpts { tree_builder, ..ParseOpts::default() };
    let html = parse_document(HtmlTreeSink::new(Html::new_document()), opts).one(html);
    let mut saying = Saying::default();
    let mut text = String::new();
    for node in html.tree.root().descendants() {
        let hidden = || node.ancestors().any(|a| a.value().as_element().is_some_and(is_hidden));
        match node.value() {
            Node::Text(characters) if !hidden() => text.push_str(characters),
            Node::Element(element) => {
                if element.name() == "title" && is_html(element) && saying.title.is_none() {
                    let title: String = node.children().filter_map(|c| c.value().as_text().map(|t| &**t)).collect();
                    saying.title = Some(folded(&title));
                }
                element_says(element, &mut saying);
            }
            _ => {}
        }
    }
    saying.text = squeezed(&text);
    saying.title = saying.title.filter(|t| !t.is_empty());
    saying
}

fn is_html(element: &Element) -> bool {
    element.name.ns == ns!(html)
}

fn is_hidden(element: &Element) -> bool {
    let everywhere = matches!(element.name(), "title" | "desc" | "style" | "script");
    let in_html =
        matches!(element.name(), "script" | "style" | "template" | "textarea" | "iframe" | "noembed" | "noframes");
    if is_html(element) {
        in_html || element.name() == "title"
    } else {
        everywhere && element.name.ns == ns!(svg) || annotates(element)
    }
}

/// Whether it is an annotation of a formula that browsers do not show.
fn annotates(element: &Element) -> bool {
    let encoding = element.attr("encoding").unwrap_or("").trim().to_ascii_lowercase();
    let is_shown = ["text/html", "application/xhtml+xml", "mathml-presentation", "application/mathml-presentation+xml"]
        .contains(&encoding.as_str());
    let is_one = element.name() == "annotation" || element.name() == "annotation-xml" && !is_shown;
    is_one && element.name.ns == ns!(mathml)
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t' | '\r' | '\u{C}' | '\u{A0}' | '\0')).collect()
}

fn folded(text: &str) -> String {
    let spaces = [' ', '\n', '\t', '\r', '\u{C}', '\u{A0}'];
    text.split(spaces).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

fn element_says(element: &Element, saying: &mut Saying) {
    let links = &mut saying.links;
    let mut say = |kind: &'static str, name: &str, empty_counts: bool| {
        let Some((_, value)) = element.attrs().find(|(n, _)| *n == name) else { return };
        let target = value.trim_matches(|c| c <= ' ');
        let is_data = target.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("data:"));
        if !is_data && target.len() <= 8_192 && (empty_counts || !target.is_empty()) {
            links.push((kind, target.to_owned()));
        }
    };
    let is_picture =
        element.attr("type").is_some_and(|t| t.trim().eq_ignore_ascii_case("image")) && element.attr("src").is_some();
    match (element.name(), is_html(element)) {
        ("a", true) => say("a", "href", true),
        ("area", true) => say("area", "href", true),
        ("img", true) => {
            ["src", "data-src", "lowsrc", "dynsrc"].into_iter().for_each(|name| say("img", name, false));
        }
        ("input", true) if is_picture => say("img", "src", false),
        ("script", true) => say("script", "src", false),
        ("iframe" | "frame", true) => {
            say("frame", if element.attr("src").is_some() { "src" } else { "data-src" }, false);
        }
        ("form", true) => say("form", "action", false),
        ("object", true) if element.attr("codebase").is_none() => say("object", "data", false),
        ("embed", true) => say("object", "src", false),
        ("audio" | "video" | "track" | "source" | "bgsound", true) => {
            say("media", "src", false);
            say("media", "poster", false);
        }
        ("link", true) => {
            if let Some(kind) = kind_of_link(element) {
                say(kind, "href", false);
            }
        }
        ("html", true) => say("link", "manifest", false),
        ("a", false) => say("a", "href", false),
        (name, false) if !element.attrs().any(|(n, v)| n == "href" && v.trim_start().starts_with('#')) => {
            let kind = match name {
                "image" | "feImage" | "use" => "img",
                "script" => "script",
                _ => "xml",
            };
            say(kind, "href", false);
        }
        _ => {}
    }
    say("img", "background", false);
    say("cite", "cite", false);
    say("cite", "longdesc", false);
    say("form", "formaction", false);
    let shown = ["src", "data-src"]
        .into_iter()
        .any(|n| element.attr(n).is_some_and(|s| !s.trim_matches(|c| c <= ' ').is_empty()));
    if is_html(element) && shown && (element.name() == "img" || (element.name() == "input" && is_picture)) {
        saying.alts.push(folded(element.attr("alt").unwrap_or("")));
    }
}

fn kind_of_link(element: &Element) -> Option<&'static str> {
    let rel = element.attr("rel").unwrap_or("").to_ascii_lowercase();
    let has = |token: &str| rel.split_ascii_whitespace().any(|t| t == token);
    if has("canonical") {
        Some("canonical")
    } else if has("stylesheet") || has("preconnect") || has("dns-prefetch") || has("preload") || has("prefetch") {
        None
    } else if has("icon") || has("apple-touch-icon") {
        Some("img")
    } else {
        Some("link")
    }
}
