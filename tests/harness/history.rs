//! How is a later run written straight into a catalogue?
//!
//! For tests of what only reads the catalogue: how a run arrives at its flags does not matter
//! there.

use super::orb::Home;
use rusqlite::{Connection, params};

/// What a later run reports for a document.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    /// The document.
    pub(crate) url: &'a str,
    /// Its flag.
    pub(crate) flag: &'a str,
    /// The document whose original content it has now.
    pub(crate) like: &'a str,
    /// Where it has moved to.
    pub(crate) moved: Option<&'a str>,
    /// What changed.
    pub(crate) detail: Option<&'a str>,
}

impl<'a> Told<'a> {
    /// A document with this flag and unchanged content.
    pub(crate) fn new(url: &'a str, flag: &'a str) -> Self {
        Self { url, flag, like: url, moved: None, detail: None }
    }
}

/// Adds a run with these reports, in which all other documents are the same; returns its number.
pub(crate) fn later_run(home: &Home, told: &[Told<'_>]) -> u32 {
    let mut db = Connection::open(home.project().join("crawl.db")).unwrap();
    let tx = db.transaction().unwrap();
    let run: u32 = tx
        .query_row(
            "INSERT INTO run_row (kind, state, started_at, finished_at, counters, settings)
             SELECT 'track', 'done', max(finished_at) + 1000, max(finished_at) + 3500, '{\"seconds\":2.5}', settings FROM run_row RETURNING id",
            [],
            |r| r.get(0),
        )
        .unwrap();
    let known: Vec<String> = {
        let sql = "SELECT url FROM page_row p JOIN visit_row v ON v.page = p.id GROUP BY p.id HAVING max(run) AND kind IN (1, 2, 3) AND flag <> 3";
        let sql = sql.replace(" kind", " v.kind");
        let mut rows = tx.prepare(&sql).unwrap();
        rows.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let same = known.iter().filter(|url| !told.iter().any(|t| t.url == *url)).map(|url| Told::new(url, "SAM"));
    for said in told.iter().copied().chain(same) {
        record(&tx, run, said);
    }
    tx.commit().unwrap();
    run
}

fn record(db: &Connection, run: u32, said: Told<'_>) {
    let code = ["NEW", "SAM", "UPD", "MIS", "ERR"].iter().position(|name| *name == said.flag).unwrap() as i64;
    let number = |url: &str| db.query_row("SELECT id FROM page_row WHERE url = ?1", [url], |r| r.get::<_, i64>(0));
    if number(said.url).is_err() {
        let sql = "INSERT INTO page_row (url, host, kind, depth, redirects, priority, rank, at, by, origin)
                   SELECT ?1, host, 0, depth, redirects, priority, rank, at, by, id FROM page_row WHERE url = ?2";
        db.execute(sql, params![said.url, said.like]).unwrap();
    }
    let (page, like) = (number(said.url).unwrap(), number(said.like).unwrap());
    let at = 1_790_000_000_000_i64 + i64::from(run) * 1_000;
    let (kind, status) = if matches!(said.flag, "MIS" | "ERR") { (Some(8), Some(404)) } else { (None, None) };
    db.execute(
        "INSERT INTO visit_row (page, run, flag, kind, at, by, status, mime, charset, length, transferred, digest, simhash, title, lang,
           problem, elapsed_ms, warc, warc_offset, warc_length)
         SELECT ?1, ?2, ?3, coalesce(?6, kind), ?4, by, coalesce(?7, status), mime, charset, length, transferred, iif(?6 IS NULL, digest, NULL), simhash,
           title, lang, problem, elapsed_ms, iif(?6 IS NULL, warc, NULL), warc_offset, warc_length FROM visit_row WHERE page = ?5 ORDER BY run LIMIT 1",
        params![page, run, code, at, like, kind, status],
    )
    .unwrap();
    if said.flag != "SAM" {
        let sql = "INSERT INTO change_row (run, page, flag, at, moved, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        db.execute(sql, params![run, page, code, at, said.moved, said.detail]).unwrap();
    }
}
