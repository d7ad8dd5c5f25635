//! What does the shared store do? The same as PostgreSQL by `orb_store`, one call after the other.
//!
//! Every method is one transaction of the shared store, with the same conditions. Time is given by
//! the caller. `crates/store/tests/twin.rs` plays random traces on this and on a real server and
//! compares the answers. What is only ever wrong (a page that is recorded twice, a link that is
//! doubled) is an `Err` with a sentence: here the simulation stops, the real one is told so by a
//! key.

use crate::web::SimUrl;
use crate::{Flaw, Millis};
use orb_page::{HostId, PageId};
use orb_store::{LetterId, ShardId, WorkerId};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The run, of which there is one.
pub const RUN: u32 = 1;

/// Who calls: a number, and the timeline in which it was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FakeMember {
    /// Its number.
    pub id: WorkerId,
    /// The server's timeline when it joined.
    pub timeline: u32,
}

/// The worker was buried, or the store has gone back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FakeFenced;

/// A worker as the store knows it.
#[derive(Clone, Debug)]
pub struct FakeWorker {
    /// Whether it was not buried.
    pub alive: bool,
    /// Until when its lease lasts.
    pub until: Millis,
    lease: Millis,
    timeline: u32,
    batch: u64,
    nonce: u64,
    weight: u64,
    ticket: u64,
}

impl FakeWorker {
    /// Whether it joined in this timeline.
    pub(crate) fn is_of(&self, timeline: u32) -> bool {
        self.timeline == timeline
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct FakeShard {
    worker: Option<WorkerId>,
    idle: bool,
}

#[derive(Clone, Debug)]
struct FakeAddress {
    worker: WorkerId,
    until: Millis,
    open_at: Millis,
    delay: Millis,
    wanted: bool,
    turn: u64,
}

/// A page as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakePage {
    /// Which of the web.
    pub url: SimUrl,
    /// Its host's number.
    pub host: HostId,
    /// Its host's name.
    pub host_name: String,
    /// Its shard.
    pub shard: ShardId,
    /// The object with its bytes, once it is visited.
    pub visited: Option<(WorkerId, u64, u64)>,
    /// The page that it repeats.
    pub duplicate_of: Option<PageId>,
}

/// What one shard tells another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeLetter {
    /// A page is linked to, from a page; none for a seed.
    Found(Option<PageId>, SimUrl),
    /// A page has this content; its shard.
    Digest([u8; 32], PageId, ShardId),
    /// A page repeats another.
    Same(PageId, PageId),
}

/// What a worker commits.
#[derive(Clone, Debug, Default)]
pub struct FakeBatch {
    /// Pages that are new.
    pub pages: Vec<(PageId, FakePage)>,
    /// Pages that were visited.
    pub visits: Vec<PageId>,
    /// Links between pages.
    pub links: Vec<(PageId, PageId)>,
    /// Letters to other shards.
    pub letters: Vec<(ShardId, FakeLetter)>,
    /// Letters that were digested.
    pub read: Vec<LetterId>,
    /// Who was first with some content.
    pub digests: Vec<([u8; 32], PageId)>,
    /// Pages that repeat others.
    pub duplicates: Vec<(PageId, PageId)>,
    /// Whether the worker's shards have nothing left.
    pub idle: bool,
    /// The shards of which that is said: those it has loaded, or none if it was said before.
    pub marked: Vec<ShardId>,
    /// Shards that are given away.
    pub gifts: Vec<ShardId>,
}

/// What a heartbeat is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeReply {
    /// How many shards the worker should hold.
    pub share: usize,
    /// The shards it holds.
    pub held: Vec<ShardId>,
    /// How many shards nobody living holds.
    pub free: usize,
    /// Whether the run goes on.
    pub running: bool,
}

/// What a desk asks.
#[derive(Clone, Debug, Default)]
pub struct FakeAsk {
    /// The number of the call.
    pub turn: u64,
    /// What is wanted.
    pub wanted: Vec<IpAddr>,
    /// What is given up, and after how long it opens.
    pub released: Vec<(IpAddr, Millis)>,
    /// For how long.
    pub slice: Millis,
    /// The delay that is owed to an address.
    pub delay: Millis,
}

