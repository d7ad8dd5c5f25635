//! Corner: which URL spaces are endless, and recognisable only by their content?
//!
//! Unnamed session ids in paths and queries; soft 404s that repeat the URL and link to more of
//! them; a chain of pages with nothing in common but the link to the next; redirects to redirects,
//! to another host and back, and to themselves until a cookie is sent back.

use super::{Corner, Fate, Spot, Via, WILD, escaped};
use crate::chance::{mixed, mixed_text};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Mazes, name: "mazes", title: "Ways without end", hosts: &[], spots, answer };

/// Pages behind each kind of session id.
const PAGES: usize = 4;
/// Links on the page that lists soft 404s.
const LISTED: u64 = 3_000;

/// The entry of each maze, below its name.
const ENTRIES: [(&str, &str); 6] = [
    ("tickets", "/start/page-0.html"),
    ("visitor", "?page=0"),
    ("soft", "/start"),
    ("long", "/start"),
    ("list", "/"),
    ("chain", "/0.html"),
];

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let begin = |name: &str| format!("/mazes/{name}");
    let moved = |path: &str, to: String| Spot::new(path, Fate::Redirect(302, to));
    let mut spots: Vec<_> =
        ENTRIES.iter().map(|(name, entry)| Spot::new(begin(name) + entry, Fate::Endless(begin(name)))).collect();
    spots.push(moved("/mazes/hops/0", scene.url(0, "/mazes/hops/1")));
    spots.push(moved("/mazes/ping", scene.url(scene.beyond(WILD), "/pong")));
    spots.push(moved("/mazes/never.html", scene.url(0, "/mazes/never.html")));
    spots.push(Spot::page("/mazes/cookie.html"));
    spots.push(Spot::page("/mazes/way-out.html").via(Via::Spot));
    spots
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let (maze, inner) = rest.split_once('/').unwrap_or((rest, ""));
    let (text, links) = match maze {
        "tickets" => tickets(ask, inner),
        "visitor" => visitor(ask),
        "soft" => soft(ask, "/mazes/soft/"),
        "long" => long(ask),
        "list" => list(ask, inner),
        "chain" => chain(inner),
        "hops" => return hop(inner, reply),
        "ping" | "never.html" | "cookie.html" => return turned(ask, maze, reply),
        "way-out.html" => (String::from("<p>This is where the good pages go on.</p>"), Vec::new()),
        _ => return false,
    };
    let links = links.iter().map(|link| format!("<li><a href=\"{}\">Further</a>\n", escaped(link)));
    reply.page(200, "A maze", &format!("{text}<ul>{}</ul>", links.collect::<String>()));
    true
}

fn paragraphs(key: u64, count: u64) -> String {
    (0..count).map(|n| String::from_utf8_lossy(prose::stock(mixed(&[key, n]) as usize))).collect()
}

/// The pages and their links, with a new id in every link of every response.
fn tickets(ask: &Ask<'_>, inner: &str) -> (String, Vec<String>) {
    let ticket = ask.scene.web.ticket();
    let number = inner.bytes().rev().find(u8::is_ascii_digit).unwrap_or(0);
    let links = (0..PAGES).map(|n| format!("/mazes/tickets/{ticket}/page-{n}.html")).collect();
    (paragraphs(u64::from(number), 2), links)
}

fn visitor(ask: &Ask<'_>) -> (String, Vec<String>) {
    let ticket = ask.scene.web.ticket();
    let links = (0..PAGES).map(|n| format!("/mazes/visitor?page={n}&visitor={ticket}")).collect();
    let number = ask.query.bytes().find(u8::is_ascii_digit).unwrap_or(0);
    (paragraphs(100 + u64::from(number), 2), links)
}

fn soft(ask: &Ask<'_>, below: &str) -> (String, Vec<String>) {
    let key = mixed_text(ask.path);
    let links = (0..3).map(|n| format!("{below}{:x}", mixed(&[key, n]))).collect();
    (format!("<p>Sorry, there is no page {} on this host.</p>", escaped(ask.path)), links)
}

fn long(ask: &Ask<'_>) -> (String, Vec<String>) {
    let (sorry, links) = soft(ask, "/mazes/long/");
    (sorry + &paragraphs(7, 12), links)
}

/// A list of missing pages, and one that exists.
fn list(ask: &Ask<'_>, inner: &str) -> (String, Vec<String>) {
    if !inner.is_empty() {
        return (String::from("<p>Sorry, this page is not here.</p>"), Vec::new());
    }
    let gone = (0..LISTED).map(|n| format!("{}{:x}.html", ask.path, mixed(&[n, 17])));
    (String::new(), gone.chain(["/mazes/way-out.html".into()]).collect())
}

fn chain(inner: &str) -> (String, Vec<String>) {
    let number: u64 = inner.strip_suffix(".html").and_then(|n| n.parse().ok()).unwrap_or(0);
    (paragraphs(number + 1_000, 6), vec![format!("/mazes/chain/{}.html", number.saturating_add(1))])
}

fn hop(inner: &str, reply: &mut Reply) -> bool {
    let number: u64 = inner.parse().unwrap_or(0);
    reply.redirect(302, &format!("/mazes/hops/{}", number.saturating_add(1)));
    true
}

/// Redirects to the other host, and to the page itself.
fn turned(ask: &Ask<'_>, name: &str, reply: &mut Reply) -> bool {
    match name {
        "ping" => reply.redirect(302, &ask.scene.url(ask.scene.beyond(WILD), "/pong")),
        "cookie.html" if ask.cookie.contains("been=here") => {
            reply.page(200, "Welcome back", "<p>Only those see this who send the cookie back.</p>");
        }
        _ => {
            reply.redirect(302, ask.path);
            let cookie =
                if name == "cookie.html" { "been=here".into() } else { format!("more={}", ask.scene.web.ticket()) };
            reply.header("Set-Cookie", &format!("{cookie}; Path=/mazes/"));
        }
    }
    true
}
