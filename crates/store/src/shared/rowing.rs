//! Which rows does a batch add?

use super::SharedWriter;
use super::commit::copy;
use super::connect::SharedLine;
use super::link_rows::LinkRows;
use super::rows::CopyRows;
use crate::error::Result;
use crate::sqlite::{Catalogue, is_told};
use crate::{Batch, FinishedVisit};
use orb_page::{Flag, PageId, PageKind, RunId, Visit};
use std::collections::BTreeMap;

const HOST: &str = "host_row (shard, id, scheme, name, port, first_seen)";
const PAGE: &str =
    "page_row (shard, kind, id, url, host, why, depth, redirects, priority, rank, at, by, origin, step, asked)";
const VISIT: &str = "visit_row (shard, flag, kind, page, run, at, by, status, mime, charset, length, transferred, digest, simhash, title,
    lang, etag, last_modified, duplicate_of, problem, elapsed_ms, warc, warc_offset, warc_length, source)";

const IMAGE: &str = "image_row (shard, page, seq, url, alt, width, height, mime)";
const WARC: &str = "warc_row (id, name, length, records)";
const CHANGE: &str = "change_row (shard, seq, run, page, flag, at, moved, detail)";
const DIGEST: &str = "digest_row (shard, digest, page)";

/// The rows of a batch, encoded before the transaction begins.
#[derive(Default)]
pub(super) struct BatchRows {
    hosts: CopyRows,
    pages: CopyRows,
    visits: CopyRows,
    links: LinkRows,
    images: CopyRows,
    files: CopyRows,
    digests: CopyRows,
    /// The changes that the run reports, without their numbers.
    changes: Vec<TellingVisit>,
    /// Pages visited earlier in this run: what that visit left is replaced.
    repeated: Vec<i64>,
    /// Pages whose images are replaced.
    redrawn: Vec<i64>,
    /// What each shard gains: pages known, and pages visited for the first time.
    gains: BTreeMap<i16, (i64, i64)>,
    run: i32,
    worker: i64,
    no: i64,
}

struct TellingVisit {
    shard: i16,
    page: PageId,
    flag: u8,
    at: i64,
    moved: Option<String>,
    detail: Option<String>,
}

impl BatchRows {
    pub(super) fn of(writer: &mut SharedWriter, batch: &Batch, scratch: &Catalogue) -> Result<Self> {
        let links = LinkRows::of(batch.run.0.cast_signed());
        let mut rows = Self { run: batch.run.0.cast_signed(), links, ..Self::default() };
        (rows.worker, rows.no) = (writer.worker().0, writer.attempt()?.no.cast_signed());
        for host in &batch.hosts {
            let shard = writer.shard_of(&host.name);
            writer.know_host(host.id, shard);
            let row = rows.hosts.row(6).small(shard.sql()).host(host.id).text(&host.scheme).text(&host.name);
            row.int(i32::from(host.port)).big(host.at.0);
        }
        rows.discover(writer, batch, scratch)?;
        for finished in &batch.visits {
            rows.visit(writer, batch.run, finished, scratch)?;
        }
        rows.links.told(&batch.told);
        if let Some((id, file)) = writer.object() {
            rows.files.row(4).big(id).text(&file.name).unsigned(file.length).unsigned(file.records);
        }
        for (digest, page) in &batch.digests {
            let shard = super::ShardId::of_digest(digest, writer.shards());
            rows.digests.row(3).small(shard.sql()).blob(digest).page(*page);
        }
        Ok(rows)
    }

