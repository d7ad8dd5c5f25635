//! Corner: which pages are absurdly large, or not in the encoding they declare?
//!
//! Each links to a leaf of its name where a browser would find it; leaves named by a number are all
//! the same.

use super::{Corner, Fate, Spot, Via};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Vast, name: "vast", title: "Pages beyond measure", hosts: &[], spots, answer };

/// Number of links on the page of links.
const LINKS: usize = 1_000_000;
/// Length of the longest attribute, within the maximum size of a body.
const ATTRIBUTE: usize = 9_500_000;
/// Length of an absurdly long URL.
const LONG: usize = 64 << 10;

/// Pages, and whether their leaf can be found.
static PAGES: &[(&str, bool)] = &[
    ("links", false),
    ("attribute", true),
    ("nested", true),
    ("attributes", true),
    ("base", false),
    ("long-base", true),
    ("nul", true),
    ("not-utf8", true),
    ("utf7", true),
    ("says-utf16", true),
    ("utf16-unsaid", false),
    ("two-charsets", true),
];

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let leaf = |name: &str| Spot::page(format!("/vast/leaf/{name}.html")).via(Via::Spot);
    let mut spots: Vec<_> = PAGES.iter().map(|(name, _)| Spot::page(format!("/vast/{name}.html"))).collect();
    spots.extend(PAGES.iter().filter(|(_, leads)| *leads).map(|(name, _)| leaf(name)));
    spots.push(Spot::new("/vast/location", Fate::Broken));
    spots
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if let Some(leaf) = rest.strip_prefix("leaf/") {
        let known = PAGES.iter().any(|(name, _)| leaf.strip_suffix(".html") == Some(name));
        let text = if known { leaf } else { "one of many" };
        reply.page(200, "A leaf", &format!("<p>This is {text}.</p>"));
        return true;
    }
    if rest == "location" {
        reply.redirect(302, &format!("/vast/{}", "x".repeat(LONG)));
        return true;
    }
    let Some(name) = rest.strip_suffix(".html").filter(|name| PAGES.iter().any(|page| page.0 == *name)) else {
        return false;
    };
    reply.identity = true;
    let html = html(name, reply);
    reply.body = html;
    true
}

fn html(name: &str, reply: &mut Reply) -> Vec<u8> {
    let link = format!("<title>Vast: {name}</title><a href=\"/vast/leaf/{name}.html\">leaf</a>");
    let text = match name {
        "links" => (0..LINKS).map(|n| format!("<a href=leaf/{n}>")).collect(),
        "attribute" => format!("<p title=\"{}\">{link}", "x".repeat(ATTRIBUTE)),
        "nested" => "<b><div>".repeat(100_000) + &link,
        "attributes" => {
            let attributes: String = (0..50_000).map(|n| format!(" data-{n}=\"{n}\"")).collect();
            format!("<p{attributes}>{link}")
        }
        "base" => {
            let links: String = (0..90_000).map(|n| format!("<a href={n}>")).collect();
            format!("<base href=\"/vast/leaf/{}/\">{links}", "y".repeat(7_000))
        }
        "long-base" => format!("<base href=\"/{}/\">{link}", "y".repeat(LONG)),
        "nul" => format!("\0<\0a href=\"/vast/no\0\">\0{link}{}", "\0".repeat(100_000)),
        "not-utf8" => return [b"<p>\xff\xc3(\xed\xa0\x80\xf8\x88".repeat(10_000).as_slice(), link.as_bytes()].concat(),
        "utf7" => {
            reply.mime = "text/html; charset=utf-7";
            format!("+ADw-a href=+ACI-/vast/fake.html+ACI-+AD4-{link}")
        }
        "says-utf16" => {
            reply.mime = "text/html";
            format!("<meta charset=\"utf-16\">{link}")
        }
        "utf16-unsaid" => {
            reply.mime = "text/html";
            return link.encode_utf16().flat_map(u16::to_le_bytes).collect();
        }
        _ => {
            reply.mime = "text/html; charset=no-such; charset=utf-8";
            format!("<meta charset=shift_jis>{link}")
        }
    };
    text.into_bytes()
}
