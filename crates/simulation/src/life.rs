//! What does a worker consist of, between joining and leaving?
//!
//! The frontier is the real one. Recorder, clerk, post and the desk for addresses follow
//! `orb_crawl`'s `record` and `worker`, each a thread there and a few fields here: a thread that
//! waits for the store is `busy`.

use crate::scratch::SimScratch;
use crate::store::{FakeBatch, FakeLetter, FakeMember};
use crate::web::SimUrl;
use crate::{Flaw, Millis};
use orb_frontier::{Budget, Frontier, FrontierConfig, OwnTest, Politeness};
use orb_page::{HostId, Moment, PageId};
use orb_store::{LetterId, ShardId, shard_of};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// A message to the recorder.
#[derive(Debug)]
pub(crate) enum SimItem {
    Read { page: PageId, host: HostId },
    Letters(Vec<(LetterId, Vec<FakeLetter>)>),
    Adopt(Vec<ShardId>),
    Give(Vec<ShardId>),
    Idle(u64),
    Flush,
}

/// What the recorder waits for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SimJob {
    Nothing,
    Waiting,
    /// To be tried again at this moment.
    Retry(Millis),
}

/// The contents of the next commit.
#[derive(Debug, Default)]
pub(crate) struct SimPending {
    pub(crate) batch: FakeBatch,
    pub(crate) new: BTreeMap<SimUrl, PageId>,
    pub(crate) new_hosts: BTreeMap<String, HostId>,
    pub(crate) fed: BTreeSet<HostId>,
    pub(crate) finished: Vec<(HostId, PageId)>,
    pub(crate) digests: BTreeMap<[u8; 32], PageId>,
    /// Number of the pipeline's pages it holds.
    pub(crate) held: usize,
    pub(crate) since: Option<Millis>,
    pub(crate) urgent: bool,
}

/// An attempt at a batch.
#[derive(Debug)]
pub(crate) struct SimAttempt {
    pub(crate) no: u64,
    pub(crate) nonce: u64,
    pub(crate) stored: bool,
    pub(crate) pending: SimPending,
}

/// Who turns results into facts.
#[derive(Debug)]
pub(crate) struct SimRecorder {
    pub(crate) items: VecDeque<SimItem>,
    pub(crate) job: SimJob,
    pub(crate) pending: SimPending,
    pub(crate) attempt: Option<SimAttempt>,
    pub(crate) done: u64,
    /// What the shards were last said to be.
    pub(crate) said: Option<bool>,
    pub(crate) pages: std::ops::Range<u64>,
    pub(crate) hosts: std::ops::Range<u32>,
}

/// What the threads tell each other: `orb_crawl`'s `Team`.
#[derive(Debug, Default)]
pub(crate) struct SimTeam {
    pub(crate) epoch: u64,
    pub(crate) rested: Option<u64>,
    pub(crate) idle: bool,
    pub(crate) moving: bool,
    /// How many moves have ended.
    pub(crate) moves: u64,
    /// Whether the store is being told that ours are idle.
    pub(crate) telling: bool,
    pub(crate) wish: bool,
}

/// Heartbeats and shards.
#[derive(Debug, Default)]
pub(crate) struct SimClerk {
    pub(crate) busy: bool,
    pub(crate) next: Millis,
    pub(crate) sent: Millis,
    /// Moves that had ended when the beat was sent.
    pub(crate) moves: u64,
    pub(crate) known: BTreeSet<ShardId>,
    pub(crate) leaving: Option<Vec<ShardId>>,
    pub(crate) asked_end: Millis,
    /// Pages drawn of the budget.
    pub(crate) drawn: u64,
}

/// Letters that come in.
#[derive(Debug, Default)]
pub(crate) struct SimPost {
    pub(crate) busy: bool,
    pub(crate) held: Vec<ShardId>,
    pub(crate) delivered: BTreeSet<LetterId>,
}

/// Leases of addresses.
#[derive(Debug, Default)]
pub(crate) struct SimDesk {
    pub(crate) busy: bool,
    pub(crate) begun: Millis,
    pub(crate) turn: u64,
}

/// One incarnation of a worker.
#[derive(Debug)]
pub(crate) struct SimLife {
    /// Distinguishes the lives of a worker.
    pub(crate) no: u64,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) member: FakeMember,
    pub(crate) frontier: Frontier,
    pub(crate) scratch: SimScratch,
    pub(crate) recorder: SimRecorder,
    pub(crate) team: SimTeam,
    pub(crate) clerk: SimClerk,
    pub(crate) post: SimPost,
    pub(crate) desk: SimDesk,
    /// Granted and not answered.
    pub(crate) flights: usize,
    /// Answered and not committed.
    pub(crate) pipeline: usize,
    pub(crate) hurry: bool,
    /// Asked to stop: commits and leaves.
    pub(crate) stopping: bool,
    /// The moment for which the driver is to be woken.
    pub(crate) wakes: Millis,
}

impl SimLife {
    /// A worker that has just joined.
    pub(crate) fn new(no: u64, member: FakeMember, (delay, budgeted): (Millis, bool), now: Moment) -> Self {
        let delay = Duration::from_millis(u64::try_from(delay).unwrap_or(0));
        let config = FrontierConfig {
            leased: true,
            ignore_robots: true,
            budget: Budget { pages: budgeted.then_some(0) },
            politeness: Politeness { delay, ..Politeness::default() },
            ..FrontierConfig::default()
        };
        let mut frontier = Frontier::new(config, now, true);
        frontier.keep_only(own_test(BTreeSet::new(), 1), now);
        let recorder = SimRecorder {
            items: VecDeque::new(),
            job: SimJob::Nothing,
            pending: SimPending::default(),
            attempt: None,
            done: 0,
            said: None,
            pages: 0..0,
            hosts: 0..0,
        };
        Self {
            no,
            flaw: None,
            member,
            frontier,
            scratch: SimScratch::default(),
            recorder,
            team: SimTeam::default(),
            clerk: SimClerk::default(),
            post: SimPost::default(),
            desk: SimDesk::default(),
            flights: 0,
            pipeline: 0,
            hurry: false,
            stopping: false,
            wakes: Millis::MAX,
        }
    }

    /// Whether nothing is fetched that is not committed.
    pub(crate) fn is_settled(&self) -> bool {
        let recorder = &self.recorder;
        self.pipeline == 0
            && recorder.pending.since.is_none()
            && recorder.items.is_empty()
            && recorder.attempt.is_none()
    }
}

/// Which hosts are in these shards.
pub(crate) fn own_test(held: BTreeSet<ShardId>, shards: u16) -> Arc<OwnTest> {
    Arc::new(move |host: &str| held.contains(&shard_of(host, shards)))
}