    fn discover(&mut self, writer: &mut SharedWriter, batch: &Batch, scratch: &Catalogue) -> Result<()> {
        for d in &batch.discovered {
            let shard = writer.shard_of_host(d.host, scratch)?.sql();
            self.gains.entry(shard).or_default().0 += 1;
            let why = d.why.map(|why| writer.names.of(why.name())).transpose()?;
            let by = writer.names.of(&d.by)?;
            let row = self.pages.row(15).small(shard).small(i16::from(d.kind.code())).page(d.page).text(&d.url);
            row.host(d.host).maybe(why, CopyRows::int).count(d.depth).small(i16::from(d.redirects)).real(d.priority);
            row.unsigned(d.rank).big(d.at.0).int(by).maybe(d.from, CopyRows::page);
            row.maybe(d.step, CopyRows::count).maybe_text(d.asked.as_deref());
        }
        Ok(())
    }

    fn visit(
        &mut self,
        writer: &mut SharedWriter,
        run: RunId,
        finished: &FinishedVisit,
        scratch: &Catalogue,
    ) -> Result<()> {
        let FinishedVisit { visit, targets, .. } = finished;
        let shard = writer.shard_of_host(visit.host, scratch)?.sql();
        let before = scratch.visited_before(visit.page, run)?;
        let id = visit.page.0.cast_signed();
        let saw_content = match visit.flag {
            Flag::New | Flag::Updated | Flag::Missing => true,
            Flag::Same => !visit.links.is_empty(),
            // A redirect is no document, and points somewhere all the same.
            Flag::Error => visit.kind == PageKind::Redirect,
        };
        self.repeated.extend(before.repeated.then_some(id));
        self.redrawn.extend((saw_content && (before.repeated || before.earlier)).then_some(id));
        self.gains.entry(shard).or_default().1 += i64::from(!before.repeated && !before.earlier);
        let linked = !visit.links.is_empty() && !before.linked_earlier;
        let source = (linked || before.linked_here).then_some(visit.page);
        let file = match &visit.warc {
            Some(place) => Some(match writer.object() {
                Some((id, own)) if own.name == place.file => id,
                _ => scratch.file_number(&place.file)?,
            }),
            None => None,
        };
        let by = writer.names.of(&visit.by)?;
        self.put_visit(visit, (shard, by), file, source);
        if saw_content {
            self.links.seen(shard, visit, targets, before.earlier || before.repeated);
            for (seq, image) in (0i64..).zip(&visit.images) {
                let row = self.images.row(8).small(shard).page(visit.page).big(seq).text(&image.url);
                row.maybe_text(image.alt.as_deref()).maybe(image.width.map(i64::from), CopyRows::big);
                row.maybe(image.height.map(i64::from), CopyRows::big).maybe_text(image.mime.as_deref());
            }
        }
        if run.0 > 1 && is_told(visit) {
            let detail = visit.detail.as_ref().or(visit.problem.as_ref().filter(|_| visit.flag == Flag::Error));
            let (moved, detail) = (visit.moved.clone(), detail.cloned());
            let (page, flag, at) = (visit.page, visit.flag.code(), visit.at.0);
            self.changes.push(TellingVisit { shard, page, flag, at, moved, detail });
        }
        Ok(())
    }

    fn put_visit(&mut self, v: &Visit, (shard, by): (i16, i32), file: Option<i64>, source: Option<PageId>) {
        let (run, rows) = (self.run, &mut self.visits);
        rows.row(25).small(shard).small(i16::from(v.flag.code())).small(i16::from(v.kind.code())).page(v.page);
        rows.int(run).big(v.at.0).int(by).maybe(v.status.map(i32::from), CopyRows::int);
        rows.maybe_text(v.mime.as_deref()).maybe_text(v.charset.as_deref()).unsigned(v.length).unsigned(v.transferred);
        rows.maybe(v.digest.as_ref(), |rows, digest| rows.blob(digest)).maybe(v.simhash, CopyRows::unsigned);
        rows.maybe_text(v.title.as_deref()).maybe_text(v.lang.as_deref()).maybe_text(v.etag.as_deref());
        rows.maybe_text(v.last_modified.as_deref()).maybe(v.duplicate_of, CopyRows::page);
        rows.maybe_text(v.problem.as_deref()).big(i64::from(v.elapsed_ms)).maybe(file, CopyRows::big);
        let place = v.warc.as_ref().filter(|_| file.is_some());
        rows.maybe(place.map(|w| w.offset), CopyRows::unsigned).maybe(place.map(|w| w.length), CopyRows::unsigned);
        rows.maybe(source, CopyRows::page);
    }

