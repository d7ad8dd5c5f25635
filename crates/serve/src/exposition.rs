//! How is a figure written for Prometheus?
//!
//! Text exposition format 0.0.4: a HELP and a TYPE line for each metric, base units in its name
//! (seconds, bytes), counters that only grow and end in `_total`.

use std::fmt::{Display, Write as _};

/// Metrics under construction.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
}

impl Exposition {
    /// Begins a metric of this kind, `counter`, `gauge` or `histogram`.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Adds a value with its labels.
    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(name);
        for (i, (label, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.text, "{}{label}=\"{value}\"", if i == 0 { "{" } else { "," });
        }
        let _ = writeln!(self.text, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    /// A metric with one value.
    pub(crate) fn alone(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    /// All of it.
    pub(crate) fn text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped() {
        let mut page = Exposition::default();
        page.sample("a", &[("b", "x\"y\\z\n"), ("c", "d")], 1.5);
        assert_eq!(page.text(), "a{b=\"x\\\"y\\\\z\\n\",c=\"d\"} 1.5\n");
    }
}
