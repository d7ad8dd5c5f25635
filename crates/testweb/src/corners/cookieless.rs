//! Corner: which host answers nobody who has no session id?
//!
//! A host that redirects every address without an id, its robots.txt among them, to the same
//! address with one, and a new one each time: ASP.NET's cookieless sessions. Folders of it do the
//! same in other spellings, with other statuses, with a cookie besides, or in two steps. Ids are
//! only good for the epoch in which they were given. A last folder never lets anybody in.

use super::{Corner, Fate, KEYED, Spot, Via};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Cookieless,
    name: "cookieless",
    title: "A host with ids for everybody",
    hosts: &[KEYED],
    spots,
    answer,
};

/// Where the id stands.
#[derive(Clone, Copy, PartialEq)]
enum IdStyle {
    /// `/(S(id))/folder/page`, as ASP.NET does.
    Segment,
    /// `/folder/page;jsessionid=id`.
    Parameter,
    /// `/folder/page?PHPSESSID=id`.
    Query,
}

/// A folder: its name, where ids stand, with which status it redirects, and whether with a whole
/// URL.
struct Folder(&'static str, IdStyle, u16, bool);

static FOLDERS: [Folder; 6] = [
    Folder("", IdStyle::Segment, 302, false),
    Folder("java/", IdStyle::Parameter, 301, false),
    Folder("php/", IdStyle::Query, 303, true),
    Folder("kept/", IdStyle::Segment, 307, true),
    Folder("twice/", IdStyle::Segment, 302, true),
    Folder("never/", IdStyle::Segment, 302, false),
];

/// Pages of a folder besides its front.
const PAGES: usize = 5;

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let host = scene.beyond(KEYED);
    let mut spots = Vec::new();
    for Folder(folder, ..) in &FOLDERS {
        let via = if folder.is_empty() { Via::Index } else { Via::Spot };
        let front = format!("/{folder}");
        if *folder == "never/" {
            let fate = Fate::Redirect(302, scene.url(host, &front));
            spots.push(Spot::new(front, fate).on(host).via(via));
            continue;
        }
        spots.push(Spot::page(front).on(host).via(via));
        let page = |n| Spot::page(format!("/{folder}page-{n}.aspx")).on(host).via(Via::Session);
        spots.extend((0..PAGES).map(page));
    }
    spots.push(Spot::new("/private/page.aspx", Fate::Disallowed).on(host).via(Via::Spot));
    spots
}

fn answer(ask: &Ask<'_>, _: &str, reply: &mut Reply) -> bool {
    if ask.host == 0 {
        return false;
    }
    let (path, given) = without_id(ask.path, ask.query);
    let inner = path.trim_start_matches('/');
    let is_in = |folder: &&Folder| !folder.0.is_empty() && inner.starts_with(folder.0);
    let folder = FOLDERS.iter().find(is_in).unwrap_or(&FOLDERS[0]);
    let good = given.is_some_and(|id| id.starts_with(&mark(ask)));
    let remembered = folder.0 == "kept/" && ask.cookie.contains(&format!("visitor={}", mark(ask)));
    let first_of_two = folder.0 == "twice/" && given.is_some_and(|id| id.ends_with("first"));
    match (good, remembered) {
        (true, true) => reply.redirect(folder.2, &path),
        (false, false) => send_off(ask, folder, &path, reply),
        _ if folder.0 == "never/" || first_of_two => send_off(ask, folder, &path, reply),
        _ => return written(folder, inner, given.unwrap_or_default(), reply),
    }
    true
}

/// The path as it is without an id, and the id.
fn without_id<'a>(path: &'a str, query: &'a str) -> (String, Option<&'a str>) {
    if let Some((id, rest)) = path.strip_prefix("/(S(").and_then(|rest| rest.split_once("))")) {
        return (rest.to_owned(), Some(id));
    }
    if let Some((rest, id)) = path.split_once(";jsessionid=") {
        return (rest.to_owned(), Some(id));
    }
    (path.to_owned(), query.strip_prefix("PHPSESSID="))
}

/// How the ids of this epoch begin.
fn mark(ask: &Ask<'_>) -> String {
    format!("e{}x", ask.scene.epoch)
}

fn target(style: IdStyle, path: &str, id: &str) -> String {
    match style {
        IdStyle::Segment => format!("/(S({id})){path}"),
        IdStyle::Parameter => format!("{path};jsessionid={id}"),
        IdStyle::Query => format!("{path}?PHPSESSID={id}"),
    }
}

/// The same address with an id that nobody has had.
fn send_off(ask: &Ask<'_>, Folder(folder, style, status, whole): &Folder, path: &str, reply: &mut Reply) {
    let ticket = ask.scene.web.ticket().to_ascii_lowercase();
    let begun = without_id(ask.path, ask.query).1.is_some_and(|id| id.ends_with("first"));
    let end = if *folder == "twice/" && !begun { "first" } else { "" };
    let id = format!("{}{}{end}", mark(ask), ticket.get(..19).unwrap_or(&ticket));
    let to = target(*style, path, &id);
    reply.redirect(*status, &if *whole { format!("http://{}{to}", ask.authority) } else { to });
    if *folder == "kept/" {
        reply.header("Set-Cookie", &format!("visitor={}; Path=/", mark(ask)));
    }
}

/// What is there for whoever has an id.
fn written(Folder(folder, style, ..): &Folder, inner: &str, id: &str, reply: &mut Reply) -> bool {
    let name = inner.strip_prefix(folder).unwrap_or(inner);
    if inner == "robots.txt" {
        reply.thing("text/plain", b"User-agent: *\nDisallow: /private/\n");
        return true;
    }
    let number = name.strip_prefix("page-").and_then(|n| n.strip_suffix(".aspx")).and_then(|n| n.parse::<usize>().ok());
    if !name.is_empty() && number.is_none_or(|n| n >= PAGES) {
        return false;
    }
    let stock = prose::stock(folder.len() * 17 + number.map_or(0, |n| n + 1));
    let mut inside = String::from_utf8_lossy(stock).into_owned();
    inside += "<p>Here is ";
    inside += if name.is_empty() { "the front" } else { name };
    inside += " of folder ";
    inside += folder;
    inside += "</p>\n<ul>\n<li><a href=\"/private/page.aspx\">Not this one</a>\n";
    for n in 0..PAGES {
        // Some links have the id, others are relative to a page that has it, and some leave it to
        // the server.
        let link = match n % 3 {
            0 => target(*style, &format!("/{folder}page-{n}.aspx"), id),
            1 => format!("page-{n}.aspx"),
            _ => format!("/{folder}page-{n}.aspx"),
        };
        let link = if id.is_empty() { format!("/{folder}page-{n}.aspx") } else { link };
        inside += &format!("<li><a href=\"{link}\">Page {n}</a>\n");
    }
    for Folder(other, ..) in FOLDERS.iter().filter(|other| folder.is_empty() && !other.0.is_empty()) {
        inside += &format!("<li><a href=\"/{other}\">{other}</a>\n");
    }
    reply.page(200, &format!("Session page {inner}"), &(inside + "</ul>"));
    true
}
