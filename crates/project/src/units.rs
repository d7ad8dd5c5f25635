//! How do people write durations, sizes and rates?
//!
//! `500ms` `2s` `1h`; `10MB` `64KiB`; `10MB/s` `20Mbit/s`. Decimal prefixes are powers of 1,000,
//! `Ki` `Mi` `Gi` of 1,024.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What is wrong with a duration, size or rate, with the correct form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{given}' is not a {what}; write it like {example}")]
pub struct UnitError {
    given: String,
    what: &'static str,
    example: &'static str,
}

impl UnitError {
    /// An error with an example of the correct form.
    pub(crate) fn new(given: &str, what: &'static str, example: &'static str) -> Self {
        Self { given: given.to_owned(), what, example }
    }
}

/// A duration as people write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HumanDuration(pub Duration);

/// A number of bytes as people write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// Bytes per second as people write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

/// A number that is not negative, as people write it: `20000`, `54.5`, `271.1M`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Amount(pub f64);

impl FromStr for Amount {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::new(text, "number", "20000, 54.5 or 271.1M");
        let (digits, factor) = match text.char_indices().next_back().ok_or_else(wrong)? {
            (end, 'k' | 'K') => (&text[..end], 1e3),
            (end, 'm' | 'M') => (&text[..end], 1e6),
            (end, 'g' | 'G') => (&text[..end], 1e9),
            (end, 't' | 'T') => (&text[..end], 1e12),
            _ => (text, 1.0),
        };
        let is_plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'_');
        let value = digits.replace('_', "").parse::<f64>().ok().filter(|_| is_plain).ok_or_else(wrong)? * factor;
        if value.is_finite() && value < 1e15 { Ok(Self(value)) } else { Err(wrong()) }
    }
}

/// A number per time, as people write it: `5000/d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    count: u64,
    unit: PaceUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PaceUnit {
    Hour,
    Day,
    Week,
}

impl Pace {
    /// The number per day.
    pub fn a_day(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let count = self.count as f64;
        match self.unit {
            PaceUnit::Hour => count * 24.0,
            PaceUnit::Day => count,
            PaceUnit::Week => count / 7.0,
        }
    }
}

impl FromStr for Pace {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::new(text, "number of visits in a time", "200/h, 5000/d or 30_000/w");
        let (count, unit) = text.trim().split_once('/').ok_or_else(wrong)?;
        let unit = match unit.trim() {
            "h" => PaceUnit::Hour,
            "d" => PaceUnit::Day,
            "w" => PaceUnit::Week,
            _ => return Err(wrong()),
        };
        let count = count.trim().replace('_', "").parse().ok().filter(|n| (1..=1_000_000_000_000).contains(n));
        Ok(Self { count: count.ok_or_else(wrong)?, unit })
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            PaceUnit::Hour => 'h',
            PaceUnit::Day => 'd',
            PaceUnit::Week => 'w',
        };
        write!(f, "{}/{unit}", self.count)
    }
}

/// The leading number and its unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let number = text[..end].replace('_', "").parse::<f64>().ok()?;
    Some((number, text[end..].trim()))
}

/// The factor of a byte unit; bits are an eighth.
fn byte_unit(unit: &str) -> Option<f64> {
    let lower = unit.to_ascii_lowercase();
    let (prefix, bits) = match lower.strip_suffix("bit").or_else(|| lower.strip_suffix("bits")) {
        Some(p) => (p.to_owned(), true),
        None => (lower.strip_suffix('b').unwrap_or(&lower).to_owned(), false),
    };
    let factor = match prefix.as_str() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => 1024.0,
        "mi" => 1_048_576.0,
        "gi" => 1_073_741_824.0,
        "ti" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(if bits { factor / 8.0 } else { factor })
}

/// Rounds a non-negative finite number to an integer.
fn whole(value: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    (value.is_finite() && (0.0..9e18).contains(&value)).then_some(value.round() as u64)
}

impl FromStr for HumanDuration {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError { given: text.to_owned(), what: "duration", example: "500ms, 2s, 5m, 1h or 7d" };
        let (number, unit) = split(text).ok_or_else(wrong)?;
        let microseconds = match unit.to_ascii_lowercase().as_str() {
            "us" | "µs" => 1.0,
            "ms" => 1e3,
            "s" | "sec" => 1e6,
            "m" | "min" => 6e7,
            "h" => 3.6e9,
            "d" => 8.64e10,
            "w" => 6.048e11,
            "" if number == 0.0 => 1.0,
            _ => return Err(wrong()),
        };
        Ok(Self(Duration::from_micros(whole(number * microseconds).ok_or_else(wrong)?)))
    }
}

