//! What is committed together?

use crate::shared::{Letter, LetterId, ShardId, SharedSeed, ToldLink};
use crate::{CounterDelta, Encoded, RobotsRecord};
use orb_page::{Discovered, HostId, Moment, PageId, PageKind, RunId, SkipReason, Visit};
use std::net::IpAddr;
use std::sync::Arc;

/// The contents of one commit: finished visits with what they found. It is recorded atomically.
#[derive(Debug, Default)]
pub struct Batch {
    /// The run.
    pub run: RunId,
    /// New hosts, before any page that refers to them.
    pub hosts: Vec<NewHost>,
    /// New pages, in the order of their numbers.
    pub discovered: Vec<Discovered>,
    /// Finished visits.
    pub visits: Vec<FinishedVisit>,
    /// Exchanges that belong to no page (robots.txt).
    pub extra: Vec<Encoded>,
    /// Queued pages that will not be fetched after all.
    pub dropped: Vec<DroppedPage>,
    /// Finished pages, to be taken out of their queues.
    pub finished: Vec<QueuePlace>,
    /// What was learnt about hosts.
    pub facts: Vec<HostFact>,
    /// Known pages to fetch (again): visited before, or so far `Outside` or dropped.
    pub requeued: Vec<Requeued>,
    /// Whether none of these is in its queue already.
    pub sifted: bool,
    /// Pages whose visit in this run does not count; they are also re-queued.
    pub withdrawn: Vec<PageId>,
    /// Addresses that are aliases of known pages; those withheld are also dropped.
    pub aliases: Vec<AliasEntry>,
    /// Addresses that were withheld as aliases and are now fetched as tests.
    pub alias_tests: Vec<(HostId, PageId)>,
    /// Addresses that are not taken for aliases any more.
    pub unaliased: Vec<(HostId, PageId)>,
    /// New values of trap counters, by key.
    pub traps: Vec<(u64, u32)>,
    /// What was learnt about the noise of hosts, as text.
    pub noises: Vec<(HostId, String)>,
    /// Letters to other shards of a shared project.
    pub letters: Vec<(ShardId, Letter)>,
    /// Links to pages of ours that letters told of.
    pub told: Vec<ToldLink>,
    /// The letters that this batch digests.
    pub read: Vec<LetterId>,
    /// Visited pages that letters say repeat an earlier one, and which.
    pub duplicates: Vec<(PageId, PageId)>,
    /// Content to remember, and who was first with it, for the shards that are asked.
    pub digests: Vec<([u8; 32], PageId)>,
    /// The run that has nothing left to do in the shards of this worker.
    pub idle: Option<RunId>,
    /// Whether that is only because the budget is used up.
    pub short: bool,
    /// Pages whose depth was corrected elsewhere, and their depths.
    pub nearer: Vec<(PageId, u32)>,
    /// Shards that are given away with this batch.
    pub gifts: Vec<ShardId>,
    /// Seeds that have moved.
    pub moved_seeds: Vec<SharedSeed>,
    /// How many pages of the budget that was drawn are spent.
    pub spent: u64,
    /// What it adds to the run's counters.
    pub counters: CounterDelta,
    /// Set by the store once the archive has the bytes, to their number: a retried commit does not
    /// write them twice.
    pub archived: Option<u64>,
    /// Set by the store once the catalogue has the batch: a retried commit then only does what is
    /// left.
    pub recorded: Option<u64>,
}

/// A finished visit with everything that is recorded of it.
#[derive(Debug)]
pub struct FinishedVisit {
    /// What was seen.
    pub visit: Visit,
    /// The numbers of its links' targets, in the order of its links; 0 for one that a letter tells
    /// of.
    pub targets: Vec<PageId>,
    /// Its exchanges, the last of them the one that answers for it; behind it its additions.
    pub records: Vec<Encoded>,
}

impl FinishedVisit {
    /// A visit without archive records.
    pub fn unarchived(visit: Visit, targets: Vec<PageId>) -> Self {
        Self { visit, targets, records: Vec::new() }
    }
}

/// Where a page stands in its host's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlace {
    /// The host.
    pub host: HostId,
    /// The page's place in its queue: smaller is sooner.
    pub rank: u64,
    /// The page.
    pub page: PageId,
}

/// A queued page that will not be fetched after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPage {
    /// Which page, and where it stands.
    pub place: QueuePlace,
    /// What it is from now on: `Disallowed`, `Outside`, `Duplicate` (an alias) or an error kind.
    pub kind: PageKind,
    /// The reason.
    pub why: SkipReason,
}

/// An address that is another one of a known page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasEntry {
    /// The address.
    pub page: PageId,
    /// The page it is an alias of.
    pub target: PageId,
    /// Their host.
    pub host: HostId,
    /// The rules by which, one bit each.
    pub rules: u64,
    /// The same in words.
    pub name: Arc<str>,
    /// Whether it is fetched nevertheless, as a test of the rules.
    pub tested: bool,
}

/// A known page that goes (back) into its host's queue for this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requeued {
    /// The page.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// Its canonical URL.
    pub url: String,
    /// Its position in its host's queue: smaller is sooner.
    pub rank: u64,
    /// Its distance from the seed from now on.
    pub depth: u32,
    /// The step of the project that collects it from now on.
    pub step: Option<u32>,
}

/// A new host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHost {
    /// Its number.
    pub id: HostId,
    /// `http`, `https`, ….
    pub scheme: String,
    /// Name or IP address, as in the URL, without brackets.
    pub name: String,
    /// Port.
    pub port: u16,
    /// When it was discovered.
    pub at: Moment,
}

/// Something learnt about a host; `None` leaves a value unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostFact {
    /// The host.
    pub id: HostId,
    /// The address it resolved to.
    pub ip: Option<IpAddr>,
    /// Its robots.txt: when it was read and what it asks for.
    pub robots: Option<RobotsRecord>,
    /// The sitemaps it lists.
    pub sitemaps: Option<Vec<String>>,
    /// Earliest moment of the next request (back-off, Retry-After).
    pub not_before: Option<Moment>,
    /// Its current back-off in milliseconds; 0 when it has recovered.
    pub backoff_ms: Option<u64>,
    /// What is known about the session ids in its URLs.
    pub sessions: Option<String>,
    /// What is known about the aliases among its URLs.
    pub aliases: Option<String>,
    /// Number of pages fetched, to be added.
    pub pages: u64,
    /// Number of errors, to be added.
    pub errors: u64,
}
