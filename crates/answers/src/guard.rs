//! What if the text index is damaged in a way its engine does not notice?
//!
//! The engine trusts its files: if one is damaged, it may panic. Such a panic ends the question and
//! not the process. What a panic prints is up to the process's panic hook, which the program
//! installs once: it asks [`expects_panic`] and stays silent.

use crate::{AnswerError, Result};
use orb_store::ProjectDir;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread will be caught and reported as damage, so that a panic hook
/// should stay silent.
pub fn expects_panic() -> bool {
    GUARDED.get()
}

/// Runs an operation on the index's files, and reports a panic as damage.
pub(crate) fn guarded<T>(project: &ProjectDir, what: impl FnOnce() -> T) -> Result<T> {
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(what));
    GUARDED.set(outer);
    done.map_err(|_| {
        let (dir, name) = (project.text_index(), &project.name);
        let dir = dir.display();
        AnswerError::NotBuilt(format!("the text index {dir} is damaged; run orb index rebuild {name}"))
    })
}
