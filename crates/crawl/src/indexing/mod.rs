//! How does the text index follow the crawl?
//!
//! Beside the recorder, after its commits: the pages of a batch are passed on with their tokens and
//! the batch's mark, and an indexing thread adds them to the index, which is committed periodically
//! with the last mark. The crawl waits for it at most five seconds per batch. If `index.queue` is
//! still exceeded then, a batch's tokens are dropped, and at the end of the run those pages are
//! read from the archive instead ([`catch_up`]), as after a crash or a failure of the index. A
//! failing index is reported and does not end a crawl.
//!
//! A worker of a shared project has no index of its own: what it records is uploaded in parts
//! ([`splitting`]), and the index of a copy is filled from these before anything is read from the
//! archive ([`gather`]).

mod anchors;
mod catch_up;
mod gather;
mod heard;
mod overheard;
mod splitting;
mod wording;

pub use catch_up::{Caught, IndexingProgress, update};
pub use gather::GatheredSplits;
pub(crate) use splitting::Splitting;
pub(crate) use wording::{Wording, WordingRules};

use crate::CrawlError;
use crate::watch::progress::Progress;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
pub(crate) use orb_index::mark;
use orb_index::{ExistingIndex, IndexEntry, PageIndexWriter, is_searchable};
use orb_page::{Flag, PageId, Visit};
use orb_project::IndexSettings;
use orb_store::{Batch, Extent, FinishedVisit, ProjectDir, fault};
use overheard::{Linked, Overheard};
use schemars::JsonSchema;
use serde::Serialize;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The anchor texts are read again at the end of a run if at least one in this many pages is new.
const FEW: u64 = 50;

/// How long a batch waits for room in the queue.
///
/// Longer than a segment takes to be written, during which nothing leaves the queue.
const PATIENCE: Duration = Duration::from_secs(5);

/// A message to the indexing thread.
enum IndexingMessage {
    /// A batch was recorded: pages to add, pages to delete, the links of all its pages if they are
    /// collected, and its mark.
    Batch(Vec<IndexEntry>, Vec<PageId>, Vec<Linked>, String),
    /// The crawl is over.
    End,
    /// The index is not needed any more.
    Drop,
}

/// Where the recorder passes pages on.
#[derive(Clone)]
pub(crate) struct Feed {
    jobs: Sender<IndexingMessage>,
    load: Arc<AtomicU64>,
    most: u64,
    /// Whether anything was dropped.
    gap: Arc<AtomicBool>,
    /// Whether anchor texts are collected.
    listens: Arc<AtomicBool>,
}

/// The index of a run.
pub(crate) struct Indexing {
    feed: Feed,
    project: ProjectDir,
    settings: IndexSettings,
    agent: String,
    thread: JoinHandle<IndexingThread>,
}

/// The state of the indexing thread.
struct IndexingThread {
    writer: Option<PageIndexWriter>,
    failed: Option<String>,
    gap: Arc<AtomicBool>,
    listens: Arc<AtomicBool>,
    overheard: Overheard,
    /// The last batch up to which nothing is missing.
    mark: Option<String>,
    put: u64,
}

/// The state of the index after a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IndexAccount {
    /// Pages in the index.
    pub pages: u64,
    /// Pages that had to be read from the archive.
    pub from_archive: u64,
    /// Whether it is complete.
    pub current: bool,
    /// What went wrong, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The mark of a catalogue's extent.
pub(crate) fn mark_of(extent: &Extent) -> String {
    mark(extent.batch, extent.nonce)
}

/// Commits, with a fault injection point.
fn commit(writer: &mut PageIndexWriter, mark: Option<&str>) -> Result<(), CrawlError> {
    fault::point("before-text").map_err(CrawlError::TextIndex)?;
    writer.commit(mark)?;
    fault::point("after-text").map_err(CrawlError::TextIndex)
}

