//! When was a document made, as it says itself?
//!
//! Documents write their dates in ISO 8601 with more or less of it, often without an offset. They
//! are kept in RFC 3339 as exactly as they say: a day stays a day, a local time stays without an
//! offset.

/// The seconds from 1601, where Windows begins to count, to 1970.
const WINDOWS_EPOCH: u64 = 11_644_473_600;

/// A date as RFC 3339 writes it, or as much of that as is there; `None` if it is no date.
pub(crate) fn moment(text: &str) -> Option<String> {
    let text = text.trim();
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time.trim())),
        None => (text, None),
    };
    let mut parts = date.splitn(3, ['-', ':', '/', '.']);
    let number = |part: Option<&str>, len: usize| {
        part.filter(|p| p.len() == len && p.bytes().all(|b| b.is_ascii_digit())).and_then(|p| p.parse::<u32>().ok())
    };
    let year = number(parts.next(), 4).filter(|y| *y > 0)?;
    let Some(month) = parts.next() else { return Some(format!("{year:04}")) };
    let month = number(Some(month), 2).filter(|m| (1..=12).contains(m))?;
    let Some(day) = parts.next() else { return Some(format!("{year:04}-{month:02}")) };
    let day = number(Some(day), 2).filter(|d| (1..=31).contains(d))?;
    let date = format!("{year:04}-{month:02}-{day:02}");
    match time.and_then(clock) {
        Some(time) => Some(format!("{date}T{time}")),
        None => Some(date),
    }
}

/// A time of day, with its offset if it has one.
fn clock(time: &str) -> Option<String> {
    let end = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, offset) = time.split_at_checked(end)?;
    let clock = clock.trim().split(['.', ',']).next()?;
    let mut parts = clock.split(':').map(|p| p.parse::<u32>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().flatten().unwrap_or(0);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(format!("{hour:02}:{minute:02}:{second:02}{}", zone(offset)))
}

/// An offset as RFC 3339 writes it; nothing if there is none.
fn zone(offset: &str) -> String {
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    match (offset.chars().next(), digits.len()) {
        (Some('Z' | 'z'), _) => "Z".to_owned(),
        (Some(sign @ ('+' | '-')), 4) => format!("{sign}{}:{}", &digits[..2], &digits[2..]),
        (Some(sign @ ('+' | '-')), 2) => format!("{sign}{digits}:00"),
        _ => String::new(),
    }
}

/// A time as Windows counts it, in steps of 100 ns.
pub(crate) fn windows_time(ticks: u64) -> Option<String> {
    let seconds = (ticks / 10_000_000).checked_sub(WINDOWS_EPOCH)?;
    unix_time(i64::try_from(seconds).ok()?)
}

/// A time in seconds since 1970; `None` beyond the year 9999.
pub(crate) fn unix_time(seconds: i64) -> Option<String> {
    let at = orb_page::Moment(seconds.checked_mul(1_000)?);
    let year = at.civil().year;
    (1..=9_998).contains(&year).then(|| at.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_kept_as_exactly_as_they_are_given() {
        for (given, kept) in [
            ("2024-03-05T10:20:30Z", Some("2024-03-05T10:20:30Z")),
            (" 2024-03-05T10:20:30.123456 ", Some("2024-03-05T10:20:30")),
            ("2024-03-05T10:20+0130", Some("2024-03-05T10:20:00+01:30")),
            ("2024:03:05 10:20:30", Some("2024-03-05T10:20:30")),
            ("2024-03-05", Some("2024-03-05")),
            ("2024", Some("2024")),
            ("2024-13-05", None),
            ("0000-00-00", None),
            ("soon", None),
            ("", None),
            ("2024-03-05Tä:ö", Some("2024-03-05")),
        ] {
            assert_eq!(moment(given).as_deref(), kept, "{given}");
        }
        assert_eq!(windows_time(116_444_736_000_000_000).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!([0, u64::MAX].map(windows_time), [None, None]);
        assert_eq!(unix_time(i64::MAX), None);
    }
}
