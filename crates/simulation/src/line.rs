//! How do calls reach the store, and what can happen to them on the way?

use crate::Millis;
use crate::dice::SimDice;
use crate::store::{
    FakeAsk, FakeBatch, FakeEnd, FakeFenced, FakeGrants, FakeLetter, FakeMember, FakePage, FakeReply, FakeStore,
};
use crate::world::SimThread;
use orb_page::PageId;
use orb_store::{LetterId, ShardId, WorkerId};
use std::collections::BTreeSet;

/// How long a worker lives without a heartbeat.
pub(crate) const LEASE: Millis = 5_000;

/// How long a call is waited for.
pub(crate) const PATIENCE: Millis = 2_000;

/// Numbers drawn at once.
pub(crate) const PAGES: u64 = 64;
pub(crate) const HOSTS: u32 = 32;

/// A call to the stores.
#[derive(Clone, Debug)]
pub(crate) enum SimOp {
    /// In the life of this number, with this weight.
    Join(u64, u64),
    Beat,
    Take(usize),
    Draw(u64),
    EndIfDone,
    CloseSpent,
    Read(Vec<ShardId>, BTreeSet<LetterId>),
    Ask(FakeAsk),
    Put(u64, u64),
    Commit(Box<FakeBatch>, u64, u64),
    Load(Vec<ShardId>),
    Number,
    Leave,
}

/// What it is answered with.
#[derive(Clone, Debug)]
pub(crate) enum SimAnswer {
    Joined(FakeMember),
    Beaten(Result<(FakeReply, Vec<WorkerId>), FakeFenced>),
    Taken(Vec<ShardId>),
    Drawn(Result<Option<u64>, FakeFenced>),
    Asked,
    Mail(Vec<(LetterId, Vec<FakeLetter>)>),
    Granted(FakeGrants),
    Stored,
    Committed(FakeEnd),
    Loaded(Vec<(PageId, FakePage)>, Vec<([u8; 32], PageId)>),
    Numbers(u64, u32),
    Left,
    /// The server has another timeline than the one in which the worker joined.
    Fenced,
}

impl SimAnswer {
    /// Who was buried with it.
    pub(crate) fn burials(&self) -> Vec<WorkerId> {
        match self {
            Self::Beaten(Ok((_, buried))) => buried.clone(),
            _ => Vec::new(),
        }
    }
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct SimRequest {
    pub(crate) life: u64,
    pub(crate) member: Option<FakeMember>,
    pub(crate) thread: SimThread,
    pub(crate) op: SimOp,
    pub(crate) generation: u32,
    pub(crate) answer: Option<SimAnswer>,
    pub(crate) lost: bool,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SimTrouble {
    None,
    Slow,
    /// It never arrives.
    Lost,
    /// It arrives, and its answer does not.
    Unanswered,
    /// It arrives when nobody waits for it any more.
    Late,
}

/// When a call arrives and is answered, and whether the answer is lost.
pub(crate) struct SimTiming {
    pub(crate) arrives: Option<Millis>,
    pub(crate) answered: Millis,
    pub(crate) lost: bool,
}

/// The line between workers and store.
#[derive(Debug, Default)]
pub(crate) struct SimLine;

impl SimLine {
    pub(crate) fn trouble(&self, dice: &mut SimDice, per_mille: u64) -> SimTrouble {
        if !dice.chance(per_mille) {
            return SimTrouble::None;
        }
        [SimTrouble::Slow, SimTrouble::Lost, SimTrouble::Unanswered, SimTrouble::Late][dice.index(4)]
    }

    /// What becomes of a call: of an `ask`, which is several statements, perhaps only the first.
    pub(crate) fn carry(&self, mut op: SimOp, trouble: SimTrouble, dice: &mut SimDice) -> (SimOp, SimTiming) {
        let (there, back) = (dice.between(1, 12), dice.between(1, 12));
        if let (SimOp::Ask(ask), SimTrouble::Unanswered | SimTrouble::Late) = (&mut op, trouble)
            && dice.chance(500)
        {
            ask.wanted.clear();
        }
        let timing = match trouble {
            SimTrouble::None => SimTiming { arrives: Some(there), answered: there + back, lost: false },
            SimTrouble::Slow => {
                let there = there + dice.between(0, PATIENCE - 50);
                SimTiming { arrives: Some(there), answered: there + back, lost: false }
            }
            SimTrouble::Lost => SimTiming { arrives: None, answered: dice.between(20, PATIENCE), lost: true },
            SimTrouble::Unanswered => {
                let answered = there + dice.between(0, PATIENCE - 20);
                SimTiming { arrives: Some(there), answered, lost: true }
            }
            SimTrouble::Late => {
                let arrives = PATIENCE + dice.between(0, 6_000);
                SimTiming { arrives: Some(arrives), answered: PATIENCE, lost: true }
            }
        };
        (op, timing)
    }

    /// Executes a call.
    pub(crate) fn perform(
        store: &mut FakeStore,
        objects: &mut BTreeSet<(WorkerId, u64, u64)>,
        (member, op): (Option<FakeMember>, &SimOp),
        now: Millis,
    ) -> Result<SimAnswer, String> {
        let member = member.unwrap_or(FakeMember { id: WorkerId(0), timeline: 0 });
        let anybodys = matches!(op, SimOp::Join(..) | SimOp::EndIfDone | SimOp::CloseSpent | SimOp::Put(..));
        if !anybodys && store.is_strange(member) {
            return Ok(SimAnswer::Fenced);
        }
        Ok(match op {
            SimOp::Join(_, weight) => SimAnswer::Joined(store.join(*weight, LEASE, now)),
            SimOp::Beat => SimAnswer::Beaten(store.beat(member, now)),
            SimOp::Take(most) => SimAnswer::Taken(store.take(member, *most)),
            SimOp::Draw(pages) => SimAnswer::Drawn(store.draw(member, *pages)),
            SimOp::EndIfDone => {
                store.end_if_done();
                SimAnswer::Asked
            }
            SimOp::CloseSpent => {
                store.close_spent();
                SimAnswer::Asked
            }
            SimOp::Read(shards, known) => SimAnswer::Mail(store.read(shards, known)),
            SimOp::Ask(ask) => SimAnswer::Granted(store.ask(member, ask, now)),
            SimOp::Put(no, nonce) => {
                objects.insert((member.id, *no, *nonce));
                SimAnswer::Stored
            }
            SimOp::Commit(batch, no, nonce) => SimAnswer::Committed(store.commit(member, (*no, *nonce), batch, now)?),
            SimOp::Load(shards) => {
                let (pages, digests) = store.load(shards);
                SimAnswer::Loaded(pages, digests)
            }
            SimOp::Number => {
                let (page, host) = store.number(PAGES, HOSTS);
                SimAnswer::Numbers(page, host)
            }
            SimOp::Leave => {
                store.leave(member, now);
                SimAnswer::Left
            }
        })
    }
}
