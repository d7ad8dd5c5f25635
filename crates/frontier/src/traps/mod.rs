//! Is this link worth following, or does the site go on for ever?
//!
//! Every newly discovered address passes here once, and again before it is fetched. A trap is known by its shape alone (ever deeper paths,
//! repeating segments, calendars without end, exploding queries: Heritrix's and Nutch's rules of thumb), by how far it is from any seed, by
//! how many hosts its domain has, or by what its area, its host or its domain gave so far: the same content again and again, or content that
//! says nearly the same (session ids in paths, soft 404s that repeat the address, counters). What is cut off is recorded with the name of
//! the trap; nothing here is fatal. Counts live in bounded memory and are written down with the commits (see [`ledger`]).

mod ledger;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use shape::path_and_query;

use crate::recent::Recent;
use ledger::Ledger;
use orb_page::HostId;
use orb_urls::site::registrable;
use serde::{Deserialize, Serialize};
use shape::{area, fill, host_name, key, repeats, year_of};

/// Paths, areas, hosts and domains counted at a time.
const COUNTERS: usize = 200_000;

/// Areas whose contents are compared at a time.
const AREAS: usize = 20_000;

/// Contents remembered of an area: a calendar has twelve months.
const GISTS: usize = 16;

/// In how many bits the gists of pages differ at most that say nearly the same: those of long pages are SimHashes, and one word in
/// twenty may be another.
const NEAR: u32 = 6;

/// Where a trap begins. The defaults are generous: sites written by people stay within them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrapLimits {
    /// Characters of a URL.
    pub url_length: usize,
    /// Segments of a path.
    pub path_depth: usize,
    /// How often one segment may stand in a path.
    pub repeated_segment: usize,
    /// Parameters of a query.
    pub query_parameters: usize,
    /// Queries of one path; ten times as many where they have a single parameter.
    pub query_variants: u32,
    /// Years ahead of now in an address that looks like a calendar's.
    pub years_ahead: i64,
    /// Years before now in such an address.
    pub years_back: i64,
    /// By how many the pages of one area with content seen before may outnumber the others.
    pub repeated_content: u32,
    /// By how many the pages of one area that say nearly the same as another may outnumber the others.
    pub similar_content: u32,
    /// Links in a row from a seed.
    pub chain: u32,
    /// By how many the pages of a host that an older host has too may outnumber its own.
    pub mirrored_pages: u32,
    /// By how many the hosts of one domain that begin with pages of older hosts may outnumber the others.
    pub mirrored_hosts: u32,
    /// Hosts of one registrable domain.
    pub hosts_per_domain: u32,
    /// Pages of one host.
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

/// An address as the trap rules see it: parts of a canonical URL.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The host.
    pub host: HostId,
    /// The whole URL.
    pub url: &'a str,
    /// Path, with its first slash.
    pub path: &'a str,
    /// Query, without its question mark.
    pub query: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// The parts of a canonical URL.
    pub fn of(host: HostId, url: &'a str) -> Self {
        let rest = path_and_query(url);
        let (path, query) = rest.split_once('?').map_or((rest, None), |(p, q)| (p, Some(q)));
        Self { host, url, path, query }
    }

    fn area(self) -> u64 {
        area(self.host, self.path, self.query.is_some())
    }

    fn domain(self, family: Family) -> u64 {
        key(family as u64, HostId(0), registrable(host_name(self.url)))
    }
}

/// What a count is about; areas have families of their own.
#[derive(Clone, Copy)]
enum Family {
    /// Queries of a path.
    Queries = 1,
    /// Hosts of a domain.
    Hosts = 4,
    /// The newest of them.
    Newest = 5,
    /// The first host of a domain that is one too many.
    Surplus = 6,
    /// Hosts of a domain that begin with pages of older hosts.
    MirroredHosts = 7,
    /// Pages of a host that an older one has too.
    HostMirror = 8,
    /// Pages of a host.
    Pages = 9,
    /// Whether a host has a page of its own.
    Own = 10,
    /// The oldest host of a domain.
    Oldest = 11,
}

/// What a fetched page was like, beside those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Novelty {
    /// Whether its content had been seen before, to the byte.
    pub repeated: bool,
    /// What it says, in 64 bits of which few differ where two pages say nearly the same; only text has one.
    pub gist: Option<u64>,
    /// The younger of two hosts that have the same page.
    pub mirror: Option<HostId>,
}

/// The contents met last in an area.
#[derive(Debug, Default)]
struct Gists {
    kept: [u64; GISTS],
    count: usize,
}

impl Gists {
    /// Whether one like it was there; remembers it otherwise.
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

/// Knows traps when it sees them.
#[derive(Debug)]
pub struct Traps {
    limits: TrapLimits,
    counts: Ledger,
    gists: Recent<u64, Gists>,
    /// The host last found to be no surplus.
    welcome: Option<HostId>,
}

impl Traps {
    /// Nothing counted yet.
    pub fn new(limits: TrapLimits) -> Self {
        Self { limits, counts: Ledger::new(COUNTERS), gists: Recent::new(AREAS), welcome: None }
    }

