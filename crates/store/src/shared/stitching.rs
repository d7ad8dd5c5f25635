//! How do the many small objects of a crawl become few large ones?
//!
//! Every batch leaves an object behind, and millions of them are slow to list and dear to copy.
//! Stitching writes the bytes of many, one behind the other, into a new object, and then moves the
//! visits' positions there in one transaction. A WARC file is a sequence of records and a gzip file
//! a sequence of members, so that every record can be read at its new place as before. Only when
//! that transaction has happened are the old objects removed: whoever is killed leaves orphans
//! behind (`stock.rs`), never a row without its bytes.
//!
//! Workers have the old positions in their scratch copies, so nobody may work on the project. The
//! transaction holds the project's row, which everybody who joins must change: either that worker
//! is seen, or it loads the new positions.

use super::SharedProject;
use super::burial::bury_expired;
use super::connect::SharedLine;
use super::objects::ObjectArchive;
use super::writer::point;
use crate::FileEnd;
use crate::error::{Result, StoreError};

/// What stitching has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StitchAccount {
    /// Objects that were stitched together.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that they became.
    pub into: u64,
    /// Objects that the archive has now.
    pub left: u64,
}

/// An object that visits point to.
struct OldObject {
    id: i64,
    file: FileEnd,
}

/// Visits by the object they are in: made where several large objects are, and removed afterwards,
/// because a crawl would pay for it.
const INDEX: &str = "CREATE INDEX IF NOT EXISTS visit_by_warc ON visit_row (warc)";
const NO_INDEX: &str = "DROP INDEX IF EXISTS visit_by_warc";

const MOVE: &str = "UPDATE visit_row v SET warc = $1, warc_offset = v.warc_offset + o.base
    FROM unnest($2::bigint[], $3::bigint[]) AS o(id, base) WHERE v.warc = o.id";

impl SharedProject {
    /// Stitches objects together that are smaller than half of `size` into objects of about that
    /// size, and removes the old ones unless they are to be kept. Tells how far it is after each.
    pub fn stitch(&mut self, size: u64, keep: bool, mut each: impl FnMut(&StitchAccount)) -> Result<StitchAccount> {
        let archive = ObjectArchive::open(&self.address, &self.name)?;
        let project = self.name.clone();
        let (groups, number, all) = self.with(|line| {
            bury_expired(line, &project)?;
            if let Some(worker) = living(line)? {
                return Err(busy(&project, &worker));
            }
            let groups = grouped(small(line, size)?, size);
            if groups.len() > 1 {
                line.wait_long("index the visits", line.client().batch_execute(INDEX))?;
            }
            // Numbers of objects have the number of their writer in them: this one writes no
            // batches.
            let draw = "UPDATE project SET next_worker = next_worker + 1 RETURNING next_worker - 1";
            let number: i64 = line.wait("stitch objects", line.client().query_one(draw, &[]))?.get(0);
            let all = "SELECT count(*) FROM warc_row";
            let all: i64 = line.wait("stitch objects", line.client().query_one(all, &[]))?.get(0);
            Ok((groups, number, all.cast_unsigned()))
        })?;
        let mut account = StitchAccount { left: all, ..StitchAccount::default() };
        for (no, group) in (1..).zip(&groups) {
            point("before-stitch")?;
            let file = self.stitch_group(&archive, group, (number, no))?;
            if !keep {
                for old in group {
                    point("before-stitch-removal")?;
                    archive.remove(&old.file.name)?;
                }
            }
            account.objects += group.len() as u64;
            account.bytes += file.length;
            account.into += 1;
            account.left -= group.len() as u64 - 1;
            each(&account);
        }
        self.with(|line| line.wait_long("stitch objects", line.client().batch_execute(NO_INDEX)))?;
        point("after-stitch")?;
        Ok(account)
    }

    /// Makes one object of several, and moves the visits there.
    fn stitch_group(
        &mut self,
        archive: &ObjectArchive,
        group: &[OldObject],
        (number, no): (i64, i64),
    ) -> Result<FileEnd> {
        let nonce = getrandom::u64().map_err(|e| StoreError::StoreAway { what: "draw a nonce", source: e.into() })?;
        let name = format!("{}-0-{number}-{no}-{nonce:016x}.warc.gz", self.name);
        let parts: Vec<FileEnd> = group.iter().map(|old| old.file.clone()).collect();
        let (length, records) = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.length, sum.1 + part.records));
        archive.stitch(&parts, &name)?;
        point("after-stitched-object")?;
        let file = FileEnd { name: name.into(), length, records };
        let refused = self.with(|line| {
            line.begin("stitch objects")?;
            let refused = move_visits(line, group, (number << 32 | no, &file))?;
            if refused.is_some() {
                line.run("stitch objects", "ROLLBACK")?;
            } else {
                point("before-stitch-commit")?;
                line.run("stitch objects", "COMMIT")?;
            }
            Ok(refused)
        })?;
        point("after-stitch-commit")?;
        match refused {
            None => Ok(file),
            Some(worker) => {
                archive.remove(&file.name)?;
                Err(busy(&self.name, &worker))
            }
        }
    }
}

