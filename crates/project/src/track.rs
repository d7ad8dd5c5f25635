//! What does `[track]` say?

use crate::compare::CompareSettings;
use crate::examine::Wrong;
use crate::units::Pace;
use orb_track::compare::AroundRule;
use serde::{Deserialize, Serialize};

/// Section `[track]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrackSettings {
    /// Consecutive runs in which the server must say that a document is gone before it is `MIS`;
    /// until then it is `ERR`.
    pub confirm_missing: u32,
    /// Whether to fetch a page again that seems to have changed, and ignore what differs between
    /// the two responses.
    pub second_look: bool,
    /// Maximum visits of a run with `--due`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Pace>,
    /// Whether a page counts as changed if it differs only around its main content.
    pub around: AroundRule,
    /// How pages are compared; the first rule whose `match` fits applies.
    pub compare: Vec<CompareSettings>,
    /// Whether the next run waits until the changes of the last are acknowledged.
    pub hold_until_acknowledged: bool,
}

impl Default for TrackSettings {
    fn default() -> Self {
        Self {
            confirm_missing: 1,
            second_look: true,
            budget: None,
            around: AroundRule::Ignore,
            compare: Vec::new(),
            hold_until_acknowledged: false,
        }
    }
}

impl TrackSettings {
    /// What is invalid.
    pub(crate) fn examine(&self) -> Vec<Wrong> {
        self.compare.iter().enumerate().filter_map(|(n, row)| row.examine(n)).collect()
    }
}
