//! How do the machines that share a project get on?

use crate::{AnswerError, Result, RunStanding, Window};
use orb_store::{SharedAddress, SharedProject};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// A project on a shared store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SharedStatus {
    /// The project.
    pub project: String,
    /// Its last run.
    pub run: Option<u32>,
    /// The state of that run.
    pub state: Option<RunStanding>,
    /// Pages known.
    pub known: u64,
    /// Pages visited.
    pub visited: u64,
    /// Its shards.
    pub shards: u64,
    /// Shards that a living worker holds.
    pub shards_held: u64,
    /// Shards that rest: nothing is left in them, or they lack budget.
    pub shards_idle: u64,
    /// Those of them that rest for want of budget.
    pub shards_without_budget: u64,
    /// Letters between shards that wait to be read.
    pub letters: u64,
    /// How long the oldest of them has waited, in seconds.
    pub oldest_letter: Option<f64>,
    /// Addresses that are leased to a worker.
    pub addresses: u64,
    /// Those of them that another worker waits for.
    pub addresses_contested: u64,
    /// Those that another worker has waited for longest, at most ten.
    pub contested: Vec<ContestedAddress>,
    /// Parts of its text index that workers have uploaded.
    pub splits: u64,
    /// The workers.
    pub workers: Vec<SharedWorkerStatus>,
}

/// A worker of a shared project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SharedWorkerStatus {
    /// Its number: another one each time it joins.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its machine.
    pub machine: String,
    /// The shards it holds.
    pub shards: u64,
    /// Its speed.
    pub pages_per_second: f32,
    /// Pages queued in its shards.
    pub queued: u64,
    /// Seconds since it was last heard of.
    pub heard: f64,
    /// What it waits for.
    pub why: String,
}

/// An address that is leased to one worker while another waits for it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContestedAddress {
    /// The address.
    pub address: String,
    /// The worker that has it.
    pub holder: String,
    /// The first that asked for it since.
    pub waiting: String,
    /// Seconds since it asked.
    pub seconds: f64,
}

/// The states of the projects of a shared store.
#[derive(Debug, Default)]
pub struct StoreStatus {
    /// Those that can be read, by name.
    pub projects: Vec<SharedStatus>,
    /// Those that cannot, by name, with the reason.
    pub unreadable: Vec<(String, AnswerError)>,
}

/// The states of some projects of a shared store. One that cannot be read hides none of the others.
pub fn store_status(at: &SharedAddress, rows: Window) -> Result<StoreStatus> {
    let mut found = StoreStatus::default();
    for listed in rows.of(SharedProject::list(at)?) {
        match one(at, &listed.name) {
            Ok(status) => found.projects.push(status),
            Err(why) => found.unreadable.push((listed.name, why)),
        }
    }
    Ok(found)
}

/// The state of a project on a shared store, or of all projects there.
pub fn shared_status(at: &SharedAddress, project: Option<&str>) -> Result<Vec<SharedStatus>> {
    let names = match project {
        Some(name) => vec![name.to_owned()],
        None => SharedProject::list(at)?.into_iter().map(|listed| listed.name).collect(),
    };
    names.iter().map(|name| one(at, name)).collect()
}

fn one(at: &SharedAddress, name: &str) -> Result<SharedStatus> {
    let mut store = SharedProject::open(at, name)?;
    let (last, seen, splits) = (store.last_run()?, store.overview()?, store.split_count()?);
    let workers = seen.workers.into_iter().map(|worker| SharedWorkerStatus {
        id: worker.id.0,
        name: worker.name,
        machine: worker.machine,
        shards: worker.shards,
        pages_per_second: worker.pages_per_second,
        queued: worker.queued,
        heard: worker.heard.as_secs_f64(),
        why: worker.why,
    });
    let contested = seen.disputes.into_iter().map(|dispute| ContestedAddress {
        address: dispute.address,
        holder: dispute.holder,
        waiting: dispute.waiter,
        seconds: dispute.waiting.as_secs_f64(),
    });
    Ok(SharedStatus {
        project: name.to_owned(),
        run: last.as_ref().map(|run| run.record.id.0),
        state: last.map(|run| RunStanding::of(&run.record, true)),
        known: seen.shards.pages,
        visited: seen.shards.fetched,
        shards: seen.shards.all,
        shards_held: seen.shards.held,
        shards_idle: seen.shards.idle,
        shards_without_budget: seen.shards.short,
        letters: seen.letters,
        oldest_letter: seen.oldest_letter.as_ref().map(Duration::as_secs_f64),
        addresses: seen.addresses,
        addresses_contested: seen.contested,
        contested: contested.collect(),
        splits,
        workers: workers.collect(),
    })
}
