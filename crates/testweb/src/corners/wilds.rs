//! Corner: which hosts have no end?
//!
//! Two domains with a wildcard in the DNS: one whose subdomains all differ and link to more of
//! them, and one with the same pages everywhere. And an endless chain of hosts, each with its own
//! domain, each linking to the next.

use super::{Corner, MIRRORED, Spot, WILD};
use crate::chance::{mixed, mixed_text};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Wilds,
    name: "wilds",
    title: "Hosts without end",
    hosts: &[WILD, MIRRORED],
    spots,
    answer,
};

/// Pages of a mirrored host besides its home page.
const PAGES: usize = 20;
/// Hosts that a mirrored host links to.
const NAMES: usize = 400;

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    [WILD, MIRRORED].map(|host| Spot::page("/").on(scene.beyond(host))).into()
}

/// The response of a host in the chain: prose, and a link to the next.
pub(crate) fn stranger(ask: &Ask<'_>, reply: &mut Reply) {
    if ask.path != "/" {
        return reply.missing();
    }
    let next = ask.scene.url(ask.host.saturating_add(1), "/");
    let text = prose_of(u64::from(ask.host));
    reply.page(200, &format!("Stranger {}", ask.host), &format!("{text}<a href=\"{next}\">Further</a>"));
}

fn prose_of(key: u64) -> String {
    (0..6).map(|n| String::from_utf8_lossy(prose::stock(mixed(&[key, n]) as usize))).collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if ask.host == ask.scene.beyond(MIRRORED) {
        return mirrored(ask, rest, reply);
    }
    if ask.host == 0 {
        return false;
    }
    if rest == "pong" {
        reply.redirect(302, &ask.scene.url(0, "/mazes/ping"));
        return true;
    }
    let own = domain(ask);
    let label = ask.authority.split('.').next().unwrap_or_default();
    let number: u64 = label.strip_prefix('w').and_then(|n| n.parse().ok()).unwrap_or(0);
    let next = [2 * number + 1, 2 * number + 2].map(|n| format!("<a href=\"http://w{n}.{own}/\">Next door</a>\n"));
    let stranger = ask.scene.url(ask.scene.web.hosts(), "/");
    let links = next.concat() + &format!("<a href=\"{stranger}\">A stranger</a>");
    reply.page(200, &format!("At {}", ask.authority), &(prose_of(mixed_text(ask.authority)) + &links));
    rest.is_empty()
}

/// The parent domain of all hosts of this kind, with the port.
fn domain<'a>(ask: &Ask<'a>) -> &'a str {
    let dots = ask.authority.matches('.').count();
    ask.authority.splitn(dots.max(1), '.').last().unwrap_or(ask.authority)
}

fn mirrored(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let number = rest.strip_prefix("page-").and_then(|n| n.strip_suffix(".html")).and_then(|n| n.parse().ok());
    let number = if rest.is_empty() { 0 } else { number.unwrap_or(usize::MAX) };
    if number > PAGES {
        return false;
    }
    let own = domain(ask);
    let pages = (1..=PAGES).map(|n| format!("<a href=\"/page-{n}.html\">{n}</a>\n"));
    let names = (1..=NAMES).map(|n| format!("<a href=\"http://m{n}.{own}/\">{n}</a>\n"));
    let text = String::from_utf8_lossy(prose::stock(300 + number));
    let links: String = if number == 0 { pages.chain(names).collect() } else { String::new() };
    reply.page(200, &format!("Everywhere the same: {number}"), &format!("{text}{links}"));
    true
}