impl FromStr for ByteSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError { given: text.to_owned(), what: "size", example: "10MB, 64KiB or 1048576" };
        let (number, unit) = split(text).ok_or_else(wrong)?;
        let factor = byte_unit(unit).filter(|_| !unit.to_ascii_lowercase().ends_with("bit")).ok_or_else(wrong)?;
        whole(number * factor).map(Self).ok_or_else(wrong)
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError { given: text.to_owned(), what: "rate", example: "10MB/s or 20Mbit/s" };
        let (number, unit) = split(text).ok_or_else(wrong)?;
        let unit = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(unit);
        whole(number * byte_unit(unit).ok_or_else(wrong)?).filter(|r| *r > 0).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (us, ms) = (self.0.as_micros(), self.0.as_millis());
        match ms {
            _ if us == 0 => f.write_str("0s"),
            _ if !us.is_multiple_of(1_000) => write!(f, "{us}us"),
            _ if ms.is_multiple_of(86_400_000) => write!(f, "{}d", ms / 86_400_000),
            _ if ms.is_multiple_of(3_600_000) => write!(f, "{}h", ms / 3_600_000),
            _ if ms.is_multiple_of(60_000) => write!(f, "{}m", ms / 60_000),
            _ if ms.is_multiple_of(1_000) => write!(f, "{}s", ms / 1_000),
            _ => write!(f, "{ms}ms"),
        }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0B"),
            n if n.is_multiple_of(1_000_000_000) => write!(f, "{}GB", n / 1_000_000_000),
            n if n.is_multiple_of(1_000_000) => write!(f, "{}MB", n / 1_000_000),
            n if n.is_multiple_of(1_000) => write!(f, "{}kB", n / 1_000),
            n => write!(f, "{n}B"),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", ByteSize(self.0))
    }
}

macro_rules! as_text {
    ($($ty:ty),*) => {$(
        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(d)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
pub(crate) use as_text;
as_text!(HumanDuration, ByteSize, Rate, Pace);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, ms) in
            [("500ms", 500), ("2s", 2_000), ("1h", 3_600_000), ("1.5s", 1_500), ("0", 0), ("7d", 604_800_000)]
        {
            assert_eq!(text.parse::<HumanDuration>().unwrap().0.as_millis(), ms, "{text}");
        }
        for text in ["", "5", "s", "-1s", "1 year", "1e400s"] {
            assert!(text.parse::<HumanDuration>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_and_rates_read_as_people_write_them() {
        assert_eq!("10MB".parse(), Ok(ByteSize(10_000_000)));
        assert_eq!("64KiB".parse(), Ok(ByteSize(65_536)));
        assert_eq!("1048576".parse(), Ok(ByteSize(1_048_576)));
        assert_eq!("10MB/s".parse(), Ok(Rate(10_000_000)));
        assert_eq!("20Mbit/s".parse(), Ok(Rate(2_500_000)));
        assert!("20Mbit".parse::<ByteSize>().is_err());
        assert!("0MB/s".parse::<Rate>().is_err());
        assert!("ten".parse::<Rate>().is_err());
    }

    #[test]
    fn paces_read_as_people_write_them() {
        for (text, a_day) in [("200/h", 4_800.0), ("5_000/d", 5_000.0), ("14 / w", 2.0)] {
            let pace: Pace = text.parse().unwrap();
            assert_eq!((pace.a_day(), pace.to_string().parse()), (a_day, Ok(pace)), "{text}");
        }
        for text in ["", "5", "5/y", "0/d", "-1/d", "/d", "1.5/d", "9999999999999999/d"] {
            assert!(text.parse::<Pace>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        for ms in [0, 1, 999, 1_000, 61_000, 60_000, 3_600_000, 86_400_000] {
            let span = HumanDuration(Duration::from_millis(ms));
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        let fine: HumanDuration = "1.5ms".parse().unwrap();
        assert_eq!((fine.to_string().as_str(), fine.to_string().parse()), ("1500us", Ok(fine)));
        for n in [0, 1, 1_000, 10_000_000, 1_234_567, 3_000_000_000] {
            assert_eq!(ByteSize(n).to_string().parse(), Ok(ByteSize(n)));
        }
    }
}
