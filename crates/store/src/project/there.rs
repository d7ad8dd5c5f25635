//! What is different if the truth is elsewhere?
//!
//! The catalogue beside a worker's frontier index is then a copy of the shards it holds. A commit
//! has one step more: the bytes as an object, the facts in PostgreSQL, and only then the copy and
//! the index. Until PostgreSQL has committed, nothing here has changed; afterwards, whatever is
//! lost here is loaded again.

use super::admit::Admitted;
use super::numbers::IdAllocator;
use super::{Project, ProjectOptions, Start, Steps, Truth};
use crate::archive::{Archive, ArchiveEnd};
use crate::error::{Result, StoreError};
use crate::home::{ProjectDir, ProjectLock};
use crate::index::FrontierIndex;
use crate::shared::{self, Adopted, Membership, ShardId, SharedRun, SharedWriter};
use crate::sqlite::Catalogue;
use crate::{ArchiveReader, Batch, Queues as _};
use orb_page::{HostId, PageId};
use std::collections::HashMap;
use std::time::Instant;

/// A truth that is kept elsewhere.
pub(super) struct RemoteTruth {
    /// The copy.
    pub(super) scratch: Catalogue,
    pub(super) writer: SharedWriter,
    /// Who was first with some content according to the shard that keeps such things, where the
    /// copy had believed another to be.
    pub(super) firsts: HashMap<[u8; 32], PageId>,
}

impl Project {
    /// A scratch project in `dir` for a worker that has just joined; whatever was there is removed.
    /// It holds no shards yet.
    pub fn join(dir: &ProjectDir, member: &Membership, options: &ProjectOptions) -> Result<Self> {
        let lock = ProjectLock::take(dir)?;
        shared::wipe(dir)?;
        let mut scratch = Catalogue::create_or_open(&dir.catalogue())?;
        scratch.become_scratch()?;
        let (index, index_start) = FrontierIndex::open(&dir.frontier(), &scratch)?;
        let (archive, archive_start) = Archive::open(&dir.archive(), &dir.name, &[])?;
        let writer = SharedWriter::new(member)?;
        let mut project = Self {
            index,
            keys: None,
            archive,
            admitted: Admitted::new(IdAllocator::from(scratch.next_page_id(), scratch.next_host_id())),
            truth: Truth::There(Box::new(RemoteTruth { scratch, writer, firsts: HashMap::new() })),
            dir: dir.clone(),
            index_behind: false,
            start: Start { archive: archive_start, index: index_start, crashed: false },
            _lock: lock,
        };
        project.set(options);
        Ok(project)
    }

    fn there(&mut self) -> Result<&mut RemoteTruth> {
        match &mut self.truth {
            Truth::There(there) => Ok(there),
            Truth::Here(_) => Err(StoreError::BadBatch("the project is not shared".to_owned())),
        }
    }

    /// Whether its truth is elsewhere.
    pub fn is_shared(&self) -> bool {
        matches!(self.truth, Truth::There(_))
    }

    /// The shards it holds; none if it is not shared.
    pub fn held(&self) -> Vec<ShardId> {
        match &self.truth {
            Truth::There(there) => there.writer.held().iter().copied().collect(),
            Truth::Here(_) => Vec::new(),
        }
    }

    /// The shard of a host; `None` if the project is not shared.
    pub fn shard_of(&self, host: &str) -> Option<ShardId> {
        match &self.truth {
            Truth::There(there) => Some(there.writer.shard_of(host)),
            Truth::Here(_) => None,
        }
    }

    /// Whether a host's pages are recorded here.
    pub fn owns(&self, host: &str) -> bool {
        match &self.truth {
            Truth::There(there) => there.writer.held().contains(&there.writer.shard_of(host)),
            Truth::Here(_) => true,
        }
    }

    /// Whether a host is recorded here: not any more if its shard was given away.
    pub fn has_host(&self, host: HostId) -> Result<bool> {
        match &self.truth {
            Truth::There(there) => Ok(there.scratch.host_name(host)?.is_some()),
            Truth::Here(_) => Ok(true),
        }
    }

    /// Loads shards that were taken. They are held from now on.
    pub fn adopt(&mut self, shards: &[ShardId]) -> Result<Adopted> {
        let index = self.index.clone();
        let there = self.there()?;
        let RemoteTruth { scratch, writer, firsts } = there;
        let (pages, hosts) = match writer.with(|line| shared::load(line, shards, scratch)) {
            Ok(loaded) => loaded,
            Err(e) => {
                scratch.abort_load()?;
                return Err(e);
            }
        };
        let adopted = scratch.hosts_where(|name| shards.contains(&writer.shard_of(name)))?;
        index.adopt(scratch, &adopted)?;
        writer.with(|line| {
            shared::digests(line, shards, |digests| {
                for (digest, page) in digests {
                    if index.digest_first(digest)?.is_some_and(|first| first != *page) {
                        firsts.insert(*digest, *page);
                    }
                }
                index.remember(digests)
            })
        })?;
        writer.hold(shards);
        Ok(Adopted { pages, hosts, queued: index.queued() })
    }

    /// The pages of shards it holds that the run was told to visit again, in order.
    pub fn chosen(&mut self, shards: &[ShardId]) -> Result<Vec<PageId>> {
        self.there()?.writer.with(|line| shared::chosen(line, shards))
    }

    /// Makes a run of the store known here.
    pub fn enter_run(&mut self, run: &SharedRun) -> Result<()> {
        self.there()?.scratch.enter_run(&run.record)
    }

    /// A reader of the archive that the project's records go to.
    pub fn archive_reader(&self) -> Result<ArchiveReader> {
        match &self.truth {
            Truth::There(there) => there.writer.archive_reader(),
            Truth::Here(_) => Ok(ArchiveReader::open(&self.dir)),
        }
    }

    /// Bytes, then facts, then the copy.
    pub(super) fn record_there(&mut self, batch: &mut Batch, took: &mut Steps) -> Result<()> {
        let folded = self.index.folded();
        let there = self.there()?;
        let RemoteTruth { scratch, writer, .. } = there;
        scratch.sift_requeued(batch)?;
        batch.sifted = true;
        scratch.examine(batch)?;
        let began = Instant::now();
        if batch.archived.is_none() {
            batch.archived = Some(writer.store(batch)?);
        }
        let written = Instant::now();
        took.archive = written - began;
        if let Err(e) = writer.commit(batch, scratch) {
            if matches!(e, StoreError::BadBatch(_)) {
                writer.abandon();
                batch.archived = None;
            }
            return Err(e);
        }
        // It has happened: from here on only the copy can be behind.
        scratch.followed(folded);
        scratch.learn_names(writer.learnt())?;
        let mut end = ArchiveEnd::default();
        if let Some((id, file)) = writer.object() {
            scratch.learn_file(id, &file)?;
            end.files.push(file);
        }
        scratch.commit(batch, &end)?;
        writer.settle();
        took.catalogue = written.elapsed();
        batch.recorded = Some(scratch.watermark().no);
        self.index_behind = true;
        self.admitted.clear();
        Ok(())
    }

    /// Lets shards go that were given away.
    pub(super) fn let_go(&mut self, shards: &[ShardId]) -> Result<()> {
        if shards.is_empty() {
            return Ok(());
        }
        let index = self.index.clone();
        let RemoteTruth { scratch, writer, .. } = self.there()?;
        let hosts = scratch.hosts_where(|name| shards.contains(&writer.shard_of(name)))?;
        index.let_go(scratch, &hosts)?;
        scratch.forget(&hosts)?;
        writer.release(shards);
        Ok(())
    }
}
