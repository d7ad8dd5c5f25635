//! How do links become rows, where a page and what it links to are recorded by different workers?
//!
//! A row says which run saw the link last (`seen_run`), because nobody sees all links of a page at
//! once: those into its own shard come with its visit, the others with letters. A link that a page
//! visited again has no more is therefore closed when the run ends (`ending.rs`). What a row said
//! before it changed, and the earlier life of a link that came back, go to `past_row`, as in the
//! catalogue of one machine (`sqlite/links.rs`).

use super::ToldLink;
use super::commit::copy;
use super::connect::SharedLine;
use super::rows::CopyRows;
use crate::error::Result;
use orb_page::{PageId, Visit};
use std::collections::BTreeMap;

const COLUMNS: &str = "(shard, kind, source, dst, count, first_run, seen_run, anchor, rel)";

/// What rows said that are about to say something else.
const PAST: &str = "INSERT INTO past_row (shard, source, dst, kind, last_run, first_run, anchor, rel, count)
    SELECT l.shard, l.source, l.dst, l.kind, coalesce(l.last_run, v.before), l.first_run, l.anchor, l.rel, l.count
    FROM seen_link s JOIN link_row l ON l.source = s.source AND l.dst = s.dst AND l.kind = s.kind AND l.shard = s.shard
    CROSS JOIN LATERAL (SELECT max(run) AS before FROM visit_row WHERE page = l.source AND shard = l.shard AND run < $1) v
    WHERE l.first_run <= coalesce(l.last_run, v.before) AND (l.last_run IS NOT NULL OR l.anchor IS DISTINCT FROM s.anchor
      OR l.rel IS DISTINCT FROM s.rel OR l.count <> s.count)
    ON CONFLICT DO NOTHING";

/// A link that lives keeps its first run, one that comes back starts over, and one that was not
/// there is added.
const MERGE: &str = "WITH known AS (
      UPDATE link_row l SET anchor = s.anchor, rel = s.rel, count = s.count, seen_run = s.seen_run, last_run = NULL,
        first_run = CASE WHEN l.last_run IS NULL THEN l.first_run ELSE s.first_run END
      FROM seen_link s WHERE l.source = s.source AND l.dst = s.dst AND l.kind = s.kind AND l.shard = s.shard
      RETURNING l.source, l.dst, l.kind)
    INSERT INTO link_row (shard, kind, source, dst, count, first_run, seen_run, anchor, rel)
    SELECT s.shard, s.kind, s.source, s.dst, s.count, s.first_run, s.seen_run, s.anchor, s.rel FROM seen_link s
    WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.source = s.source AND k.dst = s.dst AND k.kind = s.kind)";

/// The links of a batch.
#[derive(Default)]
pub(super) struct LinkRows {
    run: i32,
    /// Of pages that were never visited before.
    fresh: CopyRows,
    /// Of which some may be there.
    again: CopyRows,
}

impl LinkRows {
    pub(super) fn of(run: i32) -> Self {
        Self { run, ..Self::default() }
    }

    /// What a visit has seen: a row for each target and kind. Those told by letters are written by
    /// whoever reads them.
    pub(super) fn seen(&mut self, shard: i16, visit: &Visit, targets: &[PageId], again: bool) {
        let mut order: Vec<(PageId, u8, usize)> = (0..)
            .zip(visit.links.iter().zip(targets))
            .filter(|(_, (_, dst))| dst.0 != 0)
            .map(|(at, (link, dst))| (*dst, link.kind.code(), at))
            .collect();
        order.sort_unstable();
        let (run, rows) = (self.run, if again { &mut self.again } else { &mut self.fresh });
        for same in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (dst, kind, first) = same[0];
            let count: i64 = same.iter().map(|(_, _, at)| i64::from(visit.links[*at].count)).sum();
            let link = &visit.links[first];
            let row = rows.row(9).small(shard).small(i16::from(kind)).page(visit.page).page(dst);
            row.big(count).int(run).int(run).filled(visit.links.anchor(link)).filled(&link.rel);
        }
    }

    /// What letters told of. Nobody here knows whether their pages were visited before; in a first
    /// run they were not.
    pub(super) fn told(&mut self, told: &[ToldLink]) {
        let mut links: BTreeMap<(PageId, PageId, u8), (&ToldLink, i64)> = BTreeMap::new();
        for link in told {
            let same = links.entry((link.src, link.dst, link.kind.code())).or_insert((link, 0));
            same.1 += i64::from(link.count);
        }
        let (run, rows) = (self.run, if self.run > 1 { &mut self.again } else { &mut self.fresh });
        for ((src, dst, kind), (link, count)) in links {
            let row = rows.row(9).small(link.shard.sql()).small(i16::from(kind)).page(src).page(dst);
            row.big(count).int(run).int(run).filled(&link.anchor).filled(&link.rel);
        }
    }

    /// Undoes what an earlier visit of this run has seen on these pages, within a transaction.
    pub(super) fn forget(&self, line: &SharedLine, pages: &[i64]) -> Result<()> {
        for sql in [
            "DELETE FROM link_row WHERE source = ANY($1) AND first_run = $2",
            "UPDATE link_row SET seen_run = first_run WHERE source = ANY($1) AND seen_run = $2",
        ] {
            line.wait("replace links", line.client().execute(sql, &[&pages, &self.run]))?;
        }
        Ok(())
    }

    /// Writes them within a transaction.
    pub(super) fn write(self, line: &mut SharedLine) -> Result<()> {
        copy(line, &format!("link_row {COLUMNS}"), self.fresh)?;
        if self.again.len() == 0 {
            return Ok(());
        }
        line.run("merge links", "CREATE TEMP TABLE IF NOT EXISTS seen_link (LIKE link_row) ON COMMIT DELETE ROWS")?;
        copy(line, &format!("seen_link {COLUMNS}"), self.again)?;
        line.wait("merge links", line.client().execute(PAST, &[&self.run]))?;
        line.wait("merge links", line.client().execute(MERGE, &[])).map(drop)
    }
}
