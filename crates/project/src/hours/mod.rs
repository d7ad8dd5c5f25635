//! How much of the bandwidth is ours at this hour?
//!
//! `[[limits.schedule]]` in a project file: on these days, from this hour to that, this rate and
//! this many connections: a crawl may be slow by day and fast by night and at weekends.
//! The first row that applies decides; without one, `[fetch]` applies. Hours are local to
//! `limits.zone`, daylight saving time included. Nothing here reads a clock: [`Schedule::at`] is
//! told the time.

mod spelling;

use crate::units::Rate;
use orb_page::Moment;
use orb_track::schedule::Zone;
use serde::{Deserialize, Serialize};

const DAY: i64 = 86_400;
const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Section `[limits]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// The time zone of the schedule: `UTC`, an offset such as `+02:00`, or a place such as
    /// `Europe/Berlin`.
    pub zone: Zone,
    /// Rates and connections by day and hour; the first row that applies decides.
    pub schedule: Vec<Hours>,
}

/// A row of the schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "HoursRow")]
pub struct Hours {
    /// The days on which it starts.
    pub days: Weekdays,
    /// When it starts.
    pub from: Hour,
    /// When it ends; on the next day if that is earlier.
    pub to: Hour,
    /// The rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Allowance>,
    /// Maximum connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<usize>,
}

/// A row as written.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HoursRow {
    days: Weekdays,
    from: Hour,
    to: Hour,
    rate: Option<Allowance>,
    connections: Option<usize>,
}

impl Default for HoursRow {
    fn default() -> Self {
        Self { days: Weekdays(127), from: Hour(0), to: Hour(86_400), rate: None, connections: None }
    }
}

impl TryFrom<HoursRow> for Hours {
    type Error = &'static str;

    fn try_from(HoursRow { days, from, to, rate, connections }: HoursRow) -> Result<Self, &'static str> {
        if from.0 == to.0 {
            return Err("a row of the schedule ends when it begins; leave from and to out for the whole day");
        }
        if connections == Some(0) {
            return Err("connections must be at least 1; rate = \"0\" pauses");
        }
        if rate.is_none() && connections.is_none() {
            return Err("a row of the schedule needs a rate or connections");
        }
        Ok(Self { days, from, to, rate, connections })
    }
}

impl Hours {
    /// Whether it applies at this second of a day counted from 1970-01-01.
    fn hold(&self, day: i64, second: i64) -> bool {
        let (from, to) = (i64::from(self.from.0), i64::from(self.to.0));
        if from < to {
            return self.days.contain(day) && (from..to).contains(&second);
        }
        (second >= from && self.days.contain(day)) || (second < to && self.days.contain(day - 1))
    }
}

/// The rate that a row allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// What was started is finished, and nothing else is started.
    Pause,
    /// This fast.
    Rate(Rate),
    /// Without limit.
    Unlimited,
}

/// A time of day in seconds; 86,400 is the end of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hour(u32);

/// Days of the week as a bit set, Monday lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weekdays(u8);

impl Weekdays {
    /// Whether a day counted from 1970-01-01, which was a Thursday, is in the set.
    fn contain(self, day: i64) -> bool {
        self.0 >> (day + 3).rem_euclid(7) & 1 == 1
    }
}

/// The limits at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regime {
    /// Index of the row that decides.
    row: Option<usize>,
    /// Bytes per second; `None` without a limit. While paused, the limit for what was already
    /// started.
    pub bandwidth: Option<u64>,
    /// Maximum connections.
    pub connections: usize,
    /// Whether nothing new is started.
    pub paused: bool,
}

/// The schedule with the limits that apply outside of it.
#[derive(Clone, Debug)]
pub struct Schedule {
    limits: LimitSettings,
    bandwidth: Option<u64>,
    connections: usize,
}

impl Schedule {
    /// A schedule with these rows and default limits.
    pub fn new(limits: LimitSettings, bandwidth: Option<u64>, connections: usize) -> Self {
        Self { limits, bandwidth, connections }
    }

    /// The limits at a moment.
    pub fn at(&self, now: Moment) -> Regime {
        let row = self.row_at(self.local(now));
        let hours = row.and_then(|n| self.limits.schedule.get(n));
        let rate = hours.and_then(|h| h.rate);
        let bandwidth = match rate {
            Some(Allowance::Rate(rate)) => Some(rate.0),
            Some(Allowance::Unlimited) => None,
            Some(Allowance::Pause) | None => self.bandwidth,
        };
        let connections = hours.and_then(|h| h.connections).unwrap_or(self.connections);
        Regime { row, bandwidth, connections, paused: rate == Some(Allowance::Pause) }
    }

    /// The largest number of connections that any row allows.
    pub fn most_connections(&self) -> usize {
        let rows = self.limits.schedule.iter().filter_map(|h| h.connections);
        rows.chain([self.connections]).max().unwrap_or(self.connections)
    }

    /// What the schedule says at a moment, in a few words; `None` if no row applies.
    pub fn words(&self, now: Moment) -> Option<String> {
        let local = self.local(now);
        let hours = self.limits.schedule.get(self.row_at(local)?)?;
        let rate = hours.rate.map(|rate| match rate {
            Allowance::Pause => "paused".to_owned(),
            other => other.to_string(),
        });
        let connections = hours.connections.map(|n| format!("{n} connections"));
        let what = rate.into_iter().chain(connections).collect::<Vec<_>>().join(", ");
        let until = self.change_after(local).map_or(String::new(), |then| {
            let day = usize::try_from((then.div_euclid(DAY) + 3).rem_euclid(7)).unwrap_or(0);
            let day = if then - local > DAY { format!("{} ", NAMES[day]) } else { String::new() };
            let hour = Hour(u32::try_from(then.rem_euclid(DAY)).unwrap_or(0));
            format!(" until {day}{hour} {}", self.limits.zone)
        });
        Some(format!("schedule: {what}{until}"))
    }

    /// Seconds since 1970-01-01 in the zone's local time.
    fn local(&self, now: Moment) -> i64 {
        now.0.div_euclid(1_000).saturating_add(i64::from(self.limits.zone.ahead(now)))
    }

    fn row_at(&self, local: i64) -> Option<usize> {
        let (day, second) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        self.limits.schedule.iter().position(|hours| hours.hold(day, second))
    }

    /// When another row will apply; `None` if never.
    fn change_after(&self, local: i64) -> Option<i64> {
        let (now, today) = (self.row_at(local), local.div_euclid(DAY));
        let edges = self.limits.schedule.iter().flat_map(|h| [h.from.0, h.to.0]).chain([0]).map(i64::from);
        let edges: Vec<i64> = edges.collect();
        let mut moments: Vec<i64> = (0..=8).flat_map(|n| edges.iter().map(move |e| (today + n) * DAY + e)).collect();
        moments.sort_unstable();
        moments.dedup();
        moments.into_iter().filter(|m| *m > local).find(|m| self.row_at(*m) != now)
    }
}

#[cfg(test)]
mod tests;
