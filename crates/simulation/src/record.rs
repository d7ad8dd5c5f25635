//! How do results become facts? As in `orb_crawl`'s `record`: one batch at a time, tried until it
//! has happened or the worker is fenced.

use crate::life::{SimAttempt, SimItem, SimJob, SimLife, SimPending, own_test};
use crate::line::{HOSTS, PAGES, SimAnswer, SimOp};
use crate::store::{FakeEnd, FakeLetter, FakePage};
use crate::web::{SimUrl, SimWeb};
use crate::world::{SimHappening, SimThread, SimWorld};
use crate::{Flaw, Millis};
use orb_page::PageId;
use orb_store::{LetterId, ShardId, shard_of};

/// A page waits so long for others at most.
const BATCH_TIME: Millis = 1_000;

/// Pages in a batch.
const FULL: usize = 6;

impl SimWorld {
    /// Takes items and commits, until it has to wait for the store.
    pub(crate) fn record(&mut self, worker: usize) -> Result<(), String> {
        for _ in 0..10_000 {
            let (now, web, shards) = (self.now, &self.web, self.plan.shards);
            let Some(life) = &mut self.workers[worker].life else { return Ok(()) };
            match life.recorder.job {
                SimJob::Waiting => return Ok(()),
                SimJob::Retry(at) if at > now => return Ok(()),
                _ => life.recorder.job = SimJob::Nothing,
            }
            let op = if life.recorder.attempt.is_some() {
                Some(life.try_commit())
            } else if life.recorder.pages.end - life.recorder.pages.start < PAGES / 2
                || life.recorder.hosts.end - life.recorder.hosts.start < HOSTS / 2
            {
                Some(SimOp::Number)
            } else if life.must_commit(now) {
                let nonce = self.dice.roll() | 1;
                life.begin_commit(nonce);
                continue;
            } else {
                let Some(item) = life.recorder.items.pop_front() else {
                    let since = life.recorder.pending.since;
                    if let Some(since) = since {
                        self.soon(since + BATCH_TIME - now + 1, worker, SimHappening::Wake(SimThread::Recorder));
                    }
                    return Ok(());
                };
                life.take(item, now, (web, shards))
            };
            if let Some(op) = op {
                life.recorder.job = SimJob::Waiting;
                self.call(worker, SimThread::Recorder, op);
                return Ok(());
            }
        }
        Err(format!("the recorder of worker {worker} works without end"))
    }

    /// The recorder's call was answered.
    pub(crate) fn recorded(&mut self, worker: usize, op: SimOp, answer: Option<SimAnswer>) {
        let (clock, now, shards) = (self.workers[worker].clock(self.now), self.now, self.plan.shards);
        let Some(life) = &mut self.workers[worker].life else { return };
        life.recorder.job = SimJob::Nothing;
        match (answer, op) {
            (Some(SimAnswer::Numbers(page, host)), _) => {
                life.recorder.pages = page..page + PAGES;
                life.recorder.hosts = host..host + HOSTS;
            }
            (Some(SimAnswer::Stored), _) => {
                if let Some(attempt) = &mut life.recorder.attempt {
                    attempt.stored = true;
                }
            }
            (Some(SimAnswer::Committed(FakeEnd::Done)), _) => {
                life.committed(&self.web, clock);
            }
            (Some(SimAnswer::Committed(FakeEnd::Fenced) | SimAnswer::Fenced), _) => self.die(worker),
            (Some(SimAnswer::Loaded(pages, digests)), SimOp::Load(taken)) => {
                digests.into_iter().for_each(|(digest, page)| life.scratch.believe(digest, page));
                pages.iter().for_each(|(id, page)| life.scratch.add(*id, page, &self.web));
                life.scratch.held.extend(taken);
                life.recorder.said = None;
                life.frontier.keep_only(own_test(life.scratch.held.clone(), shards), clock);
                life.frontier.look_around(clock);
                life.team.epoch += 1;
                life.team.moving = false;
                life.team.moves += 1;
            }
            (_, op) => {
                // Tried again until it is answered.
                if let SimOp::Load(shards) = op {
                    life.recorder.items.push_front(SimItem::Adopt(shards));
                }
                let wait = self.dice.between(100, 1_000);
                life.recorder.job = SimJob::Retry(now + wait);
                self.soon(wait, worker, SimHappening::Wake(SimThread::Recorder));
            }
        }
    }
}

