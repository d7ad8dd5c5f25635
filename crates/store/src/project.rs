//! How do archive, catalogue and index come to agree?
//!
//! [`Project`] opens them in the only right order (lock, catalogue, archive cut to what the catalogue knows, index brought to where the
//! catalogue is) and commits a batch in the only right order (bytes, facts, index). Killed between any two steps, the next start sees
//! either all of the batch or nothing of it.

use crate::archive::{Archive, ArchiveStart, is_ours};
use crate::error::{Result, StoreError};
use crate::home::{ProjectDir, ProjectLock};
use crate::index::{AHEAD, FrontierIndex, IndexStart};
use crate::keys::KeyFollower;
use crate::sqlite::Catalogue;
use crate::warc::Encoded;
use crate::{Batch, fault};
use orb_page::{HostId, PageId};
use std::time::{Duration, Instant};

/// A project opened for writing.
pub struct Project {
    // Dropped in this order: the lock goes last.
    index: FrontierIndex,
    keys: KeyFollower,
    archive: Archive,
    catalogue: Catalogue,
    dir: ProjectDir,
    index_behind: bool,
    start: Start,
    _lock: ProjectLock,
}

/// What had to be done when the project was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// To the archive.
    pub archive: ArchiveStart,
    /// To the frontier index.
    pub index: IndexStart,
    /// Whether the last run was cut off rather than ended.
    pub crashed: bool,
}

/// What a commit did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The number of the batch.
    pub batch: u64,
    /// Bytes added to the archive.
    pub archived: u64,
    /// How long each of its steps took.
    pub took: Steps,
}

/// How long the steps of a commit took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Appending the bytes, and waiting until they are on the disk.
    pub archive: Duration,
    /// The transaction with the facts.
    pub catalogue: Duration,
    /// The batch on the frontier index.
    pub index: Duration,
}

impl Project {
    /// Opens a project for writing and brings its stores to agreement.
    pub fn open(dir: &ProjectDir) -> Result<Self> {
        let lock = ProjectLock::take(dir)?;
        catalogue_is_there(dir)?;
        let catalogue = Catalogue::create_or_open(&dir.catalogue())?;
        catalogue.examine_if_small()?;
        let crashed = catalogue.open_run()?.is_some();
        let (index, index_start) = FrontierIndex::open(&dir.frontier(), &catalogue)?;
        if index_start == IndexStart::Rebuilt(AHEAD) {
            // A commit is on the disk before the index follows it: the catalogue has lost some, or is an older one.
            crate::check::examine_catalogue(&dir.catalogue())?;
        }
        let (archive, archive_start) = Archive::open(&dir.archive(), &dir.name, &catalogue.archive_files()?)?;
        let keys = KeyFollower::open(&dir.keys(), &catalogue)?;
        let start = Start { archive: archive_start, index: index_start, crashed };
        Ok(Self { index, keys, archive, catalogue, dir: dir.clone(), index_behind: false, start, _lock: lock })
    }

    /// Its directory.
    pub fn dir(&self) -> &ProjectDir {
        &self.dir
    }

    /// What had to be done when it was opened.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The facts.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The facts, to begin and end runs.
    pub fn catalogue_mut(&mut self) -> &mut Catalogue {
        &mut self.catalogue
    }

    /// The bytes.
    pub fn archive_mut(&mut self) -> &mut Archive {
        &mut self.archive
    }

    /// The seen set and the queues; a clone may go to another thread.
    pub fn index(&self) -> &FrontierIndex {
        &self.index
    }

    /// The number the next page gets.
    pub fn next_page_id(&self) -> PageId {
        self.catalogue.next_page_id()
    }

    /// The number the next host gets.
    pub fn next_host_id(&self) -> HostId {
        self.catalogue.next_host_id()
    }

