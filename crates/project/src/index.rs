//! What did the user ask of the text index and of search?

use crate::units::{ByteSize, HumanDuration};
use orb_index::{StemLanguage, Stems, Weights, WriterRules};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Section `[index]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexSettings {
    /// Whether to build a text index.
    pub enabled: bool,
    /// Languages whose words are stemmed.
    pub stem: Vec<StemLanguage>,
    /// Maximum text per page.
    pub max_text: ByteSize,
    /// Whether to leave out pages with `noindex`.
    pub honour_noindex: bool,
    /// Memory for documents that are not on disk yet.
    pub memory: ByteSize,
    /// Memory for pages waiting to be indexed.
    pub queue: ByteSize,
    /// Number of indexing threads; 0 means one per three cores.
    pub threads: usize,
    /// How often indexed pages become searchable during a crawl.
    pub commit_time: HumanDuration,
    /// How often a worker of a shared project uploads what it has indexed.
    pub split_time: HumanDuration,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            stem: Vec::new(),
            max_text: ByteSize(4_000_000),
            honour_noindex: true,
            memory: ByteSize(56_000_000),
            queue: ByteSize(16_000_000),
            threads: 0,
            commit_time: HumanDuration(Duration::from_secs(30)),
            split_time: HumanDuration(Duration::from_secs(600)),
        }
    }
}

impl IndexSettings {
    /// How the index is written, on a machine with this many cores.
    pub fn writer(&self, cores: usize) -> WriterRules {
        let threads = if self.threads == 0 { cores.div_ceil(3) } else { self.threads };
        WriterRules { memory: self.memory.0, threads: threads.clamp(1, 8), stems: Stems(self.stem.clone()) }
    }

    /// Maximum bytes of text per page.
    pub fn longest(&self) -> usize {
        usize::try_from(self.max_text.0).unwrap_or(usize::MAX)
    }
}

/// Section `[search]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Maximum results per host; 0 for no limit.
    pub per_host: usize,
    /// Weights of the parts of a score.
    pub weights: Weights,
}
