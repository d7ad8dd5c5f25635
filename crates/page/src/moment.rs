//! When did it happen?

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment in UTC, in milliseconds since the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment(pub i64);

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// This moment plus `d`.
    #[must_use]
    pub fn plus(self, d: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The moment of a date (year, month, day) and a time (hour, minute, second) in UTC; `None` if
    /// the calendar has no such date or the day no such time.
    pub fn from_civil(date: (i64, i64, i64), time: (i64, i64, i64)) -> Option<Self> {
        let small = |n: i64| i8::try_from(n).ok();
        let year = i16::try_from(date.0).ok()?;
        let (month, day) = (small(date.1)?, small(date.2)?);
        let (hour, minute, second) = (small(time.0)?, small(time.1)?, small(time.2)?);
        let at = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
        Offset::UTC.to_timestamp(at).ok().map(|at| Self(at.as_millisecond()))
    }

    /// Reads what [`Display`](fmt::Display) and [`seconds`](Self::seconds) write, and RFC 3339 in
    /// general.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<Timestamp>().ok().map(|at| Self(at.as_millisecond()))
    }

    /// Its date and time in UTC. Moments beyond the year 9999 are clamped to its end.
    pub fn civil(self) -> CivilTime {
        let end = if self.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
        let at = Offset::UTC.to_datetime(Timestamp::from_millisecond(self.0).unwrap_or(end));
        let small = |n: i8| u32::from(n.unsigned_abs());
        CivilTime {
            year: i64::from(at.year()),
            month: small(at.month()),
            day: small(at.day()),
            hour: small(at.hour()),
            minute: small(at.minute()),
            second: small(at.second()),
            millisecond: u32::from(at.millisecond().unsigned_abs()),
        }
    }

    /// `20261115040329`, the form of CDX files.
    pub fn compact(self) -> String {
        let CivilTime { year, month, day, hour, minute, second, .. } = self.civil();
        format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
    }

    /// `2026-11-15T04:03:29Z`, the form of WARC-Date.
    pub fn seconds(self) -> String {
        let CivilTime { year, month, day, hour, minute, second, .. } = self.civil();
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// A date and time of day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CivilTime {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub millisecond: u32,
}

impl From<SystemTime> for Moment {
    fn from(t: SystemTime) -> Self {
        let since = t.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Moment {
    /// `2026-11-15T04:03:29.123Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CivilTime { year, month, day, hour, minute, second, millisecond } = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_print_as_utc() {
        assert_eq!(Moment(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Moment(1_794_715_409_123).to_string(), "2026-11-15T04:03:29.123Z");
        assert_eq!(Moment(951_782_400_000).compact(), "20000229000000");
        assert_eq!(Moment(-1).seconds(), "1969-12-31T23:59:59Z");
        assert_eq!(Moment(i64::MAX).compact(), "99991230220000");
    }

    #[test]
    fn moments_are_read_as_they_are_written() {
        for at in [0, 1, 951_782_400_123, 1_794_715_409_123, -1, 253_402_207_200_999] {
            assert_eq!(Moment::parse(&Moment(at).to_string()), Some(Moment(at)));
            let CivilTime { year, month, day, hour, minute, second, .. } = Moment(at).civil();
            let date = (year, i64::from(month), i64::from(day));
            let whole = Moment::from_civil(date, (i64::from(hour), i64::from(minute), i64::from(second)));
            assert_eq!(whole, Some(Moment(at - at.rem_euclid(1_000))));
        }
        assert_eq!(["", "soon", "2026-11-15"].map(Moment::parse), [None; 3]);
        assert_eq!(Moment::from_civil((2026, 2, 29), (0, 0, 0)), None);
        assert_eq!(Moment::from_civil((2026, 2, 28), (24, 0, 0)), None);
    }
}
