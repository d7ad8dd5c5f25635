//! Corner: what must a crawler leave alone?
//!
//! Rules as in RFC 9309: wildcards, an end anchor, a longer `Allow` and a tie that allows; crawl
//! delays on some hosts; a host that disallows everything. A host whose robots.txt is a server
//! error, which disallows everything too, is among the failures.

use super::{CLOSED, Corner, Fate, Spot};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Robots, name: "robots", title: "Pages under rules", hosts: &[CLOSED], spots, answer };

const RULES: &str = "# The rules of the first host.\n\
    User-agent: badbot\nDisallow: /\n\n\
    User-agent: *\n\
    Disallow: /admin/\n\
    Disallow: /robots/private/\n\
    Allow: /robots/private/open/\n\
    Disallow: /robots/*.pdf$\n\
    Disallow: /robots/*/draft\n\
    Disallow: /*?print=\n\
    Disallow: /robots/tie\n\
    Allow: /robots/tie\n";

/// The kind of a host's robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RobotsPolicy {
    Rules,
    Missing,
    Empty,
    StaffOnly,
    Slow,
    Closed,
}

fn policy(scene: &WebView<'_>, host: u32) -> RobotsPolicy {
    match host {
        0 => RobotsPolicy::Rules,
        _ if host == scene.beyond(CLOSED) => RobotsPolicy::Closed,
        _ if host >= scene.beyond(0) => RobotsPolicy::Missing,
        _ => [
            RobotsPolicy::StaffOnly,
            RobotsPolicy::Missing,
            RobotsPolicy::Empty,
            RobotsPolicy::StaffOnly,
            RobotsPolicy::Slow,
        ][host as usize % 5],
    }
}

/// Whether a host disallows its folder `/admin/`.
pub(crate) fn forbids_admin(scene: &WebView<'_>, host: u32) -> bool {
    matches!(policy(scene, host), RobotsPolicy::Rules | RobotsPolicy::StaffOnly | RobotsPolicy::Slow)
}

/// Answers `/robots.txt` and the page for staff, which every host has.
pub(super) fn at_root(ask: &Ask<'_>, reply: &mut Reply) -> bool {
    let features = ask.scene.web.spec().features;
    let ruled = features.has(Feature::Robots);
    if ask.path == "/admin/login.html" && ruled && ask.host < ask.scene.beyond(0) {
        reply.page(
            200,
            "Staff only",
            "<form action=\"/admin/login.html\" method=\"post\"><input name=\"name\"></form>",
        );
        return true;
    }
    let mapped = ask.host == 0 && features.has(Feature::Sitemaps);
    if ask.path != "/robots.txt" || !(ruled || mapped) {
        return false;
    }
    let mut text = match policy(&ask.scene, ask.host) {
        _ if !ruled => String::new(),
        RobotsPolicy::Rules => RULES.to_owned(),
        RobotsPolicy::Missing => return false,
        RobotsPolicy::Empty => String::new(),
        RobotsPolicy::StaffOnly => "\u{feff}user-agent : *\r\ndisallow : /admin/ # staff\r\n".to_owned(),
        RobotsPolicy::Slow => {
            let delay = ask.scene.web.spec().crawl_delay.as_secs_f64();
            format!("User-agent: *\nCrawl-delay: {delay}\nDisallow: /admin/\n")
        }
        RobotsPolicy::Closed => "User-agent: *\nDisallow: /\n".to_owned(),
    };
    if mapped {
        text += &format!("\nSitemap: http://{}/sitemap.xml\n", ask.authority);
    }
    reply.thing("text/plain; charset=utf-8", text.as_bytes());
    true
}

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let forbidden = |path: &str| Spot::new(path, Fate::Disallowed);
    vec![
        forbidden("/robots/private/secret.html"),
        forbidden("/robots/paper.pdf"),
        forbidden("/robots/2026/draft-1.html"),
        forbidden("/robots/page.html?print=1"),
        Spot::page("/robots/private/open/welcome.html"),
        Spot::page("/robots/paper.pdf.html"),
        Spot::page("/robots/page.html"),
        Spot::page("/robots/tie.html"),
        forbidden("/").on(scene.beyond(CLOSED)),
    ]
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if ask.host != 0 {
        reply.page(200, "A host under rules", "<p>You were not to come here.</p>");
        return rest.is_empty();
    }
    let known = spots(&ask.scene).iter().any(|spot| spot.path.split('?').next() == Some(ask.path));
    if known && !rest.is_empty() {
        reply.page(200, "A page under rules", &format!("<p>This is {rest}.</p>"));
    }
    known && !rest.is_empty()
}
