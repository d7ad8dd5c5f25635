//! What does a worker's recorder need to make a batch happen?
//!
//! A connection, the archive's objects, numbers to give out, and what the attempt at the current
//! batch has come to: the same batch may be tried again after any failure, and is then either found
//! to have happened or done once.

use super::connect::{Redial, SharedLine};
use super::join::Membership;
use super::numbers::{NameNumbers, NumberBlocks};
use super::objects::{ObjectArchive, PieceSink};
use super::{ShardId, WorkerId, shard_of};
use crate::error::{Result, StoreError};
use crate::sqlite::Catalogue;
use crate::{ArchiveReader, Batch, FileEnd, FinishedVisit, fault, warc};
use orb_page::{Body, HostId, Moment, PageId, WarcPosition};
use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::sync::Arc;

/// Hosts whose shards are remembered.
const MAX_HOSTS: usize = 1_000_000;

/// Writes batches to the shared store. One thread's.
pub(crate) struct SharedWriter {
    pub(super) member: Membership,
    pub(super) line: Redial,
    pub(super) archive: ObjectArchive,
    pub(super) names: NameNumbers,
    pub(super) learnt: Vec<(i32, String)>,
    /// The last batch that has happened.
    pub(super) done: u64,
    pub(super) attempt: Option<CommitAttempt>,
    /// What the shards were last said to be idle for; `None` if that is not known.
    pub(super) idle: Option<Option<i32>>,
    held: BTreeSet<ShardId>,
    numbers: NumberBlocks,
    hosts: HashMap<HostId, ShardId>,
}

/// What has become of the batch that is being committed.
pub(super) struct CommitAttempt {
    pub(super) no: u64,
    pub(super) nonce: u64,
    /// Its object, once it is stored.
    pub(super) object: Option<FileEnd>,
    /// Whether a transaction may have been committed without our knowing.
    pub(super) uncertain: bool,
}

impl SharedWriter {
    /// The writer of a worker that has just joined.
    pub(crate) fn new(member: &Membership) -> Result<Self> {
        let archive = ObjectArchive::open(member.address(), member.project())?;
        let mut writer = Self {
            line: member.redial("commit"),
            archive,
            names: NameNumbers::default(),
            learnt: Vec::new(),
            done: 0,
            attempt: None,
            idle: None,
            held: BTreeSet::new(),
            numbers: NumberBlocks::default(),
            hosts: HashMap::new(),
            member: member.clone(),
        };
        writer.refill(0)?;
        writer.introduce()?;
        Ok(writer)
    }

    /// Whose it is.
    pub(crate) fn worker(&self) -> WorkerId {
        self.member.worker()
    }

    /// The shards whose facts are at hand.
    pub(crate) fn held(&self) -> &BTreeSet<ShardId> {
        &self.held
    }

    pub(crate) fn hold(&mut self, shards: &[ShardId]) {
        self.held.extend(shards);
        self.idle = None;
    }

    pub(crate) fn release(&mut self, shards: &[ShardId]) {
        self.held.retain(|shard| !shards.contains(shard));
        self.hosts.retain(|_, shard| !shards.contains(shard));
    }

    /// The shard of a host by its name.
    pub(crate) fn shard_of(&self, host: &str) -> ShardId {
        shard_of(host, self.member.shards())
    }

    pub(crate) fn shards(&self) -> u16 {
        self.member.shards()
    }

    /// The connection, for reading as well.
    pub(crate) fn with<T>(&mut self, work: impl FnOnce(&mut SharedLine) -> Result<T>) -> Result<T> {
        self.line.with(work)
    }

    /// The next number of a page, of those that [`Self::refill`] has seen to.
    pub(crate) fn next_page(&mut self) -> Option<PageId> {
        self.numbers.page()
    }

    /// The next number of a host.
    pub(crate) fn next_host(&mut self) -> Result<HostId> {
        if let Some(host) = self.numbers.host() {
            return Ok(host);
        }
        self.refill(0)?;
        self.numbers.host().ok_or(StoreError::Stopped)
    }

    /// Draws numbers if few are left, or fewer pages than these.
    pub(crate) fn refill(&mut self, pages: u64) -> Result<()> {
        let Self { line, numbers, .. } = self;
        if numbers.is_low(pages) { line.with(|line| numbers.refill(line, pages)) } else { Ok(()) }
    }

    /// Says which connection commits, for whoever looks at the server; and sees that the worker is
    /// not dead already.
    fn introduce(&mut self) -> Result<()> {
        let id = self.member.worker().0;
        let sql = "UPDATE worker SET backend = pg_backend_pid() WHERE id = $1 AND alive";
        let known = self.line.with(|line| line.wait("join", line.client().execute(sql, &[&id])))?;
        if known == 1 { Ok(()) } else { Err(self.member.fenced()) }
    }

    /// Names that have got numbers since the last batch.
    pub(crate) fn learnt(&self) -> &[(i32, String)] {
        &self.learnt
    }

