//! What does one `Set-Cookie` value say? (RFC 6265, 5.1.1 and 5.2)

use orb_page::Moment;

/// A parsed `Set-Cookie` value, not yet checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SetCookie {
    pub(super) name: String,
    pub(super) value: String,
    /// Lower case, without a leading dot.
    pub(super) domain: Option<String>,
    pub(super) path: Option<String>,
    pub(super) secure: bool,
    /// In Unix time.
    pub(super) expires: Option<i64>,
}

impl SetCookie {
    pub(super) fn parse(value: &[u8], now: i64) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        if text.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
            return None;
        }
        let mut parts = text.split(';').map(str::trim);
        let pair = parts.next()?;
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return None;
        }
        let mut set = Self {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: None,
            path: None,
            secure: false,
            expires: None,
        };
        let mut max_age = None;
        for part in parts.take(64) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (key, value) = (key.trim(), value.trim());
            match key {
                k if k.eq_ignore_ascii_case("domain") => set.domain = domain(value),
                k if k.eq_ignore_ascii_case("path") => set.path = Some(value.to_owned()),
                k if k.eq_ignore_ascii_case("secure") => set.secure = true,
                k if k.eq_ignore_ascii_case("expires") => set.expires = date(value).or(set.expires),
                k if k.eq_ignore_ascii_case("max-age") => max_age = seconds(value, now).or(max_age),
                _ => (),
            }
        }
        set.expires = max_age.or(set.expires);
        Some(set)
    }
}

fn domain(value: &str) -> Option<String> {
    let value = value.strip_prefix('.').unwrap_or(value);
    (!value.is_empty()).then(|| value.to_ascii_lowercase())
}

/// The expiry of a `Max-Age`.
fn seconds(value: &str, now: i64) -> Option<i64> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if value.starts_with('-') {
        return Some(i64::MIN);
    }
    let age: i64 = digits.parse().unwrap_or(i64::MAX);
    Some(if age == 0 { i64::MIN } else { now.saturating_add(age) })
}

/// Parses a date as servers write it, in any order and with any separators (RFC 6265, 5.1.1).
fn date(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_separator = |c: char| !(c.is_ascii_alphanumeric() || c == ':');
    for token in text.split(is_separator).filter(|t| !t.is_empty()).take(16) {
        if time.is_none()
            && let Some(t) = clock(token)
        {
            time = Some(t);
        } else if day.is_none()
            && let Some(d) = number(token, 1, 2)
        {
            day = Some(d);
        } else if month.is_none()
            && let Some(m) = month_of(token)
        {
            month = Some(m);
        } else if year.is_none()
            && let Some(y) = number(token, 2, 4)
        {
            year = Some(y);
        }
    }
    let ((hour, minute, second), day, month, year) = (time?, day?, month?, year?);
    let year = match year {
        70..=99 => year + 1900,
        0..=69 => year + 2000,
        _ => year,
    };
    let at = Moment::from_civil((year, month, day), (hour, minute, second)).filter(|_| year >= 1601)?;
    Some(at.0.div_euclid(1_000))
}

/// The leading number of a token, if it has this many digits.
fn number(token: &str, least: usize, most: usize) -> Option<i64> {
    let digits = token.bytes().take_while(u8::is_ascii_digit).count();
    if (least..=most).contains(&digits) { token[..digits].parse().ok() } else { None }
}

fn clock(token: &str) -> Option<(i64, i64, i64)> {
    let mut fields = token.splitn(3, ':');
    let (hour, minute) = (number(fields.next()?, 1, 2)?, number(fields.next()?, 1, 2)?);
    Some((hour, minute, number(fields.next()?, 1, 2)?))
}

fn month_of(token: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start = token.get(..3)?;
    let at = MONTHS.iter().position(|m| start.eq_ignore_ascii_case(m))?;
    i64::try_from(at).ok().map(|m| m + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_in_every_form_servers_use() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "06 nov 1994 8:49:37",
        ] {
            assert_eq!(date(text), Some(784_111_777), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "Sun, 06 Nov 1994",
            "32 Jan 2020 00:00:00",
            "30 Feb 2020 00:00:00",
            "1 Jan 2020 25:00:00",
            "1 Jan 1600 00:00:00",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn max_age_goes_before_expires() {
        let parse = |v: &str| SetCookie::parse(v.as_bytes(), 1_000).and_then(|c| c.expires);
        assert_eq!(parse("a=b; Max-Age=5; Expires=Sun, 06 Nov 1994 08:49:37 GMT"), Some(1_005));
        assert_eq!(parse("a=b; Max-Age=x; Expires=Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse("a=b; Max-Age=-1"), Some(i64::MIN));
        assert_eq!(parse("a=b; Max-Age=99999999999999999999"), Some(i64::MAX));
        assert_eq!(parse("a=b"), None);
    }

    #[test]
    fn nonsense_sets_nothing() {
        for value in ["", "=b", ";", "nothing", "a\r\n=b"] {
            assert_eq!(SetCookie::parse(value.as_bytes(), 0), None, "{value:?}");
        }
        assert_eq!(SetCookie::parse(b"a=\xff", 0), None);
    }

    proptest! {
        #[test]
        fn no_value_breaks_the_reader(value: Vec<u8>, text in "[a-z=;: 0-9\u{e4}-]{0,60}") {
            let _ = SetCookie::parse(&value, 0);
            let _ = SetCookie::parse(format!("a=b; expires={text}; {text}").as_bytes(), 0);
        }
    }
}