    /// Commits a batch: `records[i]` are the exchanges of `batch.visits[i]`, the last of them the one that answers for it; `extra` are
    /// exchanges that belong to no page (robots.txt).
    ///
    /// After an error the same call may be made again, with the same batch: what was already done is not done twice. After
    /// [`StoreError::NoSpace`] that is what a caller should do once there is room.
    pub fn commit(&mut self, batch: &mut Batch, records: &[Vec<Encoded>], extra: &[Encoded]) -> Result<Committed> {
        if records.len() > batch.visits.len() {
            return Err(StoreError::BadBatch(format!(
                "records for {} of {} visits",
                records.len(),
                batch.visits.len()
            )));
        }
        if self.index_behind {
            self.recover_index()?;
        }
        let mut took = Steps::default();
        if batch.recorded.is_none() {
            self.record(batch, records, extra, &mut took)?;
            let began = Instant::now();
            self.index.apply(batch, self.catalogue.watermark())?;
            took.index = began.elapsed();
            self.index_behind = false;
        }
        self.archive.close_rolled()?;
        Ok(Committed { batch: self.catalogue.watermark().no, archived: batch.archived.unwrap_or(0), took })
    }

    /// Steps 1 and 2: bytes, then facts. Once the bytes are on the disk they stay, whatever the catalogue says to the facts: it may have
    /// recorded them although it could not say so.
    fn record(
        &mut self,
        batch: &mut Batch,
        records: &[Vec<Encoded>],
        extra: &[Encoded],
        took: &mut Steps,
    ) -> Result<()> {
        self.catalogue.sift_requeued(batch)?;
        let began = Instant::now();
        if batch.archived.is_none() {
            if self.archive.is_ahead() {
                self.archive.roll_back()?;
            }
            // What cannot be cut back now is cut before the next try, or at the next start.
            let written = self.write_archive(batch, records, extra).inspect_err(|_| drop(self.archive.roll_back()));
            batch.archived = Some(written?);
        }
        self.catalogue.followed(self.index.folded());
        let written = Instant::now();
        took.archive = written - began;
        if let Err(e) = self.catalogue.commit(batch, &self.archive.end()) {
            if matches!(e, StoreError::BadBatch(_)) {
                batch.archived = None;
                self.archive.roll_back()?;
            }
            return Err(e);
        }
        took.catalogue = written.elapsed();
        batch.recorded = Some(self.catalogue.watermark().no);
        // Until the index has followed, whatever fails from here on.
        self.index_behind = true;
        self.archive.committed();
        self.keys.follow(&batch.discovered, self.catalogue.watermark());
        Ok(())
    }

    fn write_archive(&mut self, batch: &mut Batch, records: &[Vec<Encoded>], extra: &[Encoded]) -> Result<u64> {
        let fail = |e| StoreError::io("write", &self.dir.archive(), e);
        fault::point("before-archive").map_err(fail)?;
        let mut archived = 0;
        for record in extra {
            self.archive.append(record)?;
            archived += record.len();
        }
        for (visit, records) in batch.visits.iter_mut().zip(records) {
            visit.warc = None;
            for record in records {
                visit.warc = Some(self.archive.append(record)?);
                archived += record.len();
            }
            if visit.kept.is_some() {
                visit.warc.clone_from(&visit.kept);
            }
        }
        fault::point("after-archive").map_err(fail)?;
        self.archive.flush()?;
        fault::point("after-flush").map_err(fail)?;
        Ok(archived)
    }

    fn recover_index(&mut self) -> Result<()> {
        self.index.recover(&self.catalogue)?;
        self.index_behind = false;
        Ok(())
    }

    /// Closes everything in good order.
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    /// Leaves everything in good order: the archive's last file with its CDXJ file, the catalogue's log moved into it. Nothing can be committed
    /// afterwards; what fails may be tried again.
    pub fn finish(&mut self) -> Result<()> {
        self.keys.finish()?;
        // Every commit is on the disk, in the log: none of the three waits for another.
        let Self { catalogue, archive, index, .. } = self;
        std::thread::scope(|scope| {
            let moving = scope.spawn(|| catalogue.checkpoint());
            let closed = archive.close().and_then(|()| index.close());
            moving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(closed)
        })
    }
}

