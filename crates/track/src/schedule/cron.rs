//! Which clock times does a cron expression mean?
//!
//! The five fields of Unix cron: minute, hour, day of the month, month, day of the week, each `*`,
//! a number, a name (`jan`, `mon`), a range `a-b`, a step `*/n` or `a-b/n`, or a list of these. If
//! both day fields are given, either matches, as in cron. `@hourly`, `@daily`, `@weekly`,
//! `@monthly` and `@yearly` are shorthands.
//!
//! When clocks go forward, a skipped time occurs at the moment of the change; when they go back, a
//! repeated time occurs once, the first time. Expressions for every hour (`*`) are not affected:
//! they follow elapsed hours.

use super::{Zone, refused};
use crate::TrackError;
use jiff::Span;
use jiff::civil::{Date, DateTime};
use orb_page::Moment;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A minute.
const MINUTE: Duration = Duration::from_secs(60);

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// 29 February is at most this many days away.
const DAYS_AHEAD: u32 = 8 * 366 + 1;

const NICKNAMES: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// A cron expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    dates: u64,
    months: u64,
    days: u64,
    /// Whether the day of the month and the day of the week are restricted.
    by_date: bool,
    by_day: bool,
}

/// A field: its name, minimum and maximum, and the names of its numbers.
struct CronField {
    what: &'static str,
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const FIELDS: [CronField; 5] = [
    CronField { what: "a minute", least: 0, most: 59, names: &[] },
    CronField { what: "an hour", least: 0, most: 23, names: &[] },
    CronField { what: "a day of the month", least: 1, most: 31, names: &[] },
    CronField { what: "a month", least: 1, most: 12, names: &MONTHS },
    CronField { what: "a day of the week", least: 0, most: 7, names: &DAYS },
];

impl CronField {
    /// Parses a field into a bit set.
    fn read(&self, text: &str) -> Option<u64> {
        text.split(',').try_fold(0, |bits, part| Some(bits | self.part(part)?))
    }

    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(plain(step).filter(|n| *n > 0)?)),
            None => (part, None),
        };
        let (first, last) = match (range, range.split_once('-')) {
            ("*", _) => (self.least, self.most),
            (_, Some((first, last))) => (self.number(first)?, self.number(last)?),
            (_, None) => {
                let first = self.number(range)?;
                (first, if step.is_some() { self.most } else { first })
            }
        };
        // `fri-sun` and `sat-mon` wrap around the end of the week.
        let last = if first > last && self.most == 7 { last + 7 } else { last };
        let numbers = (first..=last).step_by(step.unwrap_or(1) as usize);
        (first <= last).then(|| numbers.fold(0, |bits, n| bits | 1 << if self.most == 7 { n % 7 } else { n }))
    }

    fn number(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let number = named.and_then(|n| u32::try_from(n).ok()).map(|n| n + self.least).or_else(|| plain(text))?;
        (self.least..=self.most).contains(&number).then_some(number)
    }
}

/// Parses a number of digits only.
fn plain(text: &str) -> Option<u32> {
    (!text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

impl FromStr for Cron {
    type Err = TrackError;

    fn from_str(text: &str) -> Result<Self, TrackError> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let nickname = NICKNAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        let fields: Vec<&str> = nickname.map_or(text.as_str(), |(_, fields)| fields).split(' ').collect();
        if fields.len() != FIELDS.len() {
            let what = "five fields (minute hour day month weekday) such as 30 6 * * mon-fri, or @daily";
            return Err(refused(&text, what));
        }
        let mut bits = [0; 5];
        for ((bits, field), written) in bits.iter_mut().zip(&FIELDS).zip(&fields) {
            let CronField { what, least, most, .. } = field;
            let wrong = || refused(written, format!("{what} ({least} to {most}, ranges, steps, lists)"));
            *bits = field.read(written).ok_or_else(wrong)?;
        }
        let [minutes, hours, dates, months, days] = bits;
        let (by_date, by_day) = (!fields[2].starts_with('*'), !fields[4].starts_with('*'));
        let cron = Self { text: text.clone(), minutes, hours, dates, months, days, by_date, by_day };
        if cron.ever() { Ok(cron) } else { Err(refused(&text, "a day that any year has")) }
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Cron {
    /// The first match after a moment.
    pub(super) fn after(&self, zone: &Zone, moment: Moment) -> Option<Moment> {
        let mut clock = zone.clock(moment);
        if self.hours.count_ones() == 24 {
            return self.within_hours(zone, moment);
        }
        // At most twice: a repeated time may be past although the clock does not show it yet.
        for _ in 0..2 * 24 * 60 {
            clock = self.next_clock(clock)?;
            let found = zone.moment_of(clock)?;
            if found > moment {
                return Some(found);
            }
        }
        None
    }

    /// The next matching clock time after this one.
    fn next_clock(&self, clock: DateTime) -> Option<DateTime> {
        let minute = u32::try_from(clock.hour()).ok()? * 60 + u32::try_from(clock.minute()).ok()?;
        let (mut date, mut from) = (clock.date(), minute + 1);
        for _ in 0..DAYS_AHEAD {
            if self.on(date) {
                let shown = |m: &u32| self.hours >> (m / 60) & 1 == 1 && self.minutes >> (m % 60) & 1 == 1;
                if let Some(minute) = (from..24 * 60).find(shown) {
                    return Some(date.at(i8::try_from(minute / 60).ok()?, i8::try_from(minute % 60).ok()?, 0, 0));
                }
            }
            (date, from) = (date.tomorrow().ok()?, 0);
        }
        None
    }

    /// The same by elapsed minutes, ignoring changes of the clock.
    fn within_hours(&self, zone: &Zone, moment: Moment) -> Option<Moment> {
        let mut at = Moment(moment.0.div_euclid(60_000).saturating_add(1).saturating_mul(60_000));
        for _ in 0..DAYS_AHEAD + 3 * 24 * 60 {
            let clock = zone.clock(at);
            if !self.on(clock.date()) {
                let midnight = clock.date().tomorrow().ok()?.at(0, 0, 0, 0);
                at = zone.moment_of(midnight)?.max(at.plus(MINUTE));
            } else if self.minutes >> clock.minute() & 1 == 1 {
                return Some(at);
            } else {
                at = at.plus(MINUTE);
            }
        }
        None
    }

    /// Whether a date matches.
    fn on(&self, date: Date) -> bool {
        let dated = self.dates >> date.day() & 1 == 1;
        let day = self.days >> date.weekday().to_sunday_zero_offset() & 1 == 1;
        let either = if self.by_date && self.by_day { dated || day } else { dated && day };
        self.months >> date.month() & 1 == 1 && either
    }

    /// Whether any year has a matching day.
    fn ever(&self) -> bool {
        let leap = Date::constant(2024, 1, 1);
        self.by_day || (0..366).any(|n| leap.checked_add(Span::new().days(n)).is_ok_and(|date| self.on(date)))
    }
}
