//! Corner: where do redirects lead?

use super::{Corner, ELSEWHERE, Fate, Spot, Via};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Redirects,
    name: "redirects",
    title: "Pages that are elsewhere",
    hosts: &[ELSEWHERE],
    spots,
    answer,
};

/// A redirect: its name, its status, its `Location` as sent.
struct Turn(&'static str, u16, &'static str);

static TURNS: &[Turn] = &[
    Turn("301", 301, "/redirects/landing-301.html"),
    Turn("302", 302, "/redirects/landing-302.html"),
    Turn("303", 303, "/redirects/landing-303.html"),
    Turn("307", 307, "/redirects/landing-307.html"),
    Turn("308", 308, "/redirects/landing-308.html"),
    Turn("relative", 301, "landing-relative.html"),
    Turn("fragment", 302, "/redirects/landing-fragment.html#part"),
    Turn("dots", 302, "../redirects/./landing-dots.html"),
    Turn("chain-1", 301, "/redirects/chain-2"),
    Turn("chain-2", 302, "/redirects/chain-3"),
    Turn("chain-3", 307, "/redirects/landing-chain.html"),
    Turn("loop-a", 302, "/redirects/loop-b"),
    Turn("loop-b", 302, "/redirects/loop-a"),
    Turn("self", 301, "/redirects/self"),
    Turn("to-404", 301, "/redirects/nowhere"),
    Turn("home", 301, "/"),
    Turn("mail", 302, "mailto:editor@example.test"),
    Turn("invalid", 302, "http://[not an address/"),
];

/// Redirects that are reached only from other redirects.
const INNER: [&str; 3] = ["chain-2", "chain-3", "loop-b"];

/// The URL that a `Location` of this corner denotes.
fn resolved(scene: &WebView<'_>, location: &str) -> String {
    let location = location.split('#').next().unwrap_or(location);
    match location {
        _ if location.starts_with('/') => scene.url(0, location),
        _ if location.contains(':') => location.to_owned(),
        _ => scene.url(0, &format!("/redirects/{}", location.trim_start_matches("../redirects/./"))),
    }
}

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let mut spots = Vec::new();
    for Turn(name, status, location) in TURNS {
        let via = if INNER.contains(name) { Via::Spot } else { Via::Index };
        let to = resolved(scene, location);
        let landing = to.rsplit_once("/landing-").map(|(_, rest)| format!("/redirects/landing-{rest}"));
        spots.push(Spot::new(format!("/redirects/{name}"), Fate::Redirect(*status, to)).via(via));
        spots.extend(landing.map(|path| Spot::page(path).via(Via::Spot)));
    }
    let elsewhere = scene.beyond(ELSEWHERE);
    spots.push(Spot::new("/redirects/abroad", Fate::Redirect(301, scene.url(elsewhere, "/"))));
    spots.push(Spot::page("/").on(elsewhere).via(Via::Spot));
    spots.push(Spot::new("/redirects/nowhere", Fate::Status(404)).via(Via::Spot));
    spots.push(Spot::new("/redirects/no-location", Fate::Status(301)));
    spots
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if ask.host != 0 {
        reply.page(200, "Elsewhere", "<p>Only a redirect leads here.</p>");
        return rest.is_empty();
    }
    if let Some(Turn(_, status, location)) = TURNS.iter().find(|turn| turn.0 == rest) {
        reply.redirect(*status, location);
        return true;
    }
    match rest {
        "abroad" => reply.redirect(301, &ask.scene.url(ask.scene.beyond(ELSEWHERE), "/")),
        "no-location" => reply.page(301, "Moved", "<p>Nobody says where.</p>"),
        _ => {
            let to = ask.scene.url(0, ask.path);
            let known = TURNS.iter().any(|turn| turn.2.contains("landing-") && resolved(&ask.scene, turn.2) == to);
            if known {
                reply.page(200, "Here it is", &format!("<p>You have arrived at {rest}.</p>"));
            }
            return known;
        }
    }
    true
}
