//! How does a worker fetch? The real frontier says what next; the web sees what is sent.

use crate::life::{SimItem, SimLife};
use crate::line::{SimAnswer, SimOp};
use crate::store::FakeAsk;
use crate::world::{SimEvent, SimHappening, SimThread, SimWorld};
use crate::{Flaw, Millis};
use orb_frontier::{After, FetchEnd, Next};
use orb_page::Lease;
use std::time::Duration;

/// Pages fetched or being fetched that are not committed.
const ROOM: usize = 12;

impl SimWorld {
    /// Grants what may be granted now.
    pub(crate) fn drive(&mut self, worker: usize) -> Result<(), String> {
        let clock = self.workers[worker].clock(self.now);
        for _ in 0..1_000 {
            let web = &self.web;
            let Some(life) = self.workers[worker].life.as_mut().filter(|life| !life.stopping) else { return Ok(()) };
            if life.pipeline + life.flights >= ROOM {
                return Ok(());
            }
            let epoch = life.team.epoch;
            let (wait, next) = match life.frontier.next(clock) {
                Next::Lease(lease, _) => {
                    life.flights += 1;
                    life.hurry = false;
                    // Connecting takes longer than anybody thought, now and then.
                    let slow = if self.dice.chance(30) { 4_000 } else { 40 };
                    (self.dice.between(1, slow), SimHappening::Send(Box::new(lease)))
                }
                Next::Read(read) => {
                    let Ok(answer) = read.answer(&life.scratch);
                    (self.dice.between(0, 20), SimHappening::Answered(Box::new(answer)))
                }
                Next::Resolve { host, name, .. } => {
                    (self.dice.between(1, 100), SimHappening::Resolved(host, web.resolve(&name)))
                }
                Next::Wait(at) => {
                    self.wake(worker, at.0 - clock.0 + 1);
                    return Ok(());
                }
                Next::Busy => {
                    self.wake(worker, 1_000);
                    return Ok(());
                }
                Next::Starved => {
                    self.starve(worker);
                    return Ok(());
                }
                Next::Finished | Next::BudgetSpent if !life.is_settled() => {
                    self.starve(worker);
                    return Ok(());
                }
                Next::Finished => {
                    if life.team.rested.replace(epoch) != Some(epoch) {
                        life.recorder.items.push_back(SimItem::Idle(epoch));
                    }
                    self.wake(worker, 1_000);
                    return Ok(());
                }
                Next::BudgetSpent => {
                    life.team.wish = true;
                    self.wake(worker, 1_000);
                    return Ok(());
                }
                other => return Err(format!("worker {worker} gives up what can be fetched: {other:?}")),
            };
            self.soon(wait, worker, next);
        }
        Err(format!("worker {worker} is given one thing after the other without end"))
    }

    /// Wakes the driver in so long, unless it is woken before.
    fn wake(&mut self, worker: usize, wait: Millis) {
        let at = self.now + wait;
        let Some(life) = &mut self.workers[worker].life else { return };
        if at < life.wakes {
            life.wakes = at;
            self.soon(wait, worker, SimHappening::Wake(SimThread::Driver));
        }
    }

    fn starve(&mut self, worker: usize) {
        let Some(life) = &mut self.workers[worker].life else { return };
        if !std::mem::replace(&mut life.hurry, true) {
            life.recorder.items.push_back(SimItem::Flush);
        }
        self.wake(worker, 1_000);
    }

    /// The bytes are about to go out.
    pub(crate) fn send(&mut self, worker: usize, lease: Box<Lease>) -> Result<(), String> {
        let clock = self.workers[worker].clock(self.now);
        let careless = self.flaw == Some(Flaw::NoMaySend);
        let Some(life) = &mut self.workers[worker].life else { return Ok(()) };
        if !careless && !life.frontier.may_send(lease.addr, clock) {
            life.flights -= 1;
            life.frontier.done(&lease, &FetchEnd { unsent: true, ..FetchEnd::default() }, clock);
            return Ok(());
        }
        life.frontier.sent(lease.host, lease.addr, clock.plus(Duration::from_millis(1)));
        if let Some(address) = lease.addr {
            self.web.request(address, worker, self.now)?;
        }
        let took = self.dice.between(5, 400);
        self.soon(took, worker, SimHappening::Done(lease, took));
        Ok(())
    }

    /// The server has answered.
    pub(crate) fn done(&mut self, worker: usize, lease: &Lease, took: Millis) {
        let clock = self.workers[worker].clock(self.now);
        let Some(life) = &mut self.workers[worker].life else { return };
        life.flights -= 1;
        let elapsed = Duration::from_millis(took.unsigned_abs());
        let ended = FetchEnd { status: Some(200), elapsed, ..FetchEnd::default() };
        if life.frontier.done(lease, &ended, clock).0 == After::Record {
            life.pipeline += 1;
            life.recorder.items.push_back(SimItem::Read { page: lease.page, host: lease.host });
        }
    }

    /// A worker has joined, or must try again.
    pub(crate) fn joined(&mut self, worker: usize, no: u64, answer: Option<&SimAnswer>) {
        if self.workers[worker].life.is_some() || self.workers[worker].lives != no {
            return;
        }
        let Some(SimAnswer::Joined(member)) = answer else {
            let wait = self.dice.between(100, 1_000);
            self.later(wait, SimEvent::Start(worker));
            return;
        };
        let clock = self.workers[worker].clock(self.now);
        let manner = (self.web.delay, self.plan.budget.is_some());
        let life = SimLife { flaw: self.flaw, ..SimLife::new(no, *member, manner, clock) };
        self.workers[worker].life = Some(life);
        for thread in [SimThread::Clerk, SimThread::Post, SimThread::Desk] {
            self.soon(0, worker, SimHappening::Wake(thread));
        }
    }

    /// The worker was taken for dead: what it has not committed is dropped.
    pub(crate) fn die(&mut self, worker: usize) {
        self.give_leases(worker);
        self.workers[worker].life = None;
        let wait = self.dice.between(50, 1_500);
        self.later(wait, SimEvent::Start(worker));
    }

    fn give_leases(&mut self, worker: usize) {
        let clock = self.workers[worker].clock(self.now);
        let (slice, delay) = (self.plan.slice, self.web.delay);
        let Some(life) = &mut self.workers[worker].life else { return };
        let given = life.frontier.give_all_leases(clock);
        life.desk.turn += 1;
        let released = given.into_iter().map(|(ip, open_in)| (ip, crate::millis(open_in))).collect();
        let ask = FakeAsk { turn: life.desk.turn, wanted: Vec::new(), released, slice, delay };
        self.call(worker, SimThread::Desk, SimOp::Ask(ask));
    }

    /// A worker that is asked to leave does so once everything is committed.
    pub(crate) fn leave_if_done(&mut self, worker: usize) {
        let Some(life) = self.workers[worker].life.as_ref() else { return };
        if !life.stopping || life.flights > 0 || !life.is_settled() {
            return;
        }
        self.give_leases(worker);
        self.call(worker, SimThread::Clerk, SimOp::Leave);
        self.workers[worker].life = None;
        let wait = self.dice.between(500, 5_000);
        self.later(wait, SimEvent::Start(worker));
        if self.plan.budget.is_some() {
            self.later(100, SimEvent::Close(worker));
        }
    }
}