/// A project with an archive had a catalogue once: to begin another would throw the archive away.
fn catalogue_is_there(dir: &ProjectDir) -> Result<()> {
    let path = dir.catalogue();
    if std::fs::metadata(&path).is_ok_and(|meta| meta.len() > 0) {
        return Ok(());
    }
    let Ok(entries) = std::fs::read_dir(dir.archive()) else { return Ok(()) };
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    match names.find(|name| is_ours(&dir.name, name).is_some()) {
        Some(name) => Err(StoreError::damaged(&path, format!("it is missing or empty, and the archive holds {name}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArchiveEnd, Home, NewHost, Queues};
    use orb_page::{Discovered, Moment, PageKind, RunId, UrlKey};
    use std::ops::Bound;

    /// The next page of the only host, queued.
    fn one_more(project: &Project) -> Batch {
        let page = project.next_page_id();
        let url = format!("http://a/{}", page.0);
        let mut batch = Batch { run: RunId(1), ..Batch::default() };
        if page.0 == 1 {
            let at = Moment(1);
            batch.hosts.push(NewHost { id: HostId(1), scheme: "http".into(), name: "a".into(), port: 80, at });
        }
        batch.discovered.push(Discovered {
            page,
            key: UrlKey::of(&url),
            url,
            host: HostId(1),
            kind: PageKind::Frontier,
            why: None,
            depth: 0,
            redirects: 0,
            priority: 0.0,
            rank: page.0,
            at: Moment(1),
            by: "t".into(),
            step: None,
            asked: None,
            from: None,
        });
        batch
    }

    #[test]
    fn an_index_that_refused_a_batch_is_opened_again_and_catches_up() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let mut project = Project::open(&dir).unwrap();
        project.catalogue_mut().begin_run("crawl", "").unwrap();
        for _ in 0..2 {
            let mut batch = one_more(&project);
            project.commit(&mut batch, &[], &[]).unwrap();
        }
        // The catalogue has recorded a batch that the index has not followed.
        let mut left = one_more(&project);
        project.catalogue.commit(&left, &ArchiveEnd::default()).unwrap();
        left.recorded = Some(project.catalogue.watermark().no);
        project.index_behind = true;
        assert_eq!(project.index().queued(), 2);
        project.commit(&mut left, &[], &[]).unwrap();
        assert_eq!((project.index().queued(), project.next_page_id()), (3, PageId(4)));
        let reader = project.index().clone();
        let mut batch = one_more(&project);
        project.commit(&mut batch, &[], &[]).unwrap();
        assert_eq!(reader.peek(HostId(1), None, 9).unwrap().len(), 4);
        drop((project, reader));
        assert!(crate::check(&dir).unwrap().is_clean());
    }

    #[test]
    fn the_longest_queues_are_named_longest_first() {
        let tmp = tempfile::tempdir().unwrap();
        let mut project = Project::open(&Home::open(tmp.path()).unwrap().project("p").unwrap()).unwrap();
        project.catalogue_mut().begin_run("crawl", "").unwrap();
        for (number, host) in (1..).zip([1, 2, 2, 3, 3, 3, 4]) {
            let mut batch = one_more(&project);
            batch.hosts.clear();
            if u64::from(project.next_host_id().0) == u64::from(host) {
                let (id, scheme, at) = (HostId(host), "http".into(), Moment(1));
                batch.hosts.push(NewHost { id, scheme, name: format!("h{host}"), port: 80, at });
            }
            batch.discovered[0].host = HostId(host);
            let done = project.commit(&mut batch, &[], &[]).unwrap();
            assert_eq!(done.batch, number);
            assert!(!done.took.catalogue.is_zero() && !done.took.index.is_zero());
        }
        assert_eq!(project.index().longest(3), [(HostId(3), 3), (HostId(2), 2), (HostId(1), 1)]);
        assert_eq!(project.index().longest(0), []);
        assert_eq!(project.index().longest(99).len(), 4);
    }

    #[test]
    fn a_queue_that_is_read_on_while_it_changes_and_is_folded_gives_every_page_in_order() {
        let tmp = tempfile::tempdir().unwrap();
        let mut project = Project::open(&Home::open(tmp.path()).unwrap().project("p").unwrap()).unwrap();
        let run = project.catalogue_mut().begin_run("crawl", "").unwrap();
        project.index().fold_at(60);
        let (mut waiting, mut after) = (std::collections::BTreeSet::new(), None);
        for step in 0..150 {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let want: Vec<_> = waiting.range((from, Bound::Unbounded)).take(7).copied().collect();
            let read = project.index().peek(HostId(1), after, 7).unwrap();
            assert_eq!(read.iter().map(|q| (q.rank, q.page)).collect::<Vec<_>>(), want, "{step}");
            let mut batch = one_more(&project);
            // Most come at the end, some just before what is read next; and now and then all is read again.
            let new = batch.discovered[0].clone();
            let ranks = (0..12).map(|n| if n == 0 { after.map_or(1, |a| a.0 + step % 90) } else { step * 20 + n });
            let found = (0..).zip(ranks).map(|(n, rank)| {
                let page = PageId(new.page.0 + n);
                let url = format!("http://a/{}", page.0);
                Discovered { rank, page, key: UrlKey::of(&url), url, ..new.clone() }
            });
            batch.discovered = found.collect();
            for queued in read {
                after = Some((queued.rank, queued.page));
                waiting.remove(&(queued.rank, queued.page));
                batch.finished.push((HostId(1), queued.rank, queued.page));
                let by = "t".into();
                batch.visits.push(orb_page::Visit::blank(queued.page, HostId(1), queued.url, Moment(1), by));
                batch.targets.push(Vec::new());
            }
            after = after.filter(|_| step % 60 > 0);
            batch.run = run;
            waiting.extend(batch.discovered.iter().map(|d| (d.rank, d.page)));
            project.commit(&mut batch, &[], &[]).unwrap();
            assert_eq!(project.index().queued(), waiting.len() as u64);
        }
        assert!(project.index().folded() > 120);
    }

    #[test]
    fn a_catalogue_whose_visits_are_clustered_by_page_goes_on() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
        Project::open(&dir).unwrap().close().unwrap();
        // As the first ones were made.
        let db = rusqlite::Connection::open(dir.catalogue()).unwrap();
        let made: String =
            db.query_row("SELECT sql FROM sqlite_schema WHERE name = 'visit_row'", [], |r| r.get(0)).unwrap();
        let clustered = made.replace("UNIQUE (page, run))", "PRIMARY KEY (page, run)) WITHOUT ROWID");
        assert_ne!(clustered, made);
        db.execute_batch(&format!("DROP TABLE visit_row; {clustered}")).unwrap();
        drop(db);
        let mut project = Project::open(&dir).unwrap();
        let run = project.catalogue_mut().begin_run("crawl", "").unwrap();
        // Discovered, then visited, and visited once more in the same run.
        for round in 0..3 {
            let mut batch = Batch { run, ..Batch::default() };
            if round == 0 {
                batch = Batch { run, ..one_more(&project) };
            } else {
                let mut visit =
                    orb_page::Visit::blank(PageId(1), HostId(1), "http://a/1".into(), Moment(round), "t".into());
                visit.title = Some(format!("round {round}"));
                batch.visits.push(visit);
                batch.targets.push(Vec::new());
                batch.finished.extend((round == 1).then_some((HostId(1), 1, PageId(1))));
            }
            project.commit(&mut batch, &[], &[]).unwrap();
        }
        project.close().unwrap();
        let reader = crate::CatalogueReader::open(&dir.catalogue()).unwrap();
        assert_eq!(reader.visits(PageId(1)).unwrap().len(), 1);
        assert_eq!(reader.title(PageId(1)).unwrap().as_deref(), Some("round 2"));
        assert!(crate::check(&dir).unwrap().is_clean());
    }

    #[test]
    fn an_index_too_far_behind_to_follow_is_made_anew() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let mut project = Project::open(&dir).unwrap();
        project.catalogue_mut().begin_run("crawl", "").unwrap();
        for _ in 0..3 {
            let batch = one_more(&project);
            project.catalogue.commit(&batch, &ArchiveEnd::default()).unwrap();
        }
        // Nothing was ever applied, and what the first batch touched is not listed any more.
        let db = rusqlite::Connection::open(dir.catalogue()).unwrap();
        db.execute("DELETE FROM batch_row WHERE no = 1", []).unwrap();
        project.index_behind = true;
        let mut batch = one_more(&project);
        project.commit(&mut batch, &[], &[]).unwrap();
        assert_eq!((project.index().queued(), project.index().known()), (4, 4));
        drop(project);
        assert!(crate::check(&dir).unwrap().is_clean());
    }
}
