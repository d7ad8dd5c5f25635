//! Where may a crash be staged?
//!
//! Tests of the commit protocol end the process at a named point, at its n-th pass. Unarmed, a point costs one atomic load.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The names of all points, in the order a commit passes them.
pub const POINTS: &[&str] = &[
    "before-archive",
    "after-archive",
    "after-flush",
    "before-catalogue",
    "before-catalogue-commit",
    "after-catalogue",
    "before-index",
    "after-index",
];

static ARMED: AtomicBool = AtomicBool::new(false);
static LEFT: AtomicU64 = AtomicU64::new(0);
static NAME: Mutex<String> = Mutex::new(String::new());

/// Ends the process by `abort` at the `nth` pass (from 1) of the named point; `false` if there is no such point.
pub fn arm(point: &str, nth: u64) -> bool {
    if !POINTS.contains(&point) || nth == 0 {
        return false;
    }
    point.clone_into(&mut NAME.lock().unwrap_or_else(PoisonError::into_inner));
    LEFT.store(nth, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    true
}

/// A point where a crash may be staged.
#[inline]
pub(crate) fn point(name: &'static str) {
    if ARMED.load(Ordering::Relaxed) {
        pass(name);
    }
}

#[cold]
fn pass(name: &'static str) {
    debug_assert!(POINTS.contains(&name));
    let here = *NAME.lock().unwrap_or_else(PoisonError::into_inner) == name;
    if here && LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
        std::process::abort();
    }
}
