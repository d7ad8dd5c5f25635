//! Which date does a sheet mean by a number?
//!
//! Days since the end of 1899, or since the beginning of 1904. The first system counts a 29
//! February 1900 that never was, as a spreadsheet before it did.

use orb_page::Moment;
use std::fmt::Write;

/// From where a sheet counts days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DateSystem {
    /// Day 1 is 1 January 1900.
    #[default]
    From1900,
    /// Day 0 is 1 January 1904.
    From1904,
}

/// A part of the format of a date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DatePiece {
    Year(usize),
    Month(usize),
    Day(usize),
    Hour(usize),
    Minute(usize),
    Second(usize),
    /// Hours, minutes or seconds that do not start again each day.
    Elapsed(char),
    Fraction(usize),
    /// Morning or afternoon, with as many letters.
    Half(usize),
    Literal(String),
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// The parts of a date's format; none if it is no format of dates.
pub(super) fn pieces(code: &str) -> Vec<DatePiece> {
    let mut pieces = Vec::new();
    let mut chars = code.chars().peekable();
    let mut dated = false;
    while let Some(c) = chars.next() {
        let lower = c.to_ascii_lowercase();
        match lower {
            '"' => pieces.push(DatePiece::Literal(chars.by_ref().take_while(|&c| c != '"').collect())),
            '\\' => pieces.extend(chars.next().map(|c| DatePiece::Literal(c.into()))),
            '_' | '*' => {
                chars.next();
                pieces.push(DatePiece::Literal(" ".into()));
            }
            '[' => {
                let inside: String = chars.by_ref().take_while(|&c| c != ']').collect();
                let first = inside.chars().next().map(|c| c.to_ascii_lowercase());
                let alone = inside.chars().all(|c| Some(c.to_ascii_lowercase()) == first);
                if let Some(unit) = first.filter(|c| alone && matches!(c, 'h' | 'm' | 's')) {
                    dated = true;
                    pieces.push(DatePiece::Elapsed(unit));
                }
            }
            'y' | 'm' | 'd' | 'h' | 's' => {
                let mut len = 1;
                while chars.next_if(|c| c.to_ascii_lowercase() == lower).is_some() {
                    len += 1;
                }
                dated = true;
                pieces.push(match lower {
                    'y' => DatePiece::Year(len),
                    'm' => DatePiece::Month(len),
                    'd' => DatePiece::Day(len),
                    'h' => DatePiece::Hour(len),
                    _ => DatePiece::Second(len),
                });
            }
            'a' => half(&mut chars, &mut pieces),
            // Digits of a number: the format is none of dates.
            '#' | '?' => return Vec::new(),
            '0' if matches!(pieces.last(), Some(DatePiece::Literal(point)) if point == ".") => {
                let mut len = 1;
                while chars.next_if_eq(&'0').is_some() {
                    len += 1;
                }
                pieces.pop();
                pieces.push(DatePiece::Fraction(len));
            }
            '0' | 'e' | 'g' => return Vec::new(),
            '@' => {}
            _ => pieces.push(DatePiece::Literal(c.into())),
        }
    }
    if !dated {
        return Vec::new();
    }
    settle_minutes(&mut pieces);
    pieces
}

fn half(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, pieces: &mut Vec<DatePiece>) {
    let rest: String = chars.clone().take(4).collect::<String>().to_ascii_lowercase();
    let (len, letters) = match () {
        () if rest.starts_with("m/pm") => (4, 2),
        () if rest.starts_with("/p") => (2, 1),
        () => return pieces.push(DatePiece::Literal("a".into())),
    };
    for _ in 0..len {
        chars.next();
    }
    pieces.push(DatePiece::Half(letters));
}

/// `m` means minutes after hours and before seconds.
fn settle_minutes(pieces: &mut [DatePiece]) {
    let is_unit = |p: &DatePiece| !matches!(p, DatePiece::Literal(_) | DatePiece::Half(_) | DatePiece::Fraction(_));
    let units: Vec<usize> = (0..pieces.len()).filter(|&i| is_unit(&pieces[i])).collect();
    for (place, &at) in units.iter().enumerate() {
        let DatePiece::Month(len @ (1 | 2)) = pieces[at] else { continue };
        let before = place.checked_sub(1).map(|p| &pieces[units[p]]);
        let after = units.get(place + 1).map(|&i| &pieces[i]);
        let follows = matches!(before, Some(DatePiece::Hour(_) | DatePiece::Elapsed('h')));
        let precedes = matches!(after, Some(DatePiece::Second(_) | DatePiece::Elapsed('s')));
        if follows || precedes {
            pieces[at] = DatePiece::Minute(len);
        }
    }
}

