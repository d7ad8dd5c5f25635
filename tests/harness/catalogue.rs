//! What does the catalogue contain, read with SQL as any user may?

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::Path;

/// A project's catalogue, read-only.
pub(crate) struct Catalogue {
    connection: Connection,
}

/// A page in the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub(crate) id: i64,
    pub(crate) kind: String,
    pub(crate) status: Option<i64>,
    pub(crate) mime: Option<String>,
    pub(crate) charset: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) digest: Option<String>,
    pub(crate) length: Option<i64>,
    pub(crate) depth: Option<i64>,
    pub(crate) duplicate_of: Option<i64>,
    pub(crate) visits: i64,
    pub(crate) warc_file: Option<String>,
}

impl Catalogue {
    /// Opens the database.
    pub(crate) fn open(path: &Path) -> Self {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { connection }
    }

    /// The rows of a query, each cell as text; NULL is empty.
    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        let mut statement = self.connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|i| Ok(text(row.get(i)?))).collect();
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    }

    /// The first column of a query.
    pub(crate) fn column(&self, sql: &str) -> Vec<String> {
        self.rows(sql).into_iter().map(|row| row.into_iter().next().unwrap()).collect()
    }

    /// The single number that a query returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.connection.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// All pages by URL; panics if two rows have the same URL.
    pub(crate) fn pages(&self) -> BTreeMap<String, Page> {
        const SQL: &str = "SELECT url, id, kind, status, mime, charset, title, digest, length, depth, duplicate_of, \
                           coalesce(visits, 0), warc_file FROM page";
        let mut statement = self.connection.prepare(SQL).unwrap();
        let page = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(String, Page)> {
            let page = Page {
                id: row.get(1)?,
                kind: row.get(2)?,
                status: row.get(3)?,
                mime: row.get(4)?,
                charset: row.get(5)?,
                title: row.get(6)?,
                digest: row.get(7)?,
                length: row.get(8)?,
                depth: row.get(9)?,
                duplicate_of: row.get(10)?,
                visits: row.get(11)?,
                warc_file: row.get(12)?,
            };
            Ok((row.get(0)?, page))
        };
        let mut pages = BTreeMap::new();
        for row in statement.query_map([], page).unwrap() {
            let (url, page) = row.unwrap();
            assert!(pages.insert(url.clone(), page).is_none(), "two pages are {url}");
        }
        pages
    }

    /// The page with this URL.
    #[track_caller]
    pub(crate) fn page(&self, url: &str) -> Page {
        self.pages().remove(url).unwrap_or_else(|| panic!("no page {url}"))
    }

    /// The URLs of pages of these kinds, sorted.
    pub(crate) fn urls(&self, kinds: &[&str]) -> Vec<String> {
        let kinds = kinds.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(",");
        self.column(&format!("SELECT url FROM page WHERE kind IN ({kinds}) ORDER BY url"))
    }

    /// The links as source, target, kind, anchor, rel and count, sorted.
    pub(crate) fn links(&self) -> Vec<Vec<String>> {
        let mut links = self.rows(
            "SELECT s.url, d.url, l.kind, l.anchor, l.rel, l.count FROM link l JOIN page s ON s.id = l.src \
             JOIN page d ON d.id = l.dst",
        );
        links.sort();
        links
    }

    /// Whether a page has a link of this kind to another.
    pub(crate) fn has_link(&self, from: &str, to: &str, kind: &str) -> bool {
        self.links().iter().any(|link| link[..3] == [from, to, kind])
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
