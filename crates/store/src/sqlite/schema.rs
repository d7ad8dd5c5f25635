//! What do the catalogue's tables look like?
//!
//! Base tables (`*_row`) hold small codes, raw digests and milliseconds, and are almost
//! append-only: `page_row` by the dense number assigned at discovery, `visit_row` and `link_row` in
//! the order of visits, the latter by the number a page gets when links are first seen on it
//! (`source_row`). Hosts take turns and their pages were discovered at all times, so anything
//! ordered by page costs a leaf per visit: only the index of `visit_row` is, about twelve bytes per
//! visit, and `image_row`, for pages with images. Per-host counters that change with every batch
//! are in `tally_row`, whose rows are so short that all of them fit in few leaves.
//!
//! Readers see `host page visit link image run`, which are views with names, hexadecimal digests
//! and times as text. Besides these keys there is only an index of the seeds:
//! on the hot path, a URL's number comes from the frontier index.

use orb_page::{Flag, LinkKind, PageKind};
use rusqlite::Connection;
use std::fmt::Write as _;

/// The format this program writes.
pub(crate) const VERSION: i64 = 5;

/// `orbc`: distinguishes our catalogue from any other SQLite file.
pub(crate) const APPLICATION: i64 = 0x6f72_6263;

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE name_row (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE run_row (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, started_at INTEGER NOT NULL, finished_at INTEGER,
  counters TEXT, settings TEXT);
CREATE TABLE host_row (
  id INTEGER PRIMARY KEY, scheme TEXT NOT NULL, name TEXT NOT NULL, port INTEGER NOT NULL, ip TEXT,
  not_before INTEGER, backoff_ms INTEGER NOT NULL DEFAULT 0, first_seen INTEGER NOT NULL);
CREATE TABLE tally_row (host INTEGER PRIMARY KEY, pages INTEGER NOT NULL, errors INTEGER NOT NULL, run INTEGER);
CREATE TABLE robots_row (
  host INTEGER PRIMARY KEY, at INTEGER NOT NULL, status INTEGER NOT NULL, crawl_delay REAL, text TEXT NOT NULL, sitemaps TEXT);
CREATE TABLE page_row (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, host INTEGER NOT NULL, kind INTEGER NOT NULL, why INTEGER,
  depth INTEGER NOT NULL, redirects INTEGER NOT NULL, priority REAL NOT NULL, rank INTEGER NOT NULL,
  at INTEGER NOT NULL, by INTEGER NOT NULL, origin INTEGER, again INTEGER, step INTEGER, asked TEXT);
CREATE INDEX seed_row ON page_row (id) WHERE origin IS NULL;
CREATE TABLE source_row (id INTEGER PRIMARY KEY, page INTEGER NOT NULL);
CREATE TABLE link_row (
  source INTEGER NOT NULL, dst INTEGER NOT NULL, kind INTEGER NOT NULL, anchor TEXT, rel TEXT, count INTEGER NOT NULL,
  first_run INTEGER NOT NULL, last_run INTEGER,
  PRIMARY KEY (source, dst, kind)) WITHOUT ROWID;
CREATE TABLE image_row (
  page INTEGER NOT NULL, seq INTEGER NOT NULL, url TEXT NOT NULL, alt TEXT, width INTEGER, height INTEGER, mime TEXT,
  PRIMARY KEY (page, seq)) WITHOUT ROWID;
CREATE TABLE warc_row (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL, records INTEGER NOT NULL);
CREATE TABLE batch_row (no INTEGER PRIMARY KEY, nonce INTEGER NOT NULL, pages BLOB NOT NULL, hosts BLOB NOT NULL, requeued BLOB NOT NULL);
";

/// The table of visits.
pub(super) const VISITS: &str = "
CREATE TABLE visit_row (
  page INTEGER NOT NULL, run INTEGER NOT NULL, flag INTEGER NOT NULL, kind INTEGER NOT NULL, at INTEGER NOT NULL, by INTEGER NOT NULL,
  status INTEGER, mime TEXT, charset TEXT, length INTEGER NOT NULL, transferred INTEGER NOT NULL, digest BLOB, simhash INTEGER,
  title TEXT, lang TEXT, etag TEXT, last_modified TEXT, duplicate_of INTEGER, problem TEXT, elapsed_ms INTEGER NOT NULL,
  warc INTEGER, warc_offset INTEGER, warc_length INTEGER, source INTEGER,
  UNIQUE (page, run));
";

/// Tables that older catalogues lack, by name and definition.
const ADDED: [(&str, &str); 10] = [
    ("due_row", "(page INTEGER PRIMARY KEY, rate REAL NOT NULL, due INTEGER)"),
    ("ack_row", "(run INTEGER PRIMARY KEY, at INTEGER NOT NULL, by TEXT, note TEXT)"),
    ("noise_row", "(host INTEGER PRIMARY KEY, text TEXT NOT NULL)"),
    ("session_row", "(host INTEGER PRIMARY KEY, rules TEXT NOT NULL)"),
    (
        "change_row",
        "(seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, page INTEGER NOT NULL, flag INTEGER NOT NULL, at INTEGER NOT NULL,
          moved TEXT, detail TEXT)",
    ),
    (
        "around_row",
        "(run INTEGER NOT NULL, page INTEGER NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (run, page)) WITHOUT ROWID",
    ),
    (
        "alias_row",
        "(host INTEGER NOT NULL, page INTEGER NOT NULL, target INTEGER NOT NULL, rules INTEGER NOT NULL, name INTEGER NOT NULL,
          tested INTEGER NOT NULL, PRIMARY KEY (host, page), UNIQUE (target, page)) WITHOUT ROWID",
    ),
    ("alias_rule_row", "(host INTEGER PRIMARY KEY, rules TEXT NOT NULL)"),
    ("trap_row", "(key INTEGER PRIMARY KEY, count INTEGER NOT NULL)"),
    (
        "past_row",
        "(source INTEGER NOT NULL, dst INTEGER NOT NULL, kind INTEGER NOT NULL, last_run INTEGER NOT NULL, first_run INTEGER NOT NULL,
          anchor TEXT, rel TEXT, count INTEGER NOT NULL,
          PRIMARY KEY (source, dst, kind, last_run)) WITHOUT ROWID",
    ),
];

