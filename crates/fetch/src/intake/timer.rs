//! How do we wait with a timeout, without setting a timer for every wait?
//!
//! Almost every wait ends long before its deadline. So a connection keeps one timer that may fire
//! too early: only then is it reset to the current deadline. Requests hardly ever touch the timer
//! wheel.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep, sleep_until};

/// A timer for one wait after another.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// The result of `work`, or `None` on timeout.
    pub(crate) async fn before<F: Future>(&mut self, deadline: Instant, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => self.poll(deadline, cx).map(|()| None),
        })
        .await
    }

    fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_timer_serves_later_and_earlier_deadlines() {
        let (mut timer, start) = (Timer::default(), Instant::now());
        for (wait, total) in [(10, 10), (100, 110), (5, 115), (1, 116)] {
            let deadline = Instant::now() + Duration::from_millis(wait);
            assert_eq!(timer.before(deadline, pending::<()>()).await, None);
            assert_eq!(start.elapsed().as_millis(), total);
        }
        assert_eq!(timer.before(Instant::now(), async { 7 }).await, Some(7), "work that is done is never late");
    }
}