    /// The name of the trap an address belongs to, if any. To be asked once for each page discovered, so many links from a seed; `year` is
    /// the present one.
    pub fn judge(&mut self, target: Target<'_>, depth: u32, year: i64) -> Option<&'static str> {
        if depth > self.limits.chain {
            return Some("trap-chain");
        }
        self.judge_shape(target, year)
            .or_else(|| self.judge_host(target))
            .or_else(|| self.spent(target))
            .or_else(|| self.judge_query(target))
            .or_else(|| self.judge_pages(target))
    }

    /// The name of the trap that the area or the host of an address has proved to be since the address was judged. To be asked before
    /// each fetch.
    pub fn spent(&mut self, target: Target<'_>) -> Option<&'static str> {
        let area = target.area();
        if self.counts.get(area) >= self.limits.repeated_content {
            return Some("trap-content");
        }
        if self.counts.get(similar(area)) >= self.limits.similar_content {
            return Some("trap-similar");
        }
        let mirrored = self.counts.get(host_key(Family::HostMirror, target.host)) >= self.limits.mirrored_pages;
        let alike = self.counts.get(target.domain(Family::MirroredHosts)) >= self.limits.mirrored_hosts;
        (mirrored || (alike && !self.has_own(target))).then_some("trap-mirror")
    }

    /// Takes note of what a fetched page was like.
    pub fn note(&mut self, target: Target<'_>, novelty: Novelty) {
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

    /// Whether a host has a page of its own; the oldest of its domain always has.
    fn has_own(&mut self, target: Target<'_>) -> bool {
        self.counts.get(host_key(Family::Own, target.host)) > 0
            || target.host.0 <= self.counts.get(target.domain(Family::Oldest))
    }

    /// A host has a page of its own. Only where a domain has several hosts does it matter.
    fn note_own(&mut self, target: Target<'_>) {
        let own = host_key(Family::Own, target.host);
        if self.counts.get(own) == 0 && self.counts.get(target.domain(Family::Hosts)) > 1 {
            self.counts.set(own, 1);
            self.counts.down(target.domain(Family::MirroredHosts));
        }
    }

    /// The counts that changed since the last time, to be written down with the next commit.
    pub fn take_changed(&mut self) -> Vec<(u64, u32)> {
        self.counts.take_changed()
    }

    /// Goes on from the counts that were written down.
    pub fn recall(&mut self, counts: impl IntoIterator<Item = (u64, u32)>) {
        self.counts.recall(counts);
    }

    fn judge_shape(&self, target: Target<'_>, year: i64) -> Option<&'static str> {
        if target.url.len() > self.limits.url_length {
            return Some("trap-length");
        }
        let mut segments = [""; shape::SEGMENTS];
        let count = fill(&mut segments, target.path);
        if count > self.limits.path_depth {
            return Some("trap-depth");
        }
        let segments = &segments[..count.min(shape::SEGMENTS)];
        if repeats(segments, self.limits.repeated_segment) {
            return Some("trap-repeat");
        }
        let window = year - self.limits.years_back..=year + self.limits.years_ahead;
        year_of(segments, target.query).is_some_and(|y| !window.contains(&y)).then_some("trap-calendar")
    }

    /// Whether the host is one too many of its domain. Hosts are numbered in the order they are met, so that one number tells those that
    /// were met in time from the rest.
    fn judge_host(&mut self, target: Target<'_>) -> Option<&'static str> {
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
            return Some("trap-hosts");
        }
        self.welcome = Some(target.host);
        None
    }

    fn judge_query(&mut self, target: Target<'_>) -> Option<&'static str> {
        let query = target.query.filter(|q| !q.is_empty())?;
        let parameters = query.split(['&', ';']).filter(|p| !p.is_empty()).count();
        if parameters > self.limits.query_parameters {
            return Some("trap-parameters");
        }
        let most = self.limits.query_variants.saturating_mul(if parameters < 2 { 10 } else { 1 });
        let seen = key(Family::Queries as u64, target.host, target.path);
        if self.counts.get(seen) >= most {
            return Some("trap-query");
        }
        self.counts.up(seen);
        None
    }

    fn judge_pages(&mut self, target: Target<'_>) -> Option<&'static str> {
        let most = self.limits.host_pages?;
        let pages = host_key(Family::Pages, target.host);
        if self.counts.get(pages) >= most {
            return Some("trap-pages");
        }
        self.counts.up(pages);
        None
    }
}

/// The key of how many pages of an area say nearly the same as another.
const fn similar(area: u64) -> u64 {
    area.rotate_left(32) ^ 0x5bd1_e995
}

fn host_key(family: Family, host: HostId) -> u64 {
    key(family as u64, host, "")
}
