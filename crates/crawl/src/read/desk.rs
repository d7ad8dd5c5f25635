//! Who reads the responses?
//!
//! A few named threads take responses from the fetching side and pass readings to the recorder;
//! documents they hand to a few others. A page that makes a reader panic is recorded with that as
//! its problem: one page never ends a crawl.

use crate::config::Config;
use crate::drive::Work;
use crate::drive::clock::SteadyClock;
use crate::read::lane::{held, is_document, spill};
use crate::read::{Reading, ResponseReader};
use crate::record::{Item, RobotsRead};
use crate::render::DrawnExtras;
use crate::shared::SharedState;
use crate::watch::ledger::Stage;
use crossbeam_channel::{Receiver, Sender, unbounded};
use orb_page::{Failure, FailureKind, Lease, Outcome, Purpose};
use orb_store::{HostFact, RobotsRecord};
use orb_urls::Judgement;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// The readers' channels: work comes in, readings go out, documents go to the next desk.
#[derive(Clone)]
pub(crate) struct ReadingDesk {
    /// State shared by all threads.
    pub shared: Arc<SharedState>,
    /// The time.
    pub clock: SteadyClock,
    /// Responses to read.
    pub work: Receiver<Work>,
    /// To the recorder.
    pub recorder: Sender<Item>,
    /// To the document readers; `None` at their own desk.
    pub documents: Option<Sender<Work>>,
}

/// Starts the reading threads; they end when the channel closes.
pub(crate) fn spawn_readers(mut desk: ReadingDesk, config: &Config) -> std::io::Result<Vec<JoinHandle<()>>> {
    let spawn = |desk: &ReadingDesk, name: String| {
        let name: Arc<str> = name.into();
        let reader = ResponseReader::new(config.read.clone(), Arc::clone(&name));
        let desk = desk.clone();
        let sitemaps = config.sitemaps;
        std::thread::Builder::new().name(name.to_string()).spawn(move || desk.attend(reader, sitemaps))
    };
    let (documents, work) = unbounded();
    let beside = ReadingDesk { work, documents: None, ..desk.clone() };
    desk.documents = Some(documents);
    let prefix = &config.worker_name;
    let pages = (0..config.workers).map(|number| spawn(&desk, format!("{prefix}-{}", number + 1)));
    let documents = (0..config.document_workers).map(|number| spawn(&beside, format!("{prefix}-doc-{}", number + 1)));
    pages.chain(documents).collect()
}

impl ReadingDesk {
    fn attend(&self, mut reader: ResponseReader, sitemaps: bool) {
        let ledger = self.shared.progress.ledger();
        for work in &self.work {
            let Some(Work { lease, rank, outcome, mut drawn, since }) = self.keep(work, &reader) else { continue };
            let began = Instant::now();
            ledger.note(Stage::ReadQueue, began - since);
            if let Some(drawn) = &mut drawn {
                let bytes = drawn.bytes();
                // Apart from the page: other pages are served from the cache, whatever becomes of
                // this one.
                let _ = self.recorder.send(Item::Parts(reader.pack_parts(drawn), bytes));
            }
            let item = match lease.purpose {
                Purpose::Page => {
                    let held = held(&outcome);
                    let wire_bytes = held.wire;
                    let read = read_safely(&mut reader, &lease, outcome, drawn.as_deref());
                    if self.documents.is_none() {
                        self.shared.pipeline.come_back(held);
                    }
                    let ended = Instant::now();
                    ledger.note(Stage::Read, ended - began);
                    let Some(reading) = read.map(Box::new) else {
                        self.look_again(&lease, wire_bytes);
                        continue;
                    };
                    self.shared.backlog.enter(reading.heap_bytes);
                    Item::Read(reading, rank, ended)
                }
                Purpose::Robots => Item::Robots(Box::new(self.read_robots(&mut reader, &lease, &outcome, sitemaps))),
            };
            if self.recorder.send(item).is_err() {
                return;
            }
        }
    }

