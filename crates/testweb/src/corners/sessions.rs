//! Corner: which links are never the same twice?
//!
//! Every response issues new session ids, in paths (`;jsessionid=`) and in queries (`sid`,
//! `PHPSESSID`); the pages do not depend on them.

use super::{Corner, Spot, Via};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Sessions, name: "sessions", title: "Links with session ids", hosts: &[], spots, answer };

const PAGES: usize = 4;

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let path = |n| format!("/sessions/page-{n}.html");
    let query = |n| format!("/sessions/view.php?id={n}");
    let cart = |n| format!("/sessions/cart.php?item={n}");
    (0..PAGES).flat_map(|n| [path(n), query(n), cart(n)]).map(|path| Spot::page(path).via(Via::Session)).collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let name = rest.split(';').next().unwrap_or(rest);
    let number = match name {
        "" => None,
        "view.php" => parameter(ask.query, "id"),
        "cart.php" => parameter(ask.query, "item"),
        _ => name.strip_prefix("page-").and_then(|name| name.strip_suffix(".html")),
    };
    let number = number.and_then(|number| number.parse().ok()).filter(|number| *number < PAGES);
    if number.is_none() && !name.is_empty() {
        return false;
    }
    let stock = prose::stock(200 + number.unwrap_or(PAGES) * 3 + name.len());
    let inside = format!("{}{}", String::from_utf8_lossy(stock), links(ask));
    reply.page(200, &format!("Your session: {name}"), &inside);
    true
}

fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

fn links(ask: &Ask<'_>) -> String {
    let ticket = ask.scene.web.ticket();
    let short = ticket.get(..12).unwrap_or(&ticket).to_ascii_lowercase();
    let mut list = String::from("<ul>\n");
    for n in 0..PAGES {
        list += &format!(
            "<li><a href=\"/sessions/page-{n}.html;jsessionid={ticket}\">page</a>\n\
             <li><a href=\"/sessions/view.php?id={n}&amp;sid={short}\">view</a>\n\
             <li><a href=\"/sessions/cart.php?PHPSESSID={ticket}&amp;item={n}\">cart</a>\n"
        );
    }
    list + "</ul>"
}
