//! Which corners does this web have, and what is in them?
//!
//! A corner is one file and one line in `CORNERS`: a folder of the first host with the same name,
//! with an index page that links to its spots. What a crawl must make of each spot is its `Fate`;
//! the expectation is their sum.

mod aliases;
mod atlases;
mod bombs;
mod changes;
mod charsets;
mod cookieless;
mod documents;
mod duplicates;
mod errors;
mod failures;
mod floods;
mod frames;
mod gazette;
mod lies;

mod markup;
mod mazes;
mod media;
mod members;
mod mirrors;
mod redirects;
mod resets;
mod retries;
mod rewriting;
pub(crate) mod robots;
mod sessions;
mod sitemaps;
mod stalls;
mod traps;
mod vast;
mod wilds;

pub use aliases::{aliased_titles, decoy_titles};
pub use members::{MEMBER, MEMBER_ITEMS, MEMBER_WORDS};
pub(crate) use wilds::stranger;

use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

/// Number of hosts that the corners add to the ordinary ones.
pub(crate) const HOSTS: u32 = 13;
/// One of two hosts with the same content.
pub(crate) const TWIN: u32 = 0;
/// The other.
pub(crate) const OTHER_TWIN: u32 = 1;
/// A host whose robots.txt is a server error.
pub(crate) const UNSURE: u32 = 2;
/// A host whose robots.txt disallows everything.
pub(crate) const CLOSED: u32 = 3;
/// A host redirects lead to.
pub(crate) const ELSEWHERE: u32 = 4;
/// A host with a wildcard in the DNS, whose subdomains all differ.
pub(crate) const WILD: u32 = 5;
/// A host with a wildcard in the DNS, whose subdomains are all the same.
pub(crate) const MIRRORED: u32 = 6;
/// A host with too many sitemaps.
pub(crate) const MAPS: u32 = 7;
/// A host whose robots.txt never ends.
pub(crate) const BABBLER: u32 = 8;
/// A host whose robots.txt is a decompression bomb.
pub(crate) const PACKED: u32 = 9;
/// A host that redirects whoever has no session id.
pub(crate) const KEYED: u32 = 10;
/// A host whose pages have many addresses.
pub(crate) const ALIASED: u32 = 11;
/// A host whose addresses look like aliases and are not always.
pub(crate) const DECOYS: u32 = 12;

/// One corner.
pub(crate) struct Corner {
    /// The feature that enables it.
    pub(crate) feature: Feature,
    /// Its folder.
    pub(crate) name: &'static str,
    /// The title of its index.
    pub(crate) title: &'static str,
    /// Which of the additional hosts are its own.
    pub(crate) hosts: &'static [u32],
    /// Everything there is to find.
    pub(crate) spots: fn(&WebView<'_>) -> Vec<Spot>,
    /// Answers a request, given the path below the folder (or below the root of a host of its own);
    /// false if there is nothing.
    pub(crate) answer: fn(&Ask<'_>, &str, &mut Reply) -> bool,
}

/// All corners, in the order of the index.
pub(crate) static CORNERS: &[Corner] = &[
    robots::CORNER,
    sitemaps::CORNER,
    redirects::CORNER,
    errors::CORNER,
    failures::CORNER,
    retries::CORNER,
    markup::CORNER,
    charsets::CORNER,
    media::CORNER,
    documents::CORNER,
    duplicates::CORNER,
    mirrors::CORNER,
    changes::CORNER,
    gazette::CORNER,
    sessions::CORNER,
    rewriting::CORNER,
    cookieless::CORNER,
    members::CORNER,
    traps::CORNER,
    lies::CORNER,
    stalls::CORNER,
    floods::CORNER,
    mazes::CORNER,
    wilds::CORNER,
    bombs::CORNER,
    frames::CORNER,
    resets::CORNER,
    vast::CORNER,
    atlases::CORNER,
    aliases::CORNER,
];

/// What a crawl must make of a spot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A page, 200.
    Page,
    /// Something else, 200.
    Asset,
    /// A permanent error.
    Status(u16),
    /// A redirect to this URL, which may be invalid.
    Redirect(u16, String),
    /// Disallowed by robots.txt.
    Disallowed,
    /// Refused this many times, then a page.
    Later(u32),
    /// A malformed response.
    Broken,
    /// A page with endlessly many others, all of whose paths have this prefix.
    Endless(String),
    /// May be requested or not.
    Optional,
}

/// How a spot is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// The index of its corner links to it.
    Index,
    /// Another spot links to it.
    Spot,
    /// Only a sitemap lists it.
    Sitemap,
    /// It is a sitemap.
    Robots,
    /// Only `nofollow` links.
    Nofollow,
    /// Links that contain a session id; the path is the one without.
    Session,
}