/// Creates the tables in an empty database.
pub(crate) fn create(db: &Connection) -> rusqlite::Result<()> {
    let (added, views) = (added(), super::views::statements(""));
    db.execute_batch(&format!(
        "BEGIN;{TABLES}{VISITS}{added}{views}PRAGMA application_id={APPLICATION};PRAGMA user_version={VERSION};COMMIT"
    ))
}

/// Adds what an older catalogue lacks, and replaces the views of another version.
pub(crate) fn complete(db: &Connection) -> rusqlite::Result<()> {
    let outdated = super::views::removals(db)?;
    db.execute_batch(&format!("BEGIN;{}{outdated}{}COMMIT", added(), super::views::statements("")))
}

/// Adds the tables that an upgraded catalogue lacks, and all views.
pub(super) fn complete_upgrade(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(&(added() + &super::views::statements("")))
}

/// Gives a read-only connection what a catalogue of another version lacks, as temporary tables and
/// views. Usually that is nothing, and parsing all views again would take most of the time of
/// connecting.
pub(crate) fn complete_for_reading(db: &Connection) -> rusqlite::Result<()> {
    let mut known = db.prepare("SELECT count(*) FROM main.sqlite_schema WHERE name = ?1")?;
    for (name, columns) in ADDED {
        if known.query_row([name], |r| r.get::<_, i64>(0))? == 0 {
            db.execute_batch(&format!("CREATE TEMP TABLE {name} {columns}"))?;
        }
    }
    if super::views::are_current(db)? { Ok(()) } else { db.execute_batch(&super::views::statements("TEMP")) }
}

fn added() -> String {
    ADDED.iter().map(|(name, columns)| format!("CREATE TABLE IF NOT EXISTS {name} {columns};\n")).collect()
}

/// The latest visit of page `p`, as a join.
pub(crate) const LATEST: &str =
    "LEFT JOIN visit_row v ON v.page = p.id AND v.run = (SELECT max(run) FROM visit_row w WHERE w.page = p.id)";

/// The code of a page's kind: what keeps it from being fetched, otherwise what its latest visit
/// found, otherwise `FRONTIER`.
pub(crate) const KIND: &str = "CASE WHEN p.kind <> 0 THEN p.kind ELSE coalesce(v.kind, 0) END";

/// The codes of pages that are documents.
pub(crate) const DOCUMENTS: &str = "1, 2, 3";

/// The visit that saw page `p` in its current version, as a join: what was last reported, ignoring
/// temporary failures and visits that found it unchanged.
pub(crate) const TOLD: &str = "LEFT JOIN visit_row v ON v.page = p.id AND v.run = coalesce(
    (SELECT max(run) FROM visit_row w WHERE w.page = p.id AND w.flag NOT IN (1, 4)), (SELECT max(run) FROM visit_row w WHERE w.page = p.id))";

