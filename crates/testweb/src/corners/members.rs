//! Corner: what is behind the log-in?
//!
//! A log-in form with a per-visitor CSRF token, and behind it a searchable collection: by GET, with
//! paginated results, and by POST. Visitors who are not logged in are redirected to the log-in.
//! Around it are public pages. Items have parts, parts have notes, and everything links to its
//! neighbours, so a crawl that goes too far is detected.

use super::{Corner, Fate, Spot, Via};
use crate::chance::{mixed, mixed_text};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Members, name: "members", title: "For members", hosts: &[], spots, answer };

/// The valid credentials.
pub const MEMBER: (&str, &str) = ("reader", "correct horse");
/// Words that can be searched for: item `n` matches word `n % 3`.
pub const MEMBER_WORDS: [&str; 3] = ["amber", "basalt", "cedar"];
/// Number of items.
pub const MEMBER_ITEMS: usize = 24;
/// Results per page.
const SHOWN: usize = 3;
/// Number of public pages.
const SHELVES: usize = 3;

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let mut spots = vec![
        Spot::page("/members/about.html"),
        Spot::page("/members/login"),
        Spot::page("/members/catalogue.html"),
        Spot::new("/members/inside/", Fate::Redirect(302, scene.url(0, "/members/login"))),
    ];
    spots.extend((0..SHELVES).map(|n| Spot::page(format!("/members/shelf-{n}.html")).via(Via::Spot)));
    spots.extend((0..SHELVES).map(|n| Spot::page(format!("/members/shelf-{n}/label.html")).via(Via::Spot)));
    spots
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    match rest {
        "about.html" => reply.page(200, "About", "<p>Members search the collection.</p>"),
        "catalogue.html" => {
            reply.page(200, "Catalogue", &list((0..SHELVES).map(|n| format!("/members/shelf-{n}.html"))));
        }
        "login" if ask.method == "POST" => log_in(ask, reply),
        "login" => login_page(ask, "", reply),
        "logout" => {
            reply.redirect(303, "/members/about.html");
            reply.header("Set-Cookie", "member=; Path=/members/; Max-Age=0");
        }
        _ => {
            if let Some(shelf) = rest.strip_prefix("shelf-") {
                return shelf_page(shelf, reply);
            }
            let Some(inner) = rest.strip_prefix("inside/") else { return false };
            if !ask.cookie.split("; ").any(|cookie| cookie == format!("member={}", ticket(ask))) {
                reply.redirect(302, "/members/login");
                return true;
            }
            return inside(ask, inner, reply);
        }
    }
    true
}

/// The session cookie of a logged-in visitor.
fn ticket(ask: &Ask<'_>) -> String {
    format!("{:016x}", mixed(&[ask.scene.web.spec().seed, mixed_text(MEMBER.0)]))
}

/// The CSRF token of a visitor.
fn token(visitor: &str) -> String {
    format!("{:016x}", mixed_text(visitor))
}

fn cookie<'a>(ask: &Ask<'a>, name: &str) -> Option<&'a str> {
    ask.cookie.split("; ").find_map(|cookie| cookie.strip_prefix(name)?.strip_prefix('='))
}

fn login_page(ask: &Ask<'_>, say: &str, reply: &mut Reply) {
    let fresh = ask.scene.web.ticket();
    let visitor = cookie(ask, "visitor").unwrap_or(&fresh);
    let form = format!(
        "{say}<form action=\"/members/ask\" id=\"quick\"><input name=\"q\"><input type=\"submit\" value=\"Ask\"></form>\n\
         <form id=\"login\" method=\"post\" action=\"login\">\n<input type=\"hidden\" name=\"csrf\" value=\"{}\">\n\
         <input name=\"user\">\n<input type=\"password\" name=\"password\">\n\
         <input type=\"checkbox\" name=\"keep\" value=\"yes\" checked>\n<button name=\"go\" value=\"in\">Log in</button>\n</form>",
        token(visitor)
    );
    reply.page(200, "Log in", &form);
    reply.header("Set-Cookie", &format!("visitor={visitor}; Path=/members/; HttpOnly"));
}

fn log_in(ask: &Ask<'_>, reply: &mut Reply) {
    let body = String::from_utf8_lossy(ask.body);
    let right = cookie(ask, "visitor").map(token);
    let is = |name: &str, value: &str| parameter(&body, name).as_deref() == Some(value);
    if right.is_none_or(|right| !is("csrf", &right)) || !is("go", "in") || !is("keep", "yes") {
        return reply.page(403, "Forbidden", "<p>This form is not ours.</p>");
    }
    if !is("user", MEMBER.0) || !is("password", MEMBER.1) {
        return login_page(ask, "<p class=\"error\">Wrong name or password.</p>", reply);
    }
    reply.redirect(303, "/members/inside/");
    reply.header("Set-Cookie", &format!("member={}; Path=/members/; HttpOnly", ticket(ask)));
}

