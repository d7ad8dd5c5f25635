//! What time is it?

use orb_page::Moment;
use std::time::Duration;

/// Wall-clock time that never jumps: politeness must hold even if somebody sets the machine's
/// clock. It goes on while the machine is suspended (`CLOCK_BOOTTIME`), because the permissions
/// that other machines have given us end meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteadyClock {
    began: Moment,
    at: Duration,
}

impl SteadyClock {
    /// A clock synchronised with the machine's, once.
    pub(crate) fn start() -> Self {
        Self::showing(Moment::now())
    }

    /// A clock that shows this time now: that of a store whose moments several machines read.
    pub(crate) fn showing(now: Moment) -> Self {
        Self { began: now, at: uptime() }
    }

    /// Now.
    pub(crate) fn now(&self) -> Moment {
        self.began.plus(uptime().saturating_sub(self.at))
    }

    /// What it showed when the machine's own clock showed this, a moment ago.
    pub(crate) fn instead_of(&self, own: Moment) -> Moment {
        Moment(self.now().0.saturating_sub(Moment::now().0.saturating_sub(own.0)))
    }

    /// Now, rounded up to the next millisecond: a wait counted from here is never too short.
    pub(crate) fn now_rounded_up(&self) -> Moment {
        self.now().plus(Duration::from_millis(1))
    }
}

/// The time since some fixed moment.
fn uptime() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let id = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let id = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(id);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_with_different_clocks_agree_on_when_a_host_may_be_asked_again() {
        // One is told by a host to come back in a minute; the store's clock is an hour behind this
        // machine's.
        let store = Moment(Moment::now().0 - 3_600_000);
        let first = SteadyClock::showing(store);
        let not_before = first.now().plus(Duration::from_secs(60));
        // Another takes the host over, which reads the store's clock as well, but later.
        let second = SteadyClock::showing(first.now());
        let wait = not_before.since(second.now());
        assert!(wait > Duration::from_secs(50) && wait <= Duration::from_secs(60), "{wait:?}");
    }

    #[test]
    fn what_a_wrong_clock_has_dated_gets_the_date_of_the_stores() {
        let store = SteadyClock::showing(Moment(Moment::now().0 - 3_600_000));
        let (before, dated) = (store.now(), Moment::now());
        let right = store.instead_of(dated);
        assert!(before.0 - 1_000 <= right.0 && right.0 <= store.now().0 + 1_000, "{before:?}, {right:?}");
    }
}