/// A number as a date; `None` if it is beyond all dates.
pub(super) fn show(pieces: &[DatePiece], value: f64, system: DateSystem) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&value) {
        return None;
    }
    let fraction_digits = pieces.iter().find_map(|p| if let DatePiece::Fraction(n) = p { Some(*n) } else { None });
    // Times are rounded to what is shown, so that 10:30:00 is not shown as 10:29:59.
    let step = if fraction_digits.is_some() { 1.0 } else { 1_000.0 };
    let millis = (value * 86_400_000.0 / step).round() * step;
    let serial = value.trunc();
    let shift = match system {
        DateSystem::From1900 if serial < 60.0 => 25_568.0,
        DateSystem::From1900 => 25_569.0,
        DateSystem::From1904 => 24_107.0,
    };
    #[expect(clippy::cast_possible_truncation, reason = "the value is within the range of dates")]
    let (millis, since) = (millis as i64, (millis - shift * 86_400_000.0) as i64);
    let at = Moment(since).civil();
    let weekday = DAYS[usize::try_from(since.div_euclid(86_400_000).rem_euclid(7)).ok()?];
    let month = MONTHS[usize::try_from(at.month.checked_sub(1)?).ok()?];
    let half_day = pieces.iter().any(|p| matches!(p, DatePiece::Half(_)));
    let hour = if half_day { (at.hour + 11) % 12 + 1 } else { at.hour };
    let mut out = String::new();
    for piece in pieces {
        match piece {
            DatePiece::Year(1 | 2) => write!(out, "{:02}", at.year % 100),
            DatePiece::Year(_) => write!(out, "{:04}", at.year),
            DatePiece::Month(1) => write!(out, "{}", at.month),
            DatePiece::Month(2) => write!(out, "{:02}", at.month),
            DatePiece::Month(3) => write!(out, "{}", &month[..3]),
            DatePiece::Month(5) => write!(out, "{}", &month[..1]),
            DatePiece::Month(_) => write!(out, "{month}"),
            DatePiece::Day(1) => write!(out, "{}", at.day),
            DatePiece::Day(2) => write!(out, "{:02}", at.day),
            DatePiece::Day(3) => write!(out, "{}", &weekday[..3]),
            DatePiece::Day(_) => write!(out, "{weekday}"),
            DatePiece::Hour(1) => write!(out, "{hour}"),
            DatePiece::Hour(_) => write!(out, "{hour:02}"),
            DatePiece::Minute(1) => write!(out, "{}", at.minute),
            DatePiece::Minute(_) => write!(out, "{:02}", at.minute),
            DatePiece::Second(1) => write!(out, "{}", at.second),
            DatePiece::Second(_) => write!(out, "{:02}", at.second),
            DatePiece::Elapsed('h') => write!(out, "{}", millis / 3_600_000),
            DatePiece::Elapsed('m') => write!(out, "{}", millis / 60_000),
            DatePiece::Elapsed(_) => write!(out, "{}", millis / 1_000),
            DatePiece::Fraction(n) => write!(out, ".{}", &format!("{:03}", at.millisecond)[..(*n).min(3)]),
            DatePiece::Half(1) => write!(out, "{}", if at.hour < 12 { "A" } else { "P" }),
            DatePiece::Half(_) => write!(out, "{}", if at.hour < 12 { "AM" } else { "PM" }),
            DatePiece::Literal(text) => write!(out, "{text}"),
        }
        .ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, value: f64, shown: &str) {
        assert_eq!(show(&pieces(code), value, DateSystem::From1900).as_deref(), Some(shown), "{code}");
    }

    #[test]
    fn days_and_times_are_shown_as_their_format_says() {
        check("yyyy-mm-dd hh:mm:ss", 39_448.5, "2008-01-01 12:00:00");
        check("m/d/yy", 39_448.0, "1/1/08");
        check("d-mmm-yy", 39_478.0, "31-Jan-08");
        check("dddd, mmmm d", 39_448.0, "Tuesday, January 1");
        check("h:mm AM/PM", 0.75, "6:00 PM");
        check("h:mm AM/PM", 0.0, "12:00 AM");
        check("[h]:mm:ss", 1.5, "36:00:00");
        check("mm:ss.0", 0.000_694_444_444_444, "01:00.0");
        check("hh:mm", 0.437_499_999_9, "10:30");
        check("yyyy-mm-dd", 1.0, "1900-01-01");
        check("yyyy-mm-dd", 61.0, "1900-03-01");
        check("yyyy\\-mm\\-dd;@", 39_448.0, "2008-01-01;");
        assert_eq!(show(&pieces("yyyy-mm-dd"), 0.0, DateSystem::From1904).as_deref(), Some("1904-01-01"));
        assert_eq!(show(&pieces("yyyy"), -1.0, DateSystem::From1900), None);
    }

    #[test]
    fn formats_of_numbers_are_none_of_dates() {
        for code in ["0.00", "#,##0", "\"day\" 0", "General", "0.00E+00", "[Red]0", "[$$-409]#,##0", "@"] {
            assert!(pieces(code).is_empty(), "{code}");
        }
    }
}
