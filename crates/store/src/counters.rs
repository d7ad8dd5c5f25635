//! What does a batch add to the counters of its run?
//!
//! A run's counters are a JSON object of numbers, some of them in nested objects; their names are
//! up to the crawl. A commit carries deltas and adds them to the stored totals in its own
//! transaction: nobody needs to know the totals in order to count, and several writers of one run
//! do not overwrite each other.

use serde_json::{Map, Number, Value};

/// By how much counters have changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterDelta(Map<String, Value>);

impl CounterDelta {
    /// What leads from some counters to later ones. What is no number or object counts as nothing.
    pub fn between(before: &Value, after: &Value) -> Self {
        let nothing = Map::new();
        let object = |value: &'_ Value| value.as_object().cloned();
        let (before, after) = (object(before).unwrap_or(nothing), object(after).unwrap_or_default());
        Self(difference(&before, &after))
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The counters with this added, as JSON. Counters that cannot be read begin at nothing.
    pub(crate) fn added_to(&self, counters: &str) -> String {
        let mut counters: Map<String, Value> = serde_json::from_str(counters).unwrap_or_default();
        add(&mut counters, &self.0);
        Value::Object(counters).to_string()
    }
}

fn difference(before: &Map<String, Value>, after: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, now) in after {
        let was = before.get(name);
        let change = match now {
            Value::Object(now) => {
                let change = difference(was.and_then(Value::as_object).unwrap_or(&Map::new()), now);
                (was.is_none() || !change.is_empty()).then_some(Value::Object(change))
            }
            // A counter that is new stands there, even at zero.
            Value::Number(now) => {
                let was = was.and_then(Value::as_number);
                (was != Some(now)).then(|| sum(now, was.unwrap_or(&Number::from(0)), -1)).flatten()
            }
            _ => None,
        };
        out.extend(change.map(|change| (name.clone(), change)));
    }
    for (name, was) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        let change = was.as_number().and_then(|was| sum(&Number::from(0), was, -1));
        out.extend(change.map(|change| (name.clone(), change)));
    }
    out
}

fn add(counters: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, change) in changes {
        match (change, counters.get_mut(name)) {
            (Value::Object(changes), Some(Value::Object(counters))) => add(counters, changes),
            (Value::Number(change), Some(counter)) => {
                let was = counter.as_number().cloned().unwrap_or_else(|| Number::from(0));
                *counter = sum(&was, change, 1).unwrap_or_else(|| Value::from(0));
            }
            (change, _) => _ = counters.insert(name.clone(), change.clone()),
        }
    }
}

/// The sum of a number and `sign` times another: whole where both are.
fn sum(number: &Number, other: &Number, sign: i8) -> Option<Value> {
    match (number.as_i128(), other.as_i128()) {
        (Some(number), Some(other)) => Number::from_i128(number + i128::from(sign) * other).map(Value::Number),
        _ => Number::from_f64(number.as_f64()? + f64::from(sign) * other.as_f64()?).map(Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_taken_apart_comes_together_in_the_same_order() {
        let states = [
            json!({}),
            json!({"pages": 2, "frontier": 9, "traps": {}, "seconds": 0.5, "flags": {"NEW": 0, "SAM": 0}}),
            json!({"pages": 7, "frontier": 3, "traps": {"trap-depth": 4}, "seconds": 1.5, "flags": {"NEW": 5, "SAM": 0}}),
            json!({"pages": 7, "frontier": 3, "traps": {"trap-depth": 1}, "seconds": 2.0, "flags": {"NEW": 5, "SAM": 1}}),
        ];
        let mut counters = String::new();
        for pair in states.windows(2) {
            counters = CounterDelta::between(&pair[0], &pair[1]).added_to(&counters);
            assert_eq!(counters, pair[1].to_string());
            assert!(CounterDelta::between(&pair[1], &pair[1]).is_empty());
        }
    }

    #[test]
    fn changes_of_several_add_up() {
        let change = CounterDelta::between(&json!({"pages": 1}), &json!({"pages": 4, "errors": 1}));
        assert_eq!(change.added_to(&change.added_to("{\"pages\":10}")), "{\"pages\":16,\"errors\":2}");
        assert_eq!(change.added_to("rubbish"), "{\"pages\":3,\"errors\":1}");
    }
}
