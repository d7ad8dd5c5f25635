//! What is the date, in the formats of HTTP and of sitemaps?
//!
//! Epochs are days: epoch 0 is 1 January 2026, so what changed in an epoch has a date.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use jiff::tz::Offset;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const FIRST_DAY: u64 = 20_454;
const DAY: u64 = 86_400;

/// The start of an epoch.
pub(crate) fn beginning(epoch: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs((FIRST_DAY + epoch.min(1_000_000)) * DAY)
}

/// The date of an epoch: `2026-01-01`.
pub(crate) fn day(epoch: u64) -> String {
    Offset::UTC.to_datetime(timestamp(beginning(epoch))).date().to_string()
}

/// A moment in RFC 9110 format: `Thu, 01 Jan 2026 00:00:00 GMT`.
pub(crate) fn http_date(moment: SystemTime) -> String {
    DateTimePrinter::new().timestamp_to_rfc9110_string(&timestamp(moment)).unwrap_or_default()
}

fn timestamp(moment: SystemTime) -> Timestamp {
    Timestamp::try_from(moment).unwrap_or(Timestamp::MAX)
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