/// Says that visits are in another object now, within a transaction; a worker that forbids it.
fn move_visits(line: &mut SharedLine, group: &[OldObject], (id, file): (i64, &FileEnd)) -> Result<Option<String>> {
    const WHAT: &str = "move visits";
    let client = line.client();
    line.wait_long(WHAT, client.query("SELECT 1 FROM project FOR UPDATE", &[]))?;
    if let Some(worker) = living(line)? {
        return Ok(Some(worker));
    }
    let ids: Vec<i64> = group.iter().map(|old| old.id).collect();
    let lengths = group.iter().map(|old| old.file.length.cast_signed());
    let bases: Vec<i64> = lengths.scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect();
    let sql = "INSERT INTO warc_row (id, name, length, records) VALUES ($1, $2, $3, $4)";
    let (length, records) = (file.length.cast_signed(), file.records.cast_signed());
    line.wait(WHAT, client.execute(sql, &[&id, &&*file.name, &length, &records]))?;
    line.wait_long(WHAT, client.execute(MOVE, &[&id, &ids, &bases]))?;
    let gone = line.wait_long(WHAT, client.execute("DELETE FROM warc_row WHERE id = ANY($1)", &[&ids]))?;
    if gone == ids.len() as u64 {
        return Ok(None);
    }
    Err(StoreError::Shared("somebody else stitches these objects together".to_owned()))
}

/// A worker that is alive.
fn living(line: &SharedLine) -> Result<Option<String>> {
    let sql = "SELECT name FROM worker WHERE alive ORDER BY id LIMIT 1";
    Ok(line.wait("look for workers", line.client().query_opt(sql, &[]))?.map(|row| row.get(0)))
}

fn busy(project: &str, worker: &str) -> StoreError {
    StoreError::Shared(format!("worker {worker} works on project {project}: its objects are stitched when nobody does"))
}

/// Objects that are worth being stitched, in the order of their numbers.
fn small(line: &SharedLine, size: u64) -> Result<Vec<OldObject>> {
    let sql = "SELECT id, name, length, records FROM warc_row WHERE length < $1 ORDER BY id";
    let half = i64::try_from(size / 2).unwrap_or(i64::MAX);
    let rows = line.wait_long("list the archive's files", line.client().query(sql, &[&half]))?;
    let read = |row: &tokio_postgres::Row| OldObject {
        id: row.get(0),
        file: FileEnd {
            name: row.get::<_, String>(1).into(),
            length: row.get::<_, i64>(2).cast_unsigned(),
            records: row.get::<_, i64>(3).cast_unsigned(),
        },
    };
    Ok(rows.iter().map(read).collect())
}

/// Groups of at least two objects whose sum is at most `size`. All but the last are more than half
/// of that, so that none is stitched again.
fn grouped(objects: Vec<OldObject>, size: u64) -> Vec<Vec<OldObject>> {
    let (mut groups, mut sum) = (Vec::<Vec<OldObject>>::new(), 0);
    for object in objects {
        let length = object.file.length;
        match groups.last_mut() {
            Some(group) if sum + length <= size => {
                sum += length;
                group.push(object);
            }
            _ => {
                sum = length;
                groups.push(vec![object]);
            }
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_wanted_and_none_is_stitched_twice() {
        let object = |(id, length): (i64, u64)| {
            let file = FileEnd { name: format!("{id}").into(), length, records: 1 };
            OldObject { id, file }
        };
        let lengths = |groups: &[Vec<OldObject>]| -> Vec<Vec<u64>> {
            groups.iter().map(|group| group.iter().map(|old| old.file.length).collect()).collect()
        };
        let groups = grouped((1..).zip([30, 40, 20, 45, 30, 10, 10]).map(object).collect(), 100);
        assert_eq!(lengths(&groups), [vec![30, 40, 20], vec![45, 30, 10, 10]]);
        assert!(groups.iter().all(|group| group.iter().map(|old| old.file.length).sum::<u64>() > 50));
        assert!(grouped(vec![object((1, 40))], 100).is_empty(), "one alone stays what it is");
        assert!(grouped(Vec::new(), 100).is_empty());
    }
}
