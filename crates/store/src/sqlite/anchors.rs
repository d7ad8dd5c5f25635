//! What do others call a page?
//!
//! The anchor texts of the links that point to it, grouped. There is no index by target, so this
//! scans all links unless the caller names the pages to look at.

use super::CatalogueReader;
use super::reader::sql_limit;
use crate::error::Result;
use orb_page::{LinkKind, PageId};
use rusqlite::params;
use serde::Serialize;

/// An anchor text of links to a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AnchorRow {
    /// The text.
    pub anchor: String,
    /// Number of links that use it.
    pub count: u64,
    /// Number of pages they are on.
    pub sources: u64,
    /// One of those pages.
    pub example: String,
}

impl CatalogueReader {
    /// The most frequent anchor texts of the current links to a page; case and surrounding
    /// characters matter.
    pub fn anchors(&self, page: PageId, limit: u64) -> Result<Vec<AnchorRow>> {
        let sql = format!(
            "SELECT g.anchor, g.n, g.sources, p.url FROM (
               SELECT anchor, sum(count) AS n, count(DISTINCT source) AS sources, min(source) AS first FROM link_row
               WHERE dst = ?1 AND last_run IS NULL AND anchor IS NOT NULL AND kind IN ({}) GROUP BY anchor
               ORDER BY 2 DESC, 1 LIMIT ?2) g
             JOIN source_row s ON s.id = g.first JOIN page_row p ON p.id = s.page ORDER BY g.n DESC, g.anchor",
            LinkKind::SPOKEN.map(|k| k.code().to_string()).join(", ")
        );
        self.all(&sql, params![page.0.cast_signed(), sql_limit(limit)], |r| {
            Ok(AnchorRow {
                anchor: r.get(0)?,
                count: r.get::<_, i64>(1)?.cast_unsigned(),
                sources: r.get::<_, i64>(2)?.cast_unsigned(),
                example: r.get(3)?,
            })
        })
    }
}
