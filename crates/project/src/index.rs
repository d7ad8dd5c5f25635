//! What did the user ask for of the text index, and of searching in it?

use crate::units::{ByteSize, Span};
use orb_index::{StemLanguage, Stems, Weights, WriterRules};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Section `[index]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexSettings {
    /// Keep a text index.
    pub enabled: bool,
    /// Languages whose words are stemmed.
    pub stem: Vec<StemLanguage>,
    /// Text of one page at most.
    pub max_text: ByteSize,
    /// Leave out pages that ask robots not to index them.
    pub honour_noindex: bool,
    /// Memory for words not yet on the disk.
    pub memory: ByteSize,
    /// Memory for pages that wait to be indexed.
    pub queue: ByteSize,
    /// Threads that index; 0 means one for every three cores.
    pub threads: usize,
    /// How often what was indexed becomes findable during a crawl.
    pub commit_time: Span,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            stem: Vec::new(),
            max_text: ByteSize(4_000_000),
            honour_noindex: true,
            memory: ByteSize(100_000_000),
            queue: ByteSize(64_000_000),
            threads: 0,
            commit_time: Span(Duration::from_secs(30)),
        }
    }
}

impl IndexSettings {
    /// How the index is written, on a machine with so many cores.
    pub fn writer(&self, cores: usize) -> WriterRules {
        let threads = if self.threads == 0 { cores.div_ceil(3) } else { self.threads };
        WriterRules { memory: self.memory.0, threads: threads.clamp(1, 8), stems: Stems(self.stem.clone()) }
    }

    /// Bytes of one page's text at most.
    pub fn longest(&self) -> usize {
        usize::try_from(self.max_text.0).unwrap_or(usize::MAX)
    }
}

/// Section `[search]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Results of one host at most; 0 for as many as there are.
    pub per_host: usize,
    /// What counts how much.
    pub weights: Weights,
}
