//! What time is it?

use orb_page::Moment;
use std::time::{Duration, Instant};

/// Wall-clock time that never jumps: politeness must hold even if somebody sets the machine's
/// clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteadyClock {
    began: Moment,
    at: Instant,
}

impl SteadyClock {
    /// A clock synchronised with the machine's, once.
    pub(crate) fn start() -> Self {
        Self { began: Moment::now(), at: Instant::now() }
    }

    /// Now.
    pub(crate) fn now(&self) -> Moment {
        self.began.plus(self.at.elapsed())
    }

    /// Now, rounded up to the next millisecond: a wait counted from here is never too short.
    pub(crate) fn now_rounded_up(&self) -> Moment {
        self.now().plus(Duration::from_millis(1))
    }
}
