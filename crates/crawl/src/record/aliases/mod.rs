//! Which addresses lead to a page that is known already?
//!
//! The recorder sees every page with its content, so this is where aliases are learnt
//! (`orb_urls::alias`). [`weigh`] turns fetched pages into evidence for and against rules.
//! [`withhold`] decides, for a queued address that the frontier holds to be an alias, what it is an
//! alias of, and whether it is fetched nevertheless, as a test. [`recall`] brings back what was
//! withheld when a rule is contradicted or a page turns out not to be one, and tests what is left
//! of the tests at the end of a crawl.
//!
//! What is learnt and what follows from it is committed with the pages it was learnt from. Memory
//! is bounded, and hosts without duplicates take none. What is kept in memory only (addresses of
//! documents, comparisons that wait for the other page) saves requests, and its loss costs some.

mod recall;
mod weigh;
mod withhold;

use super::Recorder;
use hashbrown::{HashMap, HashSet};
use orb_frontier::BelievedAliases;
use orb_page::{HostId, IdSet, PageId, PageKind, UrlKey, Visit};
use orb_store::{HostFact, Project, StoreError};
use orb_urls::alias::{HostAliases, LearntRule};
use std::sync::Arc;

/// Maximum hosts of which anything is known.
const MAX_HOSTS: usize = 10_000;

/// Maximum addresses of documents that are remembered, per host and in all.
const MAX_SEEN: usize = 4_096;
const MAX_SEEN_IN_ALL: usize = 200_000;

/// Maximum comparisons that wait for a page to be fetched: for one page, per host, and in all.
const MAX_OPEN_PER_PAGE: usize = 8;
const MAX_OPEN: usize = 512;
const MAX_OPEN_IN_ALL: usize = 50_000;

/// Maximum length of a chain in which an address is withheld for one that is withheld itself.
const MAX_CHAIN: usize = 8;

/// What the recorder knows about aliases.
#[derive(Default)]
pub(super) struct AliasDesk {
    /// Whether they are to be learnt.
    enabled: bool,
    hosts: HashMap<HostId, Box<HostDesk>>,
    /// Pages that withheld addresses are aliases of.
    targets: IdSet,
    /// The visits of the next batch, by page.
    fresh: HashMap<PageId, usize>,
    /// Rules that were withdrawn, whose addresses have to come back.
    withdrawn: Vec<(HostId, u64)>,
    /// Such pages that turned out not to be documents.
    failed: Vec<PageId>,
    /// Hosts of which something new is known.
    changed: HashSet<HostId>,
    /// Addresses remembered, over all hosts.
    seen: usize,
    /// Comparisons that wait, over all hosts.
    open: usize,
    /// Whether no more hosts can be learnt about.
    full: bool,
}

/// What is known about one host.
#[derive(Default)]
struct HostDesk {
    rules: HostAliases,
    /// What the frontier was told.
    told: Arc<BelievedAliases>,
    /// Addresses of original documents.
    seen: Vec<(Box<str>, PageId)>,
    /// Comparisons that wait for the page with this URL.
    open: HashMap<UrlKey, Vec<OpenComparison>>,
}

/// A fetched page that some rules take for another one, which is not fetched yet.
struct OpenComparison {
    page: PageId,
    url: Box<str>,
    digest: [u8; 32],
    /// The rules, one bit each.
    rules: u64,
    /// The rule that is to be confirmed, if it is not believed yet.
    place: Option<usize>,
}

/// What is known about the content of a page.
#[derive(Clone, Copy)]
enum KnownContent {
    /// There is no such page.
    Unknown,
    /// It is to be fetched.
    Waiting(PageId),
    /// A document: this page or, by these rules, the one it is withheld for; and whether this run
    /// has seen it.
    Document { page: PageId, digest: [u8; 32], current: bool, rules: u64 },
    /// It is no document, or not to be fetched.
    Other,
}

impl KnownContent {
    /// The rules that lead from the page to its content.
    const fn rules(self) -> u64 {
        if let Self::Document { rules, .. } = self { rules } else { 0 }
    }
}

impl AliasDesk {
    /// What earlier runs know.
    pub(super) fn open(project: &Project, enabled: bool) -> Result<Self, StoreError> {
        let mut desk = Self { enabled, ..Self::default() };
        for (host, stored) in project.alias_rules(MAX_HOSTS)? {
            // What another version wrote and this one cannot read is learnt again.
            let rules: HostAliases = serde_json::from_str(&stored).unwrap_or_default();
            let withdrawn = if enabled { rules.withdrawn() } else { u64::MAX };
            if withdrawn != 0 {
                desk.withdrawn.push((host, withdrawn));
            }
            desk.hosts.insert(host, Box::new(HostDesk { rules, ..HostDesk::default() }));
        }
        if !desk.hosts.is_empty() {
            desk.targets = project.alias_targets()?;
        }
        Ok(desk)
    }

    /// The desk of a host, if there is one or can be.
    fn desk_of(&mut self, host: HostId) -> Option<&mut HostDesk> {
        if self.hosts.len() >= MAX_HOSTS && !self.full && !self.hosts.contains_key(&host) {
            self.make_room();
        }
        if self.full {
            return self.hosts.get_mut(&host).map(|desk| &mut **desk);
        }
        Some(self.hosts.entry(host).or_default())
    }

