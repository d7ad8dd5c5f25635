//! How do finished pages become facts?
//!
//! One thread batches readings and commits them together: it numbers discoveries, detects
//! duplicates, then writes archive, catalogue and frontier index in the order of the commit
//! protocol (`orb_store::Project::commit`). Until a batch is committed none of it is visible
//! anywhere; afterwards all of it is. A full disk makes it wait, not fail.

mod admit;
mod again;
mod aliases;
mod called;
mod commit;
mod facts;
mod letters;
pub(crate) mod live;
mod loops;
pub(crate) mod replant;

use crate::config::Config;
use crate::drive::clock::SteadyClock;
use crate::indexing::Wording;
use crate::read::{ReadRules, Reading};
use crate::shared::SharedState;
use crate::track::looks::Noises;
use crate::watch::ledger::Stage;
pub(crate) use again::Revisited;
use aliases::AliasDesk;
use commit::{MAX_ROWS, PendingCommit};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use live::{Reevaluation, RuleChange};
use loops::RedirectLoops;
use orb_frontier::{Novelty, Order};
use orb_page::{DiscoveredLink, IdSet, Lease, LinkKind, Links, PageId, PageKind, RunId, SkipReason, UrlKey, Visit};
use orb_store::{
    Admission, DroppedPage, Encoded, FinishedVisit, HostFact, LetterBundle, Project, QueueLengths, QueuePlace,
    RunCounters, ShardId, StoreError, Unfetched,
};
use orb_urls::Address;
use replant::Replant;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum trap counters that a resumed run restores.
const MAX_TRAP_COUNTS: u32 = 100_000;

/// A message to the recorder.
pub(crate) enum Item {
    /// A page was read, with its rank in its host's queue, and when.
    Read(Box<Reading>, u64, Instant),
    /// What a rendered page has loaded, and its wire bytes.
    Parts(Vec<Encoded>, u64),
    /// A robots.txt was read.
    Robots(Box<RobotsRead>),
    /// A queued page will not be fetched after all.
    Dropped(DroppedPage),
    /// A queued page seems to be another address of a known one; its rank in its host's queue.
    Alias(Box<Lease>, u64),
    /// Something was learnt about a host.
    Fact(HostFact),
    /// The rules of the project have changed.
    Rules(Box<RuleChange>),
    /// Commit what is there: somebody is waiting for it.
    Flush,
    /// Links that pages of other shards have to ours.
    Letters(Vec<LetterBundle>),
    /// Shards that were taken over, to be loaded.
    Adopt(Vec<ShardId>),
    /// Shards to give away: nothing of theirs is in flight or uncommitted.
    Give(Vec<ShardId>),
    /// The driver has nothing left as of this epoch, or nothing that the budget allows.
    Idle { epoch: u64, short: bool },
}

/// The result of a robots.txt.
pub(crate) struct RobotsRead {
    /// What was learnt.
    pub fact: HostFact,
    /// Its archive records.
    pub records: Option<Encoded>,
    /// Sitemaps in scope.
    pub sitemaps: Vec<Address>,
    /// Its wire bytes, counted against the pipeline's limit.
    pub wire_bytes: u64,
}

/// What the recorder needs to know.
pub(crate) struct RecorderRules {
    /// The run.
    pub run: RunId,
    /// Order of the queues.
    pub order: Order,
    /// How long a page waits for others.
    pub batch_time: Duration,
    /// Whether to keep the link table.
    pub links: bool,
    /// What is dynamic per response, if pages are revisited.
    pub noises: Option<Arc<Noises>>,
    /// Which known pages go back into their queues with shards that are taken over.
    pub revisited: Option<Revisited>,
    /// The name under which seeds and sitemaps are discovered.
    pub by: Arc<str>,
    /// Pause while there is less disk space.
    pub min_free: u64,
    /// Whether to learn which addresses are aliases.
    pub learn_aliases: bool,
    /// How pages are read: what is canonical, and what is in scope.
    pub read: ReadRules,
}

