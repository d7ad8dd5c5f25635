//! Corner: in how many ways can a link be written?
//!
//! Each exhibit is a page whose links lead to leaves named after it; what must not be taken for a
//! link leads to `/markup/fake/`, which nobody may request. A few pages at the end are such that
//! building a tree of them would be a mistake.

use super::{Corner, Fate, Spot, Via};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Markup, name: "markup", title: "Ways to write a link", hosts: &[], spots, answer };

/// A page and the leaves below `/markup/leaf/` it leads to.
struct Exhibit {
    name: &'static str,
    html: &'static str,
    leads: &'static [&'static str],
}

const fn exhibit(name: &'static str, html: &'static str, leads: &'static [&'static str]) -> Exhibit {
    Exhibit { name, html, leads }
}

static EXHIBITS: &[Exhibit] = &[
    exhibit("base", "<base href=\"/markup/leaf/\"><a href=\"base.html\">one</a>", &["base.html"]),
    exhibit(
        "second-base",
        "<base href=\"/markup/leaf/\"><base href=\"/markup/fake/\"><a href=\"second-base.html\">one</a>",
        &["second-base.html"],
    ),
    exhibit(
        "quotes",
        "<A HREF='/markup/leaf/single.html'>one</A> <a href=/markup/leaf/bare.html>two</a> \
         <a\n\thReF = \"/markup/leaf/spaced.html\"\n>three</a> <a title=\">\" href=\"/markup/leaf/angle.html\">four</a>",
        &["single.html", "bare.html", "spaced.html", "angle.html"],
    ),
    exhibit(
        "entities",
        "<a href=\"/markup/leaf/amp.html?a=1&amp;b=2\">one</a> <a href=\"/markup/leaf/&#101;ntity.html\">two</a> \
         <a href=\"&#x2f;markup&sol;leaf/hex.html\">three</a> <a href=\"/markup/leaf/raw.html?a=1&b=2\">four</a>",
        &["amp.html?a=1&b=2", "entity.html", "hex.html", "raw.html?a=1&b=2"],
    ),
    exhibit(
        "fragments",
        "<a href=\"#top\">up</a> <a href=\"/markup/leaf/fragment.html#one\">one</a> \
         <a href=\"/markup/leaf/fragment.html#two\">two</a>",
        &["fragment.html"],
    ),
    exhibit(
        "dots",
        "<a href=\"./leaf/./dots.html\">one</a> <a href=\"../markup/leaf/x/../updots.html\">two</a> \
         <a href=\"../../../markup/leaf/overdots.html\">three</a>",
        &["dots.html", "updots.html", "overdots.html"],
    ),
    exhibit(
        "blanks",
        "<a href=\"  /markup/leaf/trimmed.html\n\">one</a> <a href=\"/markup/leaf/new\nline.html\">two</a>",
        &["trimmed.html", "newline.html"],
    ),
    exhibit("backslash", "<a href=\"\\markup\\leaf\\backslash.html\">one</a>", &["backslash.html"]),
    exhibit("unicode", "<a href=\"/markup/leaf/caf&eacute;.html\">caf\u{e9}</a>", &["caf%C3%A9.html"]),
    exhibit("protocol", "<a href=\"//AUTHORITY/markup/leaf/protocol.html\">one</a>", &["protocol.html"]),
    exhibit(
        "comments",
        "<!-- <a href=\"/markup/fake/comment.html\">no</a> --><a href=\"/markup/leaf/comment.html\">yes</a>\
         <textarea><a href=\"/markup/fake/textarea.html\">no</a></textarea><!-- > <a href=/markup/fake/open.html>no</a> -->",
        &["comment.html"],
    ),
    exhibit(
        "schemes",
        "<a href=\"mailto:a@b.test\">m</a> <a href=\"tel:123\">t</a> <a href=\"JavaScript:void(0)\">j</a> \
         <a href=\"data:text/html,hi\">d</a> <a href=\"irc://irc.test/room\">i</a> <a href=\"news:alt.test\">n</a> \
         <a href=\"http://\">e</a> <a href=\"http://a b/\">s</a> <a href=\"\">empty</a>",
        &[],
    ),
    exhibit(
        "elements",
        "<map name=m><area href=\"/markup/leaf/area.html\" alt=area></map> \
         <iframe src=\"/markup/leaf/iframe.html\"></iframe>",
        &["area.html", "iframe.html"],
    ),
    exhibit(
        "duplicate",
        "<a href=\"/markup/leaf/first.html\" href=\"/markup/fake/second.html\">one</a>",
        &["first.html"],
    ),
    exhibit(
        "unclosed",
        "<div><p><b><a href=\"/markup/leaf/unclosed.html\">one<td><a href='/markup/leaf/unclosed-too.html'>two<p </p",
        &["unclosed.html", "unclosed-too.html"],
    ),
    exhibit(
        "noindex",
        "<meta name=\"robots\" content=\"noindex\"><a href=\"/markup/leaf/noindex.html\">one</a>",
        &["noindex.html"],
    ),
    exhibit("controls", "<a href=\"/markup/leaf/nul.html\">nul \0 and \u{7} bell</a>", &["nul.html"]),
];

