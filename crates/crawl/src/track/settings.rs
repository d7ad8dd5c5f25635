//! What is said in `[track]`?

use super::compare::CompareSettings;
use crate::examine::Wrong;
use serde::{Deserialize, Serialize};

/// Section `[track]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrackSettings {
    /// How pages are compared; the first rule whose `match` fits decides.
    pub compare: Vec<CompareSettings>,
    /// Whether the next run waits until somebody has acknowledged the changes of the last.
    pub hold_until_acknowledged: bool,
}

impl TrackSettings {
    /// What cannot be meant.
    pub(crate) fn examine(&self) -> Vec<Wrong> {
        self.compare.iter().enumerate().filter_map(|(n, row)| row.examine(n)).collect()
    }
}
