//! Was this request answered before?
//!
//! A client that did not get an answer sends its request again, with the same `Idempotency-Key`. It
//! gets the answer of the first. Answers are kept in memory: after a restart of the server, the
//! project's lock still keeps a run from being started twice.

use crate::api::StartedRun;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many answers are kept.
const KEPT: usize = 1_000;

/// Answers by key, oldest first.
#[derive(Default)]
pub(crate) struct Repeats(Mutex<VecDeque<(String, StartedRun)>>);

impl Repeats {
    /// The answer to the first request with this key.
    pub(crate) fn get(&self, key: &str) -> Option<StartedRun> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(other, _)| other == key).map(|(_, answer)| answer.clone())
    }

    /// Keeps an answer.
    pub(crate) fn put(&self, key: String, answer: StartedRun) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((key, answer));
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }
}
