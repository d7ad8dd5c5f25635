//! Which day does a text name?
//!
//! Dates as machines write them (ISO 8601, RFC 822) and as people do (4.5.2019, May 4, 2019, 2019年
//! 5月4日). A date that can be read in two ways (`4/5/2019`) is none, and neither is one that no
//! calendar has. The result is ISO 8601: the day, with the time of day where ISO 8601 was given.

use super::months::MONTHS;

/// Years in which pages were written.
const YEARS: std::ops::RangeInclusive<u32> = 1990..=2100;
/// How much of a text is searched.
const SEARCHED: usize = 300;

/// A part of a text that may belong to a date.
#[derive(Clone, Copy, Debug)]
struct DateToken<'a> {
    text: &'a str,
    at: usize,
    /// What stands between it and the next token.
    gap: &'a str,
}

impl DateToken<'_> {
    fn number(&self) -> Option<u32> {
        let digits = self.text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.text.get(digits..)?;
        let ordinal = matches!(rest, "" | "st" | "nd" | "rd" | "th" | "er" | "º");
        (ordinal && (1..=4).contains(&digits)).then(|| self.text.get(..digits)?.parse().ok())?
    }

    fn month(&self) -> Option<u32> {
        if self.text.chars().nth(2).is_none() || self.number().is_some() {
            return None;
        }
        let low = self.text.to_lowercase();
        let found = MONTHS.iter().position(|names| names.contains(&low.as_str()))?;
        u32::try_from(found + 1).ok()
    }

    fn year(&self) -> Option<u32> {
        self.number().filter(|year| self.text.len() == 4 && YEARS.contains(year))
    }
}

/// The first date in a text.
pub(super) fn date(text: &str) -> Option<String> {
    let text = text.trim();
    let end = (0..=SEARCHED.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
    let text = text.get(..end)?;
    if let Some(found) = compact(text) {
        return Some(found);
    }
    let tokens = tokens(text);
    tokens.windows(3).find_map(|three| {
        let [a, b, c] = three else { return None };
        let (year, month, day) = by_number(a, b, c).or_else(|| by_name(a, b, c))?;
        let is_iso = a.year().is_some() && a.gap == "-" && b.gap == "-";
        let time = if is_iso { time(text.get(c.at + 2..)?) } else { "" };
        exists(year, month, day).then(|| format!("{year:04}-{month:02}-{day:02}{}", time.replacen(' ', "T", 1)))
    })
}

/// The day in the path of an address: `/2019/05/04/`, `/2019-05-04-`.
pub(super) fn in_address(address: &str) -> Option<String> {
    let path = address.split(['?', '#']).next()?;
    let parts: Vec<&str> = path.split(['/', '-', '_']).collect();
    parts.windows(3).find_map(|three| {
        let number = |part: &str, digits: usize| {
            let is_number = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| part.parse::<u32>().ok())?
        };
        let (year, month, day) = (number(three[0], 4)?, number(three[1], 2)?, number(three[2], 2)?);
        exists(year, month, day).then(|| format!("{year:04}-{month:02}-{day:02}"))
    })
}

/// Runs of letters and runs of digits.
fn tokens(text: &str) -> Vec<DateToken<'_>> {
    let mut out: Vec<DateToken<'_>> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let gap = rest.find(|c: char| c.is_alphanumeric() && !is_unit(c)).unwrap_or(rest.len());
        if let Some(last) = out.last_mut() {
            last.gap = rest.get(..gap).unwrap_or("");
        }
        let word = rest.get(gap..).unwrap_or("");
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let length = word.find(|c: char| !c.is_alphanumeric() || is_unit(c)).unwrap_or(word.len());
        // `04T12` and `2019abc` end with their digits; `4th` does not.
        let length = if digits > 0 && length > digits + 2 || word.get(digits..digits + 1) == Some("T") {
            digits.max(1)
        } else {
            length
        };
        if length == 0 {
            break;
        }
        out.push(DateToken { text: word.get(..length).unwrap_or(""), at: at + gap, gap: "" });
        at += gap + length;
    }
    out
}

/// Whether a character separates year, month and day like a hyphen.
fn is_unit(c: char) -> bool {
    matches!(c, '年' | '月' | '日' | '년' | '월' | '일')
}

