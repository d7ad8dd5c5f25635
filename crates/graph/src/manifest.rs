//! What does a graph know about itself?
//!
//! `graph.json`: from which state of the catalogue and with which options it was built, its size, and the length and checksum of every
//! file, so that damage is noticed before the files are believed: the readers of compressed lists trust them blindly.

use crate::compress::Tally;
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

/// Its name.
pub(crate) const NAME: &str = "graph.json";

/// How far the catalogue had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its last batch.
    pub batch: u64,
    /// What tells that batch from another of the same number.
    pub nonce: u64,
    /// Its last run.
    pub run: RunId,
    /// Its pages.
    pub pages: u64,
    /// Its pages with links.
    pub sources: u64,
}

/// What a graph knows about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the files.
    pub format: u32,
    /// Tells this build from any other.
    pub id: u64,
    /// When it was built.
    pub built_at: Moment,
    /// From what.
    pub mark: Mark,
    /// How.
    pub options: GraphOptions,
    /// Pages.
    pub nodes: u64,
    /// Links as they were read, repetitions by other kinds included.
    pub links: u64,
    /// The graph.
    pub web: Tally,
    /// Its transpose.
    pub web_t: Tally,
    /// The transpose of the links that are no arcs.
    pub rest_t: Tally,
    /// Hosts.
    pub hosts: u64,
    /// The host graph: who points to another host.
    pub host: Tally,
    /// Its transpose.
    pub host_t: Tally,
    /// The files.
    pub files: BTreeMap<String, FileSeal>,
}

/// What a file must be like.
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

    /// Writes it down, on the disk when it returns.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(NAME);
        let text = serde_json::to_vec_pretty(self).map_err(|e| GraphError::io("write", &path)(e.into()))?;
        std::fs::write(&path, text).map_err(GraphError::io("write", &path))?;
        sync(&path)
    }

    /// Proves that a file is what was written.
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

/// The length and checksum of a file.
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
