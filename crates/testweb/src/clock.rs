//! What is the date, in the formats of HTTP and of sitemaps?
//!
//! Epochs are days: epoch 0 is 1 January 2026, so what changed in an epoch has a date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const FIRST_DAY: u64 = 20_454;
const DAY: u64 = 86_400;

/// The start of an epoch.
pub(crate) fn beginning(epoch: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs((FIRST_DAY + epoch.min(1_000_000)) * DAY)
}

/// The date of an epoch: `2026-01-01`.
pub(crate) fn day(epoch: u64) -> String {
    let (year, month, day) = civil(FIRST_DAY + epoch.min(1_000_000));
    format!("{year:04}-{month:02}-{day:02}")
}

/// A moment in RFC 9110 format: `Thu, 01 Jan 2026 00:00:00 GMT`.
pub(crate) fn http_date(moment: SystemTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = civil(days);
    let (weekday, month) = (DAYS[(days % 7) as usize], MONTHS[(month - 1) as usize % 12]);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Year, month and day of a day since 1970 (Hinnant's `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_http_writes_them() {
        assert_eq!(http_date(UNIX_EPOCH), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(http_date(beginning(0)), "Thu, 01 Jan 2026 00:00:00 GMT");
        assert_eq!(http_date(UNIX_EPOCH + Duration::from_secs(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!((day(0).as_str(), day(58).as_str(), day(59).as_str()), ("2026-01-01", "2026-02-28", "2026-03-01"));
    }
}
