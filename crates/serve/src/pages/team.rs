//! Which machines work on a shared project, and what does each wait for?

use orb_answers::{SharedStatus, SharedWorkerStatus, grouped};

/// The machines of a shared project, to be shown.
pub(super) struct TeamCard {
    pub(super) project: String,
    pub(super) run: u32,
    /// What there is to say of all of them.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) workers: Vec<WorkerLine>,
}

/// A machine.
pub(super) struct WorkerLine {
    pub(super) name: String,
    pub(super) machine: String,
    pub(super) shards: u64,
    pub(super) rate: String,
    pub(super) queued: String,
    pub(super) heard: String,
    pub(super) why: String,
}

impl TeamCard {
    pub(super) fn of(team: &SharedStatus) -> Self {
        let oldest = team.oldest_letter.map(|seconds| format!(", the oldest for {seconds:.0} s")).unwrap_or_default();
        let facts = [
            ("Pages", format!("{} of {} visited", grouped(team.visited), grouped(team.known))),
            ("Shards", format!("{} of {} held, {} idle", team.shards_held, team.shards, team.shards_idle)),
            ("Letters", format!("{} wait{oldest}", grouped(team.letters))),
            (
                "Addresses",
                format!("{} leased, {} contested", grouped(team.addresses), grouped(team.addresses_contested)),
            ),
        ];
        Self {
            project: team.project.clone(),
            run: team.run.unwrap_or_default(),
            facts: facts.into_iter().collect(),
            workers: team.workers.iter().map(WorkerLine::of).collect(),
        }
    }
}

impl WorkerLine {
    fn of(worker: &SharedWorkerStatus) -> Self {
        Self {
            name: worker.name.clone(),
            machine: worker.machine.clone(),
            shards: worker.shards,
            rate: format!("{:.1} /s", worker.pages_per_second),
            queued: grouped(worker.queued),
            heard: format!("{:.0} s ago", worker.heard),
            why: worker.why.clone(),
        }
    }
}
