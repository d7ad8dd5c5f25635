//! Is this link worth following, or is the URL space endless?
//!
//! Every newly discovered URL is checked here once, and again before it is fetched. A trap is
//! recognised by its shape alone (ever deeper paths, repeating segments, endless calendars,
//! exploding queries: Heritrix's and Nutch's rules of thumb), by its distance from any seed, by the
//! number of hosts in its domain, or by what its area, host or domain has yielded so far:
//! duplicates, or near-duplicates (session ids in paths, soft 404s that repeat the URL, counters).
//! What is cut off is recorded with the name of the trap; nothing here is fatal. Counters live in
//! bounded memory and are persisted with the commits (see [`ledger`]).

mod ledger;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use shape::path_and_query;

use crate::recent::Recent;
use ledger::TrapCounters;
use orb_page::{HostId, Trap};
use orb_urls::site::registrable;
use serde::{Deserialize, Serialize};
use shape::{area, fill, host_name, key, repeats, year_of};

/// Maximum number of counters for paths, areas, hosts and domains.
const COUNTERS: usize = 200_000;

/// Maximum number of areas whose contents are compared.
const AREAS: usize = 20_000;

/// Contents remembered per area: a calendar has twelve months.
const GISTS: usize = 16;

/// Maximum Hamming distance of the gists of near-duplicates: those of long pages are SimHashes, and
/// one word in twenty may differ.
const NEAR: u32 = 6;

/// The limits beyond which URLs count as a trap. The defaults are generous: sites made by people
/// stay within them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrapLimits {
    /// Length of a URL in characters.
    pub url_length: usize,
    /// Segments in a path.
    pub path_depth: usize,
    /// How often one segment may occur in a path.
    pub repeated_segment: usize,
    /// Parameters in a query.
    pub query_parameters: usize,
    /// Distinct queries of one path; ten times as many if they have a single parameter.
    pub query_variants: u32,
    /// Years ahead of now in a calendar URL.
    pub years_ahead: i64,
    /// Years before now in a calendar URL.
    pub years_back: i64,
    /// By how many the duplicates in one area may outnumber the other pages.
    pub repeated_content: u32,
    /// By how many the near-duplicates in one area may outnumber the other pages.
    pub similar_content: u32,
    /// Distance in links from a seed.
    pub chain: u32,
    /// By how many the pages a host shares with an older host may outnumber its own.
    pub mirrored_pages: u32,
    /// By how many the hosts of one domain that start with pages of older hosts may outnumber the
    /// others.
    pub mirrored_hosts: u32,
    /// Hosts per registrable domain.
    pub hosts_per_domain: u32,
    /// Pages per host.
    pub host_pages: Option<u32>,
}

impl Default for TrapLimits {
    fn default() -> Self {
        Self {
            url_length: 2_000,
            path_depth: 20,
            repeated_segment: 4,
            query_parameters: 32,
            query_variants: 1_000,
            years_ahead: 10,
            years_back: 250,
            repeated_content: 200,
            similar_content: 500,
            chain: 1_000,
            mirrored_pages: 100,
            mirrored_hosts: 20,
            hosts_per_domain: 2_000,
            host_pages: None,
        }
    }
}

/// A URL as the trap rules see it: parts of a canonical URL.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The host.
    pub host: HostId,
    /// The whole URL.
    pub url: &'a str,
    /// Path, with its leading slash.
    pub path: &'a str,
    /// Query, without its question mark.
    pub query: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Splits a canonical URL into its parts.
    pub fn of(host: HostId, url: &'a str) -> Self {
        let rest = path_and_query(url);
        let (path, query) = rest.split_once('?').map_or((rest, None), |(p, q)| (p, Some(q)));
        Self { host, url, path, query }
    }

    /// Whether a web server made it, which can make endlessly many. What other protocols list is
    /// there, however alike it looks.
    fn is_web(self) -> bool {
        self.url.starts_with("http")
    }

    /// Its area: two directories, or the queries of one path.
    pub fn area(self) -> u64 {
        area(self.host, self.path, self.query.is_some())
    }

    fn domain(self, family: Family) -> u64 {
        key(family as u64, HostId(0), registrable(host_name(self.url)))
    }
}

