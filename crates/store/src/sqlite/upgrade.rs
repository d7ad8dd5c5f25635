//! How does a catalogue of an older version become one of this version?
//!
//! Step by step, from each version to the next, in place and under the project's lock. A step is
//! one transaction and ends with the new version number, so that a process that is killed on the
//! way leaves the version before or the one after. Versions were not always counted up when
//! something was added; a step therefore looks for what is there.
//!
//! Every step has a catalogue of its version in `tests/catalogues`.

use super::schema;
use super::visits::VISIT_COLUMNS;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::hash::BuildHasher as _;

/// What leads from a version to the next, from version 1 on.
const STEPS: [fn(&Connection) -> rusqlite::Result<()>; 4] =
    [number_sources, renumber_batches, append_visits, add_aliases];

/// Takes a catalogue from version `found` to the latest.
pub(super) fn upgrade(db: &Connection, found: i64) -> rusqlite::Result<()> {
    for (from, step) in (1..).zip(STEPS).skip_while(|(from, _)| *from < found) {
        let tx = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
        drop_views(&tx)?;
        step(&tx)?;
        tx.execute_batch(&format!("PRAGMA user_version = {}", from + 1))?;
        tx.commit()?;
    }
    Ok(())
}

/// Views are made again when the tables are as they should be; until then they would keep columns
/// from being dropped.
fn drop_views(db: &Connection) -> rusqlite::Result<()> {
    let mut names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'")?;
    let names: Vec<String> = names.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    names.iter().try_for_each(|name| db.execute_batch(&format!("DROP VIEW \"{name}\"")))
}

/// 1 → 2: links by the number a page gets when some are first seen on it, in the order of visits,
/// instead of by page; what is counted for a host in a table of its own.
fn number_sources(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "CREATE TABLE tally_row (host INTEGER PRIMARY KEY, pages INTEGER NOT NULL, errors INTEGER NOT NULL, run INTEGER);
         INSERT INTO tally_row SELECT h.id, h.pages, h.errors, r.run FROM host_row h
           LEFT JOIN (SELECT p.host, max(v.run) AS run FROM visit_row v JOIN page_row p ON p.id = v.page
             WHERE v.status NOTNULL GROUP BY p.host) r ON r.host = h.id
           WHERE h.pages > 0 OR h.errors > 0;
         ALTER TABLE host_row DROP COLUMN pages;
         ALTER TABLE host_row DROP COLUMN errors;
         CREATE INDEX seed_row ON page_row (id) WHERE origin IS NULL;
         ALTER TABLE visit_row ADD COLUMN source INTEGER;
         CREATE TABLE source_row (id INTEGER PRIMARY KEY, page INTEGER NOT NULL);
         CREATE TEMP TABLE first_row AS SELECT l.src AS page, min(v.run) AS run
           FROM (SELECT src, min(first_run) AS run FROM link_row GROUP BY src) l
           JOIN visit_row v ON v.page = l.src AND v.run >= l.run GROUP BY l.src;
         INSERT INTO source_row (page) SELECT f.page FROM temp.first_row f
           JOIN visit_row v ON v.page = f.page AND v.run = f.run ORDER BY v.run, v.at, v.page;
         UPDATE visit_row SET source = s.id FROM temp.first_row f JOIN source_row s ON s.page = f.page
           WHERE visit_row.page = f.page AND visit_row.run = f.run;
         DROP TABLE temp.first_row;
         ALTER TABLE link_row RENAME TO link_old;
         CREATE TABLE link_row (
           source INTEGER NOT NULL, dst INTEGER NOT NULL, kind INTEGER NOT NULL, anchor TEXT, rel TEXT, count INTEGER NOT NULL,
           first_run INTEGER NOT NULL, last_run INTEGER,
           PRIMARY KEY (source, dst, kind)) WITHOUT ROWID;
         INSERT INTO link_row SELECT s.id, l.dst, l.kind, l.anchor, l.rel, l.count, l.first_run, l.last_run
           FROM source_row s CROSS JOIN link_old l ON l.src = s.page;
         DROP TABLE link_old;",
    )
}

/// 2 → 3: what a batch lists of the pages queued again has another form. A new batch that lists
/// nothing takes the place of all, so that an index of the older form cannot follow and is rebuilt.
fn renumber_batches(db: &Connection) -> rusqlite::Result<()> {
    let last: i64 = db.query_row("SELECT coalesce(max(no), 0) FROM batch_row", [], |r| r.get(0))?;
    db.execute_batch(
        "DROP TABLE batch_row;
         CREATE TABLE batch_row (no INTEGER PRIMARY KEY, nonce INTEGER NOT NULL, pages BLOB NOT NULL, hosts BLOB NOT NULL, requeued BLOB NOT NULL);",
    )?;
    if last > 0 {
        let nonce = std::hash::RandomState::new().hash_one(last).cast_signed();
        let sql = "INSERT INTO batch_row (no, nonce, pages, hosts, requeued) VALUES (?1, ?2, x'', x'', x'')";
        db.execute(sql, params![last + 1, nonce])?;
    }
    Ok(())
}

/// 3 → 4: visits in the order they came instead of by page, and whatever an early catalogue of
/// version 3 lacks.
fn append_visits(db: &Connection) -> rusqlite::Result<()> {
    for (column, kind) in [("step", "INTEGER"), ("asked", "TEXT")] {
        if !has_column(db, "page_row", column)? {
            db.execute_batch(&format!("ALTER TABLE page_row ADD COLUMN {column} {kind}"))?;
        }
    }
    let is_clustered = "SELECT sql LIKE '%WITHOUT ROWID%' FROM sqlite_schema WHERE name = 'visit_row'";
    if db.query_row(is_clustered, [], |r| r.get(0))? {
        db.execute_batch(&format!(
            "ALTER TABLE visit_row RENAME TO visit_old;
             {}
             INSERT INTO visit_row ({VISIT_COLUMNS}) SELECT {VISIT_COLUMNS} FROM visit_old ORDER BY run, at;
             DROP TABLE visit_old;",
            schema::VISITS
        ))?;
    }
    schema::complete_upgrade(db)
}

/// 4 → 5: the tables of aliases, and views that know them; whatever an early catalogue of version 4
/// lacks.
fn add_aliases(db: &Connection) -> rusqlite::Result<()> {
    schema::complete_upgrade(db)
}

fn has_column(db: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) > 0 FROM pragma_table_info(?1) WHERE name = ?2";
    db.query_row(sql, [table, column], |r| r.get(0))
}