fn inside(ask: &Ask<'_>, inner: &str, reply: &mut Reply) -> bool {
    let welcome =
        "<p><a class=\"logout\" href=\"/members/logout\">Log out</a> <a href=\"/members/inside/\">Home</a></p>\n";
    match inner {
        "" => {
            let forms = "<form action=\"search\"><input name=\"q\"><input type=\"hidden\" name=\"in\" value=\"all\"></form>\n\
                <form name=\"finder\" method=\"post\" action=\"find\" enctype=\"multipart/form-data\"><input name=\"q\">\
                <select name=\"in\"><option value=\"none\">Nothing<option value=\"all\" selected>All</select></form>\n";
            reply.page(200, "Welcome", &format!("{welcome}{forms}"));
        }
        "search" => {
            let page = parameter(ask.query, "page").and_then(|page| page.parse().ok()).unwrap_or(0);
            let word = parameter(ask.query, "q").unwrap_or_default();
            let all = parameter(ask.query, "in").as_deref() == Some("all");
            let found: Vec<usize> = matching(&word).filter(|_| all).collect();
            let more = found.len() > (page + 1) * SHOWN;
            let next =
                format!("<p><a class=\"next\" href=\"search?q={word}&amp;in=all&amp;page={}\">Next</a></p>", page + 1);
            let shown = found.iter().skip(page * SHOWN).take(SHOWN).map(|n| item(*n));
            let text = format!("{welcome}{}{}", results(shown), if more { next.as_str() } else { "" });
            reply.page(200, &format!("Results {page}"), &text);
        }
        "find" if ask.method == "POST" => {
            let body = String::from_utf8_lossy(ask.body);
            let word = MEMBER_WORDS.iter().find(|word| body.contains(&format!("name=\"q\"\r\n\r\n{word}\r\n")));
            let all = body.contains("name=\"in\"\r\n\r\nall\r\n");
            let found = word.filter(|_| all).into_iter().flat_map(|word| matching(word)).map(item);
            reply.page(200, "Found", &format!("{welcome}{}", results(found)));
        }
        _ => return item_page(welcome, inner, reply),
    }
    true
}

fn matching(word: &str) -> impl Iterator<Item = usize> {
    let place = MEMBER_WORDS.iter().position(|known| *known == word);
    (0..MEMBER_ITEMS).filter(move |n| place == Some(n % MEMBER_WORDS.len()))
}

fn item(n: usize) -> String {
    format!("/members/inside/item-{}.html", n % MEMBER_ITEMS)
}

/// An item, one of its two parts, or the note of a part.
fn item_page(welcome: &str, inner: &str, reply: &mut Reply) -> bool {
    let Some(name) = inner.strip_prefix("item-").and_then(|name| name.strip_suffix(".html")) else { return false };
    let mut pieces = name.split('/');
    let number = pieces.next().and_then(|n| n.parse::<usize>().ok()).filter(|n| *n < MEMBER_ITEMS);
    let Some(n) = number else { return false };
    let below = |what: &str| format!("/members/inside/item-{n}/{what}.html");
    let links = match (pieces.next(), pieces.next()) {
        (None, _) => vec![below("part-1"), below("part-2"), item(n + 1), item(n + 3)],
        (Some("part-1" | "part-2"), None) => vec![item(n), below("note")],
        (Some("note"), None) => vec![item(n + 7)],
        _ => return false,
    };
    let text = String::from_utf8_lossy(prose::stock(mixed_text(inner) as usize));
    reply.page(200, &format!("Item {name}"), &format!("{welcome}{text}{}", list(links.into_iter())));
    true
}

fn shelf_page(shelf: &str, reply: &mut Reply) -> bool {
    let (number, label) = shelf.split_once(['.', '/']).unwrap_or((shelf, ""));
    let Some(n) = number.parse::<usize>().ok().filter(|n| *n < SHELVES) else { return false };
    let links = match label {
        "html" => vec![format!("/members/shelf-{n}/label.html")],
        "label.html" => vec!["/members/about.html".to_owned()],
        _ => return false,
    };
    reply.page(200, &format!("Shelf {n} {label}"), &list(links.into_iter()));
    true
}

fn list(links: impl Iterator<Item = String>) -> String {
    let rows: String = links.map(|link| format!("<li><a href=\"{link}\">{link}</a>\n")).collect();
    format!("<ul>\n{rows}</ul>\n")
}

fn results(links: impl Iterator<Item = String>) -> String {
    let rows: String = links.map(|link| format!("<li><a href=\"{link}\">{link}</a>\n")).collect();
    format!("<ol class=\"results\">\n{rows}</ol>\n")
}

/// A parameter of a query or of a form submission.
fn parameter(query: &str, name: &str) -> Option<String> {
    let value = query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.replace('+', " ").replace("%20", " "))
}
