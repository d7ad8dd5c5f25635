//! Corner: which pages have many addresses, and which only seem to?
//!
//! One host gives each of its articles six addresses: its own, a mirror's, a print version's, one
//! with a doubled slash, one with a tracking parameter and one in other letter case; some links are
//! relative, so that these mix. The other host does the same to some of its pages, and has
//! something else to say at the same kind of address of others: whoever takes all of them for
//! aliases loses pages. A page is known by its title.

use super::{ALIASED, Corner, DECOYS, Fate, Spot, Via};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;
use std::collections::BTreeSet;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Aliases,
    name: "aliases",
    title: "Pages with many addresses",
    hosts: &[ALIASED, DECOYS],
    spots,
    answer,
};

/// Articles of the first host.
const ARTICLES: usize = 1_200;
/// Topics among which they are distributed.
const TOPICS: usize = 12;
/// Links of an article.
const LINKS: usize = 10;

/// The titles of all pages of the host whose pages have many addresses.
pub fn aliased_titles() -> BTreeSet<String> {
    let articles = (0..ARTICLES).map(|n| format!("Article {n}"));
    articles.chain((0..TOPICS).map(|t| format!("Topic {t}"))).chain(["Front".to_owned()]).collect()
}

/// The titles of all pages of the host whose addresses look like aliases and are not always.
pub fn decoy_titles() -> BTreeSet<String> {
    let mut titles: BTreeSet<String> = decoy_targets().filter_map(|target| decoy_at(&target)).collect();
    titles.extend(["Decoys".to_owned()]);
    titles.extend((0..decoy_targets().count().div_ceil(LISTED)).map(|n| format!("List {n}")));
    titles
}

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let front = |host: u32| Spot::new("/", Fate::Optional).on(scene.beyond(host)).via(Via::Index);
    vec![front(ALIASED), front(DECOYS)]
}

fn answer(ask: &Ask<'_>, _: &str, reply: &mut Reply) -> bool {
    match ask.host.checked_sub(ask.scene.web.spec().hosts) {
        Some(ALIASED) => aliased(ask, reply),
        Some(DECOYS) => decoy(ask, reply),
        _ => false,
    }
}

/// The page of the first host, whatever its address.
fn aliased(ask: &Ask<'_>, reply: &mut Reply) -> bool {
    if !ask.query.is_empty() && !ask.query.starts_with("ref=") {
        return false;
    }
    let lower = ask.path.to_ascii_lowercase().replace("//", "/");
    let path = ["/mirror/", "/print/"].iter().find_map(|prefix| lower.strip_prefix(prefix));
    let path = path.unwrap_or_else(|| lower.trim_start_matches('/'));
    if path.is_empty() {
        let topics = (0..TOPICS).map(|t| format!("/topic-{t}/{}", if t % 2 == 0 { "index.html" } else { "" }));
        listing("Front", topics, reply);
        return true;
    }
    let Some((topic, name)) = path.strip_prefix("topic-").and_then(|rest| rest.split_once('/')) else { return false };
    let Some(topic) = topic.parse::<usize>().ok().filter(|topic| *topic < TOPICS) else { return false };
    if name.is_empty() || name == "index.html" {
        let first = (0..8).map(|n| address(n * TOPICS + topic, n));
        let others =
            [format!("/topic-{}/", (topic + 1) % TOPICS), format!("/topic-{}/index.html", (topic + 5) % TOPICS)];
        listing(&format!("Topic {topic}"), first.chain(others), reply);
        return true;
    }
    let number = name.strip_prefix("page-").and_then(|name| name.strip_suffix(".html"));
    let number = number.and_then(|number| number.parse::<usize>().ok());
    let Some(number) = number.filter(|number| *number < ARTICLES && number % TOPICS == topic) else { return false };
    let link = |k: usize| (number * 31 + k * 97 + k * k * 7) % ARTICLES;
    let next = address((number + TOPICS) % ARTICLES, number / 7);
    let links = (1..=LINKS).map(|k| address(link(k), number * 13 + k * 5));
    // Relative: from another address of this page it leads to another address of the next.
    let relative = (number % 5 == 0).then(|| format!("page-{}.html", (number + TOPICS) % ARTICLES));
    listing(&format!("Article {number}"), links.chain([next]).chain(relative), reply);
    true
}

/// One of the addresses of an article.
fn address(article: usize, which: usize) -> String {
    let (topic, which) = (article % TOPICS, which % 6);
    // No article has all of them.
    match if (article + which).is_multiple_of(4) { 0 } else { which } {
        1 => format!("/mirror/topic-{topic}/page-{article}.html"),
        2 => format!("/print/topic-{topic}/page-{article}.html"),
        3 => format!("/topic-{topic}//page-{article}.html"),
        4 => format!("/topic-{topic}/page-{article}.html?ref={}", article * 7 % 97),
        5 => format!("/Topic-{topic}/Page-{article}.html"),
        _ => format!("/topic-{topic}/page-{article}.html"),
    }
}

fn listing(title: &str, links: impl Iterator<Item = String>, reply: &mut Reply) {
    let number = title.bytes().fold(7, |sum, byte| sum * 31 % 9_973 + usize::from(byte));
    let mut inside = String::from_utf8_lossy(prose::stock(number)).into_owned() + "<ul>\n";
    for link in links {
        inside += &format!("<li><a href=\"{link}\">Read on</a>\n");
    }
    reply.page(200, title, &(inside + "</ul>"));
}

