//! Corner: which pages are only in a sitemap?
//!
//! An index at `/sitemap.xml` lists an XML sitemap, a compressed one and one in plain text;
//! robots.txt names the index.

use super::{Corner, Fate, Spot, Via};
use crate::clock;
use crate::press;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Sitemaps, name: "sitemaps", title: "Pages no link leads to", hosts: &[], spots, answer };

const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const PARTS: [(&str, std::ops::Range<u32>); 3] = [("pages.xml", 0..3), ("more.xml.gz", 3..6), ("list.txt", 6..8)];

fn lonely(number: u32) -> String {
    format!("/sitemaps/lonely-{number}.html")
}

/// Answers `/sitemap.xml`.
pub(super) fn at_root(ask: &Ask<'_>, reply: &mut Reply) -> bool {
    if ask.path != "/sitemap.xml" || !ask.scene.web.spec().features.has(Feature::Sitemaps) {
        return false;
    }
    let mut xml = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"{NAMESPACE}\">\n");
    for (name, _) in PARTS {
        let authority = ask.authority;
        xml += &format!("<sitemap><loc>http://{authority}/sitemaps/{name}</loc></sitemap>\n");
    }
    reply.thing("application/xml", (xml + "</sitemapindex>\n").as_bytes());
    true
}

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let map = |path: String| Spot::new(path, Fate::Asset).via(Via::Robots);
    std::iter::once(map("/sitemap.xml".into()))
        .chain(PARTS.iter().map(|(name, _)| map(format!("/sitemaps/{name}"))))
        .chain((0..8).map(|number| Spot::page(lonely(number)).via(Via::Sitemap)))
        .collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if (0..8).any(|number| lonely(number) == ask.path) {
        reply.page(200, "A lonely page", &format!("<p>No link leads to {rest}.</p>"));
        return true;
    }
    let Some((name, range)) = PARTS.into_iter().find(|(name, _)| *name == rest) else {
        return false;
    };
    let urls = range.map(|number| format!("http://{}{}", ask.authority, lonely(number)));
    if name.ends_with(".txt") {
        reply.thing("text/plain; charset=utf-8", urls.map(|url| url + "\n").collect::<String>().as_bytes());
        return true;
    }
    let day = clock::day(ask.scene.epoch);
    let mut xml = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{NAMESPACE}\">\n");
    for url in urls {
        xml += &format!("<url><loc>{url}</loc><lastmod>{day}</lastmod><priority>0.5</priority></url>\n");
    }
    xml += "</urlset>\n";
    if name.ends_with(".gz") {
        reply.thing("application/gzip", &press::gzip(xml.as_bytes()));
    } else {
        reply.thing("application/xml", xml.as_bytes());
    }
    true
}
