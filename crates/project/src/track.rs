//! What is said in `[track]`?

use crate::compare::CompareSettings;
use crate::examine::Wrong;
use crate::units::Pace;
use serde::{Deserialize, Serialize};

/// Section `[track]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrackSettings {
    /// Runs in a row that must be told that a document is gone before it is `MIS`; until then it is `ERR`.
    pub confirm_missing: u32,
    /// Ask once more for a page that seems to have changed, and ignore what differs between the two answers.
    pub second_look: bool,
    /// Visits that a run of what is due may make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Pace>,
    /// How pages are compared; the first rule whose `match` fits decides.
    pub compare: Vec<CompareSettings>,
    /// Whether the next run waits until somebody has acknowledged the changes of the last.
    pub hold_until_acknowledged: bool,
}

impl Default for TrackSettings {
    fn default() -> Self {
        Self {
            confirm_missing: 1,
            second_look: true,
            budget: None,
            compare: Vec::new(),
            hold_until_acknowledged: false,
        }
    }
}

impl TrackSettings {
    /// What cannot be meant.
    pub(crate) fn examine(&self) -> Vec<Wrong> {
        self.compare.iter().enumerate().filter_map(|(n, row)| row.examine(n)).collect()
    }
}