/// Addresses on one list of the second host.
const LISTED: usize = 40;

/// All addresses of the second host but those of its lists.
fn decoy_targets() -> impl Iterator<Item = String> {
    let pair = |one: String, other: String| [one, other].into_iter();
    let shop = (0..140).flat_map(|n| {
        let item = format!("/shop/item-{n}.html");
        let sold = [n % 5, n % 3 + 5].map(|by| format!("{item}?ref={by}"));
        std::iter::once(item).chain(sold)
    });
    let doc = (0..60).flat_map(move |n| pair(format!("/doc/{n}.html"), format!("/print/doc/{n}.html")));
    let note = (0..100).flat_map(move |n| pair(format!("/note/{n}.html"), format!("/mirror/note/{n}.html")));
    let file = (0..40).flat_map(move |n| pair(format!("/files/name-{n}.html"), format!("/Files/Name-{n}.html")));
    let part = (0..60).flat_map(move |n| pair(format!("/x/part-{n}.html"), format!("/x//part-{n}.html")));
    let list = (0..20).flat_map(|n| {
        let pages = (1..4).map(move |page| format!("/cat/{n}.html?page={page}"));
        std::iter::once(format!("/cat/{n}.html")).chain(pages)
    });
    let dir = (0..20).flat_map(move |n| pair(format!("/dir-{n}/"), format!("/dir-{n}/index.html")));
    shop.chain(doc).chain(note).chain(file).chain(part).chain(list).chain(dir)
}

/// A prefix of addresses, what is there, and for which numbers that is what the kind before says.
type DecoyKind = (&'static str, &'static str, fn(usize) -> bool);

/// The title of what is at an address of the second host. Up to some number, or but for every so
/// many, the second address of a page is an alias.
fn decoy_at(target: &str) -> Option<String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let number = |prefix: &str| -> Option<usize> { path.strip_prefix(prefix)?.split(['.', '/']).next()?.parse().ok() };
    if let Some(n) = number("/shop/item-") {
        let by = query.strip_prefix("ref=").filter(|_| n % 7 == 3);
        return Some(by.map_or_else(|| format!("Item {n}"), |by| format!("Item {n} for {by}")));
    }
    if let Some(n) = number("/cat/") {
        let page = query.strip_prefix("page=").filter(|page| *page != "1");
        return Some(page.map_or_else(|| format!("Catalogue {n}"), |page| format!("Catalogue {n}, page {page}")));
    }
    if let Some(n) = number("/dir-") {
        return Some(if path.ends_with("index.html") && n >= 8 {
            format!("Index {n}")
        } else {
            format!("Directory {n}")
        });
    }
    let kinds: [DecoyKind; 8] = [
        ("/doc/", "Document", |_| true),
        ("/print/doc/", "Printed document", |n| n < 12),
        ("/note/", "Note", |_| true),
        ("/mirror/note/", "Old note", |n| n % 9 != 4),
        ("/files/name-", "File", |_| true),
        ("/Files/Name-", "Great file", |n| n < 12),
        ("/x/part-", "Part", |_| true),
        ("/x//part-", "Second part", |n| n % 5 != 2),
    ];
    let (at, n) = kinds.iter().enumerate().find_map(|(at, (prefix, ..))| Some((at, number(prefix)?)))?;
    let own = kinds[at].2(n);
    let name = kinds[if own { at & !1 } else { at }].1;
    Some(format!("{name} {n}"))
}

fn decoy(ask: &Ask<'_>, reply: &mut Reply) -> bool {
    let lists = decoy_targets().count().div_ceil(LISTED);
    if ask.path == "/" {
        listing("Decoys", (0..lists).map(|n| format!("/list-{n}.html")), reply);
        return true;
    }
    let list = ask.path.strip_prefix("/list-").and_then(|rest| rest.strip_suffix(".html"));
    if let Some(n) = list.and_then(|n| n.parse::<usize>().ok()).filter(|n| *n < lists) {
        // Spread, so that every list has something of everything.
        listing(&format!("List {n}"), decoy_targets().skip(n).step_by(lists), reply);
        return true;
    }
    let target = if ask.query.is_empty() { ask.path.to_owned() } else { format!("{}?{}", ask.path, ask.query) };
    let Some(title) = decoy_at(&target) else { return false };
    listing(&title, std::iter::empty(), reply);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_has_five_addresses_of_six_and_a_decoy_some_of_its_own() {
        let addresses: BTreeSet<String> = (0..ARTICLES).flat_map(|n| (0..6).map(move |w| address(n, w))).collect();
        assert!((5_500..6_000).contains(&addresses.len()), "{}", addresses.len());
        assert_eq!(aliased_titles().len(), ARTICLES + TOPICS + 1);
        assert_eq!(decoy_at("/print/doc/3.html").as_deref(), Some("Document 3"));
        assert_eq!(decoy_at("/print/doc/30.html").as_deref(), Some("Printed document 30"));
        assert_eq!(decoy_at("/shop/item-3.html?ref=8").as_deref(), Some("Item 3 for 8"));
        assert!(decoy_titles().len() > 500 && decoy_titles().len() < decoy_targets().count());
    }
}
