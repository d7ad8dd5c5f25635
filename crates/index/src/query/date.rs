//! Which moment does `since:2026-11` mean?
//!
//! A day (`2026-11-15`), a month or a year, all in UTC, or a duration before now: `12h`, `7d`,
//! `2w`.

use super::QueryError;
use orb_page::Moment;

const DAY: i64 = 86_400_000;

/// The start of the period, in milliseconds.
pub(super) fn begin(text: &str, now: Moment, at: usize) -> Result<i64, QueryError> {
    period(text, now).map(|(begin, _)| begin).ok_or_else(|| unclear(text, at))
}

/// The end of the period (exclusive).
pub(super) fn end(text: &str, now: Moment, at: usize) -> Result<i64, QueryError> {
    period(text, now).map(|(_, end)| end).ok_or_else(|| unclear(text, at))
}

fn unclear(text: &str, at: usize) -> QueryError {
    QueryError {
        at,
        what: format!("'{text}' is not a date; write it like 2026-11-15, 2026-11, 2026, or 7d for a week ago"),
    }
}

fn period(text: &str, now: Moment) -> Option<(i64, i64)> {
    if let Some(unit) = text.chars().last().filter(char::is_ascii_alphabetic) {
        let number: i64 = text[..text.len() - 1].parse().ok().filter(|n| (0..1_000_000).contains(n))?;
        let length = match unit {
            'h' => DAY / 24,
            'd' => DAY,
            'w' => 7 * DAY,
            _ => return None,
        };
        let moment = now.0 - number * length;
        return Some((moment, moment));
    }
    let mut parts = text.split('-');
    // Beyond the year 9998 no period has an end that the calendar knows.
    let year = number(parts.next()?, 4).filter(|year| (1..=9_998).contains(year))?;
    let (month, day) = (parts.next(), parts.next());
    if parts.next().is_some() {
        return None;
    }
    let Some(month) = month else { return Some((start(year, 1, 1)?, start(year + 1, 1, 1)?)) };
    let month = number(month, 2)?;
    let Some(day) = day else {
        let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        return Some((start(year, month, 1)?, start(next_year, next, 1)?));
    };
    let date = start(year, month, number(day, 2)?)?;
    Some((date, date + DAY))
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() <= digits && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// The start of a day, if the calendar has it.
fn start(year: i64, month: i64, day: i64) -> Option<i64> {
    Moment::from_civil((year, month, day), (0, 0, 0)).map(|at| at.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_begins_and_ends_where_the_calendar_says() {
        let at = |text: &str| {
            period(text, Moment(10 * DAY)).map(|(begin, end)| (Moment(begin).seconds(), Moment(end).seconds()))
        };
        let pair = |a: &str, b: &str| Some((format!("{a}T00:00:00Z"), format!("{b}T00:00:00Z")));
        assert_eq!(at("2026-11-15"), pair("2026-11-15", "2026-11-16"));
        assert_eq!(at("2024-02"), pair("2024-02-01", "2024-03-01"));
        assert_eq!(at("2026-12"), pair("2026-12-01", "2027-01-01"));
        assert_eq!(at("2026"), pair("2026-01-01", "2027-01-01"));
        assert_eq!(at("2d"), pair("1970-01-09", "1970-01-09"));
        for wrong in ["", "yesterday", "2026-13", "2026-02-30", "2026-1-1-1", "-5", "5x", "99999", "2026-", "é"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