    /// Writes them within a transaction; whether all of them are in shards that this worker holds.
    pub(super) fn write(self, line: &mut SharedLine) -> Result<bool> {
        copy(line, HOST, self.hosts)?;
        copy(line, PAGE, self.pages)?;
        copy(line, WARC, self.files)?;
        if !self.repeated.is_empty() {
            let sql = "DELETE FROM visit_row WHERE page = ANY($1) AND run = $2";
            line.wait("replace a visit", line.client().execute(sql, &[&self.repeated, &self.run]))?;
            self.links.forget(line, &self.repeated)?;
        }
        if !self.redrawn.is_empty() {
            let sql = "DELETE FROM image_row WHERE page = ANY($1)";
            line.wait("replace images", line.client().execute(sql, &[&self.redrawn]))?;
        }
        copy(line, VISIT, self.visits)?;
        self.links.write(line)?;
        copy(line, IMAGE, self.images)?;
        remember(line, self.digests)?;
        tell(line, self.run, self.changes)?;
        gain(line, (self.worker, self.no), &self.gains)
    }
}

/// Who was first with some content stays so.
fn remember(line: &mut SharedLine, digests: CopyRows) -> Result<()> {
    if digests.len() == 0 {
        return Ok(());
    }
    line.run(
        "remember digests",
        "CREATE TEMP TABLE IF NOT EXISTS seen_digest (LIKE digest_row) ON COMMIT DELETE ROWS",
    )?;
    copy(line, &DIGEST.replacen("digest_row", "seen_digest", 1), digests)?;
    let sql = "INSERT INTO digest_row SELECT * FROM seen_digest ORDER BY shard, digest ON CONFLICT DO NOTHING";
    line.wait("remember digests", line.client().execute(sql, &[])).map(drop)
}

/// Numbers the changes and adds them. The project's row is locked until the commit, so that numbers
/// become visible in their order.
fn tell(line: &mut SharedLine, run: i32, changes: Vec<TellingVisit>) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let count = i64::try_from(changes.len()).unwrap_or(0);
    let sql = "UPDATE project SET next_change = next_change + $1 RETURNING next_change - $1";
    let first: i64 = line.wait("number the changes", line.client().query_one(sql, &[&count]))?.get(0);
    let mut rows = CopyRows::default();
    for (seq, change) in (first..).zip(changes) {
        let row = rows.row(8).small(change.shard).big(seq).int(run).page(change.page).small(i16::from(change.flag));
        row.big(change.at).maybe_text(change.moved.as_deref()).maybe_text(change.detail.as_deref());
    }
    copy(line, CHANGE, rows)
}

/// Counts what the worker's shards gain. One that is not the worker's gains nothing: then the batch
/// must not happen, whoever else has recorded there since.
fn gain(line: &mut SharedLine, (worker, no): (i64, i64), gains: &BTreeMap<i16, (i64, i64)>) -> Result<bool> {
    if gains.is_empty() {
        return Ok(true);
    }
    let shards: Vec<i16> = gains.keys().copied().collect();
    let pages: Vec<i64> = gains.values().map(|gain| gain.0).collect();
    let fetched: Vec<i64> = gains.values().map(|gain| gain.1).collect();
    let sql = line.prepared(
        "count the shards",
        "UPDATE shard s SET pages = s.pages + g.pages, fetched = s.fetched + g.fetched, batch = $4
         FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS g(id, pages, fetched)
         WHERE s.id = g.id AND s.worker = $5",
    )?;
    let held =
        line.wait("count the shards", line.client().execute(&sql, &[&shards, &pages, &fetched, &no, &worker]))?;
    Ok(held == gains.len() as u64)
}
