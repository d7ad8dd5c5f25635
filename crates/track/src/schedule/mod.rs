//! When is a project due to run again?
//!
//! Between two runs: `[schedule]` in a project file gives an interval or clock times, and a time
//! zone; the start of the last run gives the rest. Nothing here reads a clock or keeps state:
//! [`Timetable::due`] takes the time as an argument, so a machine that was off knows what it
//! missed.

mod cron;
mod zone;

pub use cron::Cron;
pub use zone::{Stamp, Zone};

use crate::TrackError;
use orb_page::Moment;
use std::time::Duration;

/// Without catch-up, a run that was missed by more than this is skipped.
const GRACE: Duration = Duration::from_secs(3_600);

/// An error about an invalid value.
fn refused(given: &str, what: impl Into<String>) -> TrackError {
    TrackError::Schedule { given: given.to_owned(), what: what.into() }
}

/// Parses a moment as people write it.
pub fn moment(text: &str) -> Result<Moment, TrackError> {
    let read: Result<jiff::Timestamp, _> = text.trim().parse();
    let at = read.map_err(|_| refused(text, "a moment; write it like 2026-11-15T06:30:00Z"))?;
    Ok(Moment(at.as_millisecond()))
}

/// The latest moment at which something with this `lastmod` (a date, or a moment) may have changed.
pub fn changed_by(text: &str) -> Option<Moment> {
    let text = text.trim();
    let moment = if text.len() == 10 { moment(&format!("{text}T23:59:59Z")) } else { moment(text) };
    moment.ok()
}

/// The recurrence of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rhythm {
    /// This long after the start of the last run.
    Every(Duration),
    /// At these clock times.
    At(Cron),
}

/// When to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    /// Its recurrence.
    pub rhythm: Rhythm,
    /// Its time zone.
    pub zone: Zone,
    /// Maximum random delay.
    pub jitter: Duration,
    /// Not before this.
    pub not_before: Option<Stamp>,
    /// Not after this.
    pub until: Option<Stamp>,
    /// Whether missed runs are made up as soon as possible.
    pub catch_up: bool,
}

impl Timetable {
    /// When the project of this name is due next; if that is past, it is due now. `last` is when
    /// the last run began, `made` when the project was created. `None` if it never runs again.
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

    /// The first match after a moment and not before `first`.
    fn after(&self, cron: &Cron, moment: Moment, first: Moment) -> Option<Moment> {
        cron.after(&self.zone, moment.max(Moment(first.0.saturating_sub(1))))
    }

    /// The random delay, deterministic in the name and the due time.
    fn delay(&self, name: &str, due: Moment) -> Duration {
        let most = u64::try_from(self.jitter.as_millis()).unwrap_or(u64::MAX);
        let chance = xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), due.0.cast_unsigned());
        Duration::from_millis(if most == 0 { 0 } else { chance % most })
    }
}

#[cfg(test)]
mod tests;
