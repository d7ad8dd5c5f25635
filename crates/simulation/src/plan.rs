//! What goes wrong in a history, and when?

use crate::Millis;
use crate::dice::SimDice;

/// Something that breaks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SimFault {
    /// A worker's process is stopped and continued.
    Stop { worker: usize, length: Millis },
    /// It is killed and started again.
    Kill { worker: usize, length: Millis },
    /// It is asked to leave; it is started again.
    Leave { worker: usize },
    /// The server is stopped and continued.
    Freeze { length: Millis },
    /// It is restarted.
    Restart { length: Millis },
    /// A standby takes over that lacks what happened last.
    Failover { lost: Millis, length: Millis },
}

/// The size of a history and its faults.
#[derive(Clone, Debug)]
pub(crate) struct SimPlan {
    pub(crate) workers: usize,
    pub(crate) shards: u16,
    pub(crate) slice: Millis,
    pub(crate) budget: Option<u64>,
    /// Of a thousand calls so many meet trouble.
    pub(crate) trouble: u64,
    pub(crate) faults: Vec<(Millis, SimFault)>,
    /// When nothing breaks any more.
    pub(crate) calm: Millis,
    /// When the run must be over.
    pub(crate) bound: Millis,
}

impl SimPlan {
    pub(crate) fn new(dice: &mut SimDice) -> Self {
        let workers = 2 + dice.index(3);
        let calm = 40_000;
        let mut faults = Vec::new();
        for _ in 0..dice.index(7) {
            let (at, worker) = (dice.between(500, calm - 12_000), dice.index(workers));
            let fault = match dice.index(12) {
                0..3 => SimFault::Stop { worker, length: dice.between(100, 12_000) },
                3..6 => SimFault::Kill { worker, length: dice.between(100, 6_000) },
                6 | 7 => SimFault::Leave { worker },
                8 => SimFault::Freeze { length: dice.between(100, 8_000) },
                9 => SimFault::Restart { length: dice.between(100, 10_000) },
                _ => SimFault::Failover { lost: dice.between(0, 3_000).min(at), length: dice.between(100, 10_000) },
            };
            faults.push((at, fault));
        }
        Self {
            workers,
            shards: u16::try_from(dice.between(4, 17)).unwrap_or(4),
            slice: dice.between(1_500, 4_000),
            budget: dice.chance(200).then(|| dice.between(5, 60).unsigned_abs()),
            trouble: [0, 5, 30, 150][dice.index(4)],
            faults,
            calm,
            bound: calm + 240_000,
        }
    }
}
