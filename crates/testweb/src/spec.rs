//! What web shall there be?
//!
//! A `Spec` is all that a web depends on: with the same spec, the same URL has the same answer in every process. What a
//! real web surprises a crawler with comes in `Feature`s, each to be switched on or off alone.

use crate::Error;
use std::time::Duration;

/// Whether pages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GzipMode {
    /// Never.
    Never,
    /// Where the request's `Accept-Encoding` names gzip.
    #[default]
    WhenAccepted,
}

/// How long an answer is held back; which page waits how long is a function of its URL.
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
            /// Every feature there is.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name it has on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

features! {
    /// Navigation, breadcrumbs, images, style sheet, script, footer and links that are no web on every page.
    Furniture => "furniture",
    /// `ETag`, `Last-Modified` and answers 304 to conditional requests.
    Validators => "validators",
    /// Pages whose content depends on the epoch, everywhere; and a corner where they appear and vanish.
    Changes => "changes",
    /// `robots.txt` with rules, crawl delays and a host that forbids everything.
    Robots => "robots",
    /// Sitemaps, their index and a compressed one, with pages nothing else points to.
    Sitemaps => "sitemaps",
    /// Redirects of every status, chains and loops.
    Redirects => "redirects",
    /// Answers that say no and mean it: 4xx.
    Errors => "errors",
    /// Servers out of order for good: 5xx, and robots.txt that cannot be had.
    Failures => "failures",
    /// Answers that say no at first: 429, 503 with `Retry-After`, a closed connection.
    Retries => "retries",
    /// Servers whose framing, length, coding or type is a lie.
    Lies => "lies",
    /// Servers that drip or never answer.
    Stalls => "stalls",
    /// Servers that send without end: bodies, headers, a gzip bomb, a large file.
    Floods => "floods",
    /// Every way to write a link, and pages no tree should be built of.
    Markup => "markup",
    /// Pages in several encodings, declared in several places.
    Charsets => "charsets",
    /// Images, a document and data.
    Media => "media",
    /// Calendars, ever deeper paths, facets: URLs without end.
    Traps => "traps",
    /// Session ids in paths and queries, other ones in every answer.
    Sessions => "sessions",
    /// Session ids of no known name in every link, other ones at every epoch or in every answer.
    Rewriting => "rewriting",
    /// A newspaper whose every answer is dressed up anew, and which changes a little with every epoch.
    Gazette => "gazette",
    /// A log-in, a search and pages for members alone.
    Members => "members",
    /// The same content under several URLs, nearly the same content, a canonical link, soft 404s.
    Duplicates => "duplicates",
    /// Two hosts with the same content.
    Mirrors => "mirrors",
    /// URLs without end that only their content gives away: unknown session ids, soft 404s that repeat the address, chains.
    Mazes => "mazes",
    /// Hosts without end below two names, one of them with the same content everywhere.
    Wilds => "wilds",
    /// Decompression bombs in every coding, one inside the other.
    Bombs => "bombs",
    /// Framing without end: chunk extensions, trailers, interim answers; a second answer nobody asked for.
    Frames => "frames",
    /// Connections that are reset at every stage of an answer.
    Resets => "resets",
    /// Pages of a size nobody needs: links, attributes, addresses; and encodings that are not what they say.
    Vast => "vast",
    /// Sitemaps that name each other, list millions or unpack to a gibibyte; robots.txt without end.
    Atlases => "atlases",
}

/// What is there to hurt: crawlers have tests of their own for these.
const HOSTILE: &[Feature] = &[
    Feature::Stalls,
    Feature::Floods,
    Feature::Rewriting,
    Feature::Mazes,
    Feature::Wilds,
    Feature::Bombs,
    Feature::Frames,
    Feature::Resets,
    Feature::Vast,
    Feature::Atlases,
];

impl Feature {
    /// Whether it is there to hurt.
    pub fn is_hostile(self) -> bool {
        HOSTILE.contains(&self)
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// None at all.
    pub const NONE: Self = Self(0);
    /// All there are.
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

    /// Whether it is among them.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Self {
        Self(self.0 | (1 << feature as u32))
    }

    /// These but one.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u32))
    }
}

impl std::str::FromStr for Features {
    type Err = Error;

    /// Read `all`, `none`, or names with commas between them, where `-name` takes one away.
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

/// All that a web depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// What all its variety is drawn from.
    pub seed: u64,
    /// How many ordinary hosts it has; corners may add a few.
    pub hosts: u32,
    /// How many plain pages each of them has.
    pub pages_per_host: u32,
    /// How many distinct content links a plain page has, where there are enough pages to point to.
    pub links: u32,
    /// The size of a plain page in bytes, exactly, unless what it must hold is more.
    pub page_bytes: usize,
    /// The share of content links that go to other hosts; 0 leaves hosts unconnected.
    pub cross_host_links: f64,
    /// How long answers are held back.
    pub latency: Latency,
    /// The epoch at the start; `Web::set_epoch` moves on.
    pub epoch: u64,
    /// Whether pages are compressed.
    pub gzip: GzipMode,
    /// What makes it less plain.
    pub features: Features,
    /// The crawl delay that the robots.txt of every fifth host asks for.
    pub crawl_delay: Duration,
    /// How many hosts share one address in `Dns`.
    pub hosts_per_ip: u32,
    /// How many threads serve it.
    pub threads: usize,
    /// Whether every request is written down; counters are kept in any case.
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
            page_bytes: 4_000,
            cross_host_links: 0.2,
            latency: Latency::default(),
            epoch: 0,
            gzip: GzipMode::WhenAccepted,
            features: Features::NONE,
            crawl_delay: Duration::from_secs(1),
            hosts_per_ip: 1,
            threads: 1,
            log: true,
        }
    }
}

impl Spec {
    /// Plain pages alone, no log: what benches measure crawlers against.
    pub fn bench(hosts: u32, pages_per_host: u32, page_bytes: usize, links: u32) -> Self {
        let cross_host_links = if hosts > 1 { 0.1 } else { 0.0 };
        Self { hosts, pages_per_host, links, page_bytes, cross_host_links, log: false, ..Self::default() }
    }

    /// A small friendly web: five hosts, 120 pages, and nothing that hurts.
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

    /// Every feature there is, on a web small enough to look at.
    pub fn zoo() -> Self {
        Self { features: Features::ALL, ..Self::default() }
    }

    /// The same web with one feature more.
    #[must_use]
    pub fn with(mut self, feature: Feature) -> Self {
        self.features = self.features.with(feature);
        self
    }

    /// The same web with nothing that is there to hurt.
    #[must_use]
    pub fn harmless(self) -> Self {
        HOSTILE.iter().copied().fold(self, Self::without)
    }

    /// The same web with one feature less.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.features = self.features.without(feature);
        self
    }

    /// Refuse a web whose pages could not all be reached or named.
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

    /// One link to go on to the next page, another to go on to the next host.
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
