//! Where did the time of an interval go?

use super::{Idle, Spread, Stage};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// A snapshot of the ledger, or the difference between two. Stored by name, so that a later version
/// with other stages can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How long each stage took.
    pub stages: BTreeMap<Stage, Spread>,
    /// Nanoseconds the driver waited, by reason.
    pub idle: BTreeMap<Idle, u64>,
}

impl Tally {
    /// How long a stage took.
    pub fn stage(&self, stage: Stage) -> &Spread {
        static NONE: Spread = Spread { count: 0, nanos: 0, buckets: Vec::new() };
        self.stages.get(&stage).unwrap_or(&NONE)
    }

    /// Seconds the driver waited for this reason.
    #[expect(clippy::cast_precision_loss, reason = "seconds for people")]
    pub fn idle(&self, why: Idle) -> f64 {
        self.idle.get(&why).map_or(0.0, |nanos| *nanos as f64 / 1e9)
    }

    /// The sum of two tallies.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, Spread::plus, u64::saturating_add)
    }

    /// The difference to an earlier snapshot.
    #[must_use]
    pub fn minus(&self, earlier: &Self) -> Self {
        self.combine(earlier, Spread::minus, u64::saturating_sub)
    }

    fn combine(&self, other: &Self, join: fn(&Spread, &Spread) -> Spread, add: fn(u64, u64) -> u64) -> Self {
        let idle = |tally: &Self, why| tally.idle.get(&why).copied().unwrap_or(0);
        Self {
            stages: Stage::ALL.iter().map(|s| (*s, join(self.stage(*s), other.stage(*s)))).collect(),
            idle: Idle::ALL.iter().map(|i| (*i, add(idle(self, *i), idle(other, *i)))).collect(),
        }
    }
}

#[derive(Serialize)]
struct TallyWritten<'a> {
    stages: BTreeMap<&'static str, &'a Spread>,
    idle_nanos: BTreeMap<&'static str, u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TallyRead {
    stages: BTreeMap<String, KnownOrSkipped<Spread>>,
    idle_nanos: BTreeMap<String, KnownOrSkipped<u64>>,
}

/// A value of a known form, or anything else, which is skipped.
#[derive(Deserialize)]
#[serde(untagged)]
enum KnownOrSkipped<T> {
    Yes(T),
    No(IgnoredAny),
}

impl<T> KnownOrSkipped<T> {
    fn get(self) -> Option<T> {
        match self {
            Self::Yes(value) => Some(value),
            Self::No(_) => None,
        }
    }
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stages = self.stages.iter().filter(|(_, spread)| spread.count > 0);
        let idle = self.idle.iter().filter(|(_, nanos)| **nanos > 0);
        TallyWritten {
            stages: stages.map(|(stage, spread)| (stage.name(), spread)).collect(),
            idle_nanos: idle.map(|(why, nanos)| (why.name(), *nanos)).collect(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tally {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read = TallyRead::deserialize(deserializer)?;
        let stages = Stage::ALL.iter().filter_map(|s| Some((*s, read.stages.remove(s.name())?.get()?)));
        let idle = Idle::ALL.iter().filter_map(|i| Some((*i, read.idle_nanos.remove(i.name())?.get()?)));
        Ok(Self { stages: stages.collect(), idle: idle.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ledger;
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_tally_written_and_read_again_is_the_same_and_small() {
        let ledger = Ledger::default();
        ledger.note(Stage::Wait, Duration::from_millis(12));
        ledger.note_idle(Idle::Delay, Duration::from_secs(3));
        let text = serde_json::to_string(&ledger.tally()).unwrap();
        assert!(text.len() < 200, "{text}");
        let read: Tally = serde_json::from_str(&text).unwrap();
        assert_eq!(read.plus(&Tally::default()), ledger.tally());
        assert_eq!(read.idle(Idle::Delay), 3.0);
    }

    #[test]
    fn stages_of_another_version_are_passed_over() {
        let text =
            r#"{"stages":{"dance":{"steps":3},"read":{"count":2,"nanos":9,"buckets":[[1,2]]},"wait":7},"more":1}"#;
        let read: Tally = serde_json::from_str(text).unwrap();
        assert_eq!((read.stage(Stage::Read).count, read.stage(Stage::Wait).count), (2, 0));
    }
}
