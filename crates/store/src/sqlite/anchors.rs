//! What do others call a page?
//!
//! The words of the links that point to it, those that say the same counted together. There is no index by target, so this reads all links
//! unless it is told which pages to look at.

use super::CatalogueReader;
use super::reader::sql_limit;
use crate::error::Result;
use orb_page::{LinkKind, PageId};
use rusqlite::params;
use serde::Serialize;

/// Words that links to a page use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AnchorRow {
    /// The words.
    pub anchor: String,
    /// How many links use them.
    pub count: u64,
    /// On how many pages.
    pub sources: u64,
    /// One of those pages.
    pub example: String,
}

impl CatalogueReader {
    /// The most common words of the living links to a page, most common first; case and what stands around them count.
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
