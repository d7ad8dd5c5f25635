//! What will a crawl of N pages take: disk, time, memory, files?
//!
//! Every figure is a product of a few assumptions, each of which says where it comes from: given by
//! the user, measured on crawls made here, or a default. A store takes a fixed number of bytes (the
//! journal of the frontier index is preallocated), plus some for every page, URL and link; the
//! defaults were measured on crawls of two hundred to ten million known URLs. Where projects were
//! measured, the variable part is scaled by the ratio of what they take to what the formula
//! predicts for them. The larger they are, the more that ratio counts, since a small project says
//! little about a large one.
//!
//! Time is the slower of two bounds: bandwidth, and politeness, for which the largest host decides.
//! The graph is estimated from the literature: 3.08 bits per link (Boldi and Vigna, WebBase 2001).

use crate::{AnswerError, Result};
use orb_store::{Home, Sums};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Where an assumption comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AssumptionSource {
    /// Given by the user.
    Given,
    /// Measured on the crawls in this home.
    Measured,
    /// A default.
    Default,
}

/// A number with its origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Assumed {
    /// The number.
    pub value: f64,
    /// Where it comes from.
    pub from: AssumptionSource,
}

/// What the user says about the planned crawl; what is left out is measured or assumed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Pages to fetch.
    pub pages: f64,
    /// Bytes of a body as transferred.
    pub page_size: Option<f64>,
    /// Bytes in the archive for each byte transferred.
    pub compression: Option<f64>,
    /// Links per page.
    pub links_per_page: Option<f64>,
    /// URLs known per page fetched.
    pub urls_per_page: Option<f64>,
    /// Bytes of a URL.
    pub url_length: Option<f64>,
    /// Hosts.
    pub hosts: Option<f64>,
    /// Bits per link in the graph.
    pub bits_per_link: Option<f64>,
    /// Bandwidth in bytes per second.
    pub bandwidth: Option<f64>,
    /// Seconds between two requests to one host.
    pub delay: Option<f64>,
    /// Maximum memory for known URLs, in bytes.
    pub index_memory: Option<f64>,
}

/// What the estimate is based on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Assumptions {
    /// Bytes of a body as transferred.
    pub page_size: Assumed,
    /// Bytes in the archive for each byte transferred.
    pub compression: Assumed,
    /// Links per page.
    pub links_per_page: Assumed,
    /// URLs known per page fetched.
    pub urls_per_page: Assumed,
    /// Bytes of a URL.
    pub url_length: Assumed,
    /// Hosts.
    pub hosts: Assumed,
    /// Bits per link in the graph.
    pub bits_per_link: Assumed,
    /// Seconds between two requests to one host.
    pub delay: Assumed,
    /// Pages of the largest host.
    pub largest_host: Assumed,
    /// Bytes per second; `None` if bandwidth is not a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Assumed>,
}

/// What one store takes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// The store.
    pub store: &'static str,
    /// Bytes.
    pub bytes: f64,
    /// What it takes of them whatever it holds.
    pub fixed: f64,
    /// Whether this version builds it.
    pub built: bool,
    /// How the figure is derived.
    pub derived: &'static str,
    /// By how much what grows was scaled to agree with what was measured here; 1 where nothing was.
    pub scaled: f64,
}

/// How long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlannedDays {
    /// As bounded by bandwidth; `None` if none is given.
    pub bandwidth: Option<f64>,
    /// As bounded by politeness.
    pub politeness: f64,
    /// The longer of the two.
    pub total: f64,
    /// Which of them that is.
    pub bound: &'static str,
}

/// The estimate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CrawlPlan {
    /// Pages to fetch.
    pub pages: f64,
    /// Projects that the measured averages are based on.
    #[serde(skip)]
    pub measured_projects: usize,
    /// Pages that the measured averages are based on.
    pub measured_pages: u64,
    /// Its assumptions.
    pub assumptions: Assumptions,
    /// Bytes to be transferred.
    pub download: f64,
    /// URLs that become known.
    pub known: f64,
    /// Bytes of these URLs, uncompressed.
    pub url_bytes: f64,
    /// Links that are recorded.
    pub links: f64,
    /// Disk by store.
    pub disk: Vec<Share>,
    /// All of them together.
    pub disk_total: f64,
    /// Time.
    pub days: PlannedDays,
    /// Bytes of memory.
    pub memory: f64,
    /// Files.
    pub files: f64,
}

/// This many estimated bytes weigh as much as the same number of measured ones.
const BELIEF: f64 = 1e5;

/// The store whose size also decides the number of files.
const FRONTIER_INDEX: &str = "frontier index";

