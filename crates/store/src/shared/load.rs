//! How do a shard's facts come to the worker that takes it?
//!
//! Its rows are read table by table and written into the scratch catalogue, without links, images
//! and changes, which a crawl does not read; the frontier index is then made from the catalogue as
//! after any loss. Nobody else writes these rows meanwhile: the shard is ours.
//!
//! Rows are streamed: memory does not depend on the size of a shard. The server may take its time
//! to find them, since the clerk keeps the worker alive over another connection.

use super::ShardId;
use super::connect::SharedLine;
use crate::error::{Result, StoreError};
use crate::sqlite::{Catalogue, ScratchValue};
use futures_util::StreamExt as _;
use orb_page::PageId;
use std::pin::pin;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

/// What was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// How many pages.
    pub pages: u64,
    /// How many hosts.
    pub hosts: u64,
    /// How many pages are queued now, of all shards.
    pub queued: u64,
}

/// A table with the columns that are copied, and which rows are.
pub(super) struct LoadedTable {
    pub(super) name: &'static str,
    pub(super) columns: &'static str,
    /// What comes after the table's name, with the shards as `$1`.
    pub(super) rows: &'static str,
}

const fn of_shards(name: &'static str, columns: &'static str) -> LoadedTable {
    LoadedTable { name, columns, rows: "t WHERE shard = ANY($1)" }
}

/// Rows about hosts, which are found by the hosts' keys.
const fn of_hosts(name: &'static str, columns: &'static str) -> LoadedTable {
    LoadedTable {
        name,
        columns,
        rows: "t WHERE (host, shard) IN (SELECT id, shard FROM host_row WHERE shard = ANY($1))",
    }
}

pub(super) const PAGE: &str =
    "id, url, host, kind, why, depth, redirects, priority, rank, at, by, origin, again, step, asked";
pub(super) const VISIT: &str =
    "page, run, flag, kind, at, by, status, mime, charset, length, transferred, digest, simhash, title, lang, etag,
    last_modified, duplicate_of, problem, elapsed_ms, warc, warc_offset, warc_length, source";

/// What a crawl reads, in an order that any reader of the catalogue can bear.
const TABLES: &[LoadedTable] = &[
    LoadedTable { name: "name_row", columns: "id, name", rows: "t WHERE $1::smallint[] IS NOT NULL" },
    of_shards("host_row", "id, scheme, name, port, ip, not_before, backoff_ms, first_seen"),
    of_hosts("tally_row", "host, pages, errors, run"),
    of_hosts("robots_row", "host, at, status, crawl_delay, text, sitemaps"),
    of_hosts("noise_row", "host, text"),
    of_hosts("session_row", "host, rules"),
    of_hosts("alias_rule_row", "host, rules"),
    of_hosts("alias_row", "host, page, target, rules, name, tested"),
    of_shards("page_row", PAGE),
    LoadedTable {
        name: "visit_row",
        columns: VISIT,
        rows: "t WHERE (page, shard) IN (SELECT id, shard FROM page_row WHERE shard = ANY($1))",
    },
    LoadedTable {
        name: "trap_row",
        columns: "key, count",
        rows: "t WHERE $1::smallint[] IS NOT NULL ORDER BY count DESC LIMIT 100000",
    },
];

/// Rows that are waited for together.
const CHUNK: usize = 4_096;

/// Digests, or archive files, that are handed on together.
const TOGETHER: usize = 1 << 16;

/// Fills the scratch catalogue with shards; pages, hosts.
pub(crate) fn load(line: &mut SharedLine, shards: &[ShardId], scratch: &mut Catalogue) -> Result<(u64, u64)> {
    let shards: Vec<i16> = shards.iter().map(|shard| shard.sql()).collect();
    scratch.begin_load()?;
    let (mut pages, mut hosts) = (0, 0);
    for table in TABLES {
        let rows = copy_table(line, table, &[&shards], scratch)?;
        match table.name {
            "page_row" => pages = rows,
            "host_row" => hosts = rows,
            _ => {}
        }
    }
    // The visits have said which.
    let sql = "SELECT id, name, length, records FROM warc_row WHERE id = ANY($1)";
    for files in scratch.files_to_load()?.chunks(TOGETHER) {
        copy_rows(line, ("warc_row", "id, name, length, records"), (sql, &[&files]), scratch)?;
    }
    let sql = "SELECT id, kind, state, started_at, finished_at, counters, settings FROM run_row";
    copy_rows(line, ("run_row", "id, kind, state, started_at, finished_at, counters, settings"), (sql, &[]), scratch)?;
    scratch.end_load()?;
    Ok((pages, hosts))
}

