//! How do the pages that a worker records get into everybody's index?
//!
//! A thread beside the recorder puts them into a small index in the worker's scratch directory, as
//! it would into that of a project of its own. Every `index.split_time`, earlier if it has grown to
//! [`LARGE`], and when the worker leaves, that index is packed into one file, a split, and a new
//! one begun; another thread uploads the split. The recorder hands over only what PostgreSQL has
//! committed, so nothing else is ever in a split. What is in none, since its worker was killed,
//! fell behind or could not upload it, is read from the archive by the process that asks
//! (`gather.rs`): that is why nothing here stops a crawl, and nothing is kept for a next time.

use super::{Feed, IndexingMessage};
use crate::CrawlError;
use crate::shared::Stop;
use crate::watch::journal::Journal;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use orb_index::{IndexEntry, PageIndexWriter, WriterRules, pack};
use orb_page::PageId;
use orb_project::IndexSettings;
use orb_store::{ProjectDir, SplitDesk, StoreError};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The size, in bytes on the disk, at which a split is cut before its time: it is in memory while
/// it is uploaded.
const LARGE: u64 = 32 << 20;

/// The size at which it is dropped, if nothing can be uploaded for so long.
const TOO_LARGE: u64 = 4 * LARGE;

/// How long to wait at least where a split is due and the one before is still being uploaded.
const MOMENT: Duration = Duration::from_millis(200);

/// The index that a worker makes for others.
pub(crate) struct Splitting {
    feed: Feed,
    thread: Option<JoinHandle<()>>,
    leaving: Arc<Stop>,
}

/// A packed split on its way.
struct PackedSplit {
    file: PathBuf,
    pages: u64,
}

/// The state of the thread that indexes.
struct SplittingThread {
    dir: PathBuf,
    /// Where splits are packed.
    packed: PathBuf,
    rules: WriterRules,
    writer: Option<PageIndexWriter>,
    uploads: Sender<PackedSplit>,
    /// Whether a split is being uploaded, or waits for the next try.
    busy: Arc<AtomicBool>,
    uploader: JoinHandle<()>,
    log: Arc<Journal>,
    number: u32,
}

/// The state of the thread that uploads.
struct SplitUploader {
    desk: SplitDesk,
    busy: Arc<AtomicBool>,
    leaving: Arc<Stop>,
    every: Duration,
    log: Arc<Journal>,
}

impl Splitting {
    /// Starts the threads of a worker whose scratch copy is `project`.
    pub(crate) fn start(
        project: &ProjectDir,
        settings: &IndexSettings,
        desk: SplitDesk,
        log: Journal,
    ) -> Result<Self, CrawlError> {
        let ((jobs, work), (uploads, packed)) = (unbounded(), unbounded());
        let (leaving, busy, log) = (Stop::new(), Arc::new(AtomicBool::new(false)), Arc::new(log));
        let every = settings.split_time.0;
        let uploader = SplitUploader {
            desk,
            busy: Arc::clone(&busy),
            leaving: Arc::clone(&leaving),
            every,
            log: Arc::clone(&log),
        };
        let uploader = std::thread::Builder::new()
            .name("splits".into())
            .spawn(move || uploader.run(&packed))
            .map_err(CrawlError::Threads)?;
        let rules = settings.writer(crate::machine::cores());
        let (dir, packed) = (project.text_index(), project.dir.join("splits"));
        let thread = SplittingThread { dir, packed, rules, writer: None, uploads, busy, uploader, log, number: 0 };
        let thread = std::thread::Builder::new()
            .name("indexer".into())
            .spawn(move || thread.attend(&work, every))
            .map_err(CrawlError::Threads)?;
        let (load, gap, listens) = Default::default();
        let feed = Feed { jobs, load, most: settings.queue.0, gap, listens };
        Ok(Self { feed, thread: Some(thread), leaving })
    }

    /// Where pages are handed over.
    pub(crate) fn feed(&self) -> Feed {
        self.feed.clone()
    }

    /// Indexes what was handed over and uploads it, or says in the log why that failed. For a
    /// worker that leaves in order and is still alive.
    pub(crate) fn finish(mut self) {
        self.leaving.ask();
        let _ = self.feed.jobs.send(IndexingMessage::End);
        if let Some(thread) = self.thread.take() {
            // What it has left undone is read from the archive.
            let _ = thread.join();
        }
    }
}

impl Drop for Splitting {
    /// The worker is over: what was not uploaded is dropped.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.leaving.ask();
            let _ = self.feed.jobs.send(IndexingMessage::Drop);
            let _ = thread.join();
        }
    }
}

