//! Is the ending of this file name unwanted?

use crate::Address;

/// Endings of file names without their dot, in any case.
#[derive(Debug)]
pub(super) struct Extensions(Vec<String>);

impl Extensions {
    pub(super) fn new(written: &[String]) -> Self {
        let bare = |e: &String| e.trim().trim_start_matches('*').trim_start_matches('.').to_owned();
        Self(written.iter().map(bare).filter(|e| !e.is_empty()).collect())
    }

    /// Whether the last segment of the path ends in one of them after a dot.
    pub(super) fn contains(&self, target: &Address) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let name = target.path().rsplit('/').next().unwrap_or_default().as_bytes();
        self.0.iter().any(|extension| {
            name.len()
                .checked_sub(extension.len() + 1)
                .is_some_and(|dot| name[dot] == b'.' && name[dot + 1..].eq_ignore_ascii_case(extension.as_bytes()))
        })
    }
}
