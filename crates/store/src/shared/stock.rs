//! Do the objects of the archive and the rows that name them agree?
//!
//! Objects are listed first, then the rows are read in one snapshot. An object of the list whose
//! batch has happened is therefore named by a row; one whose batch may still happen belongs to a
//! worker that is alive and has recorded fewer batches. Every other object of a worker is an
//! *orphan*: its batch can never happen, because a worker that was buried records nothing. No clock
//! is compared for that. An object that tells of no known worker, such as one that is being
//! stitched together, is given an hour.

use super::SharedProject;
use super::burial::bury_expired;
use super::connect::SharedLine;
use super::objects::{ObjectArchive, StoredObject};
use crate::error::Result;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, SystemTime};

/// How old an object is that nobody is known to be writing.
const SETTLED: Duration = Duration::from_secs(3_600);

/// An object that no row names, and none will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanObject {
    /// Its name.
    pub name: String,
    /// Its length.
    pub length: u64,
}

/// An object that a row names and that is not there as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostObject {
    /// Its name.
    pub name: String,
    /// The length that the row says.
    pub wanted: u64,
    /// Its length, if it is there.
    pub found: Option<u64>,
}

/// What the archive of a shared project holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveStock {
    /// Objects that rows name and that are whole.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects of batches that may still happen.
    pub under_way: u64,
    /// Objects that no row will ever name, by name.
    pub orphans: Vec<OrphanObject>,
    /// Objects that are missing or too short, by name.
    pub lost: Vec<LostObject>,
}

/// What the tables say, in one snapshot.
#[derive(Default)]
struct NamedObjects {
    /// The lengths of objects by their names.
    lengths: BTreeMap<String, u64>,
    /// The last batch of every worker that is alive; nothing for those that were buried.
    workers: HashMap<i64, Option<u64>>,
}

impl SharedProject {
    /// Compares the archive's objects with the rows that name them.
    pub fn take_stock(&mut self) -> Result<ArchiveStock> {
        let archive = ObjectArchive::open(&self.address, &self.name)?;
        let objects = archive.list()?;
        let project = self.name.clone();
        let named = self.with(|line| {
            // Otherwise what the last worker has left behind would be under way for ever.
            bury_expired(line, &project)?;
            named(line)
        })?;
        let lost = lost(&objects, &named);
        let lost = match lost.is_empty() {
            true => lost,
            // Its batch may have happened after the list was made, or it was stitched to others.
            false => self.still_lost(&archive, lost)?,
        };
        let (orphans, under_way) = unnamed(&objects, &named, SystemTime::now());
        let gone: HashSet<&str> = lost.iter().map(|object| object.name.as_str()).collect();
        let whole = named.lengths.iter().filter(|(name, _)| !gone.contains(name.as_str()));
        let whole: Vec<u64> = whole.map(|(_, length)| *length).collect();
        Ok(ArchiveStock { objects: whole.len() as u64, bytes: whole.iter().sum(), under_way, orphans, lost })
    }

    /// Removes orphans.
    pub fn remove_orphans(&self, orphans: &[OrphanObject]) -> Result<()> {
        let archive = ObjectArchive::open(&self.address, &self.name)?;
        orphans.iter().try_for_each(|orphan| archive.remove(&orphan.name))
    }

    /// Those of some objects that are lost at a later moment, too.
    fn still_lost(&mut self, archive: &ObjectArchive, before: Vec<LostObject>) -> Result<Vec<LostObject>> {
        let objects = archive.list()?;
        let now = lost(&objects, &self.with(named)?);
        Ok(before.into_iter().filter(|object| now.contains(object)).collect())
    }
}