impl SimLife {
    fn must_commit(&self, now: Millis) -> bool {
        let recorder = &self.recorder;
        let Some(since) = recorder.pending.since else { return false };
        let starving = (self.hurry || self.stopping) && recorder.items.is_empty();
        let pending = &recorder.pending;
        pending.held >= FULL || now >= since + BATCH_TIME || starving || (pending.urgent && recorder.items.is_empty())
    }

    fn begin_commit(&mut self, nonce: u64) {
        let mut pending = std::mem::take(&mut self.recorder.pending);
        if self.recorder.said != Some(pending.batch.idle) {
            pending.batch.marked = self.scratch.held.iter().copied().collect();
        }
        self.recorder.attempt = Some(SimAttempt { no: self.recorder.done + 1, nonce, stored: false, pending });
    }

    /// The next step of the commit: the bytes, then the facts.
    fn try_commit(&self) -> SimOp {
        let attempt = self.recorder.attempt.as_ref();
        attempt.map_or(SimOp::Number, |attempt| {
            if attempt.stored || attempt.pending.batch.visits.is_empty() {
                SimOp::Commit(Box::new(attempt.pending.batch.clone()), attempt.no, attempt.nonce)
            } else {
                SimOp::Put(attempt.no, attempt.nonce)
            }
        })
    }

    /// A batch has happened: the scratch copy and the frontier follow.
    fn committed(&mut self, web: &SimWeb, clock: orb_page::Moment) {
        let Some(SimAttempt { no, pending, .. }) = self.recorder.attempt.take() else { return };
        let SimPending { batch, fed, finished, digests, held, .. } = pending;
        self.recorder.done = no;
        self.recorder.said = Some(batch.idle);
        for (id, page) in &batch.pages {
            self.scratch.add(*id, page, web);
        }
        finished.iter().for_each(|(host, page)| self.scratch.visited(*host, *page));
        digests.into_iter().for_each(|(digest, page)| self.scratch.remember(digest, page));
        self.team.idle = batch.idle;
        self.team.telling = false;
        if !batch.idle {
            self.team.rested = None;
        }
        batch.read.iter().for_each(|id| _ = self.post.delivered.remove(id));
        let gone: Vec<PageId> = finished.iter().map(|(_, page)| *page).collect();
        self.frontier.committed(&gone);
        fed.iter().for_each(|host| self.frontier.admitted(*host, clock));
        self.team.epoch += u64::from(!fed.is_empty());
        self.pipeline -= held;
        if !batch.gifts.is_empty() {
            self.scratch.release(&batch.gifts);
            self.team.moving = false;
            self.team.moves += 1;
        }
    }

    /// What an item leads to; a call to the store if it needs one.
    fn take(&mut self, item: SimItem, now: Millis, (web, shards): (&SimWeb, u16)) -> Option<SimOp> {
        match item {
            SimItem::Read { page, host } => {
                self.recorder.pending.since.get_or_insert(now);
                self.take_reading(page, (web, shards));
                self.recorder.pending.finished.push((host, page));
            }
            SimItem::Letters(bundles) => self.take_letters(bundles, now, (web, shards)),
            SimItem::Adopt(taken) => {
                return self.first_commit(SimItem::Adopt(taken.clone())).then_some(SimOp::Load(taken));
            }
            SimItem::Give(gifts) => {
                if self.first_commit(SimItem::Give(gifts.clone())) {
                    // Committed by itself.
                    self.recorder.pending = SimPending { since: Some(now - BATCH_TIME), ..SimPending::default() };
                    self.recorder.pending.batch.gifts = gifts;
                }
            }
            SimItem::Idle(epoch) => {
                let quiet = self.team.epoch == epoch && self.pipeline == 0;
                if quiet && !self.first_commit(SimItem::Idle(epoch)) {
                    return None;
                }
                if !quiet || self.team.moving || self.recorder.pending.since.is_some() {
                    self.team.rested = None;
                    return None;
                }
                self.team.telling = true;
                self.recorder.pending = SimPending { since: Some(now - BATCH_TIME), ..SimPending::default() };
                self.recorder.pending.batch.idle = true;
            }
            SimItem::Flush => {}
        }
        None
    }

