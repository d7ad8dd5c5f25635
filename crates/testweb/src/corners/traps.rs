//! Corner: which URL spaces are endless?
//!
//! The classic spider traps: a calendar with a next month for ever, growing paths, repeating
//! segments, combinable facets, a counter in the query.

use super::{Corner, Fate, Spot, escaped};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Traps, name: "traps", title: "Folders without end", hosts: &[], spots, answer };

/// Each trap's name, and its entry below it.
const ENTRIES: [(&str, &str); 5] = [
    ("calendar", "/2026/11/"),
    ("deeper", "/a/"),
    ("again", "/one/two/"),
    ("shop", "?colour=red"),
    ("counter", "?page=1"),
];

const FACETS: [(&str, [&str; 3]); 5] = [
    ("colour", ["red", "green", "blue"]),
    ("size", ["s", "m", "l"]),
    ("sort", ["price", "name", "age"]),
    ("material", ["wool", "silk", "tin"]),
    ("view", ["list", "grid", "wall"]),
];

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let begin = |name| format!("/traps/{name}");
    ENTRIES.iter().map(|(name, entry)| Spot::new(begin(name) + entry, Fate::Endless(begin(name)))).collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let (trap, inner) = rest.split_once('/').unwrap_or((rest, ""));
    let links = match trap {
        "calendar" => calendar(inner),
        "deeper" => Some(vec!["a/".into(), "b/".into()]),
        "again" => Some(vec!["one/two/".into(), "../../two/one/two/".into()]),
        "shop" => Some(facets(ask.query)),
        "counter" => counter(ask.query),
        _ => None,
    };
    let Some(links) = links else {
        return false;
    };
    let links = links.iter().map(|link| format!("<li><a href=\"{}\">Further</a>\n", escaped(link)));
    let inside = format!("<p>You are at {}.</p><ul>{}</ul>", escaped(rest), links.collect::<String>());
    reply.page(200, &format!("Without end: {trap}"), &inside);
    true
}

fn calendar(inner: &str) -> Option<Vec<String>> {
    let (year, month) = inner.strip_suffix('/')?.split_once('/')?;
    let (year, month): (u32, u32) = (year.parse().ok()?, month.parse().ok()?);
    let month = (1..=12).contains(&month).then(|| u64::from(year) * 12 + u64::from(month) - 1)?;
    let page = |month: u64| format!("/traps/calendar/{}/{:02}/", month / 12, month % 12 + 1);
    Some(vec![page(month + 1), page(month.saturating_sub(1))])
}

fn counter(query: &str) -> Option<Vec<String>> {
    let page: u32 = query.strip_prefix("page=")?.parse().ok()?;
    Some(vec![format!("?page={}", page.saturating_add(1))])
}

/// Links that add one more facet to the query, or change the value of one.
fn facets(query: &str) -> Vec<String> {
    let mut links = Vec::new();
    for (name, values) in FACETS {
        let others: Vec<_> =
            query.split('&').filter(|part| !part.is_empty() && !part.starts_with(name)).take(8).collect();
        links.extend(values.iter().map(|value| {
            let own = format!("{name}={value}");
            let parts: Vec<_> = others.iter().copied().chain([own.as_str()]).collect();
            format!("/traps/shop?{}", parts.join("&"))
        }));
    }
    links
}