/// What a counter is about; areas have families of their own.
#[derive(Clone, Copy)]
enum Family {
    /// Distinct queries of a path.
    Queries = 1,
    /// Hosts of a domain.
    Hosts = 4,
    /// The newest of them.
    Newest = 5,
    /// The first surplus host of a domain.
    Surplus = 6,
    /// Hosts of a domain that start with pages of older hosts.
    MirroredHosts = 7,
    /// Pages of a host that an older one has too.
    HostMirror = 8,
    /// Pages of a host.
    Pages = 9,
    /// Whether a host has an original page.
    Own = 10,
    /// The oldest host of a domain.
    Oldest = 11,
}

/// How a fetched page compares with earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Novelty {
    /// Whether its content is an exact duplicate.
    pub repeated: bool,
    /// Its gist: 64 bits, few of which differ between near-duplicates; only text has one.
    pub gist: Option<u64>,
    /// The younger of two hosts that have the same page.
    pub mirror: Option<HostId>,
}

/// The most recent contents of an area.
#[derive(Debug, Default)]
struct Gists {
    kept: [u64; GISTS],
    count: usize,
}

impl Gists {
    /// Whether a near-duplicate was there; remembers the gist otherwise.
    fn meet(&mut self, gist: u64) -> bool {
        let held = &self.kept[..self.count.min(GISTS)];
        if held.iter().any(|g| (g ^ gist).count_ones() <= NEAR) {
            return true;
        }
        self.kept[self.count % GISTS] = gist;
        self.count += 1;
        false
    }
}

/// Recognises traps.
#[derive(Debug)]
pub struct Traps {
    limits: TrapLimits,
    counts: TrapCounters,
    gists: Recent<u64, Gists>,
    /// The host last found not to be surplus.
    welcome: Option<HostId>,
}

impl Traps {
    /// Without any counts.
    pub fn new(limits: TrapLimits) -> Self {
        Self { limits, counts: TrapCounters::new(COUNTERS), gists: Recent::new(AREAS), welcome: None }
    }

    /// The trap a URL belongs to, if any. Call it once per discovered page, `depth`
    /// links from a seed; `year` is the current one.
    pub fn judge(&mut self, target: Target<'_>, depth: u32, year: i64) -> Option<Trap> {
        if depth > self.limits.chain {
            return Some(Trap::Chain);
        }
        if !target.is_web() {
            return self.judge_shape(target, year).or_else(|| self.judge_pages(target));
        }
        self.judge_shape(target, year)
            .or_else(|| self.judge_host(target))
            .or_else(|| self.spent(target))
            .or_else(|| self.judge_query(target))
            .or_else(|| self.judge_pages(target))
    }

    /// The trap that the area or host of a URL has proved to be since it was judged.
    /// Call it before each fetch.
    pub fn spent(&mut self, target: Target<'_>) -> Option<Trap> {
        if !target.is_web() {
            return None;
        }
        let area = target.area();
        if self.counts.get(area) >= self.limits.repeated_content {
            return Some(Trap::Content);
        }
        if self.counts.get(similar(area)) >= self.limits.similar_content {
            return Some(Trap::Similar);
        }
        let mirrored = self.counts.get(host_key(Family::HostMirror, target.host)) >= self.limits.mirrored_pages;
        let alike = self.counts.get(target.domain(Family::MirroredHosts)) >= self.limits.mirrored_hosts;
        (mirrored || (alike && !self.has_own(target))).then_some(Trap::Mirror)
    }

    /// Records what a fetched page was like.
    pub fn note(&mut self, target: Target<'_>, novelty: Novelty) {
        if !target.is_web() {
            return;
        }
        let area = target.area();
        if let Some(younger) = novelty.mirror {
            let mirror = host_key(Family::HostMirror, younger);
            if self.counts.get(mirror) == 0 && younger == target.host {
                self.counts.up(target.domain(Family::MirroredHosts));
            }
            self.counts.up(mirror);
        }
        if novelty.repeated {
            return self.counts.up(area);
        }
        self.counts.down(area);
        if novelty.gist.is_some_and(|gist| self.gists.get_or_insert(area, 1).meet(gist)) {
            self.counts.up(similar(area));
            return;
        }
        self.counts.down(similar(area));
        if novelty.gist.is_some() {
            self.counts.down(host_key(Family::HostMirror, target.host));
            self.note_own(target);
        }
    }