    /// Work for this desk; what is for the next one is handed on, and what is no longer wanted is
    /// dropped.
    fn keep(&self, mut work: Work, reader: &ResponseReader) -> Option<Work> {
        match &self.documents {
            Some(documents) if work.lease.purpose == Purpose::Page && is_document(&work.lease, &work.outcome) => {
                if self.shared.pipeline.has_many_documents() {
                    spill(&mut work.outcome, reader.spool_dir());
                }
                self.shared.pipeline.hand_on(held(&work.outcome));
                let _ = documents.send(work);
                None
            }
            // Nobody who stops a crawl waits for hundreds of documents. The page is still in its
            // queue, as after a crash.
            None if self.shared.stop.is_set() => {
                let held = held(&work.outcome);
                self.shared.pipeline.come_back(held);
                self.shared.taken(held.wire);
                self.shared.pipeline.leave(1);
                self.shared.wake.notify_one();
                None
            }
            _ => Some(work),
        }
    }

    /// A page with this many wire bytes is to be fetched once more before it is recorded.
    fn look_again(&self, lease: &Lease, wire_bytes: u64) {
        self.shared.frontier().look_again(lease, self.clock.now());
        self.shared.taken(wire_bytes);
        self.shared.pipeline.leave(1);
        self.shared.wake.notify_one();
    }

    /// Reads a robots.txt, informs the frontier, and keeps the sitemaps that are in scope.
    fn read_robots(&self, reader: &mut ResponseReader, lease: &Lease, outcome: &Outcome, sitemaps: bool) -> RobotsRead {
        let at = self.clock.now();
        let host = lease.host;
        let wire_bytes = outcome.result.as_ref().map_or(0, |r| r.wire.len());
        let (answer, records) = match &outcome.result {
            Err(failure) => (Err(failure.clone()), None),
            Ok(response) => {
                let is_success = (200..300).contains(&response.status);
                let text =
                    reader.content(response, if is_success { orb_frontier::robots::MAX_BYTES as u64 } else { 0 });
                let record = RobotsRecord {
                    at,
                    status: response.status,
                    text: String::from_utf8_lossy(&text).into_owned(),
                    crawl_delay: None,
                };
                let moved = (300..400).contains(&response.status).then(|| response.headers.location()).flatten();
                let moved = moved.and_then(|to| reader.moved_to(lease, &to));
                let records = reader.pack(&lease.url, outcome.at, response);
                if moved.is_some_and(|to| self.shared.frontier().robots_moved(host, to.as_str(), at)) {
                    self.shared.wake.notify_one();
                    return RobotsRead {
                        fact: HostFact { id: host, ..HostFact::default() },
                        records,
                        sitemaps: Vec::new(),
                        wire_bytes,
                    };
                }
                (Ok(record), records)
            }
        };
        let fact = self.shared.frontier().robots(host, answer, at);
        let named = fact.sitemaps.as_deref().unwrap_or_default();
        let scope = self.shared.scope.current();
        let sitemaps = named
            .iter()
            .filter(|_| sitemaps)
            .filter_map(|url| reader.address(lease, url))
            .filter(|address| scope.judge(address, None) == Judgement::In)
            .collect();
        self.shared.wake.notify_one();
        RobotsRead { fact, records, sitemaps, wire_bytes }
    }
}

/// Reads a page; a panic becomes a fact about the page.
fn read_safely(
    reader: &mut ResponseReader,
    lease: &Lease,
    outcome: Outcome,
    drawn: Option<&DrawnExtras>,
) -> Option<Reading> {
    let at = outcome.at;
    let timings = outcome.timings;
    let wire_bytes = outcome.result.as_ref().map_or(0, |r| r.wire.len());
    catch_unwind(AssertUnwindSafe(|| reader.read(lease, outcome, drawn))).unwrap_or_else(|_| {
        let failure = Failure::new(FailureKind::Local, "the page made the reader fail");
        let read = reader.read(lease, Outcome { at, timings, result: Err(failure) }, None)?;
        Some(Reading { wire_bytes, ..read })
    })
}
