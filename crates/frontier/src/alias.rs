//! Is the next page another address of one that is known?
//!
//! The recorder learns which addresses of a host are aliases (`orb_urls::alias`) and tells the
//! frontier what it believes. Here every queued page is held against that before it is leased. Only
//! the recorder can say what an alias is an alias of, since that takes a look into the stores: a
//! page that looks like one leaves the queue as [`Next::Alias`]. The recorder answers by
//! [`Frontier::withhold`], or by [`Frontier::spare`] if the page must be fetched after all. Until
//! then its host stays in memory: read again from the store, it could lack what is not committed
//! yet, such as its Crawl-delay.

use crate::frontier::{Frontier, Next};
use crate::site::WorkbenchHost;
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use orb_page::{HostId, Lease, Moment, PageId, UrlKey};
use orb_store::Queued;
use orb_urls::alias::HostAliases;
use std::sync::Arc;

/// What is believed about the aliases of a host.
#[derive(Debug, Default)]
pub struct BelievedAliases {
    /// The rules.
    pub rules: HostAliases,
    /// Pages that were fetched by an alias before that was known, by the normal form of their
    /// address, with the rules that lead from one to the other: they stand in for it.
    pub stand_ins: HashMap<UrlKey, (PageId, u64)>,
}

impl BelievedAliases {
    /// Whether an address seems to be that of a page with another one.
    pub fn covers(&self, url: &str) -> bool {
        self.rules.normal(url).is_some()
            || (!self.stand_ins.is_empty() && self.stand_ins.contains_key(&UrlKey::of(url)))
    }
}

/// What the frontier knows about aliases.
#[derive(Debug, Default)]
pub(crate) struct AliasGate {
    hosts: HashMap<HostId, Arc<BelievedAliases>>,
    /// Pages to be fetched although they look like aliases.
    spared: HashSet<PageId>,
    /// How many pages of a host the recorder has not answered for yet.
    asked: HashMap<HostId, usize>,
}

impl AliasGate {
    /// Whether the recorder has not answered for all pages of a host.
    pub(crate) fn is_asking(&self, host: HostId) -> bool {
        self.asked.contains_key(&host)
    }

    fn ask(&mut self, host: HostId) {
        *self.asked.entry(host).or_default() += 1;
    }

    fn answered(&mut self, host: HostId) {
        if let Entry::Occupied(mut asked) = self.asked.entry(host) {
            *asked.get_mut() -= 1;
            if *asked.get() == 0 {
                asked.remove();
            }
        }
    }

    /// A page has left its queue.
    pub(crate) fn forget(&mut self, page: PageId) {
        self.spared.remove(&page);
    }
}

impl Frontier {
    /// From now on this is believed about the aliases of a host.
    pub fn believe(&mut self, host: HostId, aliases: Option<Arc<BelievedAliases>>) {
        match aliases {
            Some(aliases) => _ = self.aliases.hosts.insert(host, aliases),
            None => _ = self.aliases.hosts.remove(&host),
        }
    }

    /// Takes a host's first page out of its queue if it seems to be an alias. Seeds are what was
    /// asked for, and a page that is revisited is one already.
    pub(crate) fn alias_first(&mut self, site: &mut WorkbenchHost) -> Option<Next> {
        let known = self.aliases.hosts.get(&site.id)?;
        let first = site.queue.front().filter(|page| page.before.is_none() && page.depth > 0)?;
        if self.aliases.spared.contains(&first.page) || !known.covers(&first.url) {
            return None;
        }
        let (lease, rank) = self.take_first(site)?;
        self.aliases.ask(site.id);
        Some(Next::Alias(lease, rank))
    }

    /// A page that seemed to be an alias is one: it is recorded as such with the next commit.
    pub fn withhold(&mut self, host: HostId, now: Moment) {
        self.aliases.answered(host);
        if let Some(site) = self.take_if(host, |_| true) {
            self.put(site, now);
        }
    }

    /// A page that seemed to be an alias must be fetched: it returns to its place in the queue.
    pub fn spare(&mut self, lease: &Lease, now: Moment) {
        self.aliases.answered(lease.host);
        let Some(out) = self.out.remove(&lease.page) else { return };
        self.aliases.spared.insert(lease.page);
        let Some(mut site) = self.take_if(lease.host, |_| true) else {
            self.intake.arrive(lease.host);
            return;
        };
        let Lease { page, depth, redirects, step, .. } = *lease;
        let (url, asked, before) = (lease.url.clone(), lease.asked.clone(), lease.before.clone());
        self.put_back(&mut site, Queued { page, rank: out.rank, url, asked, depth, redirects, step, before });
        self.put(site, now);
    }
}
