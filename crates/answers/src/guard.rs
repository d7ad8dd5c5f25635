//! What if the text index is damaged in a way its engine does not notice?
//!
//! The engine believes its files: where one was damaged, it may panic. Such a panic ends the
//! question and not the process. What a panic prints is the business of the process's panic hook,
//! which is set once, by the program: it asks [`expects_panic`] and keeps silent.

use crate::{AnswerError, Result};
use orb_store::ProjectDir;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread is caught and told as damage, so that a panic hook has nothing to
/// say of it.
pub fn expects_panic() -> bool {
    GUARDED.get()
}

/// Does something with the index's files, and tells a panic as the damage that it is.
pub(crate) fn guarded<T>(project: &ProjectDir, what: impl FnOnce() -> T) -> Result<T> {
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(what));
    GUARDED.set(outer);
    done.map_err(|_| {
        let (dir, name) = (project.text_index(), &project.name);
        let dir = dir.display();
        AnswerError::NotBuilt(format!("the text index {dir} is damaged; orb index rebuild {name} makes it anew"))
    })
}