/// Whether page `p` with latest visit `v` is in its host's queue.
pub(crate) const QUEUED: &str = "(p.kind = 0 AND (v.run IS NULL OR coalesce(p.again > v.run, 0)))";

/// Names and definitions of the views that the contract promises.
pub(super) fn contract_views() -> [(&'static str, String); 5] {
    let link_kind = case("l.kind", LinkKind::ALL.iter().map(|k| (k.code(), k.name())));
    let (started, finished) = (time("started_at"), time("finished_at"));
    let (robots_at, first_seen, not_before) = (time("r.at"), time("h.first_seen"), time("h.not_before"));
    [
        ("run", format!("SELECT id, kind, state, {started} AS started_at, {finished} AS finished_at, counters, settings FROM run_row")),
        (
            "host",
            format!(
                "SELECT h.id, h.name, h.scheme, h.port, h.ip, r.text AS robots, {robots_at} AS robots_at, r.sitemaps,
  r.crawl_delay, coalesce(t.pages, 0) AS pages, coalesce(t.errors, 0) AS errors, {first_seen} AS first_seen, r.status AS robots_status, {not_before} AS not_before, h.backoff_ms
  FROM host_row h LEFT JOIN robots_row r ON r.host = h.id LEFT JOIN tally_row t ON t.host = h.id"
            ),
        ),
        ("page", page_view()),
        (
            "link",
            format!(
                "SELECT v.page AS src, l.dst, {link_kind} AS kind, coalesce(l.anchor, '') AS anchor, coalesce(l.rel, '') AS rel,
  l.count, l.first_run, l.last_run FROM visit_row v JOIN link_row l ON l.source = v.source"
            ),
        ),
        ("image", "SELECT page AS page_id, url, alt, width, height, mime FROM image_row".to_owned()),
    ]
}

/// The contract's views for the same tables in PostgreSQL, with the functions they use.
pub(crate) fn shared_views() -> String {
    use super::dialect::{FUNCTIONS, translate};
    format!("{FUNCTIONS}{}", translate(&super::views::shared_statements()))
}

/// The view of pages. One that was never fetched because it is an alias repeats the page that it is
/// an alias of.
fn page_view() -> String {
    format!(
        "SELECT p.id, p.url, p.host AS host_id, {kind} AS kind, iif(v.status = 304, 200, v.status) AS status, v.mime, v.charset, v.length,
  CASE WHEN v.digest NOTNULL THEN lower(hex(v.digest)) END AS digest, v.simhash, v.title, v.lang, p.depth, p.priority,
  {discovered} AS discovered_at, {discovered_by} AS discovered_by, nullif(p.origin, 0) AS discovered_from,
  {fetched} AS fetched_at, {fetched_by} AS fetched_by, v.etag, v.last_modified,
  f.name AS warc_file, v.warc_offset, v.warc_length, coalesce(v.duplicate_of, iif(p.kind = {alias}, (SELECT a.target FROM alias_row a WHERE a.host = p.host AND a.page = p.id), NULL)) AS duplicate_of,
  (SELECT {due} FROM due_row d WHERE d.page = p.id) AS next_due,
  (SELECT count(*) FROM visit_row w WHERE w.page = p.id AND w.flag = {updated}) AS changes,
  (SELECT count(*) FROM visit_row w WHERE w.page = p.id) AS visits,
  {why} AS why, v.problem, v.elapsed_ms, v.transferred, p.redirects, p.origin IS NULL AS seed
  FROM page_row p {LATEST} LEFT JOIN warc_row f ON f.id = v.warc",
        kind = case(KIND, PageKind::ALL.iter().map(|k| (k.code(), k.name()))),
        discovered = time("p.at"),
        discovered_by = name("p.by"),
        fetched = time("v.at"),
        due = time("d.due"),
        fetched_by = name("v.by"),
        why = name("p.why"),
        updated = Flag::Updated.code(),
        alias = PageKind::Duplicate.code(),
    )
}

/// A column of milliseconds as text.
pub(crate) fn time(column: &str) -> String {
    format!("strftime('%Y-%m-%dT%H:%M:%fZ', {column} / 1000.0, 'unixepoch')")
}

/// The name that a column refers to.
pub(crate) fn name(column: &str) -> String {
    format!("(SELECT name FROM name_row n WHERE n.id = {column})")
}

/// `CASE column WHEN 0 THEN 'NAME' … END`.
pub(crate) fn case(column: &str, names: impl Iterator<Item = (u8, &'static str)>) -> String {
    let mut sql = format!("CASE {column}");
    for (code, name) in names {
        let _ = write!(sql, " WHEN {code} THEN '{name}'");
    }
    sql + " END"
}
