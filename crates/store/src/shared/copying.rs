//! Which rows does a copy lack?
//!
//! Everything is read in one snapshot. PostgreSQL says of each row which transaction wrote it, so
//! the rows that transactions wrote which had not ended when the last copy was made are all that
//! can have changed; with them the copy holds at least what the store does. Where it then holds as
//! many rows, it holds the same. Where it holds more, rows were removed: mostly the links and
//! pictures of pages that were visited again, which are read again, and otherwise the whole table
//! is.

use super::connect::SharedLine;
use super::load::{PAGE, VISIT, cells, each_row};
use crate::error::{Result, StoreError};
use crate::sqlite::{Catalogue, ScratchValue};
use std::collections::BTreeMap;
use tokio_postgres::types::ToSql;

/// Pages whose links are read again at once.
const PAGES: usize = 4_096;

/// A table of the store and the columns that are copied.
struct CopiedTable {
    /// Its name in the copy.
    name: &'static str,
    columns: &'static str,
    /// Where it is read from, and which of the rows there.
    from: &'static str,
    order: &'static str,
    /// The column with the page that its rows belong to and are replaced with.
    page: Option<&'static str>,
}

const fn table(name: &'static str, columns: &'static str, order: &'static str) -> CopiedTable {
    CopiedTable { name, columns, from: "", order, page: None }
}

const LINK: &str = "source, dst, kind, anchor, rel, count, first_run, last_run";

/// Visits come before what is replaced with them.
const TABLES: &[CopiedTable] = &[
    table("name_row", "id, name", "id"),
    table("run_row", "id, kind, state, started_at, finished_at, counters, settings", "id"),
    table("host_row", "id, scheme, name, port, ip, not_before, backoff_ms, first_seen", "id"),
    table("tally_row", "host, pages, errors, run", "host"),
    table("robots_row", "host, at, status, crawl_delay, text, sitemaps", "host"),
    table("noise_row", "host, text", "host"),
    table("session_row", "host, rules", "host"),
    table("alias_rule_row", "host, rules", "host"),
    table("alias_row", "host, page, target, rules, name, tested", "host, page"),
    table("warc_row", "id, name, length, records", "id"),
    table("page_row", PAGE, "id"),
    table("visit_row", VISIT, "run, at, page"),
    CopiedTable {
        name: "source_row",
        columns: "id, page",
        from: "(SELECT xmin, source AS id, page FROM visit_row WHERE source IS NOT NULL)",
        order: "id",
        page: None,
    },
    CopiedTable { name: "link_row", columns: LINK, from: "", order: "source, dst, kind", page: Some("source") },
    CopiedTable {
        name: "past_row",
        columns: "source, dst, kind, last_run, first_run, anchor, rel, count",
        from: "",
        order: "source, dst, kind, last_run",
        page: Some("source"),
    },
    CopiedTable {
        name: "image_row",
        columns: "page, seq, url, alt, width, height, mime",
        from: "",
        order: "page, seq",
        page: Some("page"),
    },
    table("change_row", "seq, run, page, flag, at, moved, detail", "seq"),
    table("around_row", "run, page, detail", "run, page"),
    table("due_row", "page, rate, due", "page"),
    table("ack_row", "run, at, by, note", "run"),
    table("trap_row", "key, count", "key"),
];

impl CopiedTable {
    /// All rows, or those of the place where it is known who wrote them: tables on several servers
    /// have none.
    fn query(&self, rows: &str) -> String {
        let from = if self.from.is_empty() || rows.is_empty() { self.name } else { self.from };
        format!("SELECT {} FROM {from} t {rows} ORDER BY {}", self.columns, self.order)
    }
}

/// What the store looks like in a transaction.
pub(super) struct StoreMoment {
    /// See [`super::copied::CopyMark`].
    pub(super) made_at: i64,
    pub(super) history: String,
    pub(super) horizon: i64,
    pub(super) end: i64,
    pub(super) settings: String,
    /// Whether the numbers of transactions mean anything: not where rows are on several servers.
    pub(super) numbered: bool,
}

impl StoreMoment {
    /// Begins a transaction that reads everything as it is now.
    pub(super) fn begin(line: &mut SharedLine) -> Result<Self> {
        const WHAT: &str = "look at the project";
        line.run(WHAT, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let sql = "SELECT p.made_at, p.settings, pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint,
                     c.system_identifier::text || '-' || CASE WHEN pg_is_in_recovery()
                       THEN lpad(to_hex((pg_control_checkpoint()).timeline_id), 8, '0')
                       ELSE lower(left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)) END,
                     NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')
                   FROM project p, pg_current_snapshot() s, pg_control_system() c";
        let row = line.wait(WHAT, line.client().query_one(sql, &[]))?;
        Ok(Self {
            made_at: row.get(0),
            settings: row.get(1),
            horizon: row.get(2),
            end: row.get(3),
            history: row.get(4),
            numbered: row.get(5),
        })
    }
}

