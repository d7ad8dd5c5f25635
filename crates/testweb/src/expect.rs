//! What must a crawl of this web find?
//!
//! Computed from the link function and the corners' spots, never from HTML, so renderer and
//! expectation check each other: a test walks the served web with a browser's parser and must end
//! with exactly this.

use crate::assets;
use crate::corners::{self, Fate, Spot, Via, robots};
use crate::links::{Plain, connected};
use crate::plain::{self, PHOTOGRAPHS};
use crate::reply::WebView;
use crate::spec::Feature;
use std::collections::{BTreeMap, BTreeSet};

/// Where a crawl starts, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrawlReach {
    /// From a host's home page, staying on that host.
    Host(u32),
    /// From the first host's home page, wherever links lead.
    Linked,
    /// From the home pages of all ordinary hosts, wherever links lead.
    Seeded,
}

/// What a crawl must find; URLs are in canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Everything that must be requested: pages, assets, errors, redirects, `retried` and `broken`
    /// ones.
    pub urls: BTreeSet<String>,
    /// The pages among them.
    pub pages: BTreeSet<String>,
    /// What is fetched and is not a page: images, style sheets, scripts, data.
    pub assets: BTreeSet<String>,
    /// Permanent errors (or redirects to nowhere), with their status.
    pub errors: BTreeMap<String, u16>,
    /// Redirects with their status and target, which may not be a web URL.
    pub redirects: BTreeMap<String, (u16, String)>,
    /// Pages that succeed after this many refusals.
    pub retried: BTreeMap<String, u32>,
    /// Malformed responses; how to handle them is up to the crawler.
    pub broken: BTreeSet<String>,
    /// Disallowed by robots.txt: found, but never to be requested.
    pub disallowed: BTreeSet<String>,
    /// Sitemaps.
    pub sitemaps: BTreeSet<String>,
    /// Pages that only sitemaps list; not in `urls`.
    pub listed: BTreeSet<String>,
    /// Pages that only `nofollow` links lead to; not in `urls`.
    pub nofollow: BTreeSet<String>,
    /// Pages reached by links with session ids, listed without them; not in `urls`.
    pub sessions: BTreeSet<String>,
    /// What may be requested or not, such as a URL of 64 kB; not in `urls`.
    pub optional: BTreeSet<String>,
    /// Prefixes of endless URL spaces; only their entries are in `urls`.
    pub endless: BTreeSet<String>,
    /// Groups of URLs with the same bytes.
    pub duplicates: Vec<BTreeSet<String>>,
    /// A number for each page that changes exactly when its article does, ignoring advertisements.
    pub articles: BTreeMap<String, u64>,
}

/// What happened to pages between two expectations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Pages that did not exist before.
    pub new: BTreeSet<String>,
    /// Pages with the same article.
    pub same: BTreeSet<String>,
    /// Pages with another article.
    pub updated: BTreeSet<String>,
    /// Pages that no longer exist, or fail.
    pub missing: BTreeSet<String>,
}

impl Expectation {
    /// What happens to the pages from here to a later epoch.
    pub fn course(&self, later: &Self) -> Course {
        let mut course = Course::default();
        for url in self.pages.union(&later.pages) {
            let set = match (self.pages.contains(url), later.pages.contains(url)) {
                (false, _) => &mut course.new,
                (_, false) => &mut course.missing,
                _ if self.articles.get(url) == later.articles.get(url) => &mut course.same,
                _ => &mut course.updated,
            };
            set.insert(url.clone());
        }
        course
    }

    fn page(&mut self, url: String, article: u64) {
        self.urls.insert(url.clone());
        self.articles.insert(url.clone(), article);
        self.pages.insert(url);
    }

    fn asset(&mut self, url: String) {
        self.urls.insert(url.clone());
        self.assets.insert(url);
    }

