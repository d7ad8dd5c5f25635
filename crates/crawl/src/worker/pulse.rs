//! Who says that we are alive while something takes long?
//!
//! The clerk does while the worker crawls. Before, when it logs in, and after, when it commits what
//! is left and uploads its text index, whoever waits for that beats beside it.

use orb_store::{ShardClerk, StoreError, WorkerReport};
use std::time::{Duration, Instant};

/// How often it is looked whether the waiting is over.
const TICK: Duration = Duration::from_millis(20);

/// Renews the lease until `over`, which is told how long ago the store has last confirmed it. An
/// error means that the lease is lost.
pub(super) fn beat_until(
    desk: &mut ShardClerk,
    (why, lease): (&str, Duration),
    mut over: impl FnMut(Duration) -> bool,
) -> Result<(), StoreError> {
    let report = WorkerReport { why: why.to_owned(), ..WorkerReport::default() };
    let (mut heard, mut next) = (Instant::now(), Instant::now());
    while !over(heard.elapsed()) {
        let now = Instant::now();
        if now >= next {
            match desk.beat(&report) {
                // The lease counts from before the call.
                Ok(_) => heard = now,
                Err(StoreError::StoreAway { .. }) => {}
                Err(error) => return Err(error),
            }
            next = now + lease / 5;
        }
        std::thread::park_timeout(TICK);
    }
    Ok(())
}