/// The only writer of a project.
pub(crate) struct Recorder {
    project: Project,
    shared: Arc<SharedState>,
    rules: RecorderRules,
    counters: RunCounters,
    /// What the catalogue has of them.
    counted: serde_json::Value,
    resumed_seconds: f64,
    started: Instant,
    clock: SteadyClock,
    pending: PendingCommit,
    /// Hosts of which the run has fetched a page.
    hosts_fetched: IdSet,
    /// Pages left outside only because of the link that was seen first: a `nofollow` link, or one
    /// too deep. A later link may bring them in.
    parked: IdSet,
    aliases: AliasDesk,
    loops: RedirectLoops,
    /// What is left to be judged by rules that have changed.
    reevaluation: Option<Reevaluation>,
    scratch: Scratch,
}

/// Memory that is used again for each page.
#[derive(Default)]
struct Scratch {
    keys: Vec<UrlKey>,
    admissions: Vec<Admission>,
}

impl Recorder {
    /// A recorder that continues the run's counters.
    pub(crate) fn new(
        project: Project,
        shared: Arc<SharedState>,
        rules: RecorderRules,
        counters: RunCounters,
        clock: SteadyClock,
    ) -> Result<Self, StoreError> {
        let resumed_seconds = counters.seconds;
        let last = project.last_run()?.map(|run| serde_json::from_str(&run.counters).unwrap_or_default());
        // Where several machines count, each counts what it does.
        let counted = last.filter(|_| shared.team.is_none()).unwrap_or_default();
        let hosts_fetched = project.hosts_fetched(rules.run)?.into_iter().map(|h| u64::from(h.0)).collect();
        let mut parked = IdSet::default();
        project.each_parked(|page| {
            parked.insert(page.0);
        });
        shared.frontier().recall_traps(project.trap_counts(MAX_TRAP_COUNTS)?);
        let aliases = AliasDesk::open(&project, rules.learn_aliases)?;
        Ok(Self {
            project,
            shared,
            rules,
            counters,
            counted,
            resumed_seconds,
            started: Instant::now(),
            clock,
            pending: PendingCommit::default(),
            hosts_fetched,
            parked,
            aliases,
            loops: RedirectLoops::new(resumed_seconds > 0.0),
            reevaluation: None,
            scratch: Scratch::default(),
        })
    }

    /// Records the seeds that are not known yet, possibly of a step.
    pub(crate) fn plant(&mut self, seeds: &[Address], step: Option<u32>) -> Result<(), StoreError> {
        self.pending.since = Some(Instant::now());
        for seed in seeds {
            self.discover_root(seed, None, step)?;
            if self.pending.batch.discovered.len() + self.pending.batch.requeued.len() >= MAX_ROWS {
                self.commit()?;
                self.pending.since = Some(Instant::now());
            }
        }
        self.commit()
    }

    /// Corrects depths that a shorter path has reduced; returns whether there were any.
    pub(crate) fn settle_depths(project: &mut Project, config: &Config) -> Result<bool, StoreError> {
        Ok(config.has_depth() && project.settle_depths(config.read.follow_nofollow)? > 0)
    }

    /// The queues, for the driver.
    pub(crate) fn queues(&self) -> impl QueueLengths<Error = StoreError> + Clone + use<> {
        self.project.queues()
    }

    /// Re-evaluates pages never fetched if the settings changed; the run goes by those `now` then.
    pub(crate) fn replant(&mut self, config: &Config, before: &str, now: &str) -> Result<(), StoreError> {
        let Some(rules) = config.replant(before) else { return Ok(()) };
        // Aliases that are out of scope now are queued again first, and then leave the queue.
        while self.replant_by(&rules)? {}
        self.commit_all()?;
        self.project.change_settings(self.rules.run, now)
    }

    /// Re-evaluates all of them once; returns whether aliases are not taken for such any more.
    fn replant_by(&mut self, rules: &Replant) -> Result<bool, StoreError> {
        let (mut after, now, mut unaliased) = (PageId(0), self.clock.now(), 0);
        loop {
            let mut forgiven = Vec::new();
            let is_trap = |page: &Unfetched| {
                let judged = self.shared.frontier().judge(page.host, &page.url, None, page.depth, now);
                forgiven.extend(page.why.and_then(SkipReason::trap).filter(|_| judged.is_none()));
                judged.is_some()
            };
            let Some((batch, last)) = rules.next(&self.project, after, is_trap)? else { break };
            forgiven.into_iter().for_each(|trap| self.counters.forgive_trap(trap));
            after = last;
            if batch.requeued.is_empty() && batch.dropped.is_empty() {
                continue;
            }
            unaliased += batch.unaliased.len();
            self.counters.aliases = self.counters.aliases.saturating_sub(batch.unaliased.len() as u64);
            for page in &batch.requeued {
                self.parked.remove(page.page.0);
            }
            for dropped in &batch.dropped {
                self.parked.insert(dropped.place.page.0);
            }
            self.commit_all()?;
            self.pending.fed.extend(batch.requeued.iter().map(|r| r.host));
            self.pending.batch = batch;
            self.pending.since = Some(Instant::now());
            self.commit()?;
        }
        Ok(unaliased > 0)
    }

