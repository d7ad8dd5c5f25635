//! Who keeps a worker alive, reads its letters and leases its addresses? As in `orb_crawl`'s
//! `worker`.

use crate::life::{SimItem, own_test};
use crate::line::{LEASE, SimAnswer, SimOp};
use crate::store::{FakeAsk, FakeReply};
use crate::world::{SimHappening, SimThread, SimWorld};
use crate::{Flaw, Millis};
use orb_store::ShardId;
use std::time::Duration;

/// How often the clerk looks around, and the post for letters.
const TICK: Millis = 200;

/// How often addresses are asked for.
const DESK: Millis = 100;

/// Pages of the budget drawn at once.
const TICKET: u64 = 8;

impl SimWorld {
    /// The clerk looks around, unless it waits for the store.
    pub(crate) fn clerk(&mut self, worker: usize) {
        let (now, clock) = (self.now, self.workers[worker].clock(self.now));
        let Some(life) = &mut self.workers[worker].life else { return };
        if life.stopping {
            return;
        }
        self.soon(TICK, worker, SimHappening::Wake(SimThread::Clerk));
        let Some(life) = self.workers[worker].life.as_mut().filter(|life| !life.clerk.busy) else { return };
        if now >= life.clerk.next {
            (life.clerk.busy, life.clerk.sent, life.clerk.moves) = (true, clock.0, life.team.moves);
            return self.call(worker, SimThread::Clerk, SimOp::Beat);
        }
        if let Some(leaving) = life.clerk.leaving.take() {
            if life.frontier.is_rid() {
                life.recorder.items.push_back(SimItem::Give(leaving));
            } else {
                life.clerk.leaving = Some(leaving);
                life.recorder.items.push_back(SimItem::Flush);
                life.recorder.pending.urgent = true;
            }
        }
        if std::mem::take(&mut life.team.wish) {
            life.clerk.busy = true;
            return self.call(worker, SimThread::Clerk, SimOp::Draw(TICKET));
        }
        if life.team.idle && now - life.clerk.asked_end >= 300 {
            (life.clerk.busy, life.clerk.asked_end) = (true, now);
            self.call(worker, SimThread::Clerk, SimOp::EndIfDone);
        }
    }

    /// Letters to our shards.
    pub(crate) fn post(&mut self, worker: usize) {
        self.soon(TICK, worker, SimHappening::Wake(SimThread::Post));
        let Some(life) = self.workers[worker].life.as_mut().filter(|life| !life.post.busy && !life.stopping) else {
            return;
        };
        let held = life.post.held.clone();
        life.post.delivered.retain(|id| held.contains(&id.to));
        if !held.is_empty() {
            life.post.busy = true;
            let known = life.post.delivered.clone();
            self.call(worker, SimThread::Post, SimOp::Read(held, known));
        }
    }

    /// Addresses that are wanted or not needed any more.
    pub(crate) fn desk(&mut self, worker: usize) {
        self.soon(DESK, worker, SimHappening::Wake(SimThread::Desk));
        let clock = self.workers[worker].clock(self.now);
        let (slice, delay) = (self.plan.slice, self.web.delay);
        let Some(life) = self.workers[worker].life.as_mut().filter(|life| !life.desk.busy && !life.stopping) else {
            return;
        };
        let given = life.frontier.leases_to_give(clock);
        let wanted = life.frontier.addresses_wanted(clock, span(slice / 3));
        if given.is_empty() && wanted.is_empty() {
            return;
        }
        life.desk.busy = true;
        life.desk.begun = clock.0;
        life.desk.turn += 1;
        let released = given.into_iter().map(|(ip, open_in)| (ip, crate::millis(open_in))).collect();
        let ask = FakeAsk { turn: life.desk.turn, wanted, released, slice, delay };
        self.call(worker, SimThread::Desk, SimOp::Ask(ask));
    }

