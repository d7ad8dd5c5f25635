//! Corner: which sitemaps and robots.txt files are too large to read?
//!
//! A host whose sitemaps reference each other, one with ten million pages, another that expands
//! from a mebibyte to a gibibyte of blanks; a host whose robots.txt never ends, and one whose
//! robots.txt is a decompression bomb.

use super::{BABBLER, Corner, MAPS, PACKED, Spot, Via};
use crate::press;
use crate::reply::{Ask, Flow, Reply, Torrent, WebView, Wire};
use crate::spec::Feature;
use std::sync::LazyLock;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Atlases,
    name: "atlases",
    title: "Maps without end",
    hosts: &[MAPS, BABBLER, PACKED],
    spots,
    answer,
};

static BABBLE: Torrent = Torrent {
    head: b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /private/\n",
    block: b"# There is always more to say about who may go where, and when, and why.\nAllow: /words/and/more/words\n",
    slowly: false,
};

/// A compressed XML sitemap full of blanks.
static BLANKS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let start = b"<?xml version=\"1.0\"?><urlset><url><loc>/in-the-bomb.html</loc></url>";
    press::bomb(start, b' ')
});

/// Rules followed by a gibibyte of newlines.
static RULES: LazyLock<Vec<u8>> = LazyLock::new(|| press::bomb(b"User-agent: *\nDisallow: /private/\n", b'\n'));

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let mut spots = Vec::new();
    for host in [MAPS, BABBLER, PACKED].map(|host| scene.beyond(host)) {
        spots.push(Spot::page("/").on(host));
        spots.push(Spot::page("/public.html").on(host).via(Via::Spot));
    }
    for path in ["/listed.html", "/in-the-bomb.html"] {
        spots.push(Spot::page(path).on(scene.beyond(MAPS)).via(Via::Sitemap));
    }
    spots
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let beyond = ask.host.wrapping_sub(ask.scene.beyond(0));
    match (beyond, rest) {
        _ if ask.host == 0 => return false,
        (_, "") => {
            let links = "<a href=\"/public.html\">public</a> <a href=\"/private/page.html\">private</a>";
            reply.page(200, &format!("Host {beyond}"), links);
        }
        (_, "public.html" | "listed.html" | "in-the-bomb.html") => {
            reply.page(200, "Good", &format!("<p>{rest} of host {beyond}.</p>"));
        }
        (BABBLER, "robots.txt") => reply.wire = Wire::Flow(Flow::Forever(&BABBLE)),
        (PACKED, "robots.txt") => {
            reply.thing("text/plain", &RULES);
            reply.header("Content-Encoding", "gzip");
        }
        (MAPS, "robots.txt") => {
            let text = format!("User-agent: *\nDisallow: /private/\nSitemap: http://{}/a.xml\n", ask.authority);
            reply.thing("text/plain", text.as_bytes());
        }
        (MAPS, "a.xml") => index(ask, &["a.xml", "b.xml", "vast.xml", "bomb.xml.gz", "long.xml"], reply),
        (MAPS, "b.xml") => index(ask, &["b.xml", "a.xml"], reply),
        (MAPS, "long.xml") => {
            let long = "x".repeat(64 << 10);
            let xml = format!("<urlset><url><loc>/{long}</loc></url><url><loc>/listed.html</loc></url></urlset>");
            reply.thing("application/xml", xml.as_bytes());
        }
        (MAPS, "bomb.xml.gz") => reply.thing("application/gzip", &BLANKS),
        (MAPS, "vast.xml") => reply.wire = Wire::Flow(Flow::Sitemap),
        (MAPS, _) if rest.starts_with("many/") => reply.page(200, "Sorry", "<p>Not this one either.</p>"),
        _ => return false,
    }
    true
}

fn index(ask: &Ask<'_>, names: &[&str], reply: &mut Reply) {
    let map = |name: &&str| format!("<sitemap><loc>http://{}/{name}</loc></sitemap>\n", ask.authority);
    let maps: String = names.iter().map(map).collect();
    reply.thing("application/xml", format!("<?xml version=\"1.0\"?><sitemapindex>{maps}</sitemapindex>").as_bytes());
}
