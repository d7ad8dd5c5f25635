//! How are the pages that match a pattern compared?
//!
//! `[[track.compare]]` in a project file. The first rule whose `match` fits a page's URL applies;
//! keys it omits have their defaults.

use crate::TrackError;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Maximum SimHash distance in bits: unrelated texts differ in about 32.
const MOST_SIMILARITY: u32 = 31;
/// Maximum expressions and selectors per rule.
const MOST_PARTS: usize = 200;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompareBy {
    /// Every byte.
    Bytes,
    /// The visible text.
    Text,
    /// The visible text of the main content.
    Main,
    /// The visible text of what CSS selectors match.
    Selector,
}

/// What a difference is that lies wholly around the main content of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AroundRule {
    /// No change: the visit says that the surroundings differ.
    #[default]
    Ignore,
    /// A change like any other.
    Change,
}

/// A comparison rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareRule {
    /// A regular expression on the URL; if absent, the rule applies to every page.
    pub matches: Option<String>,
    /// What is compared; if absent, the text, or the bytes of pages without text.
    pub by: Option<CompareBy>,
    /// CSS selectors of the parts to compare.
    pub include: Vec<String>,
    /// CSS selectors of the parts to leave out.
    pub exclude: Vec<String>,
    /// Regular expressions; their matches in a block are ignored.
    pub ignore: Vec<String>,
    /// Texts whose SimHashes differ in at most this many bits count as the same.
    pub similarity: Option<u32>,
    /// A program that decides, with its arguments.
    pub program: Vec<String>,
    /// Its timeout per page.
    pub timeout: Duration,
}

impl Default for CompareRule {
    fn default() -> Self {
        Self {
            matches: None,
            by: None,
            include: Vec::new(),
            exclude: Vec::new(),
            ignore: Vec::new(),
            similarity: None,
            program: Vec::new(),
            timeout: Duration::from_secs(10),
        }
    }
}

impl CompareRule {
    /// Validates the rule, except for selectors, which the extractors check.
    pub fn check(&self) -> Result<(), TrackError> {
        if let Some((key, what)) = self.contradiction() {
            return Err(wrong(key, what));
        }
        expressions(self).map(|_| ())
    }

    /// Whether it does not say itself which differences matter.
    pub(crate) fn leaves_around_open(&self) -> bool {
        self.by.is_none() && self.include.is_empty() && self.similarity.is_none() && self.program.is_empty()
    }

    /// A key that contradicts the others, and why.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let exact = self.by == Some(CompareBy::Bytes);
        let texts = matches!(self.by, Some(CompareBy::Text | CompareBy::Main));
        let chooses = !self.include.is_empty() || !self.exclude.is_empty();
        let nameless = self.program.first().is_some_and(|name| name.trim().is_empty());
        let parts = self.include.len() + self.exclude.len() + self.ignore.len();
        let wrongs = [
            (exact && chooses, "by", "\"bytes\" compares every byte: leave out include and exclude"),
            (
                exact && !self.ignore.is_empty(),
                "by",
                "\"bytes\" compares every byte: leave out ignore, or write \"text\"",
            ),
            (
                exact && self.similarity.is_some(),
                "by",
                "\"bytes\" compares every byte: leave out similarity, or write \"text\"",
            ),
            (self.by == Some(CompareBy::Selector) && !chooses, "by", "\"selector\" needs include or exclude"),
            (texts && !self.include.is_empty(), "by", "include chooses what is compared: write by = \"selector\""),
            (
                !self.program.is_empty() && self.similarity.is_some(),
                "similarity",
                "the program decides: leave out one of them",
            ),
            (nameless, "program", "it has no name; write it like [\"python3\", \"compare.py\"]"),
            (
                self.similarity.is_some_and(|bits| bits > MOST_SIMILARITY),
                "similarity",
                "bits from 0 (the same words) to 31 (hardly alike)",
            ),
            (self.timeout.is_zero(), "timeout", "it must be longer than 0s"),
            (parts > MOST_PARTS, "ignore", "a rule has at most 200 selectors and expressions"),
        ];
        wrongs.into_iter().find(|(wrong, ..)| *wrong).map(|(_, key, what)| (key, what))
    }
}

fn wrong(key: impl Into<String>, what: impl Into<String>) -> TrackError {
    TrackError::Rule { key: key.into(), what: what.into() }
}

/// Compiles the expressions of a rule: for the URL and for ignored text.
pub(crate) fn expressions(rule: &CompareRule) -> Result<(Option<Regex>, Vec<Regex>), TrackError> {
    let url = rule.matches.as_deref().map(|text| compile("match", text)).transpose()?;
    let ignore = rule.ignore.iter().enumerate().map(|(n, text)| {
        let regex = compile(&format!("ignore[{n}]"), text)?;
        match regex.is_match("") {
            true => Err(wrong(
                format!("ignore[{n}]"),
                format!("'{text}' matches nothing at all as well; write + instead of *"),
            )),
            false => Ok(regex),
        }
    });
    Ok((url, ignore.collect::<Result<_, _>>()?))
}

fn compile(key: &str, text: &str) -> Result<Regex, TrackError> {
    Regex::new(text).map_err(|error| {
        let shown = error.to_string();
        let last = shown.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        wrong(key, format!("'{text}' is not a regular expression: {last}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(rule: &CompareRule, because: &str) {
        let error = rule.check().expect_err("a rule that makes no sense").to_string();
        assert!(error.contains(because), "{error}");
    }

    #[test]
    fn rules_that_contradict_themselves_are_refused() {
        let text = |s: &str| vec![s.to_owned()];
        let bytes = CompareRule { by: Some(CompareBy::Bytes), ..CompareRule::default() };
        refused(&CompareRule { include: text("p"), ..bytes.clone() }, "include and exclude");
        refused(&CompareRule { ignore: text("x"), ..bytes.clone() }, "leave out ignore");
        refused(&CompareRule { similarity: Some(3), ..bytes.clone() }, "leave out similarity");
        refused(&CompareRule { by: Some(CompareBy::Selector), ..CompareRule::default() }, "needs include or exclude");
        refused(
            &CompareRule { by: Some(CompareBy::Text), include: text("p"), ..CompareRule::default() },
            "by = \"selector\"",
        );
        refused(&CompareRule { program: text("x"), similarity: Some(1), ..CompareRule::default() }, "leave out one");
        refused(&CompareRule { program: text(" "), ..CompareRule::default() }, "it has no name");
        refused(&CompareRule { similarity: Some(64), ..CompareRule::default() }, "0 (the same words)");
        refused(&CompareRule { timeout: Duration::ZERO, ..CompareRule::default() }, "timeout");
        refused(
            &CompareRule { matches: Some("(".into()), ..CompareRule::default() },
            "match: '(' is not a regular expression",
        );
        refused(&CompareRule { ignore: text("[0-9]*"), ..CompareRule::default() }, "+ instead of *");
        assert_eq!(bytes.check(), Ok(()));
    }
}
