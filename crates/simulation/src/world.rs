//! What happens next? One list of events, in the order of one time that nobody in the history
//! knows.
//!
//! A worker sees its own clock, which is off by some hours and runs a little fast or slow. Between
//! it and the store is a line on which everything can be slow, lost on the way there or on the way
//! back, or executed after the worker has given up waiting. Workers are stopped and continued,
//! killed, asked to leave; the server is frozen, restarted, or replaced by a standby that lacks the
//! last commits; objects cannot be stored. After a while all of this ends, and the run must, too.

use crate::dice::SimDice;
use crate::life::SimLife;
use crate::line::{LEASE, SimLine, SimOp, SimRequest, SimTrouble};
use crate::plan::{SimFault, SimPlan};
use crate::store::{FakeStore, RUN};
use crate::web::SimWeb;
use crate::{Flaw, Millis};
use orb_frontier::StoreAnswer;
use orb_page::{HostId, Lease, Moment};
use orb_store::shard_of;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::net::IpAddr;

/// Which thread of a worker an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SimThread {
    Driver,
    Recorder,
    Clerk,
    Post,
    Desk,
}

/// Something that happens in a life of a worker.
#[derive(Debug)]
pub(crate) enum SimHappening {
    /// Time has come for a thread.
    Wake(SimThread),
    /// A request is about to be sent.
    Send(Box<Lease>),
    /// It was answered.
    Done(Box<Lease>, Millis),
    Resolved(HostId, IpAddr),
    Answered(Box<StoreAnswer>),
    /// A call to the store has an answer, or there will be none.
    Reply(u64),
}

/// Something that happens.
#[derive(Debug)]
pub(crate) enum SimEvent {
    /// To a worker, in one of its lives.
    Worker(usize, u64, SimHappening),
    /// A call arrives at the store.
    Execute(u64),
    /// A worker begins a life.
    Start(usize),
    /// A worker that has left looks whether the budget is used up.
    Close(usize),
    Resume(usize),
    Fault(SimFault),
    /// The standby has what was there now.
    Snapshot,
    StoreUp,
}

/// A machine.
#[derive(Debug)]
pub(crate) struct SimWorker {
    pub(crate) life: Option<SimLife>,
    pub(crate) lives: u64,
    offset: Millis,
    /// By how many hundred-thousandths its clock runs fast.
    drift: Millis,
    stopped: bool,
    backlog: Vec<SimEvent>,
    pub(crate) weight: u64,
}

impl SimWorker {
    /// Its own clock.
    pub(crate) fn clock(&self, now: Millis) -> Moment {
        Moment(self.offset + now + now * self.drift / 100_000)
    }
}

/// A history.
pub(crate) struct SimWorld {
    pub(crate) plan: SimPlan,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) now: Millis,
    pub(crate) dice: SimDice,
    pub(crate) web: SimWeb,
    pub(crate) store: FakeStore,
    /// What is in the archive.
    pub(crate) objects: BTreeSet<(orb_store::WorkerId, u64, u64)>,
    pub(crate) workers: Vec<SimWorker>,
    pub(crate) line: SimLine,
    pub(crate) requests: BTreeMap<u64, SimRequest>,
    events: BinaryHeap<Reverse<(Millis, u64)>>,
    bodies: BTreeMap<u64, SimEvent>,
    serial: u64,
    /// Since when the server is there; none if it is not.
    pub(crate) up: Option<Millis>,
    frozen: Millis,
    /// Counts the servers: a connection to an earlier one is dead.
    pub(crate) generation: u32,
    snapshot: Option<FakeStore>,
    /// Counts events and what they were, to compare two plays of one history.
    pub(crate) trace: u64,
    pub(crate) handled: u64,
}