    /// Whether a host has an original page; the oldest of its domain always has.
    fn has_own(&mut self, target: Target<'_>) -> bool {
        self.counts.get(host_key(Family::Own, target.host)) > 0
            || target.host.0 <= self.counts.get(target.domain(Family::Oldest))
    }

    /// Records that a host has an original page. It matters only if a domain has several hosts.
    fn note_own(&mut self, target: Target<'_>) {
        let own = host_key(Family::Own, target.host);
        if self.counts.get(own) == 0 && self.counts.get(target.domain(Family::Hosts)) > 1 {
            self.counts.set(own, 1);
            self.counts.down(target.domain(Family::MirroredHosts));
        }
    }

    /// The counters that changed since the last call, to be persisted with the next commit.
    pub fn take_changed(&mut self) -> Vec<(u64, u32)> {
        self.counts.take_changed()
    }

    /// Restores persisted counters.
    pub fn recall(&mut self, counts: impl IntoIterator<Item = (u64, u32)>) {
        self.counts.recall(counts);
    }

    fn judge_shape(&self, target: Target<'_>, year: i64) -> Option<Trap> {
        if target.url.len() > self.limits.url_length {
            return Some(Trap::Length);
        }
        let mut segments = [""; shape::SEGMENTS];
        let count = fill(&mut segments, target.path);
        if count > self.limits.path_depth {
            return Some(Trap::Depth);
        }
        let segments = &segments[..count.min(shape::SEGMENTS)];
        if repeats(segments, self.limits.repeated_segment) {
            return Some(Trap::Repeat);
        }
        if !target.is_web() {
            return None;
        }
        let window = year - self.limits.years_back..=year + self.limits.years_ahead;
        year_of(segments, target.query).is_some_and(|y| !window.contains(&y)).then_some(Trap::Calendar)
    }

    /// Whether the host is surplus in its domain. Hosts are numbered in the order they are met, so
    /// one number separates the accepted hosts from the rest.
    fn judge_host(&mut self, target: Target<'_>) -> Option<Trap> {
        if self.welcome == Some(target.host) {
            return None;
        }
        let [hosts, newest, surplus] =
            [Family::Hosts, Family::Newest, Family::Surplus].map(|family| target.domain(family));
        let (count, first) = (self.counts.get(hosts), self.counts.get(surplus));
        let oldest = target.domain(Family::Oldest);
        if count == 0 || target.host.0 < self.counts.get(oldest) {
            self.counts.set(oldest, target.host.0);
        }
        if first == 0 && target.host.0 > self.counts.get(newest) {
            if count >= self.limits.hosts_per_domain {
                self.counts.set(surplus, target.host.0);
            } else {
                self.counts.set(hosts, count + 1);
                self.counts.set(newest, target.host.0);
            }
        }
        let first = self.counts.get(surplus);
        if first > 0 && target.host.0 >= first {
            return Some(Trap::Hosts);
        }
        self.welcome = Some(target.host);
        None
    }

    fn judge_query(&mut self, target: Target<'_>) -> Option<Trap> {
        let query = target.query.filter(|q| !q.is_empty())?;
        let parameters = query.split(['&', ';']).filter(|p| !p.is_empty()).count();
        if parameters > self.limits.query_parameters {
            return Some(Trap::Parameters);
        }
        let most = self.limits.query_variants.saturating_mul(if parameters < 2 { 10 } else { 1 });
        let seen = key(Family::Queries as u64, target.host, target.path);
        if self.counts.get(seen) >= most {
            return Some(Trap::Query);
        }
        self.counts.up(seen);
        None
    }

    fn judge_pages(&mut self, target: Target<'_>) -> Option<Trap> {
        let most = self.limits.host_pages?;
        let pages = host_key(Family::Pages, target.host);
        if self.counts.get(pages) >= most {
            return Some(Trap::Pages);
        }
        self.counts.up(pages);
        None
    }
}

/// The counter key for near-duplicates in an area.
const fn similar(area: u64) -> u64 {
    area.rotate_left(32) ^ 0x5bd1_e995
}

fn host_key(family: Family, host: HostId) -> u64 {
    key(family as u64, host, "")
}
