//! How do a page's links become rows, and what happens to its earlier ones?
//!
//! `link_row` has one row for each target and kind a page ever linked to. A link that has
//! disappeared is closed with the last run that saw it. Previous values of a row, and the earlier
//! life of a link that was lost and came back, go to `past_row`, so that what any run saw can be
//! reconstructed (`history`). A page seen for the first time only adds rows; a revisited one writes
//! only those that differ.

use orb_page::{PageId, RunId, Visit};
use rusqlite::{CachedStatement, Connection, params};
use std::cmp::Ordering;

/// Rows per statement: every statement opens the table and seeks again.
const TOGETHER: usize = 8;
/// Columns per inserted row.
const COLUMNS: usize = 7;

/// What was recorded about a page's links before a visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier {
    /// Whether there may be rows already.
    pub(super) rows: bool,
    /// The last run before this one that visited the page.
    pub(super) run: Option<u32>,
}

/// Writes the links of one page after another.
pub(super) struct LinkWriter<'db> {
    run: RunId,
    insert: CachedStatement<'db>,
    insert_together: CachedStatement<'db>,
    read: CachedStatement<'db>,
    change: CachedStatement<'db>,
    remove: CachedStatement<'db>,
    past: CachedStatement<'db>,
    order: Vec<(PageId, u8, u32)>,
}

/// A link as stored.
struct StoredLink {
    dst: i64,
    kind: u8,
    anchor: Option<String>,
    rel: Option<String>,
    count: u32,
    first_run: u32,
    last_run: Option<u32>,
}

/// A link as just seen; links to one target with one kind are merged, and their counts added.
#[derive(Clone, Copy, Default)]
struct LinkSighting<'a> {
    dst: i64,
    kind: u8,
    anchor: Option<&'a str>,
    rel: Option<&'a str>,
    count: u32,
}

impl StoredLink {
    fn says(&self, seen: LinkSighting<'_>) -> bool {
        self.anchor.as_deref() == seen.anchor && self.rel.as_deref() == seen.rel && self.count == seen.count
    }
}

