//! Do the stores agree?
//!
//! Verifies, by reading everything, what the commit protocol promises: every visit's bytes are
//! where the catalogue says and are what it says, the archive contains nothing unknown to the
//! catalogue, the CDXJ files match the records, the catalogue does not contradict itself, and the
//! frontier index is what the catalogue implies. Nothing is repaired here.

mod archive;
mod catalogue;
mod index;
mod keys;

use crate::error::{Result, StoreError};
use crate::home::{ProjectDir, ProjectLock};
use crate::sqlite::{Catalogue, CatalogueReader};
use crate::warc::RemoveCoding;
use serde::Serialize;
use std::path::Path;

/// At most this many findings are listed; the rest are counted.
const LISTED: usize = 1_000;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CheckReport {
    /// Contradictions and damage, the first thousand of them.
    pub findings: Vec<Finding>,
    /// Their total number.
    pub found: u64,
    /// What is not wrong but will be repaired at the next start, as after a crash.
    pub notes: Vec<String>,
    /// What was examined.
    pub counts: CheckCounts,
}

/// One contradiction or damage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// `catalogue`, `archive`, `cdxj`, `frontier`, `keys`, `graph` or `index`.
    pub store: &'static str,
    /// What is wrong, with the file or page concerned.
    pub what: String,
}

/// How much was examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CheckCounts {
    /// Pages.
    pub pages: u64,
    /// Visits.
    pub visits: u64,
    /// Links.
    pub links: u64,
    /// Archive files.
    pub files: u64,
    /// Records in them.
    pub records: u64,
    /// Visits whose content was compared with its digest byte by byte.
    pub digests: u64,
    /// Pages in queues.
    pub queued: u64,
    /// Arcs of the web graph, compared with the links.
    pub arcs: u64,
    /// Pages in the text index, compared with the visits.
    pub indexed: u64,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.found == 0
    }

    /// Records a contradiction or damage, including those found in stores derived from these.
    pub fn find(&mut self, store: &'static str, what: impl Into<String>) {
        self.found += 1;
        if self.findings.len() < LISTED {
            self.findings.push(Finding { store, what: what.into() });
        }
    }

    /// Damage becomes a finding; any other failure ends the check.
    fn damage<T>(&mut self, store: &'static str, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(e @ StoreError::Damaged { .. }) => {
                self.find(store, e.to_string());
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }
}

/// Fails if the catalogue is damaged or contradicts itself.
pub(crate) fn examine_catalogue(path: &Path) -> Result<()> {
    let mut report = CheckReport::default();
    catalogue::check(&CatalogueReader::at(path)?, &mut report)?;
    match report.findings.first() {
        Some(finding) => Err(StoreError::damaged(path, format!("it has lost what was recorded: {}", finding.what))),
        None => Ok(()),
    }
}

/// Opens a catalogue that is there, upgraded where it is of an older version.
fn checked_open(path: &Path) -> Result<(CatalogueReader, Catalogue)> {
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() == 0) || !path.exists() {
        CatalogueReader::at(path)?;
    }
    let catalogue = Catalogue::create_or_open(path)?;
    Ok((CatalogueReader::at(path)?, catalogue))
}

/// Checks everything a project contains, but for contents under a content coding. No process may be
/// writing to it meanwhile.
pub fn check(project: &ProjectDir) -> Result<CheckReport> {
    checked(project, None)
}

/// Checks everything a project contains.
pub fn check_decoding(project: &ProjectDir, decoder: RemoveCoding<'_>) -> Result<CheckReport> {
    checked(project, Some(decoder))
}

fn checked(project: &ProjectDir, decoder: Option<RemoveCoding<'_>>) -> Result<CheckReport> {
    let _lock = ProjectLock::take(project)?;
    let mut report = CheckReport::default();
    let path = project.catalogue();
    let opened = checked_open(&path);
    let Some((reader, catalogue)) = report.damage("catalogue", opened)? else {
        return Ok(report);
    };
    let facts = catalogue::check(&reader, &mut report);
    if report.damage("catalogue", facts)?.is_none() {
        return Ok(report);
    }
    let bytes = archive::check(project, (&catalogue, &reader), decoder, &mut report);
    report.damage("archive", bytes)?;
    let derived = index::check(project, &catalogue, &mut report);
    report.damage("frontier", derived)?;
    let keys = keys::check(&reader, &catalogue, &mut report);
    report.damage("keys", keys)?;
    Ok(report)
}
