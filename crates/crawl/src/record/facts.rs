//! What was learnt about a host, alone and in one batch?

use super::Recorder;
use hashbrown::HashMap;
use orb_page::HostId;
use orb_store::{HostFact, StoreError};
use std::time::Instant;

impl Recorder {
    /// A fact about a host; its back-off must outlive this process. One whose shard was given away
    /// meanwhile is not ours to write about.
    pub(super) fn learn(&mut self, fact: HostFact) -> Result<(), StoreError> {
        if !self.project.has_host(fact.id)? {
            return Ok(());
        }
        if fact.not_before.is_some() || fact.robots.as_ref().is_some_and(|robots| robots.crawl_delay.is_some()) {
            self.pending.urgent.get_or_insert_with(Instant::now);
        }
        self.pending.batch.facts.push(fact);
        Ok(())
    }
}

/// Merges facts per host: the last value wins, counts add up.
pub(super) fn merge_facts(facts: &mut Vec<HostFact>) {
    let mut places: HashMap<HostId, usize> = HashMap::with_capacity(facts.len().min(1_024));
    let mut merged: Vec<HostFact> = Vec::new();
    for fact in facts.drain(..) {
        let Some(at) = places.get(&fact.id) else {
            places.insert(fact.id, merged.len());
            merged.push(fact);
            continue;
        };
        let into = &mut merged[*at];
        into.ip = fact.ip.or(into.ip);
        into.not_before = fact.not_before.or(into.not_before);
        into.backoff_ms = fact.backoff_ms.or(into.backoff_ms);
        into.sessions = fact.sessions.or(into.sessions.take());
        into.aliases = fact.aliases.or(into.aliases.take());
        into.pages += fact.pages;
        into.errors += fact.errors;
        if fact.robots.is_some() {
            into.robots = fact.robots;
            into.sitemaps = fact.sitemaps;
        }
    }
    *facts = merged;
}