/// Archive bytes besides the body: the heads of request and response, both record headers, the CDXJ
/// line.
const ARCHIVE_PAGE: f64 = 1_500.0;
/// Bytes of an empty catalogue, of a visit with its pictures, of a known page besides its URL, and
/// of a link.
const CATALOGUE: f64 = 132e3;
const VISIT: f64 = 200.0;
const KNOWN: f64 = 55.0;
const LINK: f64 = 50.0;
/// Bytes of the frontier index's journal, of a known URL in the index, of an entry of a queue
/// besides its URL, and the part of the known URLs that waits at the most.
const JOURNAL: f64 = 67.2e6;
const SEEN: f64 = 30.0;
const QUEUED: f64 = 35.0;
const WAITING: f64 = 0.5;
/// Memory per known URL, and the fixed part.
const MEMORY_URL: f64 = 13.0;
const MEMORY_BASE: f64 = 200e6;
/// Bytes of an empty text index, and the part of a packed body's bytes that its words take with
/// their positions.
const INDEX: f64 = 12e3;
const TEXT: f64 = 0.45;
/// Bytes of a graph with nothing in it, and of a page's ranks and places in it.
const GRAPH: f64 = 26e3;
const RANKS: f64 = 125.0;
/// Front-coded size of URLs, relative to their bytes.
const FRONT_CODED: f64 = 0.3;
/// Bytes per WARC file.
const WARC_FILE: f64 = 1e9;
/// Seconds per day.
const DAY: f64 = 86_400.0;

/// Estimates a crawl from the user's wishes and from what the projects of a home, or one of them,
/// have measured. A home that is not there is not created for this.
pub fn plan(home: &Path, wishes: &Wishes, from: Option<&str>) -> Result<CrawlPlan> {
    let (measured, projects) = measured(home, from)?;
    Ok(CrawlPlan { measured_projects: projects, ..CrawlPlan::new(wishes, &measured) })
}

/// What was collected so far, and in how many projects.
fn measured(home: &Path, from: Option<&str>) -> Result<(Sums, usize)> {
    let home = Home::look(home)?;
    let projects = match from {
        Some(name) => vec![home.find(name)?],
        None => home.list()?,
    };
    let (mut sums, mut count) = (Sums::default(), 0);
    for project in projects.iter().filter(|project| !project.is_empty()) {
        let one = Sums::of(project)?;
        count += usize::from(one.pages > 0);
        sums += one;
    }
    match from {
        Some(name) if sums.pages == 0 => {
            let why = format!("project {name} has fetched nothing yet to take averages from");
            Err(AnswerError::NotBuilt(why))
        }
        _ => Ok((sums, count)),
    }
}

impl CrawlPlan {
    /// Estimates a crawl from the user's wishes and local measurements.
    fn new(wishes: &Wishes, measured: &Sums) -> Self {
        let a = Assumptions::new(wishes, measured);
        let pages = wishes.pages;
        let (known, links) = (pages * a.urls_per_page.value.max(1.0), pages * a.links_per_page.value);
        let disk = disk(&a, pages, measured);
        let memory = known * MEMORY_URL;
        let archive = disk.first().map_or(0.0, |share| share.bytes);
        let frontier = disk.iter().find(|share| share.store == FRONTIER_INDEX).map_or(0.0, |share| share.bytes);
        Self {
            pages,
            measured_projects: 0,
            measured_pages: measured.pages,
            assumptions: a,
            download: pages * a.page_size.value,
            known,
            url_bytes: known * a.url_length.value,
            links,
            disk_total: disk.iter().filter(|share| share.built).map(|share| share.bytes).sum(),
            disk,
            days: PlannedDays::new(&a, pages),
            memory: MEMORY_BASE + memory.min(wishes.index_memory.unwrap_or(800e6)),
            // Two files per WARC file, one per table of the index, and a few fixed ones.
            files: 2.0 * (archive / WARC_FILE).ceil() + (frontier / 64e6).ceil() + 10.0,
        }
    }
}

fn average(sum: u64, over: u64) -> Option<f64> {
    (over > 0 && sum > 0).then(|| sum as f64 / over as f64)
}

fn assume(given: Option<f64>, measured: Option<f64>, default: f64) -> Assumed {
    match (given, measured) {
        (Some(value), _) => Assumed { value, from: AssumptionSource::Given },
        (None, Some(value)) => Assumed { value, from: AssumptionSource::Measured },
        (None, None) => Assumed { value: default, from: AssumptionSource::Default },
    }
}

impl Assumptions {
    fn new(wishes: &Wishes, m: &Sums) -> Self {
        let hosts = assume(
            wishes.hosts,
            average(m.hosts, m.pages).map(|share| (share * wishes.pages).max(1.0)),
            (wishes.pages / 500.0).max(1.0),
        );
        let share = average(m.largest_host, m.pages).filter(|_| wishes.hosts.is_none());
        Self {
            page_size: assume(wishes.page_size, average(m.transferred, m.pages), 50_000.0),
            compression: assume(wishes.compression, packed(m), 0.4),
            links_per_page: assume(wishes.links_per_page, average(m.links, m.pages), 54.5),
            urls_per_page: assume(wishes.urls_per_page, average(m.known, m.pages), 2.0),
            url_length: assume(wishes.url_length, average(m.url_bytes, m.known), 64.0),
            hosts,
            bits_per_link: assume(wishes.bits_per_link, None, 3.08),
            delay: assume(wishes.delay, None, 1.0),
            largest_host: match share {
                Some(share) => Assumed { value: share * wishes.pages, from: AssumptionSource::Measured },
                // Unknown: as if all hosts were of equal size.
                None => Assumed { value: (wishes.pages / hosts.value.max(1.0)).ceil(), from: hosts.from },
            },
            bandwidth: wishes.bandwidth.map(|value| Assumed { value, from: AssumptionSource::Given }),
        }
    }
}