    /// Forgets the hosts of which nothing was ever believed. If they are not many, that is it.
    fn make_room(&mut self) {
        let Self { hosts, seen, open, changed, .. } = self;
        hosts.retain(|host, desk| {
            let keep = desk.rules.rules().iter().any(LearntRule::was_believed);
            if !keep {
                *seen -= desk.seen.len();
                *open -= desk.open.values().map(Vec::len).sum::<usize>();
                changed.remove(host);
            }
            keep
        });
        self.full = self.hosts.len() > MAX_HOSTS / 2;
    }

    /// Notes that a visit is the next of the batch.
    pub(super) fn note_visit(&mut self, page: PageId, at: usize) {
        if self.enabled {
            self.fresh.insert(page, at);
        }
    }

    /// The facts to be committed.
    pub(super) fn facts(&mut self) -> Vec<HostFact> {
        let changed = std::mem::take(&mut self.changed);
        let stored = |host: HostId| {
            let aliases = self.hosts.get(&host).and_then(|desk| serde_json::to_string(&desk.rules).ok());
            HostFact { id: host, aliases, ..HostFact::default() }
        };
        changed.into_iter().map(stored).collect()
    }
}

impl HostDesk {
    /// What the frontier is to believe now, if anything; or the rules that take two documents for
    /// one, of which one must be wrong.
    fn believed(&self) -> Result<Option<BelievedAliases>, u64> {
        if !self.rules.is_believing() {
            return Ok(None);
        }
        let mut stand_ins: HashMap<UrlKey, (PageId, u64)> = HashMap::with_capacity(self.seen.len());
        for (url, page) in &self.seen {
            let form = self.rules.normal(url);
            let (url, rules) = form.as_ref().map_or((&**url, 0), |form| (&form.url, form.rules));
            let (first, by) = *stand_ins.entry(UrlKey::of(url)).or_insert((*page, rules));
            if first != *page && by | rules != 0 {
                return Err(by | rules);
            }
        }
        stand_ins.retain(|_, (_, rules)| *rules != 0);
        Ok(Some(BelievedAliases { rules: self.rules.clone(), stand_ins }))
    }
}

impl Recorder {
    /// Tells the frontier what is believed about every host, and brings back what should not be
    /// withheld any more: a run may have been cut off before it did.
    pub(crate) fn plant_aliases(&mut self) -> Result<(), StoreError> {
        let hosts: Vec<HostId> = self.aliases.hosts.keys().copied().collect();
        if self.aliases.enabled {
            hosts.into_iter().for_each(|host| self.publish(host));
        }
        self.bring_back_all()
    }

    /// Tells the frontier what is believed about a host.
    fn publish(&mut self, host: HostId) {
        loop {
            let Some(desk) = self.aliases.hosts.get_mut(&host) else { return };
            match desk.believed() {
                Ok(believed) => {
                    let believed = believed.map(Arc::new);
                    desk.told = believed.clone().unwrap_or_default();
                    return self.shared.frontier().believe(host, believed);
                }
                Err(rules) => self.withdraw(host, rules),
            }
        }
    }

    /// Withdraws one of these rules: what it withheld has to come back.
    fn withdraw(&mut self, host: HostId, rules: u64) {
        self.aliases.changed.insert(host);
        let Some(desk) = self.aliases.hosts.get_mut(&host) else { return };
        let Some(bit) = desk.rules.contradict(rules) else { return };
        let rule = desk.rules.named(bit).next().map(|rule| rule.rule.to_string()).unwrap_or_default();
        tracing::info!(host = host.0, rule, "aliases contradicted");
        self.aliases.withdrawn.push((host, bit));
    }

    /// What is known about the content of the page with this URL.
    fn content_of(&self, url: &str) -> Result<KnownContent, StoreError> {
        match self.project.pages_of(&[UrlKey::of(url)])?.first().copied().flatten() {
            Some(page) => self.content(page),
            None => Ok(KnownContent::Unknown),
        }
    }

    /// What is known about the content of a page, or of the one it is withheld for.
    fn content(&self, mut page: PageId) -> Result<KnownContent, StoreError> {
        let mut rules = 0;
        for _ in 0..MAX_CHAIN {
            let document = |kind: PageKind, digest: Option<[u8; 32]>, current| match digest {
                Some(digest) if is_document(kind) => KnownContent::Document { page, digest, current, rules },
                _ => KnownContent::Other,
            };
            if let Some(visit) = self.fresh_visit(page) {
                return Ok(document(visit.kind, visit.digest, true));
            }
            let Some(standing) = self.project.standing(page)? else { return Ok(KnownContent::Unknown) };
            let target = match (standing.kind, standing.visit) {
                (PageKind::Frontier, _) if standing.queued => return Ok(KnownContent::Waiting(page)),
                (PageKind::Frontier, Some((run, kind, digest))) => {
                    return Ok(document(kind, digest, run == self.rules.run));
                }
                (PageKind::Duplicate, _) => self.project.alias_target(standing.host, page)?,
                _ => None,
            };
            let Some((target, more)) = target else { break };
            (page, rules) = (target, rules | more);
        }
        Ok(KnownContent::Other)
    }

    /// The visit of a page that is in the next batch.
    fn fresh_visit(&self, page: PageId) -> Option<&Visit> {
        let at = self.aliases.fresh.get(&page)?;
        self.pending.batch.visits.get(*at).map(|finished| &finished.visit).filter(|visit| visit.page == page)
    }
}

const fn is_document(kind: PageKind) -> bool {
    matches!(kind, PageKind::Html | PageKind::Binary | PageKind::Duplicate)
}
