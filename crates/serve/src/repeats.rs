//! Was this request answered before?
//!
//! A client that did not get an answer sends its request again, with the same `Idempotency-Key`. It
//! gets the answer of the first. As the draft has it (draft-ietf-httpapi-idempotency-key-header),
//! the same key with another request is refused, and so is a repetition while the first is still
//! being answered: the client comes again. Answers are kept in memory: after a restart of the
//! server, the project's lock still keeps a run from being started twice.

use crate::api::StartedRun;
use crate::launch::RunWish;
use crate::problem::ProblemDetails;
use http::StatusCode;
use http::header::RETRY_AFTER;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many answers are kept.
const KEPT: usize = 1_000;

/// A request with a key.
struct KeyedRequest {
    key: String,
    wish: RunWish,
    /// `None` as long as it is being answered.
    answer: Option<StartedRun>,
}

/// Requests by key, oldest first.
#[derive(Default)]
pub(crate) struct Repeats(Mutex<VecDeque<KeyedRequest>>);

/// What is to be done with a request that has a key.
pub(crate) enum RepeatedRequest<'a> {
    /// It is the first: do what it asks.
    First(FirstRequest<'a>),
    /// It was answered before.
    Answered(StartedRun),
}

/// The first request with a key. It is forgotten if it fails: then it may be sent again.
pub(crate) struct FirstRequest<'a> {
    repeats: &'a Repeats,
    key: String,
}

impl Repeats {
    fn kept(&self) -> MutexGuard<'_, VecDeque<KeyedRequest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether a request with this key was there before.
    pub(crate) fn begin(&self, key: String, wish: &RunWish) -> Result<RepeatedRequest<'_>, ProblemDetails> {
        let mut kept = self.kept();
        match kept.iter().find(|other| other.key == key) {
            Some(other) if other.wish != *wish => {
                let detail = "another request was sent with this Idempotency-Key";
                Err(ProblemDetails::new(StatusCode::UNPROCESSABLE_ENTITY, "key-reused", "Key used before", detail))
            }
            Some(KeyedRequest { answer: Some(answer), .. }) => Ok(RepeatedRequest::Answered(answer.clone())),
            Some(_) => {
                let detail = "the first request with this Idempotency-Key is still being answered";
                Err(ProblemDetails::conflict("under-way", detail).with_header(RETRY_AFTER, "5"))
            }
            None => {
                kept.push_back(KeyedRequest { key: key.clone(), wish: *wish, answer: None });
                if kept.len() > KEPT {
                    kept.pop_front();
                }
                Ok(RepeatedRequest::First(FirstRequest { repeats: self, key }))
            }
        }
    }
}

impl FirstRequest<'_> {
    /// Keeps its answer.
    pub(crate) fn answered(self, answer: &StartedRun) {
        let mut kept = self.repeats.kept();
        if let Some(request) = kept.iter_mut().find(|request| request.key == self.key) {
            request.answer = Some(answer.clone());
        }
    }
}

impl Drop for FirstRequest<'_> {
    fn drop(&mut self) {
        self.repeats.kept().retain(|request| request.key != self.key || request.answer.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::LaunchKind;

    #[test]
    fn a_key_stands_for_one_request() {
        let repeats = Repeats::default();
        let wish = |budget| RunWish { kind: LaunchKind::Track, due: false, budget };
        let status = |wish: &RunWish| repeats.begin("k".into(), wish).map(drop).map_err(|e| e.status.as_u16());
        let Ok(RepeatedRequest::First(first)) = repeats.begin("k".into(), &wish(None)) else { panic!() };
        assert_eq!((status(&wish(None)), status(&wish(Some(1)))), (Err(409), Err(422)));
        drop(first);
        let Ok(RepeatedRequest::First(first)) = repeats.begin("k".into(), &wish(Some(1))) else { panic!() };
        first.answered(&StartedRun::default());
        assert!(matches!(repeats.begin("k".into(), &wish(Some(1))), Ok(RepeatedRequest::Answered(_))));
        assert_eq!(status(&wish(None)), Err(422));
    }
}
