//! When is a project to be run again?
//!
//! Between two runs: `[schedule]` of a project file says at which interval or at which times of the clock, and in which zone; when the last run began
//! says the rest. Nothing here looks at a clock or keeps a state: [`Schedule::due`] is told the time, and a machine that was off knows what it missed.

mod cron;
mod zone;

pub use cron::Cron;
pub use zone::{Stamp, Zone};

use crate::TrackError;
use orb_page::Moment;
use std::time::Duration;

/// A time that was missed by more is left out, where nothing is to be caught up with.
const GRACE: Duration = Duration::from_secs(3_600);

/// Says that something written is not what it should be.
fn refused(given: &str, what: impl Into<String>) -> TrackError {
    TrackError::Schedule { given: given.to_owned(), what: what.into() }
}

/// Reads a moment as people write it.
pub fn moment(text: &str) -> Result<Moment, TrackError> {
    let read: Result<jiff::Timestamp, _> = text.trim().parse();
    let at = read.map_err(|_| refused(text, "a moment; write it like 2026-11-15T06:30:00Z"))?;
    Ok(Moment(at.as_millisecond()))
}

/// The moment up to which something may have changed that was changed last at a time as sitemaps write it (a date, or a moment).
pub fn changed_by(text: &str) -> Option<Moment> {
    let text = text.trim();
    let moment = if text.len() == 10 { moment(&format!("{text}T23:59:59Z")) } else { moment(text) };
    moment.ok()
}

/// How often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rhythm {
    /// So long after the last run began.
    Every(Duration),
    /// At these times of the clock.
    At(Cron),
}

/// When to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// How often.
    pub rhythm: Rhythm,
    /// Whose clock.
    pub zone: Zone,
    /// So much later at most, by chance.
    pub jitter: Duration,
    /// Not before this.
    pub not_before: Option<Stamp>,
    /// Not after this.
    pub until: Option<Stamp>,
    /// Whether what was missed is done as soon as possible.
    pub catch_up: bool,
}

impl Schedule {
    /// When the project of this name is to run next, which may be past: then it is due. `last` is when the last run began, `made` when the project was
    /// made. `None` where it never runs again.
    pub fn due(&self, name: &str, last: Option<Moment>, made: Moment, now: Moment) -> Option<Moment> {
        let first = self.not_before.map_or(Moment(i64::MIN), |stamp| self.zone.moment(stamp));
        let mut due = match (&self.rhythm, last) {
            (Rhythm::Every(_), None) => made.max(first),
            (Rhythm::Every(every), Some(last)) => last.plus(*every).max(first),
            (Rhythm::At(cron), last) => {
                let mut due = self.after(cron, last.unwrap_or(made), first)?;
                if !self.catch_up && now.since(due) > GRACE {
                    due = self.after(cron, Moment(now.0.saturating_sub_unsigned(GRACE.as_millis() as u64)), first)?;
                }
                due
            }
        };
        due = due.plus(self.delay(name, due));
        self.until.is_none_or(|until| due <= self.zone.moment(until)).then_some(due)
    }

    /// The first of the times after a moment that is not before another.
    fn after(&self, cron: &Cron, moment: Moment, first: Moment) -> Option<Moment> {
        cron.after(&self.zone, moment.max(Moment(first.0.saturating_sub(1))))
    }

    /// How much later, by a chance that is the same whenever it is asked for.
    fn delay(&self, name: &str, due: Moment) -> Duration {
        let most = u64::try_from(self.jitter.as_millis()).unwrap_or(u64::MAX);
        let chance = xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), due.0.cast_unsigned());
        Duration::from_millis(if most == 0 { 0 } else { chance % most })
    }
}

#[cfg(test)]
mod tests;
