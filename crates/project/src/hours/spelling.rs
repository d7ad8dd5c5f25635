//! How are days, hours and rates of a schedule written?

use super::{Allowance, Hour, NAMES, Weekdays};
use crate::units::{UnitError, as_text};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

impl FromStr for Allowance {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text.trim() {
            "0" => Ok(Self::Pause),
            "unlimited" => Ok(Self::Unlimited),
            rate => rate
                .parse()
                .map(Self::Rate)
                .map_err(|_| UnitError::new(text, "rate of a schedule", "10MB/s, 20Mbit/s, 0 (pause) or unlimited")),
        }
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pause => f.write_str("0"),
            Self::Rate(rate) => rate.fmt(f),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// Two-digit numbers separated by colons.
fn clock(text: &str) -> Option<Vec<u32>> {
    let part = |p: &str| if p.len() == 2 && p.bytes().all(|b| b.is_ascii_digit()) { p.parse().ok() } else { None };
    text.split(':').map(part).collect()
}

impl FromStr for Hour {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let seconds = match clock(text.trim()).as_deref() {
            Some([hour @ 0..24, minute @ 0..60]) => Some(hour * 3_600 + minute * 60),
            Some([hour @ 0..24, minute @ 0..60, second @ 0..60]) => Some(hour * 3_600 + minute * 60 + second),
            Some([24, 0] | [24, 0, 0]) => Some(86_400),
            _ => None,
        };
        seconds.map(Self).ok_or_else(|| UnitError::new(text, "time of day", "06:30, 22:00 or 24:00"))
    }
}

impl fmt::Display for Hour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 3_600, self.0 / 60 % 60)?;
        if self.0.is_multiple_of(60) { Ok(()) } else { write!(f, ":{:02}", self.0 % 60) }
    }
}

impl FromStr for Weekdays {
    type Err = UnitError;

    /// `mon`, `mon-fri`, `sat-mon`, `mon, wed`, `all`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let unknown = || UnitError::new(text, "day", "mon, mon-fri, [\"sat\", \"sun\"] or all");
        let day = |name: &str| NAMES.iter().position(|n| n.eq_ignore_ascii_case(name.trim())).ok_or_else(unknown);
        let mut days = 0;
        for part in text.split(',') {
            if part.trim().eq_ignore_ascii_case("all") {
                days = 127;
                continue;
            }
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (day(first)?, day(last)?);
            let span = (last + 7 - first) % 7;
            (0..=span).for_each(|n| days |= 1 << ((first + n) % 7));
        }
        Ok(Self(days))
    }
}

impl fmt::Display for Weekdays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 127 {
            return f.write_str("all");
        }
        let named = NAMES.iter().enumerate().filter(|(n, _)| self.0 >> n & 1 == 1).map(|(_, name)| *name);
        f.write_str(&named.collect::<Vec<_>>().join(","))
    }
}

as_text!(Allowance, Hour);

impl Serialize for Weekdays {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Weekdays {
    /// A string, or a list of strings.
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct DaysVisitor;
        impl<'de> Visitor<'de> for DaysVisitor {
            type Value = Weekdays;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("days such as \"mon-fri\" or [\"sat\", \"sun\"]")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Weekdays, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Weekdays, A::Error> {
                let mut days = 0;
                while let Some(text) = list.next_element::<String>()? {
                    days |= text.parse::<Weekdays>().map_err(A::Error::custom)?.0;
                }
                if days == 0 { Err(A::Error::custom("a row of the schedule needs a day")) } else { Ok(Weekdays(days)) }
            }
        }
        d.deserialize_any(DaysVisitor)
    }
}
