//! How far has the index come?
//!
//! Every commit carries a payload that says which batch of the catalogue it has reached and how it
//! was tokenized. The index is derived: if that payload cannot be read, or does not match this
//! program, the index is rebuilt.

use crate::analyze::{StemLanguage, Stems};
use crate::error::{IndexError, Result};
use crate::schema::FORMAT;
use serde::{Deserialize, Serialize};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use tantivy::Index;
use tantivy::directory::MmapDirectory;
use tantivy::schema::Schema;

/// The payload of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommitPayload {
    /// Format version of the index.
    pub(crate) format: u32,
    /// The last batch of the catalogue up to which the index is complete; `None` if anything may be
    /// missing.
    pub(crate) mark: Option<String>,
    /// The languages whose words are stemmed.
    #[serde(default)]
    pub(crate) stem: Vec<StemLanguage>,
}

impl CommitPayload {
    /// The payload of a commit under these rules.
    pub(crate) fn new(mark: Option<String>, stems: &Stems) -> Self {
        Self { format: FORMAT, mark, stem: stems.0.clone() }
    }

    pub(crate) fn to_payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The payload of an index's last commit.
    pub(crate) fn of(index: &Index, dir: &Path) -> Result<Self> {
        let meta = index.load_metas().map_err(|e| IndexError::of("read", dir, &e))?;
        let unfit = |what: &str| IndexError::Unfit { dir: dir.to_owned(), what: what.to_owned() };
        // If interrupted before its first commit, it is an index without pages.
        let Some(payload) = meta.payload else { return Ok(Self::new(None, &Stems::default())) };
        let standing: Self = serde_json::from_str(&payload).map_err(|_| unfit("its mark cannot be read"))?;
        match standing.format {
            FORMAT => Ok(standing),
            _ => Err(IndexError::Outdated { dir: dir.to_owned() }),
        }
    }
}

/// The mark of a batch of the catalogue, by its number and what distinguishes it from another of
/// the same number.
pub fn mark(batch: u64, nonce: u64) -> String {
    format!("{batch}-{nonce:016x}")
}

/// Opens an existing index with this schema.
pub(crate) fn open(dir: &Path, schema: &Schema) -> Result<Index> {
    if !dir.join("meta.json").exists() {
        return Err(IndexError::Absent { dir: dir.to_owned() });
    }
    let fail = |e| IndexError::of("open", dir, &e);
    let directory = MmapDirectory::open(dir).map_err(|e| fail(e.into()))?;
    let index = Index::open(directory).map_err(|e| match fail(e) {
        // Any error other than a lock or the disk means a damaged file.
        IndexError::Failed { dir, why, .. } => IndexError::Unfit { dir, what: why },
        other => other,
    })?;
    if index.schema() != *schema {
        return Err(IndexError::Outdated { dir: dir.to_owned() });
    }
    look_at_ends(&index, dir)?;
    Ok(index)
}

/// Checks that every file of the index has the engine's footer: on a truncated file the engine
/// reads beyond the end and aborts. Missing files it detects itself.
fn look_at_ends(index: &Index, dir: &Path) -> Result<()> {
    let read = |e: std::io::Error| IndexError::of("read", dir, &e.into());
    let metas = index.load_metas().map_err(|e| IndexError::of("read", dir, &e))?;
    let segments: Vec<String> = metas.segments.iter().map(|segment| segment.id().uuid_string()).collect();
    for entry in std::fs::read_dir(dir).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !segments.iter().any(|segment| name.starts_with(segment.as_str())) {
            continue;
        }
        let ends_well = match ends_well(&path) {
            // A writer has merged it with others and deleted it since.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => true,
            other => other.map_err(read)?,
        };
        if !ends_well {
            return Err(IndexError::Unfit { dir: dir.to_owned(), what: format!("{name} is cut off") });
        }
    }
    Ok(())
}

/// Checks a file's end: the length of its footer in four bytes, and a magic number of four bytes.
fn ends_well(path: &Path) -> std::io::Result<bool> {
    const SIGN: u32 = 1_337;
    let mut file = std::fs::File::open(path)?;
    let len = file.metadata()?.len();
    let mut end = [0; 8];
    if len < end.len() as u64 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut end)?;
    let [a, b, c, d, sign @ ..] = end;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    Ok(u32::from_le_bytes(sign) == SIGN && footer + 8 <= len)
}

/// Creates an index, removing an unusable one.
pub(crate) fn make(dir: &Path, schema: Schema) -> Result<Index> {
    let io = |e: std::io::Error| IndexError::of("make", dir, &e.into());
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(io)?;
    }
    std::fs::create_dir_all(dir).map_err(io)?;
    let fail = |e| IndexError::of("make", dir, &e);
    let directory = MmapDirectory::open(dir).map_err(|e| fail(e.into()))?;
    Index::create(directory, schema, tantivy::IndexSettings::default()).map_err(fail)
}
