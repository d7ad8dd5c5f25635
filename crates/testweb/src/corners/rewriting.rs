//! Corner: what happens to pages whose URLs contain the session id of the day?
//!
//! Four folders with the same pages, which change, appear and vanish from epoch to epoch. Each
//! writes unnamed session ids into all links: as a path segment, as a query parameter, as a path
//! parameter, and (`fresh`) a new one in every response. An epoch is a session. Without the current
//! id, two of them redirect to the same URL with it; the others accept the request. Some page names
//! look like ids.

use super::{Corner, Spot, Via};
use crate::chance::mixed;
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Rewriting,
    name: "rewriting",
    title: "Folders with an id of the day",
    hosts: &[],
    spots,
    answer,
};

/// Where the ids appear.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Path,
    Query,
    Parameter,
    Fresh,
}

static STYLES: [(&str, Style); 4] =
    [("path", Style::Path), ("query", Style::Query), ("parameter", Style::Parameter), ("fresh", Style::Fresh)];

/// Pages of a folder besides its front page.
const PAGES: u64 = 14;

/// The name of a page; every third looks like an id.
fn name(number: u64) -> String {
    match number % 3 {
        1 => format!("item/{}/view", word(number, 77)),
        _ => format!("doc-{number}.html"),
    }
}

/// Since when a page has been as it is; `None` if it does not exist.
fn since(number: u64, epoch: u64) -> Option<u64> {
    match number {
        2 => Some(epoch),
        3 | 4 => (epoch >= 1).then_some(1),
        5 | 7 => (epoch == 0).then_some(0),
        8 => Some(epoch / 2),
        _ => Some(0),
    }
}

fn word(a: u64, b: u64) -> String {
    format!("{:016X}{:016X}", mixed(&[a, b, 1]), mixed(&[b, a, 2]))
}

/// The id that a response writes into its links.
fn id(scene: &WebView<'_>, style: Style) -> String {
    match style {
        Style::Fresh => scene.web.ticket(),
        _ => word(mixed(&[scene.web.spec().seed, scene.epoch]), style as u64),
    }
}

/// The URL of a page with its id.
fn target(style: Style, name: &str, id: &str) -> String {
    match style {
        Style::Path => format!("/rewriting/path/{id}/{name}"),
        Style::Query => format!("/rewriting/query/{name}?zk={id}"),
        Style::Parameter => format!("/rewriting/parameter/{name};nsid={id}"),
        Style::Fresh => format!("/rewriting/fresh/{name}?rk={id}"),
    }
}

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let mut spots = Vec::new();
    for (folder, _) in STYLES {
        spots.push(Spot::page(format!("/rewriting/{folder}/")).article(scene.epoch.min(1)));
        for number in 0..PAGES {
            if let Some(since) = since(number, scene.epoch) {
                let path = format!("/rewriting/{folder}/{}", name(number));
                spots.push(Spot::page(path).via(Via::Session).article(since));
            }
        }
    }
    spots
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let Some((folder, rest)) = rest.split_once('/') else { return false };
    let Some((_, style)) = STYLES.iter().find(|(name, _)| *name == folder) else { return false };
    let now = id(&ask.scene, *style);
    let (wanted, given) = match style {
        Style::Path => match rest.split_once('/') {
            Some((id, name)) if id.len() == now.len() => (name, id),
            _ => (rest, ""),
        },
        Style::Parameter => rest.split_once(";nsid=").unwrap_or((rest, "")),
        Style::Query | Style::Fresh => (rest, ""),
    };
    let number = (0..PAGES).find(|number| name(*number) == wanted);
    let is_there = number.is_none_or(|number| since(number, ask.scene.epoch).is_some());
    if number.is_none() && !wanted.is_empty() {
        return false;
    }
    if !is_there {
        reply.missing();
    } else if matches!(style, Style::Path | Style::Parameter) && given != now {
        reply.redirect(302, &target(*style, wanted, &now));
    } else {
        written(ask, *style, number, &now, reply);
    }
    true
}

fn written(ask: &Ask<'_>, style: Style, number: Option<u64>, id: &str, reply: &mut Reply) {
    let epoch = ask.scene.epoch;
    let key = number.map_or(PAGES, |number| mixed(&[number, since(number, epoch).unwrap_or(0)]));
    let mut inside: String = (0..4)
        .map(|n| String::from_utf8_lossy(prose::stock(mixed(&[key, style as u64, n]) as usize % prose::SINGLE)))
        .collect();
    inside += "<ul>\n<li><a href=\"/rewriting/\">All folders</a>\n";
    inside += &format!("<li><a href=\"{}\">Front</a>\n", target(style, "", id));
    // Only the front page links to what comes and goes, so that the others stay the same.
    let is_listed =
        |other: &u64| since(*other, epoch).is_some() && (number.is_none() || since(*other, 0) == since(*other, 1));
    for other in (0..PAGES).filter(|other| is_listed(other) || (number.is_some() && *other == 2)) {
        inside += &format!("<li><a href=\"{}\">Page {other}</a>\n", target(style, &name(other), id));
    }
    let title = number.map_or_else(|| "Front".to_owned(), |number| format!("Page {number}"));
    reply.page(200, &title, &(inside + "</ul>"));
}