    /// A call of one of the threads was answered, or was not.
    pub(crate) fn hear(
        &mut self,
        worker: usize,
        thread: SimThread,
        answer: (SimOp, Option<SimAnswer>),
    ) -> Result<(), String> {
        let (op, answer) = answer;
        if thread == SimThread::Recorder {
            self.recorded(worker, op, answer);
            return Ok(());
        }
        let Some(life) = &mut self.workers[worker].life else { return Ok(()) };
        match thread {
            SimThread::Clerk => life.clerk.busy = false,
            SimThread::Post => life.post.busy = false,
            SimThread::Desk => life.desk.busy = false,
            SimThread::Driver | SimThread::Recorder => {}
        }
        match answer {
            Some(SimAnswer::Fenced | SimAnswer::Beaten(Err(_)) | SimAnswer::Drawn(Err(_))) => self.die(worker),
            Some(SimAnswer::Beaten(Ok((reply, _)))) => self.look(worker, &reply),
            Some(SimAnswer::Taken(taken)) => self.taken(worker, taken),
            Some(SimAnswer::Drawn(Ok(drawn))) => match drawn {
                // The wish may be older than the pages that were drawn last.
                Some(0) => {
                    let spent = life.frontier.granted() >= life.clerk.drawn;
                    life.stopping = spent || life.flaw == Some(Flaw::OldWish);
                }
                Some(pages) => {
                    life.clerk.drawn += pages;
                    life.frontier.allow_pages(pages);
                }
                None => life.frontier.allow_pages(u64::MAX),
            },
            Some(SimAnswer::Mail(mail)) if !mail.is_empty() => {
                life.post.delivered.extend(mail.iter().map(|(id, _)| *id));
                life.recorder.items.push_back(SimItem::Letters(mail));
            }
            Some(SimAnswer::Granted(granted)) => self.granted(worker, granted),
            None => match op {
                SimOp::Beat => life.clerk.next = self.now + 500,
                SimOp::Take(_) => life.team.moving = false,
                _ => {}
            },
            Some(_) => {}
        }
        Ok(())
    }

    /// A heartbeat was answered.
    fn look(&mut self, worker: usize, reply: &FakeReply) {
        let (clock, shards) = (self.workers[worker].clock(self.now), self.plan.shards);
        let Some(life) = &mut self.workers[worker].life else { return };
        let lease = span(LEASE - LEASE / 5);
        life.frontier.member_until(orb_page::Moment(life.clerk.sent).plus(lease));
        life.clerk.next = self.now + LEASE / 5;
        if !reply.running {
            return;
        }
        life.clerk.known.retain(|shard| reply.held.contains(shard));
        // What was said before a move ended is not true any more.
        let moved = life.clerk.moves != life.team.moves;
        if moved || life.clerk.leaving.is_some() || life.team.moving || life.team.telling {
            return;
        }
        life.team.moving = true;
        let taken: Vec<ShardId> = reply.held.iter().copied().filter(|s| !life.clerk.known.contains(s)).collect();
        if !taken.is_empty() {
            return self.taken(worker, taken);
        }
        if reply.held.len() < reply.share && reply.free > 0 {
            life.clerk.busy = true;
            return self.call(worker, SimThread::Clerk, SimOp::Take(reply.share - reply.held.len()));
        }
        if reply.held.len() > reply.share {
            let mut staying: Vec<ShardId> = life.clerk.known.iter().copied().collect();
            let leaving = staying.split_off(reply.share);
            life.clerk.known = staying.iter().copied().collect();
            life.post.held.clone_from(&staying);
            life.frontier.keep_only(own_test(staying.into_iter().collect(), shards), clock);
            life.clerk.leaving = Some(leaving);
            return;
        }
        life.team.moving = false;
        life.post.held = life.clerk.known.iter().copied().collect();
    }

    fn taken(&mut self, worker: usize, taken: Vec<ShardId>) {
        let Some(life) = &mut self.workers[worker].life else { return };
        if taken.is_empty() {
            life.team.moving = false;
            return;
        }
        life.clerk.known.extend(taken.iter().copied());
        life.post.held = life.clerk.known.iter().copied().collect();
        life.recorder.items.push_back(SimItem::Adopt(taken));
    }

    fn granted(&mut self, worker: usize, granted: crate::store::FakeGrants) {
        let (clock, slice) = (self.workers[worker].clock(self.now), self.plan.slice);
        let Some(life) = &mut self.workers[worker].life else { return };
        // Early by a twentieth: the last request must have left before the others may send.
        let until = orb_page::Moment(life.desk.begun).plus(span(slice - slice / 20));
        for (ip, open_in, contested) in granted {
            if contested {
                life.frontier.contested(ip);
            }
            life.frontier.leased(ip, until, span(open_in), clock);
        }
    }

    /// Somebody who has left for want of budget looks whether the run is to be closed.
    pub(crate) fn close(&mut self, worker: usize) {
        self.call(worker, SimThread::Clerk, SimOp::CloseSpent);
    }
}

fn span(length: Millis) -> Duration {
    Duration::from_millis(u64::try_from(length).unwrap_or(0))
}
