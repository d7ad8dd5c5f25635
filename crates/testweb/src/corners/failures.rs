//! Corner: which servers fail permanently?
//!
//! A crawler may retry these before giving up. One host's robots.txt fails this way, which
//! disallows everything (RFC 9309, section 2.3.1.4).

use super::{Corner, Fate, Spot, UNSURE};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Failures,
    name: "failures",
    title: "Servers out of order",
    hosts: &[UNSURE],
    spots,
    answer,
};

const STATUSES: [u16; 5] = [500, 501, 502, 503, 504];

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    STATUSES
        .iter()
        .map(|status| Spot::new(format!("/failures/{status}.html"), Fate::Status(*status)))
        .chain([Spot::new("/", Fate::Disallowed).on(scene.beyond(UNSURE))])
        .collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if ask.host != 0 {
        let status = if rest == "robots.txt" { 500 } else { 200 };
        reply.page(status, "Out of order", "<p>Nobody knows the rules today.</p>");
        return true;
    }
    let asked = rest.strip_suffix(".html").and_then(|number| number.parse().ok());
    let Some(status) = STATUSES.into_iter().find(|status| asked == Some(*status)) else {
        return false;
    };
    reply.page(status, "Out of order", &format!("<p>The answer is {status}, today and tomorrow.</p>"));
    if status == 503 {
        reply.header("Retry-After", "86400");
    }
    true
}
