//! What corners does this web have, and what is in them?
//!
//! A corner is one file and one line in `CORNERS`: a folder of the first host, named alike, with an index page that points
//! to its spots. What a crawl must make of each spot stands in its `Fate`; the expectation is the sum of them.

mod atlases;
mod bombs;
mod changes;
mod charsets;
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

pub use members::{MEMBER, MEMBER_ITEMS, MEMBER_WORDS};
pub(crate) use wilds::stranger;

use crate::reply::{Ask, Reply, Scene};
use crate::spec::Feature;

/// How many hosts the corners have beyond the ordinary ones.
pub(crate) const HOSTS: u32 = 10;
/// One of two hosts with the same content.
pub(crate) const TWIN: u32 = 0;
/// The other.
pub(crate) const OTHER_TWIN: u32 = 1;
/// A host whose robots.txt is an error of the server.
pub(crate) const UNSURE: u32 = 2;
/// A host whose robots.txt forbids everything.
pub(crate) const CLOSED: u32 = 3;
/// A host redirects lead to.
pub(crate) const ELSEWHERE: u32 = 4;
/// A host below whose name every name is a host that says something else.
pub(crate) const WILD: u32 = 5;
/// A host below whose name every name is a host that says the same.
pub(crate) const MIRRORED: u32 = 6;
/// A host with too many sitemaps.
pub(crate) const MAPS: u32 = 7;
/// A host whose robots.txt does not end.
pub(crate) const BABBLER: u32 = 8;
/// A host whose robots.txt is a bomb.
pub(crate) const PACKED: u32 = 9;

/// One corner.
pub(crate) struct Corner {
    /// What switches it on.
    pub(crate) feature: Feature,
    /// Its folder.
    pub(crate) name: &'static str,
    /// The title of its index.
    pub(crate) title: &'static str,
    /// Which of the hosts beyond the ordinary ones are its own.
    pub(crate) hosts: &'static [u32],
    /// All that is there to be found.
    pub(crate) spots: fn(&Scene<'_>) -> Vec<Spot>,
    /// The answer to a question, given the path below the folder (or below the root of a host of its own); false where
    /// there is none.
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
    duplicates::CORNER,
    mirrors::CORNER,
    changes::CORNER,
    gazette::CORNER,
    sessions::CORNER,
    rewriting::CORNER,
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
];

/// What a crawl must make of a spot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A page, 200.
    Page,
    /// Something else, 200.
    Asset,
    /// An answer that is an error for good.
    Status(u16),
    /// A redirect to this URL, which may be no URL at all.
    Redirect(u16, String),
    /// Forbidden by robots.txt.
    Disallowed,
    /// Refused so many times, then a page.
    Later(u32),
    /// An answer that is no proper one.
    Broken,
    /// A page with others without end, all of whose paths begin so.
    Endless(String),
    /// May be asked for or not.
    Optional,
}

/// By what a spot is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// The index of its corner points to it.
    Index,
    /// Another spot points to it.
    Spot,
    /// A sitemap names it, nothing else does.
    Sitemap,
    /// It is a sitemap.
    Robots,
    /// Only links that ask not to be followed.
    Nofollow,
    /// Links with a session id in them; the path is the one without.
    Session,
}

/// One thing to be found.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) host: u32,
    /// Path and query, as in a canonical URL.
    pub(crate) path: String,
    pub(crate) fate: Fate,
    pub(crate) via: Via,
    /// Spots with the same key have the same bytes.
    pub(crate) same: Option<String>,
    /// What changes whenever the article does.
    pub(crate) article: u64,
}

impl Spot {
    /// A spot of the first host that its corner's index points to.
    pub(crate) fn new(path: impl Into<String>, fate: Fate) -> Self {
        Self { host: 0, path: path.into(), fate, via: Via::Index, same: None, article: 0 }
    }

    /// A page its corner's index points to.
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

    /// The same, with the bytes of all that have this key.
    pub(crate) fn same(mut self, key: impl Into<String>) -> Self {
        self.same = Some(key.into());
        self
    }

    /// The same, with an article that changes with this number.
    pub(crate) fn article(mut self, version: u64) -> Self {
        self.article = version;
        self
    }
}

/// The corners that are switched on.
pub(crate) fn open(scene: &Scene<'_>) -> impl Iterator<Item = &'static Corner> {
    let features = scene.web.spec().features;
    CORNERS.iter().filter(move |corner| features.has(corner.feature))
}

/// The answer to a question that is no plain page's; false where there is none.
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

/// The page that points to all corners.
fn front(scene: &Scene<'_>, reply: &mut Reply) {
    let mut list = String::from("<ul>\n");
    for corner in open(scene) {
        list += &format!("<li><a href=\"/{}/\">{}</a></li>\n", corner.name, corner.title);
    }
    reply.page(200, "Corners of this web", &(list + "</ul>"));
}

/// The page that points to a corner's spots.
fn index(scene: &Scene<'_>, corner: &Corner, reply: &mut Reply) {
    let mut list = String::from("<ul>\n");
    for spot in (corner.spots)(scene).iter().filter(|spot| spot.via == Via::Index) {
        let target = if spot.host == 0 { spot.path.clone() } else { scene.url(spot.host, &spot.path) };
        let (href, name) = (escaped(&target), escaped(&spot.path));
        list += &format!("<li><a href=\"{href}\">{name}</a></li>\n");
    }
    reply.page(200, corner.title, &(list + "</ul>"));
}

/// A text as it stands in HTML.
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