fn named(line: &mut SharedLine) -> Result<NamedObjects> {
    const WHAT: &str = "list the archive's files";
    let mut named = NamedObjects::default();
    line.run(WHAT, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
    for row in line.wait_long(WHAT, line.client().query("SELECT name, length FROM warc_row", &[]))? {
        named.lengths.insert(row.get(0), row.get::<_, i64>(1).cast_unsigned());
    }
    let sql = "SELECT id, CASE WHEN alive THEN batch END FROM worker";
    for row in line.wait(WHAT, line.client().query(sql, &[]))? {
        named.workers.insert(row.get(0), row.get::<_, Option<i64>>(1).map(i64::cast_unsigned));
    }
    line.run(WHAT, "COMMIT")?;
    Ok(named)
}

/// Objects that rows name and that are missing or too short.
fn lost(objects: &[StoredObject], named: &NamedObjects) -> Vec<LostObject> {
    let there: HashMap<&str, u64> = objects.iter().map(|object| (object.name.as_str(), object.length)).collect();
    let missing = named.lengths.iter().filter_map(|(name, wanted)| {
        let found = there.get(name.as_str()).copied();
        let whole = found.is_some_and(|length| length >= *wanted);
        (!whole).then(|| LostObject { name: name.clone(), wanted: *wanted, found })
    });
    missing.collect()
}

/// Objects that no row names: those that none will, and how many others there are.
fn unnamed(objects: &[StoredObject], named: &NamedObjects, now: SystemTime) -> (Vec<OrphanObject>, u64) {
    let (mut orphans, mut under_way) = (Vec::new(), 0);
    for object in objects.iter().filter(|object| !named.lengths.contains_key(&object.name)) {
        let known = author(&object.name).and_then(|(worker, batch)| Some((*named.workers.get(&worker)?, batch)));
        let may_happen = match known {
            Some((recorded, batch)) => recorded.is_some_and(|recorded| batch > recorded),
            None => now.duration_since(object.written).is_ok_and(|age| age < SETTLED) || object.written > now,
        };
        if may_happen {
            under_way += 1;
        } else {
            orphans.push(OrphanObject { name: object.name.clone(), length: object.length });
        }
    }
    orphans.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    (orphans, under_way)
}

/// The worker and the batch that a name tells of:
/// `<project>-<run>-<worker>-<batch>-<nonce>.warc.gz`.
fn author(name: &str) -> Option<(i64, u64)> {
    let mut parts = name.split_once(".warc.gz")?.0.rsplit('-').skip(1);
    let (batch, worker) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let run: u32 = parts.next()?.parse().ok()?;
    (run > 0).then_some((worker, batch))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn object(name: &str, length: u64, written: SystemTime) -> StoredObject {
        StoredObject { name: name.to_owned(), length, written }
    }

    #[test]
    fn a_name_tells_of_its_batch() {
        assert_eq!(author("my-site-2-7-31-00ff.warc.gz"), Some((7, 31)));
        assert_eq!(author("p-2-7-31-00ff.warc.gz.part"), Some((7, 31)));
        assert_eq!(author("p-0-7-1-00ff.warc.gz"), None, "it was stitched together");
        assert_eq!(author("left.warc.gz"), None);
    }

    #[test]
    fn only_what_can_never_be_named_is_an_orphan() {
        let now = SystemTime::now();
        let named = NamedObjects {
            lengths: [("p-1-1-1-a.warc.gz".to_owned(), 5)].into(),
            workers: [(1, Some(3)), (2, None)].into(),
        };
        let objects = [
            object("p-1-1-1-a.warc.gz", 5, now - 9 * HOUR),
            // Of a worker that is alive: the batch it is committing, however long that takes, and
            // one that was tried before the one of its number that has happened.
            object("p-1-1-4-b.warc.gz", 5, now - 9 * HOUR),
            object("p-1-1-3-c.warc.gz", 5, now),
            // Of one that was buried.
            object("p-1-2-8-d.warc.gz", 6, now),
            // Of nobody who is known.
            object("p-0-9-1-e.warc.gz", 7, now - 2 * HOUR),
            object("p-0-9-2-f.warc.gz", 7, now - HOUR / 2),
            object("p-0-9-3-g.warc.gz", 7, now + HOUR),
        ];
        let (orphans, under_way) = unnamed(&objects, &named, now);
        let names: Vec<&str> = orphans.iter().map(|orphan| orphan.name.as_str()).collect();
        assert_eq!(names, ["p-0-9-1-e.warc.gz", "p-1-1-3-c.warc.gz", "p-1-2-8-d.warc.gz"]);
        assert_eq!(under_way, 3);
    }

    #[test]
    fn what_is_named_and_not_whole_is_lost() {
        let lengths = [("a", 5), ("b", 5), ("c", 5)].map(|(name, length)| (name.to_owned(), length));
        let named = NamedObjects { lengths: lengths.into(), ..NamedObjects::default() };
        let now = SystemTime::now();
        let found = lost(&[object("a", 5, now), object("b", 4, now)], &named);
        let told: Vec<_> = found.iter().map(|object| (object.name.as_str(), object.wanted, object.found)).collect();
        assert_eq!(told, [("b", 5, Some(4)), ("c", 5, None)]);
    }
}