/// Archive bytes of bodies per byte transferred.
fn packed(m: &Sums) -> Option<f64> {
    let bodies = m.archive_bytes as f64 - m.pages as f64 * ARCHIVE_PAGE;
    (bodies > 0.0 && m.transferred > 0).then(|| bodies / m.transferred as f64)
}

/// What stores hold.
#[derive(Clone, Copy)]
struct Holding {
    pages: f64,
    known: f64,
    /// Bytes of the known URLs.
    urls: f64,
    links: f64,
}

impl Holding {
    fn catalogue(self) -> f64 {
        self.pages * VISIT + self.known * KNOWN + self.urls
    }

    fn frontier(self) -> f64 {
        (self.pages + self.known) * SEEN + WAITING * (self.known * QUEUED + self.urls)
    }

    /// One direction of the graph.
    fn arcs(self, bits: f64) -> f64 {
        self.links * bits / 8.0
    }

    /// What else belongs to a graph.
    fn names(self) -> f64 {
        self.urls * FRONT_CODED
    }
}

/// By how much what grows with the holding is to be scaled: what was really taken beyond the fixed
/// part of so many stores, against what was foreseen.
fn fitted(really: u64, fixed: f64, foreseen: f64) -> f64 {
    if really == 0 { 1.0 } else { ((really as f64 - fixed).max(0.0) + BELIEF) / (foreseen + BELIEF) }
}

/// Disk by store.
fn disk(a: &Assumptions, pages: f64, m: &Sums) -> Vec<Share> {
    let known = pages * a.urls_per_page.value.max(1.0);
    let now = Holding { pages, known, urls: known * a.url_length.value, links: pages * a.links_per_page.value };
    let (m_pages, m_known, m_urls, m_links) = (m.pages as f64, m.known as f64, m.url_bytes as f64, m.links as f64);
    let then = Holding { pages: m_pages, known: m_known, urls: m_urls, links: m_links };
    let (links, known, urls) = m.graphed;
    let graphed = Holding { pages: 0.0, known: known as f64, urls: urls as f64, links: links as f64 };
    let (projects, bits, packed) = (m.projects as f64, a.bits_per_link, a.compression.value);
    let tables = fitted(m.catalogue_bytes, projects * CATALOGUE, then.catalogue() + then.links * LINK);
    let index = fitted(m.frontier_bytes, projects * JOURNAL, then.frontier());
    let words = fitted(m.index_bytes, projects * INDEX, m.indexed.0 as f64 * packed * TEXT);
    let foreseen = 2.0 * graphed.arcs(bits.value) + graphed.names() + graphed.known * RANKS;
    let graph =
        if bits.from == AssumptionSource::Given { 1.0 } else { fitted(m.graph_bytes, projects * GRAPH, foreseen) };
    let share = |store, fixed: f64, grows: f64, scaled: f64, derived| Share {
        store,
        bytes: fixed + grows * scaled,
        fixed,
        built: true,
        derived,
        scaled,
    };
    let archive = pages * (a.page_size.value * packed + ARCHIVE_PAGE);
    let text = pages * a.page_size.value * packed * TEXT;
    let arcs = now.arcs(bits.value);
    vec![
        share("WARC", 0.0, archive, 1.0, "pages × (page size × compression + 1.5 kB of headers and CDXJ)"),
        share("catalogue", CATALOGUE, now.catalogue(), tables, "132 kB + pages × 200 B + known URLs × (55 B + URL)"),
        share("links", 0.0, now.links * LINK, tables, "links × 50 B"),
        share(
            FRONTIER_INDEX,
            JOURNAL,
            now.frontier(),
            index,
            "67 MB + known URLs and pages × 30 B + queued × (35 B + URL)",
        ),
        share("text index", INDEX, text, words, "12 kB + pages × page size × compression × 0.45"),
        share("graph", 0.0, arcs, graph, "links × bits a link"),
        share("graph, transposed", 0.0, arcs, graph, "links × bits a link"),
        share("graph, URLs", 0.0, now.names(), graph, "known URLs × URL × 0.3, front coded"),
        share("graph, ranks", GRAPH, now.known * RANKS, graph, "26 kB + known URLs × 125 B"),
    ]
}

impl PlannedDays {
    fn new(a: &Assumptions, pages: f64) -> Self {
        let bandwidth = a.bandwidth.map(|rate| pages * a.page_size.value / rate.value / DAY);
        let politeness = a.largest_host.value * a.delay.value / DAY;
        match bandwidth {
            Some(line) if line >= politeness => Self { bandwidth, politeness, total: line, bound: "bandwidth" },
            _ => Self { bandwidth, politeness, total: politeness, bound: "politeness" },
        }
    }
}