/// Granted addresses, after how long each opens, and whether another wants it.
pub type FakeGrants = Vec<(IpAddr, Millis, bool)>;

/// How a commit ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FakeEnd {
    /// It has happened, now or before.
    Done,
    /// It has not, and never will.
    Fenced,
}

/// The shared store.
#[derive(Clone, Debug)]
pub struct FakeStore {
    flaw: Option<Flaw>,
    /// When the server came up.
    pub started: Millis,
    /// Its timeline: one more after each failover.
    pub timeline: u32,
    /// Since when anybody works on this timeline; none if it is the first.
    since: Option<Millis>,
    /// Whether nobody has joined since the failover.
    unseen: bool,
    next_worker: i64,
    next_page: u64,
    next_host: u32,
    /// The workers that ever joined.
    pub workers: BTreeMap<WorkerId, FakeWorker>,
    shards: Vec<FakeShard>,
    addresses: BTreeMap<IpAddr, FakeAddress>,
    letters: BTreeMap<LetterId, Vec<FakeLetter>>,
    /// All pages.
    pub pages: BTreeMap<PageId, FakePage>,
    urls: BTreeMap<SimUrl, PageId>,
    /// All links.
    pub links: BTreeSet<(PageId, PageId)>,
    digests: BTreeMap<[u8; 32], PageId>,
    budget: Option<u64>,
    /// Whether the run is over.
    pub ended: bool,
    /// Whether it is because the budget is used up.
    pub spent: bool,
}

/// The pages of shards, and the contents that they remember.
pub(crate) type LoadedShards = (Vec<(PageId, FakePage)>, Vec<([u8; 32], PageId)>);