impl SplittingThread {
    /// Works until the worker leaves.
    fn attend(mut self, work: &Receiver<IndexingMessage>, every: Duration) {
        self.begin();
        let mut cut = Instant::now();
        loop {
            match work.recv_timeout(every.saturating_sub(cut.elapsed()).max(MOMENT)) {
                Ok(IndexingMessage::Drop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(IndexingMessage::End) => {
                    self.cut();
                    drop(self.uploads);
                    // It has said what went wrong.
                    let _ = self.uploader.join();
                    return;
                }
                Ok(IndexingMessage::Batch(entries, gone, ..)) => self.take(entries, &gone),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let (size, is_busy) = (self.size(), self.busy.load(Ordering::SeqCst));
            if !is_busy && (size >= LARGE || cut.elapsed() >= every) {
                self.cut();
                cut = Instant::now();
            } else if size >= TOO_LARGE {
                self.warn("the text index grows while nothing can be uploaded: what it holds is dropped");
                self.begin();
            }
        }
    }

    /// Begins a new index.
    fn begin(&mut self) {
        self.writer = None;
        match PageIndexWriter::make(&self.dir, &self.rules) {
            Ok(writer) => self.writer = Some(writer),
            Err(e) => self.warn(&format!("the text index: {e}")),
        }
    }

    fn take(&mut self, entries: Vec<IndexEntry>, gone: &[PageId]) {
        let Some(writer) = &mut self.writer else { return };
        let put = gone.iter().try_for_each(|page| writer.forget(*page));
        let put = put.and_then(|()| entries.into_iter().try_for_each(|entry| writer.put(entry)));
        if let Err(e) = put {
            // Until the next split is due: it may be a full disk.
            self.writer = None;
            self.warn(&format!("the text index: {e}"));
        }
    }

    /// Bytes on the disk.
    fn size(&self) -> u64 {
        let files = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }

    /// Packs what there is, hands it to the uploader and starts over.
    fn cut(&mut self) {
        if self.writer.as_ref().is_some_and(|writer| writer.pages().is_empty()) {
            return;
        }
        match self.writer.take().map(|writer| self.pack(writer)) {
            Some(Ok(Some(split))) => {
                self.busy.store(true, Ordering::SeqCst);
                // Without an uploader, nothing can be added any more.
                let _ = self.uploads.send(split);
            }
            Some(Err(e)) => self.warn(&format!("a split of the text index: {e}")),
            Some(Ok(None)) | None => {}
        }
        self.begin();
    }

    fn pack(&mut self, mut writer: PageIndexWriter) -> Result<Option<PackedSplit>, CrawlError> {
        writer.commit(None)?;
        writer.finish()?;
        self.number += 1;
        fs::create_dir_all(&self.packed).map_err(CrawlError::TextIndex)?;
        let file = self.packed.join(format!("{}.split", self.number));
        let pages = pack(&self.dir, &file)?;
        Ok((pages > 0).then_some(PackedSplit { file, pages }))
    }

    fn warn(&self, what: &str) {
        warn(&self.log, what);
    }
}

impl SplitUploader {
    /// Uploads what is packed, one after the other; what fails is tried again when the next is due,
    /// and once when the worker leaves.
    fn run(mut self, packed: &Receiver<PackedSplit>) {
        for PackedSplit { file, pages } in packed {
            let uploaded = self.upload(&file, pages);
            // One that stays is written over by the next of its number.
            let _ = fs::remove_file(&file);
            self.busy.store(false, Ordering::SeqCst);
            let Err(e) = uploaded else { continue };
            warn(&self.log, &format!("a split of the text index was not added: {e}"));
            if matches!(e, StoreError::Fenced { .. }) {
                return;
            }
        }
    }

    fn upload(&mut self, file: &Path, pages: u64) -> Result<(), StoreError> {
        loop {
            let is_last = self.leaving.is_set();
            match self.desk.add(file, pages) {
                Err(e) if is_last || matches!(e, StoreError::Fenced { .. }) => return Err(e),
                Err(e) => warn(&self.log, &format!("a split of the text index waits to be uploaded: {e}")),
                Ok(()) => return Ok(()),
            }
            self.leaving.wait(self.every);
        }
    }
}

fn warn(log: &Journal, what: &str) {
    tracing::warn!("{what}");
    // A log that cannot be written is no reason to stop either.
    let _ = log.warn(what);
}
