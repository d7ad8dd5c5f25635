//! How do a shard's facts come to the worker that takes it?
//!
//! Its rows are read table by table and written into the scratch catalogue, without links, images
//! and changes, which a crawl does not read; the frontier index is then made from the catalogue as
//! after any loss. Nobody else writes these rows meanwhile: the shard is ours.

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
    LoadedTable {
        name: "warc_row",
        columns: "id, name, length, records",
        rows: "t WHERE id IN (SELECT v.warc FROM visit_row v JOIN page_row p ON p.id = v.page AND p.shard = v.shard WHERE p.shard = ANY($1))",
    },
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
    let sql = "SELECT id, kind, state, started_at, finished_at, counters, settings FROM run_row";
    copy_rows(line, ("run_row", "id, kind, state, started_at, finished_at, counters, settings"), (sql, &[]), scratch)?;
    scratch.end_load()?;
    Ok((pages, hosts))
}

/// Who was first with which content, according to the shards that remember it.
pub(crate) fn digests(line: &mut SharedLine, shards: &[ShardId]) -> Result<Vec<([u8; 32], PageId)>> {
    let shards: Vec<i16> = shards.iter().map(|shard| shard.sql()).collect();
    let sql = "SELECT digest, page FROM digest_row WHERE shard = ANY($1)";
    let rows = line.wait("load digests", line.client().query(sql, &[&shards]))?;
    let read =
        |row: &Row| Some((row.get::<_, &[u8]>(0).try_into().ok()?, PageId(row.get::<_, i64>(1).cast_unsigned())));
    Ok(rows.iter().filter_map(read).collect())
}

/// The pages of these shards that the run was told to visit again.
pub(crate) fn chosen(line: &mut SharedLine, shards: &[ShardId]) -> Result<Vec<PageId>> {
    let shards: Vec<i16> = shards.iter().map(|shard| shard.sql()).collect();
    let sql = "SELECT page FROM chosen_row WHERE shard = ANY($1) ORDER BY page";
    let rows = line.wait("load what was chosen", line.client().query(sql, &[&shards]))?;
    Ok(rows.iter().map(|row| PageId(row.get::<_, i64>(0).cast_unsigned())).collect())
}

pub(super) fn copy_table(
    line: &SharedLine,
    table: &LoadedTable,
    values: &[&(dyn ToSql + Sync)],
    scratch: &mut Catalogue,
) -> Result<u64> {
    let sql = format!("SELECT {} FROM {} {}", table.columns, table.name, table.rows);
    copy_rows(line, (table.name, table.columns), (&sql, values), scratch)
}

/// Copies the rows of a query into a table of the scratch catalogue.
pub(super) fn copy_rows(
    line: &SharedLine,
    (table, columns): (&str, &str),
    (sql, values): (&str, &[&(dyn ToSql + Sync)]),
    scratch: &mut Catalogue,
) -> Result<u64> {
    let statement = line.wait("load", line.client().prepare(sql))?;
    let types: Vec<Type> = statement.columns().iter().map(|column| column.type_().clone()).collect();
    let stream = line.wait("load", line.client().query_raw(&statement, values.iter().copied()))?;
    let mut stream = pin!(stream);
    let mut rows = 0;
    let mut insert = scratch.inserter(table, columns)?;
    while let Some(row) = line.wait("load", async { stream.next().await.transpose() })? {
        let cells = types.iter().enumerate().map(|(at, kind)| cell(&row, at, kind));
        insert.add(cells.collect::<Result<Vec<_>>>()?)?;
        rows += 1;
    }
    Ok(rows)
}

/// A value as SQLite keeps it.
pub(super) fn cell(row: &Row, at: usize, kind: &Type) -> Result<ScratchValue> {
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