    /// Records until every sender is gone, then commits the rest and returns the project and the
    /// counters.
    pub(crate) fn run(mut self, items: &Receiver<Item>) -> Result<(Project, RunCounters), StoreError> {
        loop {
            // One half is committed while the other is fetched: together they are all that a crash
            // can cost.
            let share = self.shared.pipeline.room().div_ceil(2);
            match items.recv_timeout(self.patience()) {
                Ok(item) => {
                    self.take(item)?;
                    let starving = self.shared.hurry.is_set() && items.is_empty();
                    let full = self.pending.is_full(share) || self.pending.rest(self.rules.batch_time).is_zero();
                    if starving || full {
                        self.commit()?;
                        self.reevaluate()?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.commit()?;
                    self.reevaluate()?;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.commit_all()?;
        self.counters.seconds = self.resumed_seconds + self.started.elapsed().as_secs_f64();
        Ok((self.project, self.counters))
    }

    /// How long to wait for more.
    fn patience(&self) -> Duration {
        if self.reevaluation.is_some() { Duration::ZERO } else { self.pending.rest(self.rules.batch_time) }
    }

    fn take(&mut self, item: Item) -> Result<(), StoreError> {
        if !matches!(item, Item::Flush | Item::Adopt(_) | Item::Give(_) | Item::Idle { .. }) {
            self.shared.pending.set(true);
            self.pending.since.get_or_insert_with(Instant::now);
        }
        match item {
            Item::Read(reading, rank, since) => {
                let began = Instant::now();
                self.shared.progress.ledger().note(Stage::RecordQueue, began - since);
                self.take_reading(*reading, rank)?;
                self.shared.progress.ledger().note(Stage::Record, began.elapsed());
            }
            Item::Parts(parts, wire_bytes) => {
                self.pending.bytes += parts.iter().map(Encoded::len).sum::<u64>();
                self.pending.batch.extra.extend(parts);
                self.shared.taken(wire_bytes);
            }
            Item::Robots(read) => {
                for sitemap in &read.sitemaps {
                    self.discover_root(sitemap, Some(PageId(0)), None)?;
                }
                self.learn(read.fact)?;
                self.pending.batch.extra.extend(read.records);
                self.pending.held += 1;
                self.shared.taken(read.wire_bytes);
            }
            Item::Dropped(dropped) => self.take_dropped(dropped)?,
            Item::Alias(lease, rank) => self.take_alias(&lease, rank)?,
            Item::Fact(fact) => self.learn(fact)?,
            Item::Rules(change) => self.take_rules(*change),
            Item::Flush => {}
            Item::Letters(deliveries) => self.take_letters(deliveries)?,
            Item::Adopt(shards) => self.adopt(&shards)?,
            Item::Give(shards) => self.give(shards)?,
            Item::Idle { epoch, short } => self.rest(epoch, short)?,
        }
        Ok(())
    }

    fn take_dropped(&mut self, dropped: DroppedPage) -> Result<(), StoreError> {
        let kept_out = self.kept_out(&dropped, self.clock.now())?;
        self.pending.held += 1;
        if let Some(visit) = kept_out {
            self.counters.count(&visit, true);
            self.pending.batch.finished.push(dropped.place);
            self.add_visit(visit, Vec::new(), Vec::new(), None);
            return Ok(());
        }
        let DroppedPage { place, kind, why } = dropped;
        self.counters.count_kind(kind);
        self.counters.count_trap(why);
        tracing::info!(page = place.page.0, kind = kind.name(), why = why.name(), "not fetched");
        self.pending.batch.dropped.push(dropped);
        Ok(())
    }

    fn take_reading(&mut self, reading: Reading, rank: u64) -> Result<(), StoreError> {
        let Reading { mut visit, records, wire_bytes, gist, heap_bytes, words, sessions, sets_cookie } = reading;
        self.pending.held += 1;
        self.shared.taken(wire_bytes);
        self.shared.backlog.leave(heap_bytes);
        self.tell_duplicate(&mut visit, gist)?;
        self.weigh(&visit)?;
        let mut targets = self.number_targets(&visit)?;
        self.loops.note(&visit, &targets, sets_cookie);
        if !self.rules.links {
            keep_redirects(&mut visit.links, &mut targets);
        }
        self.counters.links += visit.links.len() as u64;
        self.pending.rows += visit.links.len() + visit.images.len();
        self.pending.bytes += records.iter().map(Encoded::len).sum::<u64>() + heap_bytes;
        self.counters.count(&visit, self.rules.noises.is_some());
        tracing::info!(
            kind = visit.kind.name(),
            status = visit.status.unwrap_or(0),
            bytes = visit.transferred,
            ms = visit.elapsed_ms,
            problem = visit.problem.as_deref().unwrap_or(""),
            "{}",
            visit.url
        );
        if visit.status.is_some() && self.hosts_fetched.insert(u64::from(visit.host.0)) {
            self.counters.hosts += 1;
        }
        let failed = visit.status.is_none_or(|s| s >= 400);
        self.pending.batch.facts.push(HostFact {
            id: visit.host,
            pages: u64::from(visit.status.is_some()),
            errors: u64::from(failed),
            sessions,
            ..HostFact::default()
        });
        self.pending.batch.finished.push(QueuePlace { host: visit.host, rank, page: visit.page });
        self.add_visit(visit, targets, records, words);
        Ok(())
    }

    fn add_visit(&mut self, visit: Visit, targets: Vec<PageId>, records: Vec<Encoded>, words: Option<Box<Wording>>) {
        self.aliases.note_visit(visit.page, self.pending.batch.visits.len());
        self.pending.batch.visits.push(FinishedVisit { visit, targets, records });
        self.pending.words.push(words);
    }

    /// Marks a page with the content of an earlier one as its duplicate, and tells the frontier
    /// what the page was like.
    fn tell_duplicate(&mut self, visit: &mut Visit, gist: Option<u64>) -> Result<(), StoreError> {
        let (Some(digest), PageKind::Html | PageKind::Binary) = (visit.digest, visit.kind) else { return Ok(()) };
        if visit.length == 0 {
            return Ok(());
        }
        let pending = self.pending.digests.get(&digest).copied();
        let first = match pending {
            Some((page, _)) => Some(page),
            None => self.project.digest_first(&digest)?,
        };
        if first.is_none() {
            self.ask_elsewhere(&digest, visit);
        }
        let mut novelty = Novelty { repeated: first.is_some(), gist, mirror: None };
        match first {
            Some(first) if first != visit.page => {
                if visit.kind == PageKind::Html {
                    let host = pending.map(|(_, host)| host);
                    let host = host.map_or_else(|| self.project.host_of(first), |host| Ok(Some(host)))?;
                    // Hosts are numbered as they are met: the higher number is the younger host.
                    novelty.mirror = host.filter(|host| *host != visit.host).map(|host| host.max(visit.host));
                }
                visit.kind = PageKind::Duplicate;
                visit.duplicate_of = Some(first);
            }
            // The page itself, unchanged since an earlier run: neither new nor a duplicate.
            Some(_) => return Ok(()),
            None => _ = self.pending.digests.insert(digest, (visit.page, visit.host)),
        }
        self.shared.frontier().note_content(visit.host, &visit.url, novelty);
        Ok(())
    }
}

/// Redirects are recorded even if links are not wanted: a resumed run must know where its seeds
/// have moved.
fn keep_redirects(links: &mut Links, targets: &mut Vec<PageId>) {
    let is_redirect = |link: &DiscoveredLink| link.kind == LinkKind::Redirect;
    let mut kept = links.iter().map(is_redirect);
    targets.retain(|_| kept.next().unwrap_or(false));
    links.retain(is_redirect);
}
