//! What was withheld that should not have been?
//!
//! Three things bring an address back: a contradiction of one of its rules, a page that turned out
//! to be no document, and, at the end of a crawl, a test. The rows of the catalogue say what is
//! left to be done, so that a run that was cut off continues where it ended.

use super::Recorder;
use crate::config::Config;
use crate::record::facts::merge_facts;
use orb_page::{HostId, PageId, RunId, RunKind};
use orb_store::{Batch, CounterDelta, HostFact, Project, RunCounters, StoreError, WithheldAlias};
use orb_urls::alias::HostAliases;
use std::collections::BTreeMap;
use std::time::Instant;

/// Addresses brought back per commit.
const CHUNK: u32 = 5_000;

/// Maximum tests at the end of a crawl, over all hosts.
const MAX_TESTS: u64 = 20_000;

impl Recorder {
    /// Brings back, with the next batch, some of what rules withheld that are withdrawn, and what
    /// is withheld for pages that are none.
    pub(in crate::record) fn bring_back(&mut self) -> Result<(), StoreError> {
        for target in std::mem::take(&mut self.aliases.failed) {
            let back = self.project.withheld_for(target)?;
            self.requeue_aliases(back);
        }
        while let Some((host, rules)) = self.aliases.withdrawn.last().copied() {
            if self.pending.batch.requeued.len() >= CHUNK as usize {
                break;
            }
            let back = self.project.withheld_by(host, rules, CHUNK)?;
            let more = back.len() >= CHUNK as usize;
            self.requeue_aliases(back);
            if more {
                // The next ones are not these only when these are committed.
                break;
            }
            self.aliases.withdrawn.pop();
        }
        Ok(())
    }

    /// Brings back everything, batch by batch.
    pub(super) fn bring_back_all(&mut self) -> Result<(), StoreError> {
        if self.aliases.hosts.is_empty() {
            return Ok(());
        }
        let in_vain = self.project.withheld_in_vain()?;
        self.requeue_aliases(in_vain);
        self.bring_back()?;
        self.commit_all()
    }

    fn requeue_aliases(&mut self, back: Vec<WithheldAlias>) {
        if back.is_empty() {
            return;
        }
        self.pending.since.get_or_insert_with(Instant::now);
        for WithheldAlias { page, .. } in back {
            self.counters.aliases = self.counters.aliases.saturating_sub(1);
            self.pending.fed.insert(page.host);
            self.pending.batch.unaliased.push((page.host, page.page));
            self.pending.batch.requeued.push(page);
        }
    }

    /// What is left to be done about aliases when all else is: rules that the run has contradicted
    /// are withdrawn, and a crawl queues withheld addresses as tests, as many as a host is worth
    /// and has not used. `None` if there is nothing; otherwise there is more to fetch.
    pub(crate) fn audit_aliases(
        project: &Project,
        config: &Config,
        (run, kind): (RunId, RunKind),
        counters: &mut RunCounters,
    ) -> Result<Option<Batch>, StoreError> {
        if !config.learns_aliases() {
            return Ok(None);
        }
        let mut batch = Batch { run, ..Batch::default() };
        let mut known = BTreeMap::new();
        for (host, stored) in project.alias_rules(super::MAX_HOSTS)? {
            known.insert(host, serde_json::from_str::<HostAliases>(&stored).unwrap_or_default());
        }
        if known.is_empty() {
            return Ok(None);
        }
        for failed in project.failed_tests(run, kind == RunKind::Track)? {
            let Some(rules) = known.get_mut(&failed.host) else { continue };
            if failed.rules & rules.withdrawn() == 0 && rules.contradict(failed.rules).is_some() {
                batch.facts.push(fact(failed.host, rules));
            }
        }
        if kind == RunKind::Crawl {
            queue_tests(project, &mut known, &mut batch)?;
        }
        let before = serde_json::to_value(&*counters).unwrap_or_default();
        counters.aliases = counters.aliases.saturating_sub(batch.alias_tests.len() as u64);
        let after = serde_json::to_value(&*counters).unwrap_or_default();
        batch.counters = CounterDelta::between(&before, &after);
        merge_facts(&mut batch.facts);
        Ok((!batch.facts.is_empty()).then_some(batch))
    }
}

fn fact(host: HostId, rules: &HostAliases) -> HostFact {
    HostFact { id: host, aliases: serde_json::to_string(rules).ok(), ..HostFact::default() }
}

/// Queues, of every host, as many withheld addresses as it has tests left, in an order that looks
/// random and is always the same.
fn queue_tests(
    project: &Project,
    known: &mut BTreeMap<HostId, HostAliases>,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let mut left = MAX_TESTS;
    for (host, rules) in known.iter_mut().filter(|(_, rules)| rules.is_believing()) {
        let tests = rules.tests_left(project.pages_fetched(*host)?).min(left);
        let picked = pick(project, *host, usize::try_from(tests).unwrap_or(0))?;
        left -= picked.len() as u64;
        if !picked.is_empty() {
            picked.iter().for_each(|alias| rules.note_test(alias.rules));
            batch.facts.push(fact(*host, rules));
        }
        for WithheldAlias { page, .. } in picked {
            batch.alias_tests.push((page.host, page.page));
            batch.requeued.push(page);
        }
    }
    Ok(())
}

/// Chooses this many withheld addresses of a host.
fn pick(project: &Project, host: HostId, most: usize) -> Result<Vec<WithheldAlias>, StoreError> {
    let (mut picked, mut after) = (BTreeMap::new(), PageId(0));
    if most == 0 {
        return Ok(Vec::new());
    }
    loop {
        let withheld = project.withheld_of(host, after, CHUNK)?;
        let Some(last) = withheld.last() else { break };
        after = last.page.page;
        for alias in withheld {
            picked.insert(scatter(alias.page.page), alias);
            if picked.len() > most {
                picked.pop_last();
            }
        }
    }
    Ok(picked.into_values().collect())
}

/// A number that has nothing to do with the page but depends on it alone (SplitMix64): no two pages
/// have the same.
fn scatter(page: PageId) -> u64 {
    let mut n = page.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
    n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}
