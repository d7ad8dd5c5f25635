//! How much of the line do we take right now?
//!
//! Looks at the schedule now and then while a run goes on, and tells the sockets what holds from here: the rate for all of them, and how
//! many there may be. It also keeps a full line from getting fuller: what has begun is finished before more is begun.

use crate::watch::ledger::Idle;
use crate::watch::progress::Progress;
use orb_fetch::Line;
use orb_page::Moment;
use orb_project::{Regime, Schedule};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the schedule is looked at.
const EVERY: Duration = Duration::from_millis(250);

/// The longest that a driver may wait before it asks again.
const LONGEST: Duration = Duration::from_secs(1);

/// As many pages may be under way as the line carries in this time: more would only make each of them slower, fewer would leave it empty
/// while servers think.
const AHEAD: Duration = Duration::from_secs(2);

/// Keeps a run within its share of the line.
pub(crate) struct Governor {
    schedule: Schedule,
    state: Mutex<State>,
}

struct State {
    looked: Option<Instant>,
    regime: Option<Regime>,
}

impl Governor {
    /// One that follows this schedule.
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self { schedule, state: Mutex::new(State { looked: None, regime: None }) }
    }

    /// Makes what holds now hold, and says why nothing more may be asked for and for how long, where that is so.
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

    /// What holds now, told to the sockets where it is news. The time is the machine's own, as people read it off a wall.
    fn regime(&self, line: &Line, progress: &Progress) -> Regime {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(regime), true) = (state.regime, state.looked.is_some_and(|at| at.elapsed() < EVERY)) {
            return regime;
        }
        let now = Moment::now();
        let regime = self.schedule.at(now);
        if state.regime != Some(regime) {
            line.bandwidth().set_rate(regime.bandwidth);
            line.limit_connections(regime.connections);
            let words = self.schedule.words(now);
            if let Some(words) = &words {
                tracing::info!("{words}");
            }
            progress.note_schedule(words);
        }
        *state = State { looked: Some(Instant::now()), regime: Some(regime) };
        regime
    }
}
