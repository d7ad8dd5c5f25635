//! What does a graph know about itself?
//!
//! `graph.json` records the catalogue state and options it was built from, its size, and the length
//! and checksum of every file. Checksums are verified before a file is used, because the decoder of
//! compressed lists trusts its input.

use crate::compress::CompressionStats;
use crate::error::{GraphError, Result};
use crate::options::GraphOptions;
use crate::place::sync;
use orb_page::{Moment, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// The format this program writes.
const FORMAT: u32 = 1;

/// Its file name.
pub(crate) const NAME: &str = "graph.json";

/// The catalogue's state at build time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueMark {
    /// Its last batch.
    pub batch: u64,
    /// Distinguishes that batch from another with the same number.
    pub nonce: u64,
    /// Its last run.
    pub run: RunId,
    /// Number of pages.
    pub pages: u64,
    /// Number of pages with links.
    pub sources: u64,
}

/// How a graph relates to the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFreshness {
    /// Nothing was recorded since.
    Current,
    /// The catalogue has grown since, by this many batches, pages and runs.
    Behind {
        /// Batches.
        batches: u64,
        /// Pages.
        pages: u64,
        /// Runs.
        runs: u32,
    },
    /// It was built from another catalogue, or this one was restored to an earlier state.
    Foreign,
}

impl CatalogueMark {
    /// How a graph built at this mark stands to a catalogue that has come to another.
    pub fn standing(&self, now: &Self) -> GraphFreshness {
        if self.batch == now.batch && self.nonce == now.nonce {
            return GraphFreshness::Current;
        }
        if now.batch <= self.batch || now.pages < self.pages || now.sources < self.sources || now.run < self.run {
            return GraphFreshness::Foreign;
        }
        let (batches, pages) = (now.batch - self.batch, now.pages - self.pages);
        GraphFreshness::Behind { batches, pages, runs: now.run.0 - self.run.0 }
    }
}

/// A graph's description of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the files.
    pub format: u32,
    /// Unique id of this build.
    pub id: u64,
    /// When it was built.
    pub built_at: Moment,
    /// The catalogue state it was built from.
    pub mark: CatalogueMark,
    /// The build options.
    pub options: GraphOptions,
    /// Number of pages.
    pub nodes: u64,
    /// Number of links read, including repetitions of other kinds.
    pub links: u64,
    /// The page graph.
    pub web: CompressionStats,
    /// Its transpose.
    pub web_t: CompressionStats,
    /// The transpose of the links that are not arcs.
    pub rest_t: CompressionStats,
    /// Number of hosts.
    pub hosts: u64,
    /// The host graph: arcs between different hosts.
    pub host: CompressionStats,
    /// Its transpose.
    pub host_t: CompressionStats,
    /// The files.
    pub files: BTreeMap<String, FileSeal>,
}

/// Expected length and checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSeal {
    /// Its length.
    pub length: u64,
    /// Its checksum (XXH3, 64 bits).
    pub xxh3: u64,
}

impl Manifest {
    pub(crate) const FORMAT: u32 = FORMAT;

    /// Reads the manifest of the graph in a directory.
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(NAME);
        let text = match std::fs::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && !dir.is_dir() => {
                return Err(GraphError::Missing { dir: dir.to_owned() });
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(GraphError::damaged(&path, "it is missing")),
            other => other.map_err(GraphError::io("read", &path))?,
        };
        let bad = |e: serde_json::Error| GraphError::damaged(&path, e.to_string());
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(bad)?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(found) if found != u64::from(FORMAT) => {
                let found = u32::try_from(found).unwrap_or(u32::MAX);
                Err(GraphError::OtherFormat { path, found, known: FORMAT })
            }
            _ => serde_json::from_value(value).map_err(bad),
        }
    }

    /// Writes and syncs the manifest.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(NAME);
        let text = serde_json::to_vec_pretty(self).map_err(|e| GraphError::io("write", &path)(e.into()))?;
        std::fs::write(&path, text).map_err(GraphError::io("write", &path))?;
        sync(&path)
    }

    /// Verifies a file's length and checksum.
    pub(crate) fn verify(&self, dir: &Path, name: &str) -> Result<()> {
        let path = dir.join(name);
        let expected = self.files.get(name).ok_or_else(|| GraphError::damaged(&path, "it is not listed"))?;
        let found = match seal(&path) {
            Err(GraphError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(GraphError::damaged(&path, "it is missing"));
            }
            found => found?,
        };
        if found == *expected { Ok(()) } else { Err(GraphError::damaged(&path, "it is not what was written")) }
    }
}

/// Computes the length and checksum of a file.
pub(crate) fn seal(path: &Path) -> Result<FileSeal> {
    let fail = GraphError::io("read", path);
    let mut file = File::open(path).map_err(&fail)?;
    let (mut hash, mut length) = (Xxh3::new(), 0);
    let mut bytes = vec![0; 1 << 18];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(FileSeal { length, xxh3: hash.digest() }),
            Ok(n) => {
                hash.update(&bytes[..n]);
                length += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(fail(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_knows_how_far_the_catalogue_has_advanced() {
        let then = CatalogueMark { batch: 5, nonce: 1, run: RunId(1), pages: 100, sources: 10 };
        assert_eq!(then.standing(&then), GraphFreshness::Current);
        let later = CatalogueMark { batch: 7, nonce: 9, run: RunId(2), pages: 130, sources: 12 };
        assert_eq!(then.standing(&later), GraphFreshness::Behind { batches: 2, pages: 30, runs: 1 });
        for other in [
            CatalogueMark { nonce: 2, ..then },
            CatalogueMark { batch: 4, nonce: 2, ..then },
            CatalogueMark { pages: 9, ..later },
        ] {
            assert_eq!(then.standing(&other), GraphFreshness::Foreign);
        }
    }
}
