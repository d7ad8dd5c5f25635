//! Which hosts are there, and what is known about one of them?

use crate::{AnswerError, Collection, Result};
use orb_page::HostId;
use orb_store::HostRow;
use schemars::JsonSchema;
use serde::Serialize;

/// A host in the list of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ListedHost {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The scheme of its URLs.
    pub scheme: String,
    /// Its port.
    pub port: u16,
    /// Its address when it was last contacted.
    pub ip: Option<String>,
    /// The delay that its robots.txt asks for, in seconds.
    pub crawl_delay: Option<f64>,
    /// Pages fetched from it.
    pub pages: u64,
    /// Pages of it that could not be fetched.
    pub errors: u64,
    /// When it was first seen.
    pub first_seen: String,
}

impl From<HostRow> for ListedHost {
    fn from(row: HostRow) -> Self {
        let HostRow { id, name, scheme, port, ip, crawl_delay, pages, errors, first_seen, .. } = row;
        Self { id, name, scheme, port, ip, crawl_delay, pages, errors, first_seen }
    }
}

/// A part of the list of hosts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HostList {
    /// The hosts, those with the most pages first.
    pub hosts: Vec<ListedHost>,
    /// Where to continue: the hosts after this one. `None` at the end.
    pub next: Option<String>,
}

/// The hosts whose names contain a text, after a cursor, at most so many.
pub fn hosts(collection: &Collection, name: Option<&str>, after: Option<&str>, limit: u64) -> Result<HostList> {
    let after = after.map(place).transpose()?;
    let mut found = collection.catalogue().hosts_by_pages(name, after, limit.saturating_add(1))?;
    let is_cut = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = found.last().filter(|_| is_cut).map(|last| format!("{}.{}", last.pages, last.id));
    Ok(HostList { hosts: found.into_iter().map(ListedHost::from).collect(), next })
}

/// The host with this number, with its robots.txt.
pub fn host(collection: &Collection, id: u32) -> Result<HostRow> {
    let unknown = || AnswerError::Unknown(format!("project {} has no host {id}", collection.name()));
    collection.catalogue().host(HostId(id))?.ok_or_else(unknown)
}

/// A cursor: the pages and the number of the last host that was given.
fn place(cursor: &str) -> Result<(u64, u32)> {
    let read = || cursor.split_once('.').and_then(|(pages, id)| Some((pages.parse().ok()?, id.parse().ok()?)));
    read().ok_or_else(|| AnswerError::Malformed(format!("'{cursor}' is no place in the list of hosts")))
}