impl Feed {
    /// Whether this many bytes of tokens and links fit now or shortly: if the CPU is the
    /// bottleneck, waiting costs less than reading the pages again. A large batch is in memory
    /// already and fits when half of the queue is free.
    fn has_room(&self, bytes: u64) -> bool {
        let begin = Instant::now();
        loop {
            let waiting = self.load.load(Ordering::Relaxed);
            if waiting + bytes <= self.most || (waiting <= self.most / 2 && self.most > 0) {
                return true;
            }
            if self.most == 0 || begin.elapsed() > PATIENCE {
                return false;
            }
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }

    /// The index may lack something: what that is, is found out at the end of the run.
    pub(crate) fn leave_gap(&self) {
        self.gap.store(true, Ordering::SeqCst);
    }

    /// Passes on what a batch has recorded; waits only briefly.
    pub(crate) fn hand_over(&self, batch: &mut Batch, words: Vec<Option<Box<Wording>>>, mark: String) {
        let listens = self.listens.load(Ordering::Relaxed);
        let linked = |finished: &FinishedVisit| if listens { finished.visit.links.size() as u64 } else { 0 };
        let heap_bytes = words.iter().flatten().map(|words| words.heap_bytes()).sum::<u64>();
        if !self.has_room(heap_bytes + batch.visits.iter().map(linked).sum::<u64>()) {
            return self.gap.store(true, Ordering::SeqCst);
        }
        let mut gone: Vec<PageId> = batch.dropped.iter().map(|dropped| dropped.place.page).collect();
        let mut entries = Vec::with_capacity(batch.visits.len());
        let visits = batch.visits.iter_mut().filter(|_| listens);
        let links = visits.map(|finished| Linked::take(finished, &self.load)).collect();
        for (FinishedVisit { visit, .. }, words) in std::mem::take(&mut batch.visits).into_iter().zip(words) {
            // What was unchanged, or failed this time, stays in the index as it was.
            if visit.known && matches!(visit.flag, Flag::Same | Flag::Error) {
                continue;
            }
            match words.filter(|_| is_wanted(&visit)) {
                Some(words) => entries.push(words.of_visit(visit, &self.load)),
                None => gone.push(visit.page),
            }
        }
        let _ = self.jobs.send(IndexingMessage::Batch(entries, gone, links, mark));
    }
}

/// Whether a page belongs in the index.
fn is_wanted(visit: &Visit) -> bool {
    is_searchable(visit.kind, visit.status, visit.simhash.is_some() || visit.title.is_some())
}

impl Indexing {
    /// Starts the thread; `mark` is the catalogue's current one.
    pub(crate) fn start(
        project: &ProjectDir,
        settings: &IndexSettings,
        agent: &str,
        mark: &str,
    ) -> Result<Self, CrawlError> {
        let (jobs, work) = unbounded();
        let gap = Arc::new(AtomicBool::new(false));
        let listens = Arc::new(AtomicBool::new(false));
        let (open, heard) = (Arc::clone(&gap), Arc::clone(&listens));
        let feed = Feed { jobs, load: Arc::default(), most: settings.queue.0, gap: open, listens: heard };
        let opened = PageIndexWriter::open(&project.text_index(), &settings.writer(crate::machine::cores()));
        let (writer, failed) = match opened {
            Ok((writer, found)) => {
                let whole = match &found {
                    ExistingIndex::Index(Some(come_to)) => come_to == mark,
                    ExistingIndex::Nothing => mark == mark_of(&Extent::default()),
                    ExistingIndex::Index(None) | ExistingIndex::Unfit(_) => false,
                };
                gap.store(!whole, Ordering::SeqCst);
                // All links there will ever be are yet to come.
                listens.store(whole && found == ExistingIndex::Nothing, Ordering::Relaxed);
                (Some(writer), None)
            }
            Err(e) => (None, Some(e.to_string())),
        };
        let desk = IndexingThread { writer, failed, gap, listens, overheard: Overheard::default(), mark: None, put: 0 };
        let every = settings.commit_time.0;
        let thread = std::thread::Builder::new()
            .name("indexer".into())
            .spawn(move || desk.attend(&work, every))
            .map_err(CrawlError::Threads)?;
        let (project, settings, agent) = (project.clone(), settings.clone(), agent.to_owned());
        Ok(Self { feed, project, settings, agent, thread })
    }

    /// Where pages are handed over.
    pub(crate) fn feed(&self) -> Feed {
        self.feed.clone()
    }

