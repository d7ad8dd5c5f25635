//! Is this file extension unwanted?

use crate::Address;

/// File extensions without their dot, compared ignoring case.
#[derive(Debug)]
pub(super) struct Extensions(Vec<String>);

impl Extensions {
    pub(super) fn new(written: &[String]) -> Self {
        let bare = |e: &String| e.trim().trim_start_matches('*').trim_start_matches('.').to_owned();
        Self(written.iter().map(bare).filter(|e| !e.is_empty()).collect())
    }

    /// Whether the last path segment has one of these extensions.
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
