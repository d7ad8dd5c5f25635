//! How can SQL join what the graph says about pages and hosts?
//!
//! The ranks are derived and belong to one build of the graph, so they are not tables of the
//! catalogue: they are in a small database in the graph's directory, written atomically and
//! attached by SQL readers. If there is none, there are no such tables.

use crate::error::{Result, StoreError};
use rusqlite::{Connection, OpenFlags, params};
use std::fs;
use std::path::{Path, PathBuf};

/// Its name in the directory of the graph.
const NAME: &str = "ranks.db";

/// The scores of one page or host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankRow {
    /// The number of the page or host.
    pub id: u64,
    /// PageRank.
    pub pagerank: f64,
    /// Hub score.
    pub hub: f64,
    /// Authority score.
    pub authority: f64,
    /// Harmonic centrality.
    pub harmonic: f64,
    /// In-degree.
    pub indegree: u32,
    /// Out-degree.
    pub outdegree: u32,
    /// Its strongly connected component, 0 for the largest.
    pub component: u32,
    /// Its place in the bow-tie.
    pub bowtie: &'static str,
}

/// The ranks beside a catalogue.
pub(super) fn beside(catalogue: &Path) -> PathBuf {
    catalogue.with_file_name("graph").join(NAME)
}

/// Whether the graph in a directory has readable rank tables.
pub fn has_rank_tables(graph: &Path) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let probe = "SELECT (SELECT max(page_id) FROM rank), (SELECT max(host_id) FROM host_rank)";
    Connection::open_with_flags(graph.join(NAME), flags).is_ok_and(|db| db.query_row(probe, [], |_| Ok(())).is_ok())
}

/// Writes the tables `rank` and `host_rank` into the directory of the graph, replacing older ones;
/// one process at a time.
pub fn write_rank_tables(
    graph: &Path,
    pages: impl Iterator<Item = RankRow>,
    hosts: impl Iterator<Item = RankRow>,
) -> Result<()> {
    let path = graph.join(NAME);
    let unfinished = graph.join(format!("{NAME}.new"));
    match fs::remove_file(&unfinished) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(StoreError::io("replace", &unfinished, e));
        }
        _ => {}
    }
    let fail = |e| StoreError::sql("write the ranks", &path, e);
    let db = Connection::open(&unfinished).map_err(fail)?;
    // Nobody reads it before it is renamed, and an incomplete one is written again.
    db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").map_err(fail)?;
    fill(&db, "rank", "page_id", pages).map_err(fail)?;
    fill(&db, "host_rank", "host_id", hosts).map_err(fail)?;
    db.execute_batch("COMMIT").map_err(fail)?;
    db.close().map_err(|(_, e)| fail(e))?;
    let placed =
        fs::File::open(&unfinished).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&unfinished, &path));
    placed.map_err(|e| StoreError::io("write", &path, e))
}

fn fill(db: &Connection, table: &str, id: &str, rows: impl Iterator<Item = RankRow>) -> rusqlite::Result<()> {
    db.execute_batch(&format!(
        "CREATE TABLE {table} ({id} INTEGER PRIMARY KEY, pagerank REAL NOT NULL, hub REAL NOT NULL, authority REAL NOT NULL,
         harmonic REAL NOT NULL, indegree INTEGER NOT NULL, outdegree INTEGER NOT NULL, component INTEGER NOT NULL, bowtie TEXT NOT NULL)"
    ))?;
    let mut insert = db.prepare(&format!("INSERT INTO {table} VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"))?;
    for r in rows {
        insert.execute(params![
            r.id.cast_signed(),
            r.pagerank,
            r.hub,
            r.authority,
            r.harmonic,
            r.indegree,
            r.outdegree,
            r.component,
            r.bowtie
        ])?;
    }
    Ok(())
}

/// Attaches the ranks to a connection, if there are any; damaged ones are ignored.
pub(super) fn attach(db: &Connection, catalogue: &Path) {
    let path = beside(catalogue);
    let Some(text) = path.to_str().filter(|_| path.is_file()) else { return };
    let read = || {
        db.execute("ATTACH ?1 AS ranks", [text])?;
        db.query_row("SELECT count(*) FROM ranks.rank WHERE page_id = 0", [], |_| Ok(()))
    };
    if read().is_err() {
        // Not attached at all, or unreadable.
        let _ = db.execute_batch("DETACH ranks");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Catalogue, CatalogueReader};
    use super::*;
    use crate::{Cell, QueryLimits};
    use std::ops::ControlFlow;

    fn row(id: u64) -> RankRow {
        let x = 1.0 / id as f64;
        RankRow {
            id,
            pagerank: x,
            hub: 0.0,
            authority: 0.5,
            harmonic: 2.0,
            indegree: 3,
            outdegree: 4,
            component: 0,
            bowtie: "core",
        }
    }

    fn asked(reader: &CatalogueReader, sql: &str) -> Result<Vec<String>> {
        let mut rows = Vec::new();
        let each = |row: &[Cell<'_>]| {
            rows.push(format!("{row:?}"));
            ControlFlow::Continue(())
        };
        reader.sql(sql, QueryLimits::default(), |_| (), each)?;
        Ok(rows)
    }

    #[test]
    fn ranks_are_tables_to_whoever_asks_and_cannot_be_written() {
        let tmp = tempfile::tempdir().unwrap();
        let (path, graph) = (tmp.path().join("crawl.db"), tmp.path().join("graph"));
        drop(Catalogue::create_or_open(&path).unwrap());
        let missing = asked(&CatalogueReader::at(&path).unwrap(), "SELECT * FROM rank").unwrap_err();
        assert!(missing.to_string().contains("orb graph build"), "{missing}");
        fs::create_dir(&graph).unwrap();
        for pages in [1..=2, 1..=3] {
            let pages = pages.map(row);
            write_rank_tables(&graph, pages, [row(7)].into_iter()).unwrap();
        }
        assert!(has_rank_tables(&graph) && !has_rank_tables(tmp.path()));
        let reader = CatalogueReader::at(&path).unwrap();
        assert_eq!(
            asked(&reader, "SELECT page_id, pagerank FROM rank WHERE page_id = 2").unwrap(),
            ["[Integer(2), Real(0.5)]"]
        );
        assert_eq!(asked(&reader, "SELECT count(*) FROM rank, host_rank").unwrap(), ["[Integer(3)]"]);
        for write in ["DELETE FROM rank", "DROP TABLE ranks.rank", "DETACH ranks", "ATTACH 'x' AS y"] {
            assert!(asked(&reader, write).is_err(), "{write}");
        }
        let notes = reader.schema().unwrap();
        let columns = |table: &str| notes.iter().find(|n| n.table == table).unwrap().columns.clone();
        assert_eq!((columns("rank").len(), columns("host_rank").len()), (9, 9));
        assert!(columns("rank").iter().all(|column| !column.about.is_empty()));
    }

    #[test]
    fn damaged_ranks_are_as_good_as_none() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("crawl.db");
        drop(Catalogue::create_or_open(&path).unwrap());
        fs::create_dir(tmp.path().join("graph")).unwrap();
        fs::write(beside(&path), "nonsense, and enough of it to be looked at as a database".repeat(99)).unwrap();
        let reader = CatalogueReader::at(&path).unwrap();
        assert_eq!(asked(&reader, "SELECT count(*) FROM page").unwrap(), ["[Integer(0)]"]);
        assert!(asked(&reader, "SELECT * FROM rank").is_err());
        assert!(!has_rank_tables(&tmp.path().join("graph")));
    }
}
