//! How much of the bandwidth do we take right now?
//!
//! Checks the schedule periodically during a run and sets the current limits of the sockets: the
//! rate of all of them together, and their number. It also applies backpressure on a full line:
//! what was started is finished before more is started.

use crate::watch::ledger::Idle;
use crate::watch::progress::Progress;
use orb_fetch::Line;
use orb_page::Moment;
use orb_project::{Regime, Schedule};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the schedule is checked.
const EVERY: Duration = Duration::from_millis(250);

/// Maximum time a driver waits before it asks again.
const LONGEST: Duration = Duration::from_secs(1);

/// As many pages may be in flight as the line carries in this time: more would only slow each of
/// them down, fewer would leave it idle while servers think.
const AHEAD: Duration = Duration::from_secs(2);

/// Keeps a run within its share of the bandwidth.
pub(crate) struct Governor {
    state: Mutex<GovernorState>,
}

struct GovernorState {
    schedule: Schedule,
    looked: Option<Instant>,
    regime: Option<Regime>,
}

impl Governor {
    /// A governor with this schedule.
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self { state: Mutex::new(GovernorState { schedule, looked: None, regime: None }) }
    }

    /// From now on this schedule applies.
    pub(crate) fn set_schedule(&self, schedule: Schedule) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.schedule, state.looked) = (schedule, None);
    }

    /// Applies the limits of this hour, before anything is requested.
    pub(crate) fn begin(&self, line: &Line, progress: &Progress) {
        self.regime(line, progress);
    }

    /// Applies the current limits, and returns why and for how long nothing more may be requested,
    /// if so.
    pub(crate) fn holds_back(&self, line: &Line, progress: &Progress, active: usize) -> Option<(Idle, Duration)> {
        let regime = self.regime(line, progress);
        if regime.paused {
            return Some((Idle::Schedule, EVERY));
        }
        if active >= regime.connections {
            return Some((Idle::Connections, LONGEST));
        }
        let rate = regime.bandwidth.filter(|_| active > 1)?;
        let full = line.bandwidth().full_for();
        let under_way = progress.likely_size().saturating_mul(active as u64);
        let enough = under_way >= rate.saturating_mul(AHEAD.as_secs());
        full.or(enough.then_some(EVERY)).map(|wait| (Idle::Bandwidth, wait.min(EVERY)))
    }

    /// The current limits, passed to the sockets when they change. The time is the machine's local
    /// time, as people read it off a wall.
    fn regime(&self, line: &Line, progress: &Progress) -> Regime {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(regime), true) = (state.regime, state.looked.is_some_and(|at| at.elapsed() < EVERY)) {
            return regime;
        }
        let now = Moment::now();
        let regime = state.schedule.at(now);
        if state.regime != Some(regime) {
            line.bandwidth().set_rate(regime.bandwidth);
            line.limit_connections(regime.connections);
            let words = state.schedule.words(now);
            if let Some(words) = &words {
                tracing::info!("{words}");
            }
            progress.note_schedule(words);
        }
        (state.looked, state.regime) = (Some(Instant::now()), Some(regime));
        regime
    }
}
