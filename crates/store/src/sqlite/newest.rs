//! What was recorded last?

use super::CatalogueReader;
use crate::error::Result;
use orb_page::{Moment, RunId};
use schemars::JsonSchema;
use serde::Serialize;

/// A page that was visited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewestRow {
    /// The page.
    pub page_id: u64,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// What went wrong.
    pub problem: Option<String>,
    /// When it was visited.
    pub at: String,
}

/// Pages of a host that were visited, and the host on whose pages they were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundOn {
    /// The host of the page on which they were found; `None` for seeds.
    pub from: Option<u32>,
    /// Their host.
    pub host: u32,
    /// How many.
    pub pages: u64,
}

impl CatalogueReader {
    /// Of the visits of a run that were recorded last: from which host to which they led.
    pub fn newest_paths(&self, run: RunId, limit: u32) -> Result<Vec<FoundOn>> {
        let sql = "SELECT o.host, p.host, count(*) FROM
                   (SELECT page FROM visit_row WHERE run = ?1 ORDER BY rowid DESC LIMIT ?2) v
                   JOIN page_row p ON p.id = v.page LEFT JOIN page_row o ON o.id = p.origin
                   GROUP BY o.host, p.host ORDER BY 3 DESC, 1, 2";
        let read = |r: &rusqlite::Row<'_>| {
            Ok(FoundOn { from: r.get(0)?, host: r.get(1)?, pages: r.get::<_, i64>(2)?.cast_unsigned() })
        };
        self.all(sql, (run.0, limit), read)
    }

    /// The visits of a run that were recorded last, newest first. Visits are stored in their order,
    /// so that those of the last run are found at once.
    pub fn newest(&self, run: RunId, limit: u32) -> Result<Vec<NewestRow>> {
        let sql = "SELECT p.id, p.url, v.title, iif(v.status = 304, 200, v.status), v.problem, v.at FROM visit_row v
                   JOIN page_row p ON p.id = v.page WHERE v.run = ?1 ORDER BY v.rowid DESC LIMIT ?2";
        self.all(sql, (run.0, limit), |r| {
            let at = Moment(r.get(5)?).to_string();
            let page_id = r.get::<_, i64>(0)?.cast_unsigned();
            let (url, title) = (r.get(1)?, r.get(2)?);
            Ok(NewestRow { page_id, url, title, status: r.get(3)?, problem: r.get(4)?, at })
        })
    }
}