/// What copying has done so far.
#[derive(Default)]
pub(super) struct CopiedRows {
    /// How many rows each table has.
    pub(super) rows: BTreeMap<String, u64>,
    /// How many rows were read.
    pub(super) read: u64,
    /// The first page that was not known before.
    pub(super) first_new: Option<u64>,
    /// Pages with new visits.
    visited: Vec<i64>,
}

impl CopiedRows {
    /// Brings all tables up to date that were complete when transactions before `since` had ended
    /// and had as many rows as `before` says; copies them as a whole if there is no such moment.
    pub(super) fn copy(
        line: &mut SharedLine,
        catalogue: &Catalogue,
        (now, since): (&StoreMoment, Option<i64>),
        before: &BTreeMap<String, u64>,
    ) -> Result<Self> {
        let mut copied = Self::default();
        for table in TABLES {
            crate::fault::point("during-copy").map_err(|e| StoreError::io("copy", catalogue.path(), e))?;
            let known = since.zip(before.get(table.name).copied());
            let rows = match known {
                Some((since, known)) => copied.refresh(line, table, catalogue, (now.end, since, known))?,
                None => copied.load(line, table, catalogue)?,
            };
            copied.rows.insert(table.name.to_owned(), rows);
        }
        Ok(copied)
    }

    /// Copies a whole table; how many rows it has.
    fn load(&mut self, line: &SharedLine, table: &CopiedTable, catalogue: &Catalogue) -> Result<u64> {
        catalogue.clear_table(table.name)?;
        if table.name == "page_row" {
            self.first_new = Some(0);
        }
        let (added, _) = self.keep(line, table, ("", &[]), catalogue)?;
        Ok(added)
    }

    /// Brings a table up to date; how many rows it has.
    fn refresh(
        &mut self,
        line: &SharedLine,
        table: &CopiedTable,
        catalogue: &Catalogue,
        (end, since, known): (i64, i64, u64),
    ) -> Result<u64> {
        // A row has 32 bits of the number of its transaction; the rest is that of now, or one less.
        let changed = "WHERE ($1::bigint - (($1::bigint - t.xmin::text::bigint) & 4294967295)) >= $2::bigint";
        let (added, _) = self.keep(line, table, (changed, &[&end, &since]), catalogue)?;
        let sql = format!("SELECT count(*) FROM {} t", table.name);
        let there: i64 = line.wait_long("count rows", line.client().query_one(&sql, &[]))?.get(0);
        let (there, mut here) = (there.cast_unsigned(), known + added);
        if here == there {
            return Ok(here);
        }
        if let Some(column) = table.page {
            here = self.replace(line, (table, column), catalogue, here)?;
        }
        if here == there { Ok(here) } else { self.load(line, table, catalogue) }
    }

    /// Reads the rows of pages with new visits again; how many rows there are then.
    fn replace(
        &mut self,
        line: &SharedLine,
        (table, column): (&CopiedTable, &str),
        catalogue: &Catalogue,
        mut here: u64,
    ) -> Result<u64> {
        let visited = std::mem::take(&mut self.visited);
        for pages in visited.chunks(PAGES) {
            here -= catalogue.clear_rows((table.name, column), pages)?;
            let of_pages = format!("WHERE t.{column} = ANY($1)");
            here += self.keep(line, table, (&of_pages, &[&pages]), catalogue)?.0;
        }
        self.visited = visited;
        Ok(here)
    }

    /// Keeps rows of a table; how many were new, and how many there were.
    fn keep(
        &mut self,
        line: &SharedLine,
        table: &CopiedTable,
        (rows, values): (&str, &[&(dyn ToSql + Sync)]),
        catalogue: &Catalogue,
    ) -> Result<(u64, u64)> {
        const WHAT: &str = "copy rows";
        let mut keeper = catalogue.keeper(table.name, table.columns)?;
        let mut added = 0;
        let all = each_row(line, WHAT, (&table.query(rows), values), |row| {
            let cells = cells(row)?;
            let new = keeper.keep(&cells)?;
            added += u64::from(new);
            self.note(table.name, &cells, new);
            Ok(())
        })?;
        self.read += all;
        Ok((added, all))
    }

    /// Notes what other tables depend on.
    fn note(&mut self, table: &str, cells: &[ScratchValue], new: bool) {
        let Some(ScratchValue::Integer(number)) = cells.first() else { return };
        match table {
            "page_row" if new => {
                let number = number.cast_unsigned();
                self.first_new = Some(self.first_new.map_or(number, |first| first.min(number)));
            }
            "visit_row" => self.visited.push(*number),
            _ => {}
        }
    }
}
