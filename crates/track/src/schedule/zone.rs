//! What does the clock show in a time zone?
//!
//! A zone is UTC, a fixed offset, or an entry of the IANA database. The database is compiled into
//! the program (by jiff), so a zone means the same on every machine.

use super::refused;
use crate::TrackError;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use orb_page::Moment;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// A date, or a date and time, on some zone's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(DateTime);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// A fixed offset from UTC in seconds, up to a day.
    pub fn fixed(seconds: i32) -> Self {
        let offset = Offset::from_seconds(seconds.clamp(-86_400, 86_400)).unwrap_or(Offset::UTC);
        Self(TimeZone::fixed(offset))
    }

    /// The zone's UTC offset at a moment, in seconds.
    pub fn ahead(&self, moment: Moment) -> i32 {
        self.0.to_offset(timestamp(moment)).seconds()
    }

    /// The zone's clock at a moment, to the minute, with the zone.
    pub fn show(&self, moment: Moment) -> String {
        let clock = self.clock(moment);
        format!("{} {:02}:{:02} {self}", clock.date(), clock.hour(), clock.minute())
    }

    /// The zone's clock at a moment.
    pub(super) fn clock(&self, moment: Moment) -> DateTime {
        self.0.to_datetime(timestamp(moment))
    }

    /// The moment at which the zone's clock shows this: the first of two if repeated; the moment of
    /// the change if skipped.
    pub(super) fn moment_of(&self, clock: DateTime) -> Option<Moment> {
        let found = self.0.to_ambiguous_timestamp(clock);
        let earlier = found.earlier().ok()?;
        let moment = match found.offset() {
            AmbiguousOffset::Gap { .. } => self.0.following(earlier).next()?.timestamp(),
            _ => earlier,
        };
        Some(Moment(moment.as_millisecond()))
    }

    /// The moment of a stamp.
    pub(super) fn moment(&self, stamp: Stamp) -> Moment {
        self.moment_of(stamp.0).unwrap_or(Moment(i64::MAX))
    }
}

/// A moment in the library's type, clamped to its range.
fn timestamp(moment: Moment) -> Timestamp {
    let end = if moment.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(moment.0).unwrap_or(end)
}

impl FromStr for Zone {
    type Err = TrackError;

    fn from_str(text: &str) -> Result<Self, TrackError> {
        let unknown = || refused(text, "a time zone; write it like UTC, +02:00 or Europe/Berlin");
        let name = text.trim();
        if let Some(rest) = name.strip_prefix(['+', '-']) {
            let digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
            let (hours, minutes) = rest.split_once(':').filter(|(h, m)| digits(h) && digits(m)).ok_or_else(unknown)?;
            let (hours, minutes): (i32, i32) = hours.parse().ok().zip(minutes.parse().ok()).ok_or_else(unknown)?;
            let sign = if name.starts_with('-') { -1 } else { 1 };
            return if hours <= 14 && minutes < 60 {
                Ok(Self::fixed(sign * (hours * 3_600 + minutes * 60)))
            } else {
                Err(unknown())
            };
        }
        TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some()).map(Self).ok_or_else(unknown)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.0.iana_name() {
            return f.write_str(name);
        }
        match self.0.to_offset(Timestamp::UNIX_EPOCH).seconds() {
            0 => f.write_str("UTC"),
            s => write!(f, "{}{:02}:{:02}", if s < 0 { '-' } else { '+' }, s.abs() / 3_600, s.abs() / 60 % 60),
        }
    }
}

impl FromStr for Stamp {
    type Err = TrackError;

    fn from_str(text: &str) -> Result<Self, TrackError> {
        let wrong = |_| refused(text, "a date; write it like 2026-12-24 or 2026-12-24 18:30");
        text.trim().parse().map(Self).map_err(wrong)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time) = (self.0.date(), self.0.time());
        if time == jiff::civil::Time::midnight() { write!(f, "{date}") } else { write!(f, "{date} {time}") }
    }
}

macro_rules! as_text {
    ($($ty:ty),*) => {$(
        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
as_text!(Zone, Stamp, super::Cron);
