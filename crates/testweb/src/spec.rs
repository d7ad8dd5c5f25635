//! Which web shall there be?
//!
//! A `Spec` is everything a web depends on: with the same spec, the same URL has the same response
//! in every process. What a real web surprises a crawler with comes as `Feature`s, each of which
//! can be switched on or off.

use crate::Error;
use std::time::Duration;

/// Whether pages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GzipMode {
    /// Never.
    Never,
    /// If the request's `Accept-Encoding` contains gzip.
    #[default]
    WhenAccepted,
}

/// How long responses are delayed; the delay of a page is a function of its URL.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// The mean.
    pub mean: Duration,
    /// How far a page may be from the mean, as a share of it (0 to 1).
    pub spread: f64,
}

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal,)+) => {
        /// Something that makes this web less plain than rows of pages.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature { $($(#[doc = $doc])+ $name,)+ }

        impl Feature {
            /// Every feature.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

features! {
    /// Navigation, breadcrumbs, images, style sheet, script, footer and non-web links on every
    /// page.
    Furniture => "furniture",
    /// `ETag`, `Last-Modified` and 304 responses to conditional requests.
    Validators => "validators",
    /// Pages whose content depends on the epoch, everywhere; and a corner where they appear and
    /// vanish.
    Changes => "changes",
    /// `robots.txt` with rules, crawl delays and a host that disallows everything.
    Robots => "robots",
    /// Sitemaps, their index and a compressed one, with pages that nothing else links to.
    Sitemaps => "sitemaps",
    /// Redirects of every status, chains and loops.
    Redirects => "redirects",
    /// Permanent client errors: 4xx.
    Errors => "errors",
    /// Permanent server errors: 5xx, and unavailable robots.txt.
    Failures => "failures",
    /// Temporary refusals: 429, 503 with `Retry-After`, a closed connection.
    Retries => "retries",
    /// Servers with wrong framing, length, coding or type.
    Lies => "lies",
    /// Servers that drip or never respond.
    Stalls => "stalls",
    /// Endless senders: bodies, headers, a gzip bomb, a large file.
    Floods => "floods",
    /// Every way to write a link, and pages of which no tree should be built.
    Markup => "markup",
    /// Pages in several encodings, declared in several places.
    Charsets => "charsets",
    /// Images, a document and data.
    Media => "media",
    /// Calendars, ever deeper paths, facets: endless URL spaces.
    Traps => "traps",
    /// Session ids in paths and queries, new ones in every response.
    Sessions => "sessions",
    /// Unnamed session ids in every link, new ones at every epoch or in every response.
    Rewriting => "rewriting",
    /// A host that redirects every address without a session id to the same address with one.
    Cookieless => "cookieless",
    /// A newspaper whose every response is decorated differently, and which changes a little with
    /// every epoch.
    Gazette => "gazette",
    /// A log-in, a search and pages for members only.
    Members => "members",
    /// The same content under several URLs, near-duplicates, a canonical link, soft 404s.
    Duplicates => "duplicates",
    /// Two hosts with the same content.
    Mirrors => "mirrors",
    /// Endless URL spaces that only their content reveals: unnamed session ids, soft 404s that
    /// repeat the URL, chains.
    Mazes => "mazes",
    /// Endless hosts below two domains, one of them with the same content everywhere.
    Wilds => "wilds",
    /// Decompression bombs in every coding, some nested.
    Bombs => "bombs",
    /// Endless framing: chunk extensions, trailers, interim responses; a second response nobody
    /// requested.
    Frames => "frames",
    /// Connections that are reset at every stage of a response.
    Resets => "resets",
    /// Absurd sizes: links, attributes, URLs; and wrongly declared encodings.
    Vast => "vast",
    /// Sitemaps that reference each other, list millions or expand to a gibibyte; an endless
    /// robots.txt.
    Atlases => "atlases",
    /// A host whose pages have many addresses, and one whose addresses look like that.
    Aliases => "aliases",
    /// Documents of every kind: office, books, mail, archives.
    Documents => "documents",
}

/// Hostile features, which have their own tests.
const HOSTILE: &[Feature] = &[
    Feature::Stalls,
    Feature::Floods,
    Feature::Rewriting,
    Feature::Cookieless,
    Feature::Mazes,
    Feature::Wilds,
    Feature::Bombs,
    Feature::Frames,
    Feature::Resets,
    Feature::Vast,
    Feature::Atlases,
    Feature::Aliases,
];

impl Feature {
    /// Whether it is hostile.
    pub fn is_hostile(self) -> bool {
        HOSTILE.contains(&self)
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// No feature.
    pub const NONE: Self = Self(0);
    /// All features.
    pub const ALL: Self = Self::of(Feature::ALL);

    /// Exactly these.
    pub const fn of(features: &[Feature]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < features.len() {
            bits |= 1 << features[i] as u32;
            i += 1;
        }
        Self(bits)
    }

    /// Whether it contains a feature.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// With one more feature.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Self {
        Self(self.0 | (1 << feature as u32))
    }

    /// Without one feature.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u32))
    }
}

impl std::str::FromStr for Features {
    type Err = Error;

    /// Parses `all`, `none`, or comma-separated names, where `-name` removes one.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut features = Self::NONE;
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (name, wanted) = word.strip_prefix('-').map_or((word, true), |name| (name, false));
            let named = Feature::ALL.iter().find(|feature| feature.name() == name);
            features = match (name, named) {
                ("all", _) => Self::ALL,
                ("none", _) => Self::NONE,
                (_, Some(feature)) if wanted => features.with(*feature),
                (_, Some(feature)) => features.without(*feature),
                _ => return Err(Error::Spec(format!("no feature is called {name:?}"))),
            };
        }
        Ok(features)
    }
}