/// Year, month and day of three numbers.
fn by_number(a: &DateToken<'_>, b: &DateToken<'_>, c: &DateToken<'_>) -> Option<(u32, u32, u32)> {
    let near = |gap: &str| matches!(gap.trim(), "-" | "/" | "." | "年" | "月" | "년" | "월");
    if !near(a.gap) || !near(b.gap) {
        return None;
    }
    if let Some(year) = a.year() {
        return Some((year, b.number()?, c.number()?));
    }
    let (first, second, year) = (a.number()?, b.number()?, c.year()?);
    match (first <= 12, second <= 12) {
        // Only points are unambiguous: the day comes first.
        (true, true) if a.gap.trim() == "." || first == second => Some((year, second, first)),
        (false, true) => Some((year, second, first)),
        (true, false) => Some((year, first, second)),
        _ => None,
    }
}

/// Year, month and day of two numbers and a name.
fn by_name(a: &DateToken<'_>, b: &DateToken<'_>, c: &DateToken<'_>) -> Option<(u32, u32, u32)> {
    let year = c.year()?;
    match (a.month(), b.month()) {
        (Some(month), None) => Some((year, month, b.number()?)),
        (None, Some(month)) => Some((year, month, a.number()?)),
        _ => None,
    }
}

/// `20190504` and `20190504T…`.
fn compact(text: &str) -> Option<String> {
    let digits = text.get(..8).filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
    if !matches!(text.as_bytes().get(8), None | Some(b'T')) {
        return None;
    }
    let (year, month, day) = (digits.get(..4)?, digits.get(4..6)?, digits.get(6..)?);
    let known =
        YEARS.contains(&year.parse().ok()?) && exists(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    known.then(|| format!("{year}-{month}-{day}"))
}

/// The time of day at the start of a text, with seconds and zone if they follow.
fn time(text: &str) -> &str {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let pair = |at: usize| digit(at) && digit(at + 1);
    let colon = |at: usize| bytes.get(at) == Some(&b':');
    if !matches!(bytes.first(), Some(b'T' | b' ')) || !pair(1) || !colon(3) || !pair(4) {
        return "";
    }
    let mut end = 6;
    if colon(6) && pair(7) {
        end = 9;
        if bytes.get(9) == Some(&b'.') {
            return text.get(..9).unwrap_or("");
        }
    }
    match bytes.get(end) {
        Some(b'Z') => end += 1,
        Some(b'+' | b'-') if pair(end + 1) => {
            let minutes = if colon(end + 3) { end + 4 } else { end + 3 };
            end = if pair(minutes) { minutes + 2 } else { end + 3 };
        }
        _ => {}
    }
    text.get(..end).unwrap_or("")
}

fn exists(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return false,
    };
    YEARS.contains(&year) && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_are_read_as_people_and_machines_write_them() {
        for (text, found) in [
            ("2019-05-04", "2019-05-04"),
            ("2019-05-04T10:11:12+02:00", "2019-05-04T10:11:12+02:00"),
            ("2019-05-04 10:11", "2019-05-04T10:11"),
            ("2019-05-04T10:11:12.345Z", "2019-05-04T10:11:12"),
            ("20190504", "2019-05-04"),
            ("Published: May 4th, 2019 by Me", "2019-05-04"),
            ("Samstag, 4. Mai 2019, 10:11 Uhr", "2019-05-04"),
            ("4.5.2019", "2019-05-04"),
            ("le 14 février 2019 à 10h", "2019-02-14"),
            ("2019年5月4日", "2019-05-04"),
            ("Sat, 04 May 2019 10:11:12 GMT", "2019-05-04"),
            ("13/05/2019", "2019-05-13"),
            ("05/13/2019", "2019-05-13"),
            ("4 мая 2019", "2019-05-04"),
        ] {
            assert_eq!(date(text).as_deref(), Some(found), "{text}");
        }
    }

    #[test]
    fn what_is_no_day_or_could_be_two_is_none() {
        for text in ["", "4/5/2019", "31.2.2019", "2019", "May 2019", "99.99.2019", "0.0.2000", "1.2.3", "12345678"] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_tells_a_day_only_in_full() {
        assert_eq!(in_address("https://a.org/2017/05/10/title").as_deref(), Some("2017-05-10"));
        assert_eq!(in_address("https://a.org/blog/2020-10-18-title?x").as_deref(), Some("2020-10-18"));
        for none in ["https://a.org/2017/05/title", "https://a.org/2017/13/10", "https://a.org/?d=2017-05-10", ""] {
            assert_eq!(in_address(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "([0-9]{1,4}|[ .:/TZ+年月é-]|May|mai|th){0,12}") {
            let _ = date(&text);
        }
    }
}
