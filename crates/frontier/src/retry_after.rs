//! When may we come back?
//!
//! `Retry-After` (RFC 9110 section 10.2.3) is a number of seconds or a date in one of the three
//! formats of section 5.6.7.

use orb_page::Moment;
use std::time::Duration;

/// Maximum wait a server can ask for.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(86_400);

/// How long a `Retry-After` asks to wait from now, at most [`MAX_RETRY_AFTER`]; `None` if it is
/// invalid.
pub fn retry_after(value: &str, now: Moment) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        let seconds = value.parse().unwrap_or(u64::MAX);
        return Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER));
    }
    http_date(value).map(|at| at.since(now).min(MAX_RETRY_AFTER))
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov 6 08:49:37
/// 1994`.
fn http_date(text: &str) -> Option<Moment> {
    let words: Vec<&str> = text.split([' ', ',', '-']).filter(|w| !w.is_empty()).take(7).collect();
    let (day, month, year, time) = match *words.as_slice() {
        [_, month, day, time, year] if month.parse::<u32>().is_err() => (day, month, year, time),
        [_, day, month, year, time, _] => (day, month, year, time),
        _ => return None,
    };
    let year = match number(year, 9999)? {
        y if year.len() <= 2 && y < 70 => y + 2000,
        y if year.len() <= 2 => y + 1900,
        y => y,
    };
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = months.iter().position(|m| month.eq_ignore_ascii_case(m))?;
    let mut clock = time.split(':');
    let (h, m, s) = (number(clock.next()?, 23)?, number(clock.next()?, 59)?, number(clock.next()?, 60)?);
    let day = Some(number(day, 31)?).filter(|d| *d > 0)?;
    // A leap second, which RFC 9110 lets servers write, is the beginning of the next minute.
    let at = Moment::from_civil((year, i64::try_from(month).ok()? + 1, day), (h, m, s.min(59)))?;
    Some(if s == 60 { at.plus(Duration::from_secs(1)) } else { at })
}

/// A number up to `max`, with no more digits than that has.
fn number(digits: &str, max: i64) -> Option<i64> {
    let plain = digits.len() <= max.ilog10() as usize + 1 && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|n| plain && *n <= max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_page::CivilTime;
    use proptest::prelude::*;

    const NOW: Moment = Moment(784_111_777_000);

    #[test]
    fn seconds_and_all_three_forms_of_date_are_read() {
        for (value, seconds) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", Some(10)),
            ("Sun Nov  6 08:49:47 1994", Some(10)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", Some(0)),
            ("Fri, 31 Dec 2027 23:59:59 GMT", Some(86_400)),
            ("99999999999999999999", Some(86_400)),
            ("soon", None),
            ("", None),
            ("-1", None),
            ("Sat, 31 Dec 1994 23:59:60 GMT", Some(86_400)),
            ("Sun, 06 Nov 1994 08:49:60 GMT", Some(23)),
            ("Sun, 99 Nov 1994 08:49:47 GMT", None),
            ("Thu, 31 Nov 1994 08:49:47 GMT", None),
            ("Sun, 006 Nov 1994 08:49:47 GMT", None),
            ("Sun, 06 Foo 1994 08:49:47 GMT", None),
        ] {
            assert_eq!(retry_after(value, NOW).map(|d| d.as_secs()), seconds, "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn a_date_read_is_the_date_written(seconds in 0i64..4_000_000_000) {
            let at = Moment(seconds * 1_000);
            let CivilTime { year, month, day, hour, minute, second, .. } = at.civil();
            let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
            let name = months[month as usize - 1];
            let date = format!("Xyz, {day:02} {name} {year} {hour:02}:{minute:02}:{second:02} GMT");
            prop_assert_eq!(http_date(&date), Some(at));
        }

        #[test]
        fn nothing_a_server_writes_breaks_the_reader(value in "\\PC{0,60}") {
            let _ = retry_after(&value, NOW);
        }
    }
}