    /// The shard of a host that this batch or the scratch catalogue knows.
    pub(super) fn shard_of_host(&mut self, host: HostId, scratch: &Catalogue) -> Result<ShardId> {
        if let Some(shard) = self.hosts.get(&host) {
            return Ok(*shard);
        }
        let name = scratch.host_name(host)?;
        let name = name.ok_or_else(|| StoreError::BadBatch(format!("host {} is unknown", host.0)))?;
        let shard = self.shard_of(&name);
        self.know_host(host, shard);
        Ok(shard)
    }

    pub(super) fn know_host(&mut self, host: HostId, shard: ShardId) {
        if self.hosts.len() >= MAX_HOSTS {
            self.hosts.clear();
        }
        self.hosts.insert(host, shard);
    }

    /// A reader of what is stored.
    pub(crate) fn archive_reader(&self) -> Result<ArchiveReader> {
        Ok(ArchiveReader::over(ObjectArchive::open(self.member.address(), self.member.project())?))
    }

    /// The attempt at the next batch, begun if need be.
    pub(super) fn attempt(&mut self) -> Result<&mut CommitAttempt> {
        if self.attempt.is_none() {
            let nonce =
                getrandom::u64().map_err(|e| StoreError::StoreAway { what: "draw a nonce", source: e.into() })?;
            // It is kept with a sign, and 0 is what a worker begins with.
            let nonce = (nonce >> 1) | 1;
            self.attempt = Some(CommitAttempt { no: self.done + 1, nonce, object: None, uncertain: false });
        }
        self.attempt.as_mut().ok_or(StoreError::Stopped)
    }

    /// The object of the batch under way, with its number.
    pub(crate) fn object(&self) -> Option<(i64, FileEnd)> {
        let attempt = self.attempt.as_ref()?;
        Some((self.warc_number(attempt.no), attempt.object.clone()?))
    }

    pub(super) fn warc_number(&self, batch: u64) -> i64 {
        self.member.worker().0 << 32 | batch.cast_signed()
    }

    /// The batch has been recorded everywhere.
    pub(crate) fn settle(&mut self) {
        if let Some(attempt) = self.attempt.take() {
            self.done = attempt.no;
        }
        self.learnt.clear();
    }

    /// The batch cannot be recorded as it is.
    pub(crate) fn abandon(&mut self) {
        self.attempt = None;
    }

    /// Stores the bytes of a batch as one object; how many there are.
    pub(crate) fn store(&mut self, batch: &mut Batch) -> Result<u64> {
        let run = batch.run.0;
        let (project, worker) = (self.member.project().to_owned(), self.member.worker().0);
        let attempt = self.attempt()?;
        let name = format!("{project}-{run}-{worker}-{}-{:016x}.warc.gz", attempt.no, attempt.nonce);
        let name: Arc<str> = name.into();
        let head = warc::warcinfo(&name, &project, Moment::now());
        let (mut length, mut records) = (head.len() as u64, 0);
        for record in &batch.extra {
            length += record.members.len();
            records += u64::from(record.line.is_some());
        }
        for FinishedVisit { visit, records: own, .. } in &mut batch.visits {
            visit.warc = None;
            for record in own {
                let place = WarcPosition { file: name.clone(), offset: length, length: record.answer };
                length += record.members.len();
                records += u64::from(record.line.is_some());
                if !record.beside {
                    visit.warc = Some(place);
                }
            }
            if visit.kept.is_some() {
                visit.warc.clone_from(&visit.kept);
            }
        }
        let archived = length - head.len() as u64;
        if archived == 0 {
            return Ok(0);
        }
        point("before-object")?;
        self.archive.put_pieces(&name, length, |write| {
            write(&head)?;
            let own = batch.visits.iter().flat_map(|finished| &finished.records);
            batch.extra.iter().chain(own).try_for_each(|record| pass_on(&record.members, write))
        })?;
        point("after-object")?;
        self.attempt()?.object = Some(FileEnd { name, length, records });
        Ok(archived)
    }
}

/// Bytes of a spooled record that are read at once.
const READ: usize = 256 << 10;

/// Hands the bytes of a record on, as they are read from where it is spooled.
fn pass_on(members: &Body, write: &mut PieceSink<'_>) -> Result<()> {
    let fail = |e| StoreError::ArchiveAway { what: "read a spooled record", source: Box::new(e) };
    if let Body::Memory(memory) = members {
        return write(memory);
    }
    let (mut reader, mut passed) = (members.reader().map_err(fail)?, 0);
    let mut piece = vec![0; READ];
    loop {
        let read = reader.read(&mut piece).map_err(fail)?;
        if read == 0 {
            break;
        }
        write(&piece[..read])?;
        passed += read as u64;
    }
    if passed == members.len() {
        return Ok(());
    }
    Err(StoreError::BadBatch("a spooled record is shorter than it was".to_owned()))
}

/// A point at which tests fail on purpose.
pub(super) fn point(name: &'static str) -> Result<()> {
    fault::point(name).map_err(|e| StoreError::StoreAway { what: "go on", source: e.into() })
}
