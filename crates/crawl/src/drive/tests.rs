//! Who waits for the store?

use super::budget::Limits;
use super::clock::SteadyClock;
use super::governor::Governor;
use super::{Driver, Errand};
use crate::read::sessions::Sessions;
use crate::scope::SharedScope;
use crate::shared::{SharedState, Stop};
use crossbeam_channel::unbounded;
use orb_fetch::{FetchConfig, Fetchers};
use orb_frontier::{Frontier, FrontierConfig};
use orb_page::{HostId, PageId, RunState};
use orb_project::{LimitSettings, Schedule};
use orb_store::{HostRecord, Queued, Queues, StoreError};
use orb_urls::{Rules, ScopeSpec};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One host with one page, whose every read lasts until another thread has had the frontier.
#[derive(Clone)]
struct Slow {
    shared: Arc<SharedState>,
    reads: Arc<AtomicUsize>,
}

impl Slow {
    fn wait_for_the_frontier(&self) {
        let (done, told) = unbounded();
        let shared = Arc::clone(&self.shared);
        std::thread::spawn(move || done.send(shared.frontier().granted()));
        let had = told.recv_timeout(Duration::from_secs(30));
        assert!(had.is_ok(), "the store is read while the frontier is locked");
        self.reads.fetch_add(1, Ordering::Relaxed);
    }
}

impl Queues for Slow {
    type Error = StoreError;

    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, _: usize) -> Result<Vec<Queued>, StoreError> {
        self.wait_for_the_frontier();
        let url = format!("http://127.0.0.1:9/{}", host.0);
        let (page, before) = (PageId(u64::from(host.0)), None);
        let queued = Queued { page, rank: 1, url, asked: None, depth: 0, redirects: 0, step: None, before };
        Ok(after.is_none().then_some(queued).into_iter().collect())
    }

    fn next_host(&self, after: HostId) -> Result<Option<HostId>, StoreError> {
        self.wait_for_the_frontier();
        Ok((after.0 < 40).then_some(HostId(after.0 + 1)))
    }

    fn host(&self, id: HostId) -> Result<Option<HostRecord>, StoreError> {
        self.wait_for_the_frontier();
        let (scheme, name) = ("http".to_owned(), "127.0.0.1".to_owned());
        Ok(Some(HostRecord { id, scheme, name, port: 9, robots: None, not_before: None, backoff_ms: 0 }))
    }

    fn queued(&self) -> u64 {
        40
    }
}

#[test]
fn the_store_is_read_while_others_have_the_frontier() {
    let (clock, stop) = (SteadyClock::start(), Stop::new());
    let frontier = Frontier::new(FrontierConfig::default(), clock.now(), false);
    let scope = Arc::new(SharedScope::new(&ScopeSpec::default(), &[]).unwrap());
    let shared = Arc::new(SharedState::new(frontier, Arc::clone(&stop), scope, Arc::default(), 1_000));
    let (readers, work) = unbounded();
    let errand = Errand {
        shared: Arc::clone(&shared),
        clock,
        sessions: Arc::new(Sessions::new(Rules::default(), Vec::new())),
        render: None,
        fetchers: Arc::new(Fetchers::new(FetchConfig::default()).unwrap()),
        readers,
        recorder: unbounded().0,
        active: AtomicUsize::new(0),
    };
    let reads = Arc::new(AtomicUsize::new(0));
    let driver = Driver {
        errand: Arc::new(errand),
        queues: Slow { shared, reads: Arc::clone(&reads) },
        failures: unbounded(),
        governor: Arc::new(Governor::new(Schedule::new(LimitSettings::default(), None, 8))),
        limits: Limits::new(None, 0, None, Duration::ZERO),
        tasks: Mutex::default(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let driven = runtime.spawn(async move { driver.drive().await });
    // A private address that nobody opened: every page fails without a request, and comes out as
    // such.
    let failed = (0..40).map(|_| work.recv_timeout(Duration::from_secs(60)).unwrap().lease.page.0);
    let mut failed: Vec<u64> = failed.collect();
    failed.sort_unstable();
    assert_eq!(failed, (1..=40).collect::<Vec<_>>());
    stop.ask();
    assert_eq!(runtime.block_on(driven).unwrap().unwrap(), RunState::Stopped);
    assert!(reads.load(Ordering::Relaxed) >= 81, "a walk, forty hosts, forty queues");
}