impl<'db> LinkWriter<'db> {
    /// A writer for one run.
    pub(super) fn new(db: &'db Connection, run: RunId) -> rusqlite::Result<Self> {
        Ok(Self {
            run,
            insert: db.prepare_cached(&insert_of(1))?,
            insert_together: db.prepare_cached(&insert_of(TOGETHER))?,
            read: db.prepare_cached(
                "SELECT dst, kind, anchor, rel, count, first_run, last_run FROM link_row WHERE source = ?1 ORDER BY dst, kind",
            )?,
            change: db.prepare_cached(
                "UPDATE link_row SET anchor = ?4, rel = ?5, count = ?6, first_run = ?7, last_run = ?8
                 WHERE source = ?1 AND dst = ?2 AND kind = ?3",
            )?,
            remove: db.prepare_cached("DELETE FROM link_row WHERE source = ?1 AND dst = ?2 AND kind = ?3")?,
            past: db.prepare_cached(
                "INSERT OR IGNORE INTO past_row (source, dst, kind, last_run, first_run, anchor, rel, count)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?,
            order: Vec::new(),
        })
    }

    /// Writes what a visit saw.
    pub(super) fn write(
        &mut self,
        source: i64,
        visit: &Visit,
        targets: &[PageId],
        earlier: Earlier,
    ) -> rusqlite::Result<()> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend((0u32..).zip(visit.links.iter().zip(targets)).map(|(i, (l, dst))| (*dst, l.kind.code(), i)));
        order.sort_unstable();
        let seen = order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|same| gathered(visit, same));
        let written = if earlier.rows { self.merge(source, seen, earlier.run) } else { self.add(source, seen) };
        self.order = order;
        written
    }

    /// Inserts rows that cannot conflict, several per statement.
    fn add<'a>(&mut self, source: i64, mut seen: impl Iterator<Item = LinkSighting<'a>>) -> rusqlite::Result<()> {
        let (together, run) = (&mut self.insert_together, self.run.0);
        let mut waiting = [LinkSighting::default(); TOGETHER];
        loop {
            let filled = waiting.iter_mut().zip(&mut seen).map(|(place, link)| *place = link).count();
            if filled < TOGETHER {
                return waiting[..filled].iter().try_for_each(|link| self.open(source, *link));
            }
            for (first, l) in (1..).step_by(COLUMNS).zip(&waiting) {
                together.raw_bind_parameter(first, source)?;
                together.raw_bind_parameter(first + 1, l.dst)?;
                together.raw_bind_parameter(first + 2, l.kind)?;
                together.raw_bind_parameter(first + 3, l.anchor)?;
                together.raw_bind_parameter(first + 4, l.rel)?;
                together.raw_bind_parameter(first + 5, l.count)?;
                together.raw_bind_parameter(first + 6, run)?;
            }
            together.raw_execute()?;
        }
    }

    fn open(&mut self, source: i64, l: LinkSighting<'_>) -> rusqlite::Result<()> {
        self.insert.execute(params![source, l.dst, l.kind, l.anchor, l.rel, l.count, self.run.0]).map(drop)
    }

    /// A merge join of stored and seen links: both are ordered by target and kind.
    fn merge<'a>(
        &mut self,
        source: i64,
        seen: impl Iterator<Item = LinkSighting<'a>>,
        previous: Option<u32>,
    ) -> rusqlite::Result<()> {
        let kept: Vec<StoredLink> = self.read.query_map([source], read)?.collect::<rusqlite::Result<_>>()?;
        let mut kept = kept.into_iter().peekable();
        for link in seen {
            while let Some(gone) = kept.next_if(|k| (k.dst, k.kind) < (link.dst, link.kind)) {
                self.lose(source, &gone, previous)?;
            }
            match kept.peek().map(|k| (k.dst, k.kind).cmp(&(link.dst, link.kind))) {
                Some(Ordering::Equal) => {
                    if let Some(known) = kept.next() {
                        self.meet_again(source, &known, link, previous)?;
                    }
                }
                _ => self.open(source, link)?,
            }
        }
        kept.try_for_each(|gone| self.lose(source, &gone, previous))
    }

    /// A link has disappeared; what an earlier visit of the same run saw is undone.
    fn lose(&mut self, source: i64, gone: &StoredLink, previous: Option<u32>) -> rusqlite::Result<()> {
        match (gone.last_run, previous) {
            (Some(_), _) => Ok(()),
            (None, Some(previous)) if gone.first_run < self.run.0 => {
                let (dst, kind) = (gone.dst, gone.kind);
                let values = (&gone.anchor, &gone.rel, gone.count);
                self.change
                    .execute(params![source, dst, kind, values.0, values.1, values.2, gone.first_run, previous])
                    .map(drop)
            }
            (None, _) => self.remove.execute(params![source, gone.dst, gone.kind]).map(drop),
        }
    }

    /// A link is there again, or still.
    fn meet_again(
        &mut self,
        source: i64,
        known: &StoredLink,
        link: LinkSighting<'_>,
        previous: Option<u32>,
    ) -> rusqlite::Result<()> {
        if known.last_run.is_none() && known.says(link) {
            return Ok(());
        }
        // Closed with the run before this one: by an earlier visit of this run, which is undone.
        let lives = known.last_run.is_none() || known.last_run == previous;
        let ended = if lives { previous } else { known.last_run };
        if let Some(ended) = ended.filter(|ended| known.first_run <= *ended && !(lives && known.says(link))) {
            let StoredLink { dst, kind, anchor, rel, count, first_run, .. } = known;
            self.past.execute(params![source, dst, kind, ended, first_run, anchor, rel, count])?;
        }
        let first_run = if lives { known.first_run } else { self.run.0 };
        let open: Option<u32> = None;
        self.change
            .execute(params![source, link.dst, link.kind, link.anchor, link.rel, link.count, first_run, open])
            .map(drop)
    }
}

/// The statement that inserts this many rows.
///
/// A failure ends the whole transaction, so no statement journal is needed to undo a statement that
/// fails half-way (`OR FAIL`): SQLite would copy every page touched into memory that it allocates
/// each time.
fn insert_of(rows: usize) -> String {
    let values = vec!["(?, ?, ?, ?, ?, ?, ?)"; rows].join(", ");
    format!("INSERT OR FAIL INTO link_row (source, dst, kind, anchor, rel, count, first_run) VALUES {values}")
}

fn read(r: &rusqlite::Row<'_>) -> rusqlite::Result<StoredLink> {
    Ok(StoredLink {
        dst: r.get(0)?,
        kind: r.get(1)?,
        anchor: r.get(2)?,
        rel: r.get(3)?,
        count: r.get(4)?,
        first_run: r.get(5)?,
        last_run: r.get(6)?,
    })
}

fn gathered<'a>(visit: &'a Visit, same: &[(PageId, u8, u32)]) -> LinkSighting<'a> {
    let (dst, kind, first) = same[0];
    let link = &visit.links[first as usize];
    let count = same.iter().fold(0u32, |sum, (_, _, i)| sum.saturating_add(visit.links[*i as usize].count));
    LinkSighting {
        dst: dst.0.cast_signed(),
        kind,
        anchor: filled(visit.links.anchor(link)),
        rel: filled(&link.rel),
        count,
    }
}

/// `None` for an empty text: saves two bytes in most link rows.
fn filled(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
