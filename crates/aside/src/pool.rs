//! Which helper reads the next document?
//!
//! One that is idle, or a new one while there are fewer than allowed; else the caller waits. A
//! helper is replaced after a thousand documents or a minute of processor time, so that nothing
//! that leaks in it grows, and when it died.

use crate::confine::HelperLimits;
use crate::frame::Request;
use crate::helper::{Helper, HelperEnd};
use orb_extract::Content;
use orb_page::{Document, Problem};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many sets of limits are kept with their helpers, for a server of many projects.
const MOST_POOLS: usize = 4;
/// A helper is replaced after this many documents.
const MOST_DOCUMENTS: u32 = 1_000;
/// A helper is replaced after this much processor time.
const MOST_CPU: Duration = Duration::from_secs(60);

/// A few helper processes, started when they are needed.
#[derive(Debug)]
pub struct Helpers {
    limits: HelperLimits,
    most: usize,
    state: Mutex<PoolState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<Helper>,
    busy: usize,
}

impl Helpers {
    /// At most this many helpers under these limits.
    pub fn new(most: usize, limits: HelperLimits) -> Self {
        Self { limits, most: most.max(1), state: Mutex::default(), freed: Condvar::new() }
    }

    /// Those of the program under these limits, for callers that have none of their own.
    pub(crate) fn under(limits: HelperLimits) -> Arc<Self> {
        static SHARED: Mutex<Vec<Arc<Helpers>>> = Mutex::new(Vec::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shared.iter().find(|known| known.limits == limits) {
            return Arc::clone(known);
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if shared.len() >= MOST_POOLS {
            shared.remove(0);
        }
        let helpers = Arc::new(Self::new(cores, limits));
        shared.push(Arc::clone(&helpers));
        helpers
    }

    /// Extracts a document, aside if its format asks for it; see [`orb_extract::extract_within`].
    pub fn extract(&self, content: &Content<'_>, room: String, wants_layout: bool) -> Document {
        if crate::program().is_none() || !orb_extract::is_read_aside(content) {
            return orb_extract::extract_within(content, room, wants_layout);
        }
        let request = Request {
            mime: content.mime.map(str::to_owned),
            charset: content.charset.map(str::to_owned),
            url: content.url.to_owned(),
            wants_layout,
        };
        self.read(&request, content.bytes).unwrap_or_else(|problem| Document {
            mime: orb_extract::sniff(content.bytes, content.mime).into_owned(),
            problems: vec![problem],
            ..Document::default()
        })
    }

    fn read(&self, request: &Request, bytes: &[u8]) -> Result<Document, Problem> {
        let mut retried = false;
        loop {
            let mut helper = Checkout { pool: self, helper: Some(self.take()?) };
            let Some(own) = helper.helper.as_mut() else { continue };
            let was_fresh = own.read == 0;
            match own.ask(request, bytes, self.limits.wall) {
                Ok(answer) => return Ok(answer.unpack()),
                Err(end) => {
                    helper.helper = None;
                    // Earlier documents may have left its memory in pieces.
                    if end != HelperEnd::Memory || was_fresh || retried {
                        return Err(end.problem());
                    }
                    retried = true;
                }
            }
        }
    }

    /// An idle helper, or a new one.
    fn take(&self) -> Result<Helper, Problem> {
        let mut state = self.lock();
        while state.busy >= self.most {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.busy += 1;
        while let Some(mut helper) = state.idle.pop() {
            if helper.is_alive() {
                return Ok(helper);
            }
        }
        drop(state);
        Helper::start(&self.limits).map_err(|why| {
            self.give_back(None);
            Problem::new("reader-missing", format!("no process could be started to read it: {why}"))
        })
    }

    fn give_back(&self, helper: Option<Helper>) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        state.idle.extend(helper);
        drop(state);
        self.freed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A helper in use. It goes back whatever happens to the caller.
struct Checkout<'p> {
    pool: &'p Helpers,
    helper: Option<Helper>,
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        let fit = |helper: &Helper| helper.read < MOST_DOCUMENTS && helper.cpu < MOST_CPU;
        // One that was not fit to go on is ended before its place is free.
        let helper = self.helper.take().filter(fit);
        self.pool.give_back(helper);
    }
}