/// Pages with `nofollow` links.
static NOFOLLOW: &[(&str, &str, &str)] = &[
    ("nofollow", "<a rel=\"external NoFollow\" href=\"/markup/leaf/nofollow.html\">no</a>", "nofollow.html"),
    (
        "meta-nofollow",
        "<meta name=\"ROBOTS\" content=\"index, nofollow\"><a href=\"/markup/leaf/meta-nofollow.html\">no</a>",
        "meta-nofollow.html",
    ),
];

/// Pathological pages.
static HOSTILE: &[&str] = &["nested", "attributes", "bad-utf8", "long-url", "open-tag", "open-comment", "one-line"];

const LONG_URL: usize = 64 << 10;

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let page = |name: &str| Spot::page(format!("/markup/{name}.html"));
    let leaf = |name: &str| Spot::page(format!("/markup/leaf/{name}"));
    let mut spots = Vec::new();
    for exhibit in EXHIBITS {
        spots.push(page(exhibit.name));
        spots.extend(exhibit.leads.iter().map(|name| leaf(name).via(Via::Spot)));
    }
    for (name, _, to) in NOFOLLOW {
        spots.push(page(name));
        spots.push(leaf(to).via(Via::Nofollow));
    }
    spots.extend(HOSTILE.iter().map(|name| page(name)));
    spots.push(Spot::new(long_path(), Fate::Optional).via(Via::Spot));
    spots
}

fn long_path() -> String {
    format!("/markup/leaf/{}", "x".repeat(LONG_URL))
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if let Some(leaf) = rest.strip_prefix("leaf/") {
        let leads = EXHIBITS.iter().flat_map(|exhibit| exhibit.leads).chain(NOFOLLOW.iter().map(|page| &page.2));
        let known = leads.map(|lead| lead.split('?').next().unwrap_or(lead)).any(|lead| lead == leaf);
        reply.page(200, "A leaf", &format!("<p>{}</p>", super::escaped(leaf.get(..40).unwrap_or(leaf))));
        return known || ask.path.len() == long_path().len();
    }
    let Some(name) = rest.strip_suffix(".html") else {
        return false;
    };
    if let Some(exhibit) = EXHIBITS.iter().find(|exhibit| exhibit.name == name) {
        body(reply, name, exhibit.html.replace("AUTHORITY", ask.authority).as_bytes());
        return true;
    }
    if let Some((_, html, _)) = NOFOLLOW.iter().find(|page| page.0 == name) {
        body(reply, name, html.as_bytes());
        return true;
    }
    HOSTILE.contains(&name) && {
        hostile(name, reply);
        true
    }
}

/// A page with this right after its title, so that head elements are in the head.
fn body(reply: &mut Reply, name: &str, html: &[u8]) {
    for part in [b"<!doctype html><html lang=en><title>Markup: ", name.as_bytes(), b"</title>", html, b"\n"] {
        reply.body.extend_from_slice(part);
    }
}

fn hostile(name: &str, reply: &mut Reply) {
    let html = match name {
        "nested" => b"<div>".repeat(100_000),
        "attributes" => {
            let attributes: String = (0..50_000).map(|n| format!(" a{n}={n}")).collect();
            format!("<p{attributes}>So many.</p>").into_bytes()
        }
        "bad-utf8" => b"<p>ok \xff\xfe\xc3( \xe2\x82 \xf8\x88\x80\x80\x80 \xed\xa0\x80 ok</p>".to_vec(),
        "long-url" => format!("<a href=\"{}\">long</a>", long_path()).into_bytes(),
        "open-tag" => [b"<p title=\"never closed ".as_slice(), &b"<a href=x ".repeat(20_000)].concat(),
        "open-comment" => [b"<p>seen</p>".as_slice(), &b"<!--".repeat(50_000)].concat(),
        _ => b"word ".repeat(200_000),
    };
    body(reply, name, &html);
}
