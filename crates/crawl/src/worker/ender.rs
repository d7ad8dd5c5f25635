//! Who looks whether the run is over?
//!
//! Every machine that rests, again and again, on a thread of its own: the last look puts everything
//! in order (`orb_store`'s `ending`), which may take longer than a lease, and heartbeats must go on
//! meanwhile.

use orb_page::RunId;
use orb_store::{DepthRule, SharedProject};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it is looked.
const EVERY: Duration = Duration::from_millis(300);

/// Looks whether a run is over.
pub(super) struct Ender {
    store: Arc<Mutex<SharedProject>>,
    run: RunId,
    /// Whether depth matters, and which links count for it.
    depths: Option<DepthRule>,
    looking: Option<JoinHandle<bool>>,
    looked: Instant,
}

impl Ender {
    pub(super) fn new(store: SharedProject, run: RunId, depths: Option<DepthRule>) -> Self {
        Self { store: Arc::new(Mutex::new(store)), run, depths, looking: None, looked: Instant::now() }
    }

    /// Looks if it is time to, where this machine rests; whether the run was found to be over.
    pub(super) fn look(&mut self, rests: bool) -> bool {
        if self.looking.as_ref().is_some_and(JoinHandle::is_finished) {
            self.looked = Instant::now();
            return self.wait();
        }
        if rests && self.looking.is_none() && self.looked.elapsed() >= EVERY {
            let (store, run, depths) = (Arc::clone(&self.store), self.run, self.depths);
            // What the store says when it does not answer is asked again.
            let look = move || {
                let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
                store.end_if_over(run, depths).unwrap_or(false)
            };
            // Without a thread, another machine looks.
            self.looking = std::thread::Builder::new().name("ending".into()).spawn(look).ok();
        }
        false
    }

    /// Whether no look is under way.
    pub(super) fn is_over(&self) -> bool {
        self.looking.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the last look is over, and with it what it has begun.
    pub(super) fn wait(&mut self) -> bool {
        self.looking.take().is_some_and(|looking| looking.join().unwrap_or(false))
    }
}
