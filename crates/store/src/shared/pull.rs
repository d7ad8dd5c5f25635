//! How does a shared project become a local one?
//!
//! Its tables are copied as they were in one snapshot into a catalogue of their own. Every reader
//! works on it; what happens in the store afterwards is not in it.

use super::SharedProject;
use super::load::{LoadedTable, PAGE, VISIT, copy_table};
use crate::error::Result;
use crate::home::{ProjectDir, ProjectLock};
use crate::sqlite::Catalogue;

const fn all(name: &'static str, columns: &'static str) -> LoadedTable {
    LoadedTable { name, columns, rows: "" }
}

const LINK: &str = "source, dst, kind, anchor, rel, count, first_run, last_run";

const TABLES: &[LoadedTable] = &[
    all("name_row", "id, name"),
    all("run_row", "id, kind, state, started_at, finished_at, counters, settings"),
    all("host_row", "id, scheme, name, port, ip, not_before, backoff_ms, first_seen"),
    all("tally_row", "host, pages, errors, run"),
    all("robots_row", "host, at, status, crawl_delay, text, sitemaps"),
    all("noise_row", "host, text"),
    all("session_row", "host, rules"),
    all("alias_rule_row", "host, rules"),
    all("alias_row", "host, page, target, rules, name, tested"),
    LoadedTable { name: "warc_row", columns: "id, name, length, records", rows: "t ORDER BY id" },
    LoadedTable { name: "page_row", columns: PAGE, rows: "t ORDER BY id" },
    LoadedTable { name: "visit_row", columns: VISIT, rows: "t ORDER BY run, at" },
    LoadedTable { name: "source_row", columns: "id, page", rows: "t ORDER BY id" },
    LoadedTable { name: "link_row", columns: LINK, rows: "t ORDER BY source, dst, kind" },
    all("past_row", "source, dst, kind, last_run, first_run, anchor, rel, count"),
    LoadedTable {
        name: "image_row",
        columns: "page, seq, url, alt, width, height, mime",
        rows: "t ORDER BY page, seq",
    },
    all("change_row", "seq, run, page, flag, at, moved, detail"),
    all("around_row", "run, page, detail"),
    all("due_row", "page, rate, due"),
    all("ack_row", "run, at, by, note"),
    all("trap_row", "key, count"),
];

impl SharedProject {
    /// Copies everything but the bytes into the catalogue of a local project, replacing the one that
    /// is there; the number of pages.
    pub fn pull(&mut self, dir: &ProjectDir) -> Result<u64> {
        let _lock = ProjectLock::take(dir)?;
        super::scratch::wipe(dir)?;
        let mut catalogue = Catalogue::create_or_open(&dir.catalogue())?;
        catalogue.begin_load()?;
        let pages = self.with(|line| {
            line.run("read everything", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
            let mut pages = 0;
            for table in TABLES {
                let rows = copy_table(line, table, &[], &mut catalogue)?;
                if table.name == "page_row" {
                    pages = rows;
                }
            }
            line.run("read everything", "COMMIT")?;
            Ok(pages)
        })?;
        catalogue.end_load()?;
        catalogue.checkpoint()?;
        Ok(pages)
    }
}