impl SimWorld {
    /// The history of a seed.
    pub(crate) fn new(seed: u64, flaw: Option<Flaw>) -> Self {
        let mut dice = SimDice::new(seed);
        let (plan, web) = (SimPlan::new(&mut dice), SimWeb::new(&mut dice));
        let home = shard_of(&SimWeb::host_name(web.host(0)), plan.shards);
        let store = FakeStore::new(plan.shards, (home, 0), plan.budget, flaw);
        let workers = (0..plan.workers).map(|_| SimWorker {
            life: None,
            lives: 0,
            offset: dice.between(-7_200_000, 7_200_000) + 1_700_000_000_000,
            drift: dice.between(-200, 200),
            stopped: false,
            backlog: Vec::new(),
            weight: u64::from(dice.chance(200)) + 1,
        });
        let workers: Vec<SimWorker> = workers.collect();
        let mut world = Self {
            flaw,
            now: 0,
            line: SimLine,
            web,
            store,
            objects: BTreeSet::new(),
            requests: BTreeMap::new(),
            events: BinaryHeap::new(),
            bodies: BTreeMap::new(),
            serial: 0,
            up: Some(-1_000_000),
            frozen: 0,
            generation: 0,
            snapshot: None,
            trace: seed,
            handled: 0,
            workers,
            dice,
            plan,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        for worker in 0..self.workers.len() {
            let at = if worker == 0 { 0 } else { self.dice.between(0, 8_000) };
            self.later(at, SimEvent::Start(worker));
        }
        for (at, fault) in std::mem::take(&mut self.plan.faults) {
            if let SimFault::Failover { lost, .. } = fault {
                self.later(at - lost, SimEvent::Snapshot);
            }
            self.later(at, SimEvent::Fault(fault));
        }
    }

    /// Something will happen so much later.
    pub(crate) fn later(&mut self, wait: Millis, event: SimEvent) {
        self.serial += 1;
        self.events.push(Reverse((self.now + wait.max(0), self.serial)));
        self.bodies.insert(self.serial, event);
    }

    /// Something will happen to a worker in its present life.
    pub(crate) fn soon(&mut self, wait: Millis, worker: usize, happening: SimHappening) {
        let life = self.workers[worker].life.as_ref().map_or(0, |life| life.no);
        self.later(wait, SimEvent::Worker(worker, life, happening));
    }

    /// Plays until the run is over. What is wrong, if something is.
    pub(crate) fn play(&mut self) -> Result<(), String> {
        while !self.store.ended {
            let Some(Reverse((at, serial))) = self.events.pop() else {
                return Err("nothing happens any more, and the run is not over".to_owned());
            };
            self.now = at;
            let Some(event) = self.bodies.remove(&serial) else { continue };
            if self.now > self.plan.bound {
                return Err(format!("the run is not over after {} s: {}", self.now / 1_000, self.state()));
            }
            self.handled += 1;
            self.happen(event)?;
        }
        Ok(())
    }

    fn happen(&mut self, event: SimEvent) -> Result<(), String> {
        match event {
            SimEvent::Execute(id) => self.execute(id),
            SimEvent::Fault(fault) => {
                self.strike(fault);
                Ok(())
            }
            SimEvent::Snapshot => {
                self.snapshot = Some(self.store.clone());
                Ok(())
            }
            SimEvent::StoreUp => {
                self.up = Some(self.now);
                Ok(())
            }
            SimEvent::Resume(worker) => {
                self.workers[worker].stopped = false;
                for event in std::mem::take(&mut self.workers[worker].backlog) {
                    self.later(0, event);
                }
                Ok(())
            }
            SimEvent::Start(worker) | SimEvent::Close(worker) | SimEvent::Worker(worker, ..)
                if self.workers[worker].stopped =>
            {
                self.workers[worker].backlog.push(event);
                Ok(())
            }
            SimEvent::Start(worker) => {
                let lives = self.workers[worker].lives;
                if self.workers[worker].life.is_none() {
                    self.workers[worker].lives += 1;
                    let weight = self.workers[worker].weight;
                    self.call(worker, SimThread::Clerk, SimOp::Join(lives + 1, weight));
                }
                Ok(())
            }
            SimEvent::Close(worker) => {
                self.close(worker);
                Ok(())
            }
            SimEvent::Worker(worker, life, happening) => self.happen_to(worker, life, happening),
        }
    }

    fn happen_to(&mut self, worker: usize, life: u64, happening: SimHappening) -> Result<(), String> {
        if let SimHappening::Reply(id) = happening {
            return self.reply(worker, id);
        }
        if self.workers[worker].life.as_ref().is_none_or(|now| now.no != life) {
            return Ok(());
        }
        self.trace = (self.trace ^ u64::try_from(self.now).unwrap_or(0)).wrapping_mul(0x100_0000_01b3);
        let clock = self.workers[worker].clock(self.now);
        match happening {
            SimHappening::Wake(SimThread::Driver) => {
                if let Some(life) = &mut self.workers[worker].life {
                    life.wakes = Millis::MAX;
                }
            }
            SimHappening::Wake(SimThread::Recorder) => {}
            SimHappening::Wake(SimThread::Clerk) => self.clerk(worker),
            SimHappening::Wake(SimThread::Post) => self.post(worker),
            SimHappening::Wake(SimThread::Desk) => self.desk(worker),
            SimHappening::Send(lease) => self.send(worker, lease)?,
            SimHappening::Done(lease, took) => self.done(worker, &lease, took),
            SimHappening::Resolved(host, ip) => {
                if let Some(life) = &mut self.workers[worker].life {
                    life.frontier.resolved(host, Ok(ip), clock);
                }
            }
            SimHappening::Answered(answer) => {
                if let Some(life) = &mut self.workers[worker].life {
                    life.frontier.answered(*answer, clock);
                }
            }
            SimHappening::Reply(_) => {}
        }
        self.go_on(worker)
    }

    /// Recorder and driver do what they can.
    pub(crate) fn go_on(&mut self, worker: usize) -> Result<(), String> {
        self.record(worker)?;
        self.drive(worker)?;
        self.record(worker)?;
        self.leave_if_done(worker);
        Ok(())
    }

    fn strike(&mut self, fault: SimFault) {
        match fault {
            SimFault::Stop { worker, length } => {
                if !self.workers[worker].stopped {
                    self.workers[worker].stopped = true;
                    self.later(length, SimEvent::Resume(worker));
                }
            }
            SimFault::Kill { worker, length } => {
                self.workers[worker].life = None;
                self.workers[worker].backlog.clear();
                self.later(length, SimEvent::Start(worker));
            }
            SimFault::Leave { worker } => {
                if let Some(life) = &mut self.workers[worker].life {
                    life.stopping = true;
                }
            }
            SimFault::Freeze { length } => self.frozen = self.now + length,
            SimFault::Restart { .. } | SimFault::Failover { .. } if self.up.is_none() => {}
            SimFault::Restart { length } => {
                (self.up, self.generation) = (None, self.generation + 1);
                self.store.started = self.now + length;
                self.later(length, SimEvent::StoreUp);
            }
            SimFault::Failover { length, .. } => {
                let Some(standby) = self.snapshot.take() else { return };
                let timeline = self.store.timeline + 1;
                (self.up, self.generation) = (None, self.generation + 1);
                self.store = standby;
                self.store.promote(timeline);
                self.later(length, SimEvent::StoreUp);
            }
        }
    }

    /// Sends a call to the store, through whatever is wrong with the line.
    pub(crate) fn call(&mut self, worker: usize, thread: SimThread, op: SimOp) {
        self.serial += 1;
        let id = self.serial;
        let calm = self.now > self.plan.calm;
        let trouble = if calm { SimTrouble::None } else { self.line.trouble(&mut self.dice, self.plan.trouble) };
        let (op, timing) = self.line.carry(op, trouble, &mut self.dice);
        let life = self.workers[worker].life.as_ref();
        let request = SimRequest {
            life: life.map_or(0, |life| life.no),
            member: life.map(|life| life.member),
            thread,
            op,
            generation: self.generation,
            answer: None,
            lost: timing.lost,
        };
        self.requests.insert(id, request);
        if let Some(arrives) = timing.arrives {
            self.later(arrives, SimEvent::Execute(id));
        }
        self.later(timing.answered, SimEvent::Worker(worker, 0, SimHappening::Reply(id)));
    }

    fn execute(&mut self, id: u64) -> Result<(), String> {
        if self.frozen > self.now {
            // Connections wait for a server that is stopped; in which order they are served then is
            // open.
            let wait = self.frozen - self.now + self.dice.between(0, 50);
            self.later(wait, SimEvent::Execute(id));
            return Ok(());
        }
        let Some(request) = self.requests.get_mut(&id) else { return Ok(()) };
        let archive = matches!(request.op, SimOp::Put(..));
        let Some(up) = self.up.filter(|_| archive || request.generation == self.generation) else { return Ok(()) };
        let (member, op) = (request.member, request.op.clone());
        let answer = SimLine::perform(&mut self.store, &mut self.objects, (member, &op), self.now)?;
        let burials = answer.burials();
        if let Some(request) = self.requests.get_mut(&id) {
            request.answer = Some(answer);
        }
        for buried in burials {
            let judged = self.store.workers.get(&buried).is_some_and(|w| w.is_of(self.store.timeline));
            if judged && up + LEASE > self.now {
                return Err(format!(
                    "worker {} is buried {} ms after the store came back, and a lease lasts {} ms",
                    buried.0,
                    self.now - up,
                    LEASE
                ));
            }
        }
        Ok(())
    }

    fn reply(&mut self, worker: usize, id: u64) -> Result<(), String> {
        let Some(request) = self.requests.get_mut(&id) else { return Ok(()) };
        let answer = request.answer.clone().filter(|_| !request.lost);
        let (life, thread, op) = (request.life, request.thread, request.op.clone());
        // What comes too late is still executed.
        if request.answer.is_some() {
            self.requests.remove(&id);
        }
        if let SimOp::Join(no, _) = op {
            self.joined(worker, no, answer.as_ref());
            return Ok(());
        }
        if self.workers[worker].life.as_ref().is_none_or(|now| now.no != life) {
            return Ok(());
        }
        self.hear(worker, thread, (op, answer))?;
        self.go_on(worker)
    }

    /// Where everybody stands, for a failure.
    fn state(&self) -> String {
        let lives = self.workers.iter().map(|worker| match &worker.life {
            None => "gone".to_owned(),
            Some(life) => format!(
                "worker {} holds {} of {} shards, idle {}, moving {}, {} in flight, {} uncommitted, {:?}, {} items, frontier: {:?}",
                life.member.id.0,
                life.scratch.held.len(),
                life.clerk.known.len(),
                life.team.idle,
                life.team.moving,
                life.flights,
                life.pipeline,
                life.recorder.job,
                life.recorder.items.len(),
                life.frontier.waiting(worker.clock(self.now)).reasons
            ),
        });
        let lives: Vec<String> = lives.collect();
        format!("run {RUN}: {} letters, {}; {}", self.store.letters(), self.store.state(), lives.join("; "))
    }
}
