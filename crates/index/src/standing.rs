//! How far has the index come?
//!
//! Every commit carries a line that says which batch of the catalogue it has come to and how its words were cut. The index is derived: where that
//! line cannot be read, or says otherwise than this program would, the index is made anew.

use crate::analyze::{StemLanguage, Stems};
use crate::error::{IndexError, Result};
use crate::schema::{self, FORMAT};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tantivy::Index;
use tantivy::directory::MmapDirectory;
use tantivy::schema::Schema;

/// What a commit says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The form of the index.
    pub(crate) format: u32,
    /// The last batch of the catalogue that is whole in the index; none where some may be missing from the beginning.
    pub(crate) mark: Option<String>,
    /// The languages whose words are stemmed.
    #[serde(default)]
    pub(crate) stem: Vec<StemLanguage>,
}

impl Standing {
    /// What a commit under these rules says.
    pub(crate) fn new(mark: Option<String>, stems: &Stems) -> Self {
        Self { format: FORMAT, mark, stem: stems.0.clone() }
    }

    pub(crate) fn to_payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What the last commit of an index says.
    pub(crate) fn of(index: &Index, dir: &Path) -> Result<Self> {
        let meta = index.load_metas().map_err(|e| IndexError::of("read", dir, &e))?;
        let unfit = |what: &str| IndexError::Unfit { dir: dir.to_owned(), what: what.to_owned() };
        // Cut off before its first commit, it is an index without pages.
        let Some(payload) = meta.payload else { return Ok(Self::new(None, &Stems::default())) };
        let standing: Self = serde_json::from_str(&payload).map_err(|_| unfit("its mark cannot be read"))?;
        match standing.format {
            FORMAT => Ok(standing),
            _ => Err(unfit("it was written by another version")),
        }
    }
}

/// Opens an index that is there and has this schema.
pub(crate) fn open(dir: &Path, schema: &Schema) -> Result<Index> {
    if !dir.join("meta.json").exists() {
        return Err(IndexError::Absent { dir: dir.to_owned() });
    }
    let fail = |e| IndexError::of("open", dir, &e);
    let directory = MmapDirectory::open(dir).map_err(|e| fail(e.into()))?;
    let index = Index::open(directory).map_err(|e| match fail(e) {
        // Whatever keeps it from being opened but a lock or the disk is a file that says something else than it should.
        IndexError::Failed { dir, why, .. } => IndexError::Unfit { dir, what: why },
        other => other,
    })?;
    if index.schema() != *schema {
        return Err(IndexError::Unfit { dir: dir.to_owned(), what: "it was written by another version".to_owned() });
    }
    schema::equip(&index);
    Ok(index)
}

/// Makes an index where there is none that is of use: whatever lies there is removed.
pub(crate) fn make(dir: &Path, schema: Schema) -> Result<Index> {
    let io = |e: std::io::Error| IndexError::of("make", dir, &e.into());
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(io)?;
    }
    std::fs::create_dir_all(dir).map_err(io)?;
    let fail = |e| IndexError::of("make", dir, &e);
    let directory = MmapDirectory::open(dir).map_err(|e| fail(e.into()))?;
    let index = Index::create(directory, schema, tantivy::IndexSettings::default()).map_err(fail)?;
    schema::equip(&index);
    Ok(index)
}
