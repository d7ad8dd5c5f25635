//! Which numbers may a worker give out, and what are names called?
//!
//! Pages and hosts are numbered in blocks drawn from the project's row, so that numbers are unique,
//! never reused and nearly dense without a round trip a page. A block that was drawn and lost is
//! lost: at 65,536 numbers a block that is nothing.

use super::connect::SharedLine;
use crate::error::{Result, StoreError};
use orb_page::{HostId, PageId};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Numbers of pages drawn at once.
pub(crate) const PAGES: u64 = 65_536;

/// Numbers of hosts drawn at once.
pub(crate) const HOSTS: u64 = 1_024;

/// Numbers are kept in 32 bits by the tables of known URLs.
const LAST: u64 = u32::MAX as u64;

/// Blocks of numbers that were drawn and are not used up.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberBlocks {
    pages: VecDeque<Range<u64>>,
    hosts: VecDeque<Range<u64>>,
}

impl NumberBlocks {
    /// The next number of a page, if one is at hand.
    pub(crate) fn page(&mut self) -> Option<PageId> {
        next(&mut self.pages).map(PageId)
    }

    /// The next number of a host, if one is at hand.
    pub(crate) fn host(&mut self) -> Option<HostId> {
        next(&mut self.hosts).and_then(|n| u32::try_from(n).ok()).map(HostId)
    }

    /// Whether less than half a block is left of either, or fewer pages than these.
    pub(crate) fn is_low(&self, pages: u64) -> bool {
        left(&self.pages) < pages.max(PAGES / 2) || left(&self.hosts) < HOSTS / 2
    }

    /// Draws blocks until half of one is there of both, and at least so many pages.
    pub(crate) fn refill(&mut self, line: &mut SharedLine, wanted: u64) -> Result<()> {
        while self.is_low(wanted) {
            let (pages, hosts) = (left(&self.pages) < wanted.max(PAGES / 2), left(&self.hosts) < HOSTS / 2);
            let count = |wanted: bool, block: u64| if wanted { block.cast_signed() } else { 0 };
            let (pages, hosts) = (count(pages, PAGES), count(hosts, HOSTS));
            let sql = "UPDATE project SET next_page = next_page + $1, next_host = next_host + $2::bigint::integer
                       RETURNING next_page, next_host::bigint";
            let sql = line.prepared("draw numbers", sql)?;
            let row = line.wait("draw numbers", line.client().query_one(&sql, &[&pages, &hosts]))?;
            let (page, host): (i64, i64) = (row.get(0), row.get(1));
            if page.cast_unsigned() > LAST || host.cast_unsigned() > LAST {
                return Err(StoreError::Shared("the project has as many URLs as can be numbered".to_owned()));
            }
            self.pages.extend((pages > 0).then(|| (page - pages).cast_unsigned()..page.cast_unsigned()));
            self.hosts.extend((hosts > 0).then(|| (host - hosts).cast_unsigned()..host.cast_unsigned()));
        }
        Ok(())
    }
}

fn next(blocks: &mut VecDeque<Range<u64>>) -> Option<u64> {
    while let Some(block) = blocks.front_mut() {
        if let Some(number) = block.next() {
            return Some(number);
        }
        blocks.pop_front();
    }
    None
}

fn left(blocks: &VecDeque<Range<u64>>) -> u64 {
    blocks.iter().map(|block| block.end - block.start).sum()
}

/// The numbers of names of workers, reasons and rules.
#[derive(Debug, Default)]
pub(crate) struct NameNumbers(HashMap<Arc<str>, i32>);

/// Rules of aliases need not be few.
const MAX_NAMES: usize = 10_000;

impl NameNumbers {
    /// Makes sure that these names have numbers; those that were not known here before.
    pub(crate) fn learn<'a>(
        &mut self,
        line: &mut SharedLine,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<(i32, String)>> {
        let missing: std::collections::BTreeSet<&str> = names.filter(|name| !self.0.contains_key(*name)).collect();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        if self.0.len() + missing.len() > MAX_NAMES {
            self.0.clear();
        }
        let missing: Vec<&str> = missing.into_iter().collect();
        let mut learnt = numbered(line, &missing)?;
        if learnt.len() < missing.len() {
            let new = missing.iter().filter(|name| learnt.iter().all(|(_, known)| known != *name));
            new.copied().try_for_each(|name| number(line, name))?;
            learnt = numbered(line, &missing)?;
        }
        self.0.extend(learnt.iter().map(|(id, name)| (Arc::from(name.as_str()), *id)));
        Ok(learnt)
    }

    /// The number of a name that was learnt.
    pub(crate) fn of(&self, name: &str) -> Result<i32> {
        self.0.get(name).copied().ok_or_else(|| StoreError::BadBatch(format!("the name {name} has no number")))
    }
}

/// Those of these names that have numbers.
fn numbered(line: &SharedLine, names: &[&str]) -> Result<Vec<(i32, String)>> {
    let sql = "SELECT id, name FROM name_row WHERE name = ANY($1)";
    let rows = line.wait("number a name", line.client().query(sql, &[&names]))?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Gives a name a number, unless somebody else has done so meanwhile. Two statements, since one
/// table may be on this server alone and the other on several.
fn number(line: &SharedLine, name: &str) -> Result<()> {
    let sql = "UPDATE project SET next_name = next_name + 1 RETURNING next_name - 1";
    let id: i32 = line.wait("number a name", line.client().query_one(sql, &[]))?.get(0);
    let sql = "INSERT INTO name_row (id, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    line.wait("number a name", line.client().execute(sql, &[&id, &name])).map(drop)
}