    /// Waits until everything passed on is indexed, and reads dropped pages from the archive,
    /// unless the user asks to stop.
    pub(crate) fn finish(self, progress: &Progress, stopped: &dyn Fn() -> bool) -> IndexAccount {
        let _ = self.feed.jobs.send(IndexingMessage::End);
        let Ok(desk) = self.thread.join() else {
            return IndexAccount {
                problem: Some("the indexer stopped unexpectedly".into()),
                ..IndexAccount::default()
            };
        };
        let ended = settle(desk, &self.project, &self.settings, &self.agent, &mut |done, all| {
            progress.note_indexing(Some((done, all)));
            !stopped()
        });
        progress.note_indexing(None);
        ended.unwrap_or_else(|e| IndexAccount { problem: Some(e.to_string()), ..IndexAccount::default() })
    }
}

/// Commits what is left, catches up if anything is missing, and reads the anchor texts if enough is
/// new.
fn settle(
    mut desk: IndexingThread,
    project: &ProjectDir,
    settings: &IndexSettings,
    agent: &str,
    watch: IndexingProgress<'_>,
) -> Result<IndexAccount, CrawlError> {
    let whole = !desk.gap.load(Ordering::SeqCst) && desk.failed.is_none();
    let mut account = IndexAccount::default();
    let mut changed = desk.put;
    let mut writer = match desk.writer.take() {
        Some(writer) if desk.failed.is_none() => writer,
        // The failure may have been a full disk: worth another try.
        failed => {
            drop(failed);
            PageIndexWriter::open(&project.text_index(), &settings.writer(crate::machine::cores()))?.0
        }
    };
    let is_due = |changed: u64, pages: u64| anchors::are_missing(project) || changed.saturating_mul(FEW) >= pages;
    if whole {
        let pages = writer.pages();
        (account.current, account.pages) = (true, pages.len() as u64);
        let due = is_due(changed, account.pages) && watch(0, 0);
        let overheard = desk.listens.load(Ordering::Relaxed).then_some(&desk.overheard);
        // Anchor texts are assembled, or read from the catalogue, while the last segments are
        // written.
        return std::thread::scope(|scope| {
            let folding = due.then(|| scope.spawn(|| anchors::fold(project, Some((&pages, overheard)))));
            if writer.uncommitted() > 0 || desk.mark.is_some() {
                commit(&mut writer, desk.mark.as_deref())?;
            }
            writer.finish()?;
            folding.map_or(Ok(Ok(())), ScopedJoinHandle::join).unwrap_or_else(|panic| resume_unwind(panic))?;
            Ok(account)
        });
    }
    if watch(0, 0) {
        let caught = catch_up::catch_up(project, settings, agent, &mut writer, watch)?;
        changed += caught.read;
        account.current = !caught.stopped;
        (account.pages, account.from_archive) = (caught.pages, caught.read);
    } else {
        commit(&mut writer, desk.mark.as_deref())?;
        account.pages = writer.holdings()?.len() as u64;
    }
    writer.finish()?;
    let stopped = !watch(account.from_archive, account.from_archive);
    if !stopped && is_due(changed, account.pages) {
        anchors::fold(project, None)?;
    }
    Ok(account)
}

impl IndexingThread {
    /// Works until the crawl is over.
    fn attend(mut self, work: &Receiver<IndexingMessage>, every: Duration) -> Self {
        let mut committed = Instant::now();
        loop {
            match work.recv_timeout(every.saturating_sub(committed.elapsed())) {
                Ok(IndexingMessage::End | IndexingMessage::Drop) | Err(RecvTimeoutError::Disconnected) => return self,
                Ok(IndexingMessage::Batch(entries, gone, links, mark)) => {
                    self.listen(links, &mark);
                    self.take(entries, &gone, mark);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if committed.elapsed() >= every {
                if self.writer.as_ref().is_some_and(|writer| writer.uncommitted() > 0) {
                    let mark = self.mark.clone();
                    self.attempt(|writer| commit(writer, mark.as_deref()));
                }
                committed = Instant::now();
            }
        }
    }

    /// Collects anchor texts as long as that is useful.
    fn listen(&mut self, links: Vec<Linked>, mark: &str) {
        if self.listens.load(Ordering::Relaxed)
            && (self.gap.load(Ordering::SeqCst) || !self.overheard.hear(links, mark))
        {
            self.listens.store(false, Ordering::Relaxed);
            self.overheard = Overheard::default();
        }
    }

    fn take(&mut self, entries: Vec<IndexEntry>, gone: &[PageId], mark: String) {
        self.put += entries.len() as u64;
        self.attempt(|writer| {
            gone.iter().try_for_each(|page| writer.forget(*page))?;
            entries.into_iter().try_for_each(|entry| writer.put(entry)).map_err(CrawlError::from)
        });
        if !self.gap.load(Ordering::SeqCst) {
            self.mark = Some(mark);
        }
    }

    /// Runs an operation on the index; after a failure nothing more is done until the end of the
    /// run.
    fn attempt(&mut self, what: impl FnOnce(&mut PageIndexWriter) -> Result<(), CrawlError>) {
        let Some(writer) = self.writer.as_mut().filter(|_| self.failed.is_none()) else { return };
        if let Err(e) = what(writer) {
            tracing::warn!("the text index: {e}");
            self.failed = Some(e.to_string());
            self.writer = None;
        }
    }
}