/// Who was first with which content, according to the shards that remember it; some at a time.
pub(crate) fn digests(
    line: &SharedLine,
    shards: &[ShardId],
    mut each: impl FnMut(&[([u8; 32], PageId)]) -> Result<()>,
) -> Result<()> {
    let shards: Vec<i16> = shards.iter().map(|shard| shard.sql()).collect();
    let mut some = Vec::new();
    each_row(line, "load digests", ("SELECT digest, page FROM digest_row WHERE shard = ANY($1)", &[&shards]), |row| {
        if let Ok(digest) = row.get::<_, &[u8]>(0).try_into() {
            some.push((digest, PageId(row.get::<_, i64>(1).cast_unsigned())));
        }
        if some.len() < TOGETHER {
            return Ok(());
        }
        each(&some)?;
        some.clear();
        Ok(())
    })?;
    each(&some)
}

/// The pages of these shards that the run was told to visit again, in order.
pub(crate) fn chosen(line: &SharedLine, shards: &[ShardId]) -> Result<Vec<PageId>> {
    let shards: Vec<i16> = shards.iter().map(|shard| shard.sql()).collect();
    let mut chosen = Vec::new();
    each_row(line, "load what was chosen", ("SELECT page FROM chosen_row WHERE shard = ANY($1)", &[&shards]), |row| {
        chosen.push(PageId(row.get::<_, i64>(0).cast_unsigned()));
        Ok(())
    })?;
    chosen.sort_unstable();
    Ok(chosen)
}

fn copy_table(
    line: &SharedLine,
    table: &LoadedTable,
    values: &[&(dyn ToSql + Sync)],
    scratch: &mut Catalogue,
) -> Result<u64> {
    let sql = format!("SELECT {} FROM {} {}", table.columns, table.name, table.rows);
    copy_rows(line, (table.name, table.columns), (&sql, values), scratch)
}

/// Copies the rows of a query into a table of the scratch catalogue.
fn copy_rows(
    line: &SharedLine,
    (table, columns): (&str, &str),
    query: (&str, &[&(dyn ToSql + Sync)]),
    scratch: &mut Catalogue,
) -> Result<u64> {
    let mut insert = scratch.inserter(table, columns)?;
    each_row(line, "load", query, |row| insert.add(cells(row)?))
}

/// Calls back with the rows of a query, which the server may need long for; how many there were.
pub(super) fn each_row(
    line: &SharedLine,
    what: &'static str,
    (sql, values): (&str, &[&(dyn ToSql + Sync)]),
    mut each: impl FnMut(&Row) -> Result<()>,
) -> Result<u64> {
    let stream = line.wait_long(what, line.client().query_raw(sql, values.iter().copied()))?;
    let (mut stream, mut rows) = (pin!(stream), 0);
    loop {
        // To wait for each row by itself costs more than to read it.
        let chunk = line.wait_long(what, async {
            let mut chunk = Vec::with_capacity(CHUNK);
            while chunk.len() < CHUNK
                && let Some(row) = stream.next().await
            {
                chunk.push(row?);
            }
            Ok(chunk)
        })?;
        chunk.iter().try_for_each(&mut each)?;
        rows += chunk.len() as u64;
        // Nothing may be asked of a stream that has ended.
        if chunk.len() < CHUNK {
            return Ok(rows);
        }
    }
}

/// The values of a row as SQLite keeps them.
pub(super) fn cells(row: &Row) -> Result<Vec<ScratchValue>> {
    row.columns().iter().enumerate().map(|(at, column)| cell(row, at, column.type_())).collect()
}

/// A value as SQLite keeps it.
fn cell(row: &Row, at: usize, kind: &Type) -> Result<ScratchValue> {
    let number = |n: Option<i64>| n.map_or(ScratchValue::Null, ScratchValue::Integer);
    Ok(match *kind {
        Type::INT2 => number(row.get::<_, Option<i16>>(at).map(i64::from)),
        Type::INT4 => number(row.get::<_, Option<i32>>(at).map(i64::from)),
        Type::INT8 => number(row.get(at)),
        Type::FLOAT4 => row.get::<_, Option<f32>>(at).map_or(ScratchValue::Null, |x| ScratchValue::Real(f64::from(x))),
        Type::FLOAT8 => row.get::<_, Option<f64>>(at).map_or(ScratchValue::Null, ScratchValue::Real),
        Type::TEXT => row.get::<_, Option<String>>(at).map_or(ScratchValue::Null, ScratchValue::Text),
        Type::BYTEA => row.get::<_, Option<Vec<u8>>>(at).map_or(ScratchValue::Null, ScratchValue::Blob),
        _ => return Err(StoreError::Shared(format!("a column of type {kind} was not expected"))),
    })
}