/// One thing to find.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) host: u32,
    /// Path and query, as in a canonical URL.
    pub(crate) path: String,
    pub(crate) fate: Fate,
    pub(crate) via: Via,
    /// Spots with the same key have the same bytes.
    pub(crate) same: Option<String>,
    /// Changes whenever the article does.
    pub(crate) article: u64,
}

impl Spot {
    /// A spot of the first host that its corner's index links to.
    pub(crate) fn new(path: impl Into<String>, fate: Fate) -> Self {
        Self { host: 0, path: path.into(), fate, via: Via::Index, same: None, article: 0 }
    }

    /// A page that its corner's index links to.
    pub(crate) fn page(path: impl Into<String>) -> Self {
        Self::new(path, Fate::Page)
    }

    /// The same on another host.
    pub(crate) fn on(mut self, host: u32) -> Self {
        self.host = host;
        self
    }

    /// The same, found in another way.
    pub(crate) fn via(mut self, via: Via) -> Self {
        self.via = via;
        self
    }

    /// The same, with the bytes of all spots that have this key.
    pub(crate) fn same(mut self, key: impl Into<String>) -> Self {
        self.same = Some(key.into());
        self
    }

    /// The same, with an article of this version.
    pub(crate) fn article(mut self, version: u64) -> Self {
        self.article = version;
        self
    }
}

/// The enabled corners.
pub(crate) fn open(scene: &WebView<'_>) -> impl Iterator<Item = &'static Corner> {
    let features = scene.web.spec().features;
    CORNERS.iter().filter(move |corner| features.has(corner.feature))
}

/// Answers a request for anything but a plain page; false if there is nothing.
pub(crate) fn answer(ask: &Ask<'_>, reply: &mut Reply) -> bool {
    let scene = &ask.scene;
    if let Some(beyond) = ask.host.checked_sub(scene.web.spec().hosts) {
        let inner = ask.path.strip_prefix('/').unwrap_or(ask.path);
        return robots::at_root(ask, reply)
            || open(scene).any(|corner| corner.hosts.contains(&beyond) && (corner.answer)(ask, inner, reply));
    }
    if robots::at_root(ask, reply) {
        return true;
    }
    if ask.host != 0 {
        return false;
    }
    if sitemaps::at_root(ask, reply) {
        return true;
    }
    if ask.path == "/corners/" && scene.web.has_corners() {
        front(scene, reply);
        return true;
    }
    let Some((name, rest)) = ask.path.strip_prefix('/').and_then(|inner| inner.split_once('/')) else {
        return false;
    };
    open(scene).find(|corner| corner.name == name).is_some_and(|corner| {
        let answered = (corner.answer)(ask, rest, reply);
        if !answered && rest.is_empty() {
            index(scene, corner, reply);
        }
        answered || rest.is_empty()
    })
}

/// The page that links to all corners.
fn front(scene: &WebView<'_>, reply: &mut Reply) {
    let mut list = String::from("<ul>\n");
    for corner in open(scene) {
        list += &format!("<li><a href=\"/{}/\">{}</a></li>\n", corner.name, corner.title);
    }
    reply.page(200, "Corners of this web", &(list + "</ul>"));
}

/// The page that links to a corner's spots.
fn index(scene: &WebView<'_>, corner: &Corner, reply: &mut Reply) {
    let mut list = String::from("<ul>\n");
    for spot in (corner.spots)(scene).iter().filter(|spot| spot.via == Via::Index) {
        let target = if spot.host == 0 { spot.path.clone() } else { scene.url(spot.host, &spot.path) };
        let (href, name) = (escaped(&target), escaped(&spot.path));
        list += &format!("<li><a href=\"{href}\">{name}</a></li>\n");
    }
    reply.page(200, corner.title, &(list + "</ul>"));
}

/// Escapes a text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::DIRECTORIES;

    #[test]
    fn no_corner_has_the_name_of_a_directory_or_of_another_corner() {
        for (n, corner) in CORNERS.iter().enumerate() {
            assert!(!DIRECTORIES.contains(&corner.name));
            assert!(CORNERS[..n].iter().all(|other| other.name != corner.name));
        }
    }
}