    fn spot(&mut self, spot: &Spot, scene: &WebView<'_>) {
        let url = scene.url(spot.host, &spot.path);
        let aside = match spot.via {
            Via::Sitemap => Some(&mut self.listed),
            Via::Robots => Some(&mut self.sitemaps),
            Via::Nofollow => Some(&mut self.nofollow),
            Via::Session => Some(&mut self.sessions),
            Via::Index | Via::Spot => match spot.fate {
                Fate::Disallowed => Some(&mut self.disallowed),
                Fate::Optional => Some(&mut self.optional),
                _ => None,
            },
        };
        if let Some(aside) = aside {
            if spot.via == Via::Session {
                self.articles.insert(url.clone(), spot.article);
            }
            aside.insert(url);
            return;
        }
        self.urls.insert(url.clone());
        match &spot.fate {
            Fate::Page | Fate::Disallowed | Fate::Optional => self.page(url, spot.article),
            Fate::Asset => self.asset(url),
            Fate::Status(status) => _ = self.errors.insert(url, *status),
            Fate::Redirect(status, to) => _ = self.redirects.insert(url, (*status, to.clone())),
            Fate::Later(tries) => _ = self.retried.insert(url, *tries),
            Fate::Broken => _ = self.broken.insert(url),
            Fate::Endless(below) => {
                self.endless.insert(scene.url(spot.host, below));
                self.page(url, 0);
            }
        }
    }
}

/// What a crawl must find.
pub(crate) fn expected(scene: &WebView<'_>, reach: CrawlReach) -> Expectation {
    let mut found = Expectation::default();
    let hosts = scene.web.spec().hosts;
    let (first, end) = match reach {
        CrawlReach::Host(host) => (host, host.saturating_add(1).min(hosts)),
        CrawlReach::Linked if !connected(scene.web.spec()) => (0, 1),
        CrawlReach::Linked | CrawlReach::Seeded => (0, hosts),
    };
    for host in first..end {
        ordinary(scene, host, &mut found);
    }
    if first == 0 && end > 0 && scene.web.has_corners() {
        corner_spots(scene, reach, &mut found);
    }
    found
}

/// The plain pages of a host and what they embed.
fn ordinary(scene: &WebView<'_>, host: u32, found: &mut Expectation) {
    let spec = scene.web.spec();
    let mut path = Vec::new();
    for page in 0..spec.pages_per_host {
        let plain = Plain { host, page };
        path.clear();
        path.push(b'/');
        plain::write_path(spec, plain, &mut path);
        let url = scene.url(host, &String::from_utf8_lossy(&path));
        found.page(url, plain::article_since(spec, plain, scene.epoch));
    }
    if spec.features.has(Feature::Furniture) {
        for path in assets::FIXED {
            found.asset(scene.url(host, path));
        }
        for number in 0..PHOTOGRAPHS.min(spec.pages_per_host) {
            found.asset(scene.url(host, &format!("/assets/photo-{number}.png")));
        }
    }
    if spec.features.has(Feature::Robots) {
        let staff = scene.url(host, "/admin/login.html");
        if robots::forbids_admin(scene, host) {
            found.disallowed.insert(staff);
        } else {
            found.page(staff, 0);
        }
    }
}

fn corner_spots(scene: &WebView<'_>, reach: CrawlReach, found: &mut Expectation) {
    let mut same: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    found.page(scene.url(0, "/corners/"), 0);
    for corner in corners::open(scene) {
        found.page(scene.url(0, &format!("/{}/", corner.name)), 0);
        for spot in (corner.spots)(scene) {
            if matches!(reach, CrawlReach::Host(_)) && spot.host != 0 {
                continue;
            }
            found.spot(&spot, scene);
            if let Some(key) = spot.same {
                same.entry(key).or_default().insert(scene.url(spot.host, &spot.path));
            }
        }
    }
    found.duplicates = same.into_values().filter(|group| group.len() > 1).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostNaming, Spec, Web};

    #[test]
    fn a_bench_web_is_expected_to_the_page() {
        let web = Web::new(Spec::bench(200, 100, 20_000, 40)).unwrap();
        let found = web.expected(HostNaming::Names { port: 80 }, CrawlReach::Linked);
        assert_eq!((found.urls.len(), found.pages.len() as u64), (20_000, web.plain_pages()));
    }

    #[test]
    fn what_became_of_pages_is_told() {
        let web = Web::new(Spec::demo()).unwrap();
        let naming = HostNaming::Names { port: 80 };
        let before = web.expected(naming, CrawlReach::Linked);
        web.set_epoch(1);
        let course = before.course(&web.expected(naming, CrawlReach::Linked));
        let at = |path: &str| naming.url(0, path);
        assert!(course.new.contains(&at("/changes/appears-at-1.html")));
        assert!(course.missing.contains(&at("/changes/vanishes-at-1.html")));
        assert!(course.updated.contains(&at("/changes/always-1.html")));
        assert!(course.same.contains(&at("/changes/advertised-1.html")));
    }
}