impl FakeStore {
    /// A store with one project, one run and one letter: the seed.
    pub fn new(shards: u16, seed: (ShardId, SimUrl), budget: Option<u64>, flaw: Option<Flaw>) -> Self {
        let id = LetterId { to: seed.0, from: WorkerId(0), batch: 1 };
        Self {
            flaw,
            started: -1_000_000,
            timeline: 1,
            since: None,
            unseen: false,
            next_worker: 1,
            next_page: 1,
            next_host: 1,
            workers: BTreeMap::new(),
            shards: vec![FakeShard::default(); usize::from(shards)],
            addresses: BTreeMap::new(),
            letters: BTreeMap::from([(id, vec![FakeLetter::Found(None, seed.1)])]),
            pages: BTreeMap::new(),
            urls: BTreeMap::new(),
            links: BTreeSet::new(),
            digests: BTreeMap::new(),
            budget,
            ended: false,
            spent: false,
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn living(&mut self, member: FakeMember) -> Result<&mut FakeWorker, FakeFenced> {
        let strange = self.is_strange(member);
        self.workers.get_mut(&member.id).filter(|worker| worker.alive && !strange).ok_or(FakeFenced)
    }

    /// Whether a worker joined before a failover: what it was told then may not be true any more.
    pub(crate) fn is_strange(&self, member: FakeMember) -> bool {
        member.timeline != self.timeline && !self.has(Flaw::OneTimeline)
    }

    /// Becomes a worker.
    pub fn join(&mut self, weight: u64, lease: Millis, now: Millis) -> FakeMember {
        if std::mem::take(&mut self.unseen) {
            self.since = Some(now);
        }
        let id = WorkerId(self.next_worker);
        self.next_worker += 1;
        let (until, timeline) = (now + lease, self.timeline);
        let worker = FakeWorker { alive: true, until, lease, timeline, batch: 0, nonce: 0, weight, ticket: 0 };
        self.workers.insert(id, worker);
        FakeMember { id, timeline }
    }

    /// Renews a lease and buries whose own has run out; who was buried, too.
    pub fn beat(&mut self, member: FakeMember, now: Millis) -> Result<(FakeReply, Vec<WorkerId>), FakeFenced> {
        let worker = self.living(member)?;
        worker.until = now + worker.lease;
        let (started, timeline) = (self.started, self.timeline);
        let (grace, fenced) = (!self.has(Flaw::NoGrace), !self.has(Flaw::OneTimeline));
        let dead = |w: &FakeWorker| {
            let until = if grace { w.until.max(started + w.lease) } else { w.until };
            w.alive && (until < now || (fenced && w.timeline != timeline))
        };
        let buried: Vec<WorkerId> = self.workers.iter().filter(|(_, w)| dead(w)).map(|(id, _)| *id).collect();
        buried.iter().for_each(|id| self.end_of(*id));
        let all: u64 = self.workers.values().filter(|w| w.alive).map(|w| w.weight).sum::<u64>().max(1);
        let even = |weight: u64| self.shards.len() as u64 * weight / all;
        let living: Vec<(WorkerId, u64)> =
            self.workers.iter().filter(|(_, w)| w.alive).map(|(id, w)| (*id, w.weight)).collect();
        let rest = self.shards.len() as u64 - living.iter().map(|(_, weight)| even(*weight)).sum::<u64>();
        let at = living.iter().position(|(id, _)| *id == member.id).unwrap_or(0);
        let share = even(living[at].1) + u64::from((at as u64) < rest);
        let is = |test: &dyn Fn(&FakeShard) -> bool| -> Vec<ShardId> {
            let numbers = (0..).zip(&self.shards).filter(|(_, shard)| test(shard));
            numbers.map(|(id, _)| ShardId(id)).collect()
        };
        let held = is(&|shard| shard.worker == Some(member.id));
        let free = is(&|shard| self.is_free(shard)).len();
        let share = usize::try_from(share).unwrap_or(0);
        Ok((FakeReply { share, held, free, running: !self.ended }, buried))
    }

    fn is_free(&self, shard: &FakeShard) -> bool {
        shard.worker.is_none_or(|owner| self.workers.get(&owner).is_none_or(|worker| !worker.alive))
    }

    fn end_of(&mut self, id: WorkerId) {
        if let Some(worker) = self.workers.get_mut(&id).filter(|worker| worker.alive) {
            worker.alive = false;
            let ticket = std::mem::take(&mut worker.ticket);
            self.budget = self.budget.map(|left| left + ticket);
        }
    }

    /// Takes shards that nobody living holds.
    pub fn take(&mut self, member: FakeMember, most: usize) -> Vec<ShardId> {
        if self.living(member).is_err() {
            return Vec::new();
        }
        let free: Vec<usize> = (0..self.shards.len()).filter(|at| self.is_free(&self.shards[*at])).take(most).collect();
        free.iter().for_each(|at| self.shards[*at].worker = Some(member.id));
        free.into_iter().filter_map(|at| u16::try_from(at).ok()).map(ShardId).collect()
    }

    /// Draws from the budget; `None` if there is none.
    pub fn draw(&mut self, member: FakeMember, pages: u64) -> Result<Option<u64>, FakeFenced> {
        let Some(left) = self.budget else { return Ok(None) };
        let drawn = left.min(pages);
        self.living(member)?.ticket += drawn;
        self.budget = Some(left - drawn);
        Ok(Some(drawn))
    }

    /// Leaves in order.
    pub fn leave(&mut self, member: FakeMember, now: Millis) {
        self.end_of(member.id);
        self.shards.iter_mut().filter(|s| s.worker == Some(member.id)).for_each(|s| s.worker = None);
        self.addresses.values_mut().filter(|a| a.worker == member.id).for_each(|a| a.until = now);
    }

    /// The first numbers of a block of pages and of one of hosts.
    pub fn number(&mut self, pages: u64, hosts: u32) -> (u64, u32) {
        let first = (self.next_page, self.next_host);
        self.next_page += pages;
        self.next_host += hosts;
        first
    }

    /// Letters to shards, without those that are known.
    pub fn read(&mut self, shards: &[ShardId], known: &BTreeSet<LetterId>) -> Vec<(LetterId, Vec<FakeLetter>)> {
        let wanted = |id: &LetterId| shards.contains(&id.to) && !known.contains(id);
        let found: Vec<(LetterId, Vec<FakeLetter>)> =
            self.letters.iter().filter(|(id, _)| wanted(id)).map(|(id, letters)| (*id, letters.clone())).collect();
        if self.has(Flaw::LettersOutside) {
            found.iter().for_each(|(id, _)| _ = self.letters.remove(id));
        }
        found
    }

    /// How many rows of letters wait.
    pub fn letters(&self) -> usize {
        self.letters.len()
    }

    /// The pages of shards, and the contents that they remember.
    pub fn load(&self, shards: &[ShardId]) -> LoadedShards {
        let pages = self.pages.iter().filter(|(_, page)| shards.contains(&page.shard));
        let count = u16::try_from(self.shards.len()).unwrap_or(u16::MAX);
        let digests = self.digests.iter().filter(|(digest, _)| shards.contains(&ShardId::of_digest(digest, count)));
        (
            pages.map(|(id, page)| (*id, page.clone())).collect(),
            digests.map(|(digest, page)| (*digest, *page)).collect(),
        )
    }

    /// Ends the run if every shard is idle and no letter waits; whether it is over.
    pub fn end_if_done(&mut self) -> bool {
        self.ended |= self.letters.is_empty() && self.shards.iter().all(|shard| shard.idle);
        self.ended
    }

    /// Ends the run if its budget is used up and nobody works on it.
    pub fn close_spent(&mut self) -> bool {
        self.spent |= !self.ended && self.budget == Some(0) && self.workers.values().all(|worker| !worker.alive);
        self.ended |= self.spent;
        self.ended
    }

    /// Gives up addresses and asks for others.
    pub fn ask(&mut self, member: FakeMember, ask: &FakeAsk, now: Millis) -> FakeGrants {
        self.release(member, ask, now);
        if self.living(member).is_err() {
            return Vec::new();
        }
        let floor = self.since.map_or(now, |since| now.max(since + ask.slice + ask.delay));
        let floor = if self.has(Flaw::OneTimeline) { now } else { floor };
        let mut granted = Vec::new();
        for ip in &ask.wanted {
            let fresh = FakeAddress {
                worker: member.id,
                until: now + ask.slice,
                open_at: floor,
                delay: ask.delay,
                wanted: false,
                turn: ask.turn,
            };
            let row = self.addresses.entry(*ip).or_insert_with(|| fresh.clone());
            if row.worker == member.id {
                let turn = row.turn.max(ask.turn);
                *row = FakeAddress { open_at: row.open_at, wanted: row.wanted, turn, ..fresh };
            } else if row.until < now {
                let delay = if self.flaw == Some(Flaw::NoDelay) { 0 } else { row.delay };
                *row = FakeAddress { open_at: row.open_at.max(row.until + delay).max(floor), ..fresh };
            } else {
                row.wanted = true;
                continue;
            }
            granted.push((*ip, (row.open_at - now).max(0), row.wanted));
        }
        granted
    }

    fn release(&mut self, member: FakeMember, ask: &FakeAsk, now: Millis) {
        let (stale, hasty) = (self.has(Flaw::StaleRelease), self.has(Flaw::NoDelay));
        for (ip, open_in) in &ask.released {
            let ours = |row: &&mut FakeAddress| row.worker == member.id && (stale || row.turn < ask.turn);
            if let Some(row) = self.addresses.get_mut(ip).filter(ours) {
                let open_at = if hasty { now } else { now + open_in };
                *row = FakeAddress { until: now, open_at, delay: 0, wanted: false, ..row.clone() };
            }
        }
    }

    /// Makes a batch happen, once.
    pub fn commit(
        &mut self,
        member: FakeMember,
        (no, nonce): (u64, u64),
        batch: &FakeBatch,
        now: Millis,
    ) -> Result<FakeEnd, String> {
        let fence = !self.has(Flaw::NoFence);
        let Ok(worker) = self.living(member).cloned() else {
            return if fence { Ok(FakeEnd::Fenced) } else { self.apply(member, (no, nonce), batch, now) };
        };
        if (worker.batch, worker.nonce) == (no, nonce) {
            return Ok(FakeEnd::Done);
        }
        if worker.batch + 1 != no && fence {
            return Ok(FakeEnd::Fenced);
        }
        self.apply(member, (no, nonce), batch, now)
    }

    fn apply(
        &mut self,
        member: FakeMember,
        (no, nonce): (u64, u64),
        batch: &FakeBatch,
        now: Millis,
    ) -> Result<FakeEnd, String> {
        self.record(member, (no, nonce), batch)?;
        self.deliver(member, no, batch)?;
        let mine = |shard: &FakeShard| shard.worker == Some(member.id);
        for shard in &batch.marked {
            let shard = &mut self.shards[usize::from(shard.0)];
            shard.idle = if mine(shard) { batch.idle } else { shard.idle };
        }
        for shard in &batch.gifts {
            let shard = &mut self.shards[usize::from(shard.0)];
            shard.worker = shard.worker.filter(|owner| *owner != member.id);
        }
        if let Some(worker) = self.workers.get_mut(&member.id) {
            (worker.batch, worker.nonce) = (no, nonce);
            worker.until = worker.until.max(now + worker.lease);
            worker.ticket = worker.ticket.saturating_sub(batch.visits.len() as u64);
        }
        Ok(FakeEnd::Done)
    }

    /// The facts of a batch.
    fn record(&mut self, member: FakeMember, (no, nonce): (u64, u64), batch: &FakeBatch) -> Result<(), String> {
        for (id, page) in &batch.pages {
            if let Some(other) = self.pages.insert(*id, page.clone()) {
                return Err(format!("the number {} is that of page {} and of page {}", id.0, other.url, page.url));
            }
            if let Some(other) = self.urls.insert(page.url, *id) {
                return Err(format!("page {} has the numbers {} and {}", page.url, other.0, id.0));
            }
        }
        for id in &batch.visits {
            let page = self.pages.get_mut(id).ok_or_else(|| format!("page {} is visited and unknown", id.0))?;
            if page.visited.replace((member.id, no, nonce)).is_some() {
                return Err(format!("page {} is visited twice", page.url));
            }
        }
        for link in &batch.links {
            if !self.links.insert(*link) {
                return Err(format!("the link from {} to {} is doubled", link.0.0, link.1.0));
            }
        }
        for (digest, page) in &batch.digests {
            self.digests.entry(*digest).or_insert(*page);
        }
        for (page, of) in &batch.duplicates {
            self.pages.get_mut(page).ok_or("an unknown page repeats another")?.duplicate_of = Some(*of);
        }
        Ok(())
    }

    /// The letters of a batch: those it has digested and those it sends.
    fn deliver(&mut self, member: FakeMember, no: u64, batch: &FakeBatch) -> Result<(), String> {
        for id in &batch.read {
            if self.letters.remove(id).is_none() && !self.has(Flaw::LettersOutside) {
                return Err(format!("a letter to shard {} is not there any more", id.to.0));
            }
        }
        for (to, letter) in &batch.letters {
            self.letters.entry(LetterId { to: *to, from: member.id, batch: no }).or_default().push(*letter);
        }
        Ok(())
    }

    /// Where it stands, for a failure.
    pub(crate) fn state(&self) -> String {
        let living: Vec<_> = self.workers.iter().filter(|(_, worker)| worker.alive).map(|(id, _)| id.0).collect();
        let idle = self.shards.iter().filter(|shard| shard.idle).count();
        format!("{living:?} live, {idle} of {} shards are idle, budget {:?}", self.shards.len(), self.budget)
    }

    /// Becomes the standby that was promoted: as it is here, which may be a while ago.
    pub fn promote(&mut self, timeline: u32) {
        self.timeline = timeline;
        self.unseen = true;
    }
}
