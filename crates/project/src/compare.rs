//! What does `[[track.compare]]` say?

use crate::examine::Wrong;
use crate::track::TrackSettings;
use crate::units::HumanDuration;
use orb_track::TrackError;
use orb_track::compare::{CompareBy, CompareRule, Comparison};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A row of `[[track.compare]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareSettings {
    /// A regular expression on the URL; if absent, the rule applies to every page.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// `bytes`, `text`, `main` or `selector`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<CompareBy>,
    /// CSS selectors of the parts to compare.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// CSS selectors of the parts to leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Regular expressions; their matches are ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Texts whose SimHashes differ in at most this many bits count as the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<u32>,
    /// A program that decides, with its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<String>,
    /// Its timeout per page.
    pub timeout: HumanDuration,
}

impl Default for CompareSettings {
    fn default() -> Self {
        Self {
            matches: None,
            by: None,
            include: Vec::new(),
            exclude: Vec::new(),
            ignore: Vec::new(),
            similarity: None,
            program: Vec::new(),
            timeout: HumanDuration(Duration::from_secs(10)),
        }
    }
}

impl CompareSettings {
    fn rule(&self) -> CompareRule {
        let Self { matches, by, include, exclude, ignore, similarity, program, timeout } = self.clone();
        CompareRule { matches, by, include, exclude, ignore, similarity, program, timeout: timeout.0 }
    }

    /// What is invalid in row `n`.
    pub(crate) fn examine(&self, n: usize) -> Option<Wrong> {
        let key = |name: &str| format!("track.compare[{n}].{name}");
        for (name, selectors) in [("include", &self.include), ("exclude", &self.exclude)] {
            for (m, selector) in selectors.iter().enumerate() {
                if let Err(what) = orb_extract::check_selector(selector) {
                    return Some(Wrong::new(key(&format!("{name}[{m}]")), what));
                }
            }
        }
        match self.rule().check() {
            Err(TrackError::Rule { key: name, what }) => Some(Wrong::new(key(&name), what)),
            _ => None,
        }
    }
}

impl TrackSettings {
    /// How pages are compared.
    pub fn comparison(&self) -> Result<Comparison, Wrong> {
        let rules: Vec<CompareRule> = self.compare.iter().map(CompareSettings::rule).collect();
        Comparison::new(&rules, self.around).map_err(|why| Wrong::new("track.compare", why.to_string()))
    }
}
