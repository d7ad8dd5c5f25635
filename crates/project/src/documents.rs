//! What does `[documents]` say?

use crate::examine::Wrong;
use crate::units::ByteSize;
use serde::{Deserialize, Serialize};

/// The least memory with which a helper process can start and read anything.
const LEAST_MEMORY: u64 = 64 << 20;

/// Section `[documents]`: formats that are read in processes of their own, such as PDF.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DocumentSettings {
    /// Maximum size of a document, if that is more than `fetch.max_size`.
    pub max_size: ByteSize,
    /// Maximum memory of a process that reads documents.
    pub memory: ByteSize,
    /// How many documents are read at once; 0 means one per core.
    pub workers: usize,
}

impl Default for DocumentSettings {
    fn default() -> Self {
        Self { max_size: ByteSize(50_000_000), memory: ByteSize(512_000_000), workers: 0 }
    }
}

impl DocumentSettings {
    /// What is invalid.
    pub(crate) fn examine(&self) -> Vec<Wrong> {
        let too_little = self.memory.0 < LEAST_MEMORY;
        let wrong = || Wrong::new("documents.memory", "less than 64MiB is not enough to read a document");
        too_little.then(wrong).into_iter().collect()
    }
}