    /// Whether nothing is pending; otherwise it is committed first, and the item comes again.
    fn first_commit(&mut self, item: SimItem) -> bool {
        let pending = &mut self.recorder.pending;
        if pending.since.is_none() {
            return true;
        }
        pending.since = Some(Millis::MIN / 2);
        self.recorder.items.push_front(item);
        false
    }

    fn take_reading(&mut self, page: PageId, (web, shards): (&SimWeb, u16)) {
        let (url, shard) = (self.scratch.url(page), self.scratch.shard(page));
        self.recorder.pending.held += 1;
        self.recorder.pending.batch.visits.push(page);
        let digest = web.digest(url);
        let first = self.recorder.pending.digests.get(&digest).copied().or_else(|| self.scratch.first(&digest));
        match first {
            Some(first) if first == page => {}
            Some(first) => self.recorder.pending.batch.duplicates.push((page, first)),
            None => {
                let home = ShardId::of_digest(&digest, shards);
                if self.scratch.held.contains(&home) {
                    if self.flaw != Some(Flaw::HomelessDigests) {
                        self.recorder.pending.batch.digests.push((digest, page));
                    }
                } else {
                    self.recorder.pending.batch.letters.push((home, FakeLetter::Digest(digest, page, shard)));
                }
                self.recorder.pending.digests.insert(digest, page);
            }
        }
        for target in web.links(url) {
            let home = shard_of(&SimWeb::host_name(web.host(*target)), shards);
            if self.scratch.held.contains(&home) {
                let target = self.admit(*target, home, web);
                self.recorder.pending.batch.links.push((page, target));
            } else {
                self.recorder.pending.batch.letters.push((home, FakeLetter::Found(Some(page), *target)));
            }
        }
    }

    fn take_letters(&mut self, bundles: Vec<(LetterId, Vec<FakeLetter>)>, now: Millis, (web, shards): (&SimWeb, u16)) {
        for (id, letters) in bundles {
            if !self.scratch.held.contains(&id.to) {
                self.post.delivered.remove(&id);
                continue;
            }
            self.recorder.pending.since.get_or_insert(now);
            self.recorder.pending.urgent |= self.team.rested.is_some();
            for letter in letters {
                match letter {
                    FakeLetter::Found(from, url) => {
                        let target = self.admit(url, shard_of(&SimWeb::host_name(web.host(url)), shards), web);
                        self.recorder.pending.batch.links.extend(from.map(|from| (from, target)));
                    }
                    FakeLetter::Digest(digest, page, shard) => self.take_digest(digest, page, shard),
                    FakeLetter::Same(page, of) => self.recorder.pending.batch.duplicates.push((page, of)),
                }
            }
            self.recorder.pending.batch.read.push(id);
        }
    }

    fn take_digest(&mut self, digest: [u8; 32], page: PageId, shard: ShardId) {
        let first = self.recorder.pending.digests.get(&digest).copied().or_else(|| self.scratch.first(&digest));
        let batch = &mut self.recorder.pending.batch;
        match first {
            // We have known it longer than the shard that keeps it.
            Some(of) if of == page => batch.digests.push((digest, page)),
            Some(of) if self.scratch.held.contains(&shard) => batch.duplicates.push((page, of)),
            Some(of) => batch.letters.push((shard, FakeLetter::Same(page, of))),
            None => {
                batch.digests.push((digest, page));
                self.recorder.pending.digests.insert(digest, page);
            }
        }
    }

    /// The number of a page of ours.
    fn admit(&mut self, url: SimUrl, shard: ShardId, web: &SimWeb) -> PageId {
        let known = self.scratch.page(url).or_else(|| self.recorder.pending.new.get(&url).copied());
        if let Some(page) = known {
            return page;
        }
        let host_name = SimWeb::host_name(web.host(url));
        let known = self.scratch.host(&host_name).or_else(|| self.recorder.pending.new_hosts.get(&host_name).copied());
        let host = known.unwrap_or_else(|| orb_page::HostId(self.recorder.hosts.next().unwrap_or(u32::MAX)));
        let page = PageId(self.recorder.pages.next().unwrap_or(u64::MAX));
        let pending = &mut self.recorder.pending;
        pending.new_hosts.insert(host_name.clone(), host);
        pending.new.insert(url, page);
        pending.fed.insert(host);
        let row = FakePage { url, host, host_name, shard, visited: None, duplicate_of: None };
        pending.batch.pages.push((page, row));
        page
    }
}
