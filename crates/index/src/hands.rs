//! Who builds segments while pages arrive?
//!
//! A pool of threads, each with its own segment builder, fed round-robin. A thread writes its
//! segment when the builder reaches its memory limit; the
//! [`PageIndexWriter`](crate::PageIndexWriter), which alone talks to the engine, collects the
//! segments. Errors are reported in place of a segment.

use crate::analyze::Stems;
use crate::entry::IndexEntry;
use crate::error::{IndexError, Result};
use crate::segment::Pile;
use crate::writer::WriterRules;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use tantivy::{Index, SegmentMeta};

/// Entries per message: waking a thread for each would take about as long as its work.
const TOGETHER: usize = 16;

/// Messages that may wait for one thread.
const WAITING: usize = 2;

/// Minimum and maximum memory of one thread.
const LEAST: usize = 4_000_000;
const MOST: usize = 2_000_000_000;

/// A message to a thread.
enum IndexerJob {
    Put(Vec<IndexEntry>),
    /// Write what you have and confirm.
    Empty(SyncSender<()>),
}

/// The threads.
pub(crate) struct Hands {
    dir: PathBuf,
    hands: Vec<(SyncSender<IndexerJob>, JoinHandle<()>)>,
    written: Receiver<Result<SegmentMeta>>,
    next: usize,
    /// Entries for the next message.
    gathered: Vec<IndexEntry>,
}

/// The state of one thread.
struct Hand {
    index: Index,
    dir: PathBuf,
    stems: Stems,
    memory: usize,
    pile: Pile,
    written: Sender<Result<SegmentMeta>>,
}

impl Hands {
    pub(crate) fn start(index: &Index, dir: &Path, rules: &WriterRules) -> Result<Self> {
        let threads = rules.threads.clamp(1, 8);
        let memory = usize::try_from(rules.memory).unwrap_or(usize::MAX) / threads;
        let (written, picked) = channel();
        let mut hands = Vec::new();
        for number in 0..threads {
            let (give, jobs) = sync_channel(WAITING);
            let hand = Hand {
                index: index.clone(),
                dir: dir.to_owned(),
                stems: rules.stems.clone(),
                memory: memory.clamp(LEAST, MOST),
                pile: Pile::of(&index.schema()).map_err(|e| IndexError::of("start", dir, &e))?,
                written: written.clone(),
            };
            let thread = std::thread::Builder::new().name(format!("words-{number}")).spawn(move || hand.work(&jobs));
            hands.push((give, thread.map_err(|e| IndexError::of("start", dir, &e.into()))?));
        }
        Ok(Self { dir: dir.to_owned(), hands, written: picked, next: 0, gathered: Vec::new() })
    }

    /// Queues a page for the next thread, in batches; blocks while that thread's queue is full
    /// (backpressure).
    pub(crate) fn put(&mut self, entry: IndexEntry) -> Result<()> {
        self.gathered.push(entry);
        if self.gathered.len() < TOGETHER { Ok(()) } else { self.give() }
    }

    fn give(&mut self) -> Result<()> {
        self.next = (self.next + 1) % self.hands.len();
        let entries = std::mem::take(&mut self.gathered);
        self.hands[self.next].0.send(IndexerJob::Put(entries)).map_err(|_| self.gone())
    }

    /// Segments written since the last call.
    pub(crate) fn written(&self) -> Result<Vec<SegmentMeta>> {
        self.written.try_iter().collect()
    }

    /// Flushes all threads and returns their segments.
    pub(crate) fn empty(&mut self) -> Result<Vec<SegmentMeta>> {
        if !self.gathered.is_empty() {
            self.give()?;
        }
        let (done, all_done) = sync_channel(self.hands.len());
        let sent = self.hands.iter().filter(|(give, _)| give.send(IndexerJob::Empty(done.clone())).is_ok()).count();
        drop(done);
        let answered = all_done.iter().count();
        let written = self.written()?;
        if sent < self.hands.len() || answered < sent { Err(self.gone()) } else { Ok(written) }
    }

    fn gone(&self) -> IndexError {
        let why = "a thread stopped unexpectedly".to_owned();
        IndexError::Failed { what: "write", dir: self.dir.clone(), why }
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        for (give, thread) in self.hands.drain(..) {
            drop(give);
            // It has reported its failures; unwritten entries are not needed.
            let _ = thread.join();
        }
    }
}

impl Hand {
    /// Works until the channel closes; what is unwritten then is discarded.
    fn work(mut self, jobs: &Receiver<IndexerJob>) {
        for job in jobs {
            match job {
                IndexerJob::Put(entries) => {
                    for entry in entries {
                        if let Err(e) = self.take(&entry) {
                            self.tell(Err(e));
                        }
                    }
                }
                IndexerJob::Empty(done) => {
                    self.write();
                    let _ = done.send(());
                }
            }
        }
    }

    fn take(&mut self, entry: &IndexEntry) -> tantivy::Result<()> {
        entry.pile_on(&mut self.pile, self.stems.of(entry.lang.as_deref()))?;
        if self.pile.heap_bytes() >= self.memory {
            self.write();
        }
        Ok(())
    }

    /// Writes the current builder as a segment.
    fn write(&mut self) {
        if self.pile.documents() > 0 {
            let written = self.pile.write(&self.index);
            self.tell(written);
        }
    }

    fn tell(&self, written: tantivy::Result<SegmentMeta>) {
        // The receiver is gone when the writer is dropped.
        let _ = self.written.send(written.map_err(|e| IndexError::of("write", &self.dir, &e)));
    }
}
