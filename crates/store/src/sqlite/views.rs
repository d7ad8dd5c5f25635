//! Which queries are so common that they have a name?
//!
//! Views built on the tables that SQL sees, and one for every kind of problem (`health`). They are
//! in the catalogue for other tools; where it was written by another version, our own readers
//! create them as temporary views.

use super::schema::{case, contract_views, name, time};
use orb_page::{Flag, LinkKind, PageKind};
use rusqlite::Connection;
use std::collections::HashMap;

/// The names of kinds, as SQL has them in a list.
pub(super) fn quoted(kinds: &[PageKind]) -> String {
    kinds.iter().map(|kind| format!("'{}'", kind.name())).collect::<Vec<_>>().join(", ")
}

/// Names and definitions.
fn definitions() -> [(&'static str, String); 8] {
    let kind = case("l.kind", LinkKind::ALL.iter().map(|k| (k.code(), k.name())));
    let failed = quoted(PageKind::FAILED);
    let flag = case("c.flag", Flag::ALL.iter().map(|k| (k.code(), k.name())));
    let (changed, at) = (time("c.at"), time("at"));
    [
        ("visit", visit()),
        (
            "change",
            format!(
                "SELECT c.seq, c.run, c.page AS page_id, p.url, {flag} AS flag, {changed} AS at,
                 c.moved AS moved_to, c.detail FROM change_row c JOIN page_row p ON p.id = c.page"
            ),
        ),
        (
            "ack",
            format!("SELECT run, {at} AS at, by, note FROM ack_row"),
        ),
        (
            "link_past",
            format!(
                "SELECT s.page AS src, l.dst, {kind} AS kind, coalesce(l.anchor, '') AS anchor, coalesce(l.rel, '') AS rel, l.count,
                 l.first_run, l.last_run FROM past_row l JOIN source_row s ON s.id = l.source"
            ),
        ),
        (
            "link_url",
            format!(
                "SELECT a.url AS src_url, b.url AS dst_url, {kind} AS kind, coalesce(l.anchor, '') AS anchor,
                 coalesce(l.rel, '') AS rel, l.count, s.page AS src, l.dst, l.first_run
                 FROM source_row s CROSS JOIN link_row l ON l.source = s.id JOIN page_row a ON a.id = s.page
                 JOIN page_row b ON b.id = l.dst WHERE l.last_run IS NULL"
            ),
        ),
        (
            "redirect",
            format!(
                "SELECT a.url AS src_url, b.url AS dst_url, v.status, s.page AS src, l.dst
                 FROM source_row s CROSS JOIN link_row l ON l.source = s.id JOIN page_row a ON a.id = s.page
                 JOIN page_row b ON b.id = l.dst
                 LEFT JOIN visit_row v ON v.page = s.page AND v.run = (SELECT max(run) FROM visit_row w WHERE w.page = s.page)
                 WHERE l.last_run IS NULL AND l.kind = {}",
                LinkKind::Redirect.code()
            ),
        ),
        (
            "alias",
            "SELECT p.url, t.url AS target_url, n.name AS rule, a.tested, a.page AS id, a.target, a.host AS host_id
             FROM alias_row a JOIN page_row p ON p.id = a.page JOIN page_row t ON t.id = a.target
             JOIN name_row n ON n.id = a.name"
                .to_owned(),
        ),
        (
            "host_count",
            format!(
                "SELECT h.scheme, h.name, h.port, coalesce(known, 0) AS known, coalesce(fetched, 0) AS fetched, coalesce(html, 0) AS html,
                 coalesce(binary, 0) AS binary, coalesce(duplicates, 0) AS duplicates, coalesce(errors, 0) AS errors,
                 coalesce(queued, 0) AS queued, coalesce(bytes, 0) AS bytes, h.id AS host_id
                 FROM host_row h LEFT JOIN (SELECT host_id, count(*) AS known, count(status) AS fetched, sum(kind = 'HTML') AS html,
                   sum(kind = 'BINARY') AS binary, sum(kind = 'DUPLICATE') AS duplicates, sum(kind IN ({failed})) AS errors,
                   sum(kind = 'FRONTIER') AS queued, sum(transferred) AS bytes FROM page GROUP BY host_id) p ON p.host_id = h.id"
            ),
        ),
    ]
}

/// What one run saw of one page.
fn visit() -> String {
    let kind = case("v.kind", PageKind::ALL.iter().map(|k| (k.code(), k.name())));
    let flag = case("v.flag", Flag::ALL.iter().map(|k| (k.code(), k.name())));
    format!(
        "SELECT v.run, v.page AS page_id, {flag} AS flag, {at} AS at, v.status,
         CASE WHEN v.digest NOTNULL THEN lower(hex(v.digest)) END AS digest, v.length, f.name AS warc_file, v.warc_offset, v.warc_length,
         {kind} AS kind, {by} AS fetched_by, v.mime, v.charset, v.transferred, v.simhash, v.title, v.lang, v.etag, v.last_modified,
         v.duplicate_of, v.problem, v.elapsed_ms,
         (SELECT detail FROM around_row a WHERE a.run = v.run AND a.page = v.page) AS around
         FROM visit_row v LEFT JOIN warc_row f ON f.id = v.warc",
        at = time("v.at"),
        by = name("v.by"),
    )
}

/// Names and definitions of all views.
fn all() -> impl Iterator<Item = (&'static str, String)> {
    contract_views().into_iter().chain(definitions()).chain(super::health::definitions())
}

/// The statements that create the views where they are missing.
pub(super) fn statements(scope: &str) -> String {
    let make = |(name, select): (&str, String)| format!("CREATE {scope} VIEW IF NOT EXISTS {name} AS {select};\n");
    all().map(make).collect()
}

/// The statements that create the views where there were none.
pub(super) fn shared_statements() -> String {
    let make = |(name, select): (&str, String)| format!("CREATE VIEW {name} AS {select};\n");
    contract_views().into_iter().chain(definitions()).map(make).collect()
}

/// The statements that remove the views that were made by another version and say something else.
pub(super) fn removals(db: &Connection) -> rusqlite::Result<String> {
    let told = told(db)?;
    let outdated = |(name, select): (&str, String)| {
        let is_other = told.get(name).is_some_and(|kept| *kept != definition(name, &select));
        is_other.then(|| format!("DROP VIEW {name};\n"))
    };
    Ok(all().filter_map(outdated).collect())
}

/// Whether the catalogue has all views, as this version defines them.
pub(super) fn are_current(db: &Connection) -> rusqlite::Result<bool> {
    let told = told(db)?;
    Ok(all().all(|(name, select)| told.get(name).is_some_and(|kept| *kept == definition(name, &select))))
}

fn definition(name: &str, select: &str) -> String {
    format!("CREATE VIEW {name} AS {select}")
}

/// The views of the catalogue and their definitions.
fn told(db: &Connection) -> rusqlite::Result<HashMap<String, String>> {
    let mut views = db.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'")?;
    views.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::super::Catalogue;
    use super::super::reader::connect;
    use super::*;

    #[test]
    fn a_view_of_another_version_is_replaced_and_others_are_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("crawl.db");
        drop(Catalogue::create_or_open(&path).unwrap());
        let db = Connection::open(&path).unwrap();
        assert_eq!(removals(&db).unwrap(), "", "what was just made is up to date");
        db.execute_batch(
            "DROP VIEW duplicate; DROP VIEW orphan; CREATE VIEW duplicate AS SELECT 1 AS url; CREATE VIEW mine AS SELECT 2 AS two",
        )
        .unwrap();
        drop(Catalogue::create_or_open(&path).unwrap());
        assert_eq!(removals(&db).unwrap(), "");
        let columns = |view: &str| -> i64 {
            db.query_row("SELECT count(*) FROM pragma_table_info(?1)", [view], |r| r.get(0)).unwrap()
        };
        assert_eq!(["duplicate", "orphan", "mine"].map(columns), [7, 5, 1]);
    }

    #[test]
    fn the_contracts_views_of_another_version_are_replaced_too() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("crawl.db");
        drop(Catalogue::create_or_open(&path).unwrap());
        let db = Connection::open(&path).unwrap();
        // As a version left it that knew fewer kinds of links.
        db.execute_batch("DROP VIEW link; CREATE VIEW link AS SELECT NULL AS kind").unwrap();
        let columns = |db: &Connection| -> i64 {
            db.query_row("SELECT count(*) FROM pragma_table_info('link')", [], |r| r.get(0)).unwrap()
        };
        assert_eq!((columns(&db), columns(&connect(&path).unwrap())), (1, 8), "readers have a view of their own");
        drop(Catalogue::create_or_open(&path).unwrap());
        assert_eq!(columns(&db), 8);
    }

    #[test]
    fn readers_make_the_views_only_where_the_catalogue_has_others() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("crawl.db");
        drop(Catalogue::create_or_open(&path).unwrap());
        let of_its_own = |db: &Connection| -> i64 {
            db.query_row("SELECT count(*) FROM temp.sqlite_schema", [], |r| r.get(0)).unwrap()
        };
        assert_eq!(of_its_own(&connect(&path).unwrap()), 0);
        Connection::open(&path).unwrap().execute_batch("DROP VIEW orphan").unwrap();
        let reader = connect(&path).unwrap();
        assert_eq!(of_its_own(&reader), i64::try_from(all().count()).unwrap());
        assert_eq!(reader.query_row("SELECT count(*) FROM orphan", [], |r| r.get::<_, i64>(0)).unwrap(), 0);
    }
}