/// Everything a web depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The random seed.
    pub seed: u64,
    /// Number of ordinary hosts; corners may add a few.
    pub hosts: u32,
    /// Plain pages per host.
    pub pages_per_host: u32,
    /// Distinct content links per plain page, if there are enough pages to link to.
    pub links: u32,
    /// Every how many plain pages of a host one is a document; 0 means that there are none.
    pub documents: u32,
    /// The exact size of a plain page in bytes, unless its mandatory content is larger.
    pub page_bytes: usize,
    /// The share of content links to other hosts; 0 leaves hosts unconnected.
    pub cross_host_links: f64,
    /// How long responses are delayed.
    pub latency: Latency,
    /// The initial epoch; `Web::set_epoch` changes it.
    pub epoch: u64,
    /// Whether pages are compressed.
    pub gzip: GzipMode,
    /// Its features.
    pub features: Features,
    /// Whether plain pages have the vocabulary of real texts, in several languages, instead of a
    /// few hundred words.
    pub vocabulary: bool,
    /// The crawl delay in the robots.txt of every fifth host.
    pub crawl_delay: Duration,
    /// How many hosts share one address in `Dns`.
    pub hosts_per_ip: u32,
    /// Number of serving threads.
    pub threads: usize,
    /// Whether requests are logged; counters are always kept.
    pub log: bool,
}

impl Default for Spec {
    /// A plain web of three connected hosts and sixty pages.
    fn default() -> Self {
        Self {
            seed: 1,
            hosts: 3,
            pages_per_host: 20,
            links: 8,
            documents: 0,
            page_bytes: 4_000,
            cross_host_links: 0.2,
            latency: Latency::default(),
            epoch: 0,
            gzip: GzipMode::WhenAccepted,
            features: Features::NONE,
            vocabulary: false,
            crawl_delay: Duration::from_secs(1),
            hosts_per_ip: 1,
            threads: 1,
            log: true,
        }
    }
}

impl Spec {
    /// Plain pages only, no log: what benches measure crawlers against.
    pub fn bench(hosts: u32, pages_per_host: u32, page_bytes: usize, links: u32) -> Self {
        let cross_host_links = if hosts > 1 { 0.1 } else { 0.0 };
        Self { hosts, pages_per_host, links, page_bytes, cross_host_links, log: false, ..Self::default() }
    }

    /// A small friendly web: five hosts, 120 pages, and nothing hostile.
    pub fn demo() -> Self {
        use Feature::{
            Changes, Charsets, Duplicates, Errors, Furniture, Markup, Media, Redirects, Robots, Sitemaps, Validators,
        };
        Self {
            seed: 2026,
            hosts: 5,
            pages_per_host: 24,
            links: 10,
            page_bytes: 6_000,
            cross_host_links: 0.15,
            crawl_delay: Duration::from_millis(20),
            features: Features::of(&[
                Furniture, Validators, Changes, Robots, Sitemaps, Redirects, Errors, Markup, Charsets, Media,
                Duplicates,
            ]),
            ..Self::default()
        }
    }

    /// Every feature, on a web small enough to look at.
    pub fn zoo() -> Self {
        Self { features: Features::ALL, ..Self::default() }
    }

    /// The same web with one more feature.
    #[must_use]
    pub fn with(mut self, feature: Feature) -> Self {
        self.features = self.features.with(feature);
        self
    }

    /// The same web without hostile features.
    #[must_use]
    pub fn harmless(self) -> Self {
        HOSTILE.iter().copied().fold(self, Self::without)
    }

    /// The same web without one feature.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.features = self.features.without(feature);
        self
    }

    /// Rejects a web whose pages could not all be reached or named.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        let fault = |text: &str| Err(Error::Spec(text.into()));
        if !(1..=10_000_000).contains(&self.hosts) {
            return fault("hosts must be 1 to 10,000,000");
        }
        if self.pages_per_host == 0 {
            return fault("a host needs at least its home page");
        }
        if !(0.0..=1.0).contains(&self.cross_host_links) || !(0.0..=1.0).contains(&self.latency.spread) {
            return fault("shares lie between 0 and 1");
        }
        if self.links < self.least_links() {
            return fault("too few links for every page to be reached");
        }
        if self.links > 10_000 || self.page_bytes > 64 << 20 {
            return fault("at most 10,000 links and 64 MB a page");
        }
        if self.hosts_per_ip == 0 || self.threads == 0 {
            return fault("hosts per address and threads begin at 1");
        }
        Ok(self)
    }

    /// One link to the next page, and one to the next host.
    fn least_links(&self) -> u32 {
        u32::from(self.pages_per_host > 1) + u32::from(self.hosts > 1 && self.cross_host_links > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_by_name() {
        let features: Features = "all,-stalls, -floods".parse().unwrap();
        assert_eq!(features, Features::ALL.without(Feature::Stalls).without(Feature::Floods));
        assert_eq!("robots".parse::<Features>().unwrap(), Features::of(&[Feature::Robots]));
        assert!("robot".parse::<Features>().is_err());
    }

    #[test]
    fn a_web_that_could_not_be_walked_is_refused() {
        assert!(Spec { links: 1, ..Spec::default() }.checked().is_err());
        assert!(Spec { links: 1, cross_host_links: 0.0, ..Spec::default() }.checked().is_ok());
        assert!(Spec { cross_host_links: f64::NAN, ..Spec::default() }.checked().is_err());
        assert!(Spec { hosts: 0, ..Spec::default() }.checked().is_err());
    }
}
