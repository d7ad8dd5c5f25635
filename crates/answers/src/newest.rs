//! Which pages did the last run visit last, and where had it found them?

use crate::{Collection, Result};
use orb_page::{HostId, RunId};
use orb_store::{FoundOn, NewestRow};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Visits that are looked back upon.
const LOOKED_BACK: u32 = 300;

/// Hosts at most.
const HOSTS: usize = 12;

/// The hosts that a run visits, and which leads to which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostWeb {
    /// The hosts of the pages that were visited last, those with most of them first; at most 12.
    pub hosts: Vec<WebbedHost>,
    /// From which of them to which the pages led.
    pub threads: Vec<WebThread>,
}

/// A host whose pages were visited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WebbedHost {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// All its pages that were fetched.
    pub pages: u64,
    /// Those among the ones that were visited last.
    pub recent: u64,
}

/// Pages of one host that were found on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WebThread {
    /// The number of the host on which they were found.
    pub from: u32,
    /// The number of their host.
    pub to: u32,
    /// How many.
    pub pages: u64,
}

/// The pages that the last run recorded last, newest first.
pub fn newest(collection: &Collection, limit: u32) -> Result<Vec<NewestRow>> {
    let Some(run) = collection.catalogue().last_run()? else { return Ok(Vec::new()) };
    Ok(collection.catalogue().newest(run.id, limit)?)
}

/// The hosts of the last pages that a run visited, and which led to which.
pub fn host_web(collection: &Collection, run: RunId) -> Result<HostWeb> {
    let reader = collection.catalogue();
    let paths = reader.newest_paths(run, LOOKED_BACK)?;
    let mut recent: BTreeMap<u32, u64> = BTreeMap::new();
    for path in &paths {
        *recent.entry(path.host).or_default() += path.pages;
    }
    let mut busiest: Vec<(u32, u64)> = recent.into_iter().collect();
    busiest.sort_unstable_by_key(|&(host, pages)| (std::cmp::Reverse(pages), host));
    busiest.truncate(HOSTS);
    let mut hosts = Vec::with_capacity(busiest.len());
    for (id, recent) in busiest {
        if let Some(row) = reader.host(HostId(id))? {
            hosts.push(WebbedHost { id, name: row.name, pages: row.pages, recent });
        }
    }
    let is_shown = |host: u32| hosts.iter().any(|shown| shown.id == host);
    let thread = |&FoundOn { from, host, pages }: &FoundOn| {
        let from = from.filter(|from| *from != host && is_shown(*from) && is_shown(host))?;
        Some(WebThread { from, to: host, pages })
    };
    Ok(HostWeb { threads: paths.iter().filter_map(thread).collect(), hosts })
}
