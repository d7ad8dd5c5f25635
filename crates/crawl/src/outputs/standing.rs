//! How far is each output behind, and did its last delivery fail?
//!
//! Read from the settings, the marks and the catalogue, without delivering anything and while
//! somebody else may deliver.

use super::marks::{DeliveryFailure, kept};
use super::{Delivery, Output};
use crate::{CrawlError, Stop};
use orb_project::Settings;
use orb_store::{CatalogueReader, ProjectDir};
use schemars::JsonSchema;
use serde::Serialize;

/// An output of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutputStanding {
    /// The output: a path as the settings have it, or a webhook's URL.
    pub output: String,
    /// The last change it has received.
    pub cursor: u64,
    /// Changes that it has not received.
    pub left: u64,
    /// How the last delivery failed, if it did.
    pub failure: Option<DeliveryFailure>,
}

/// The outputs that the settings of a project name, and how far each has come.
pub fn output_standings(project: &ProjectDir) -> Result<Vec<OutputStanding>, CrawlError> {
    let settings = Settings::kept(project)?.unwrap_or_default();
    let stop = Stop::new();
    let delivery = Delivery { project, settings: &settings, variable: &|_| None, stop: &stop, from: None };
    let mut marks = kept(&project.dir)?;
    let reader = if project.is_empty() { None } else { Some(CatalogueReader::open(project)?) };
    let standing = |output: Output<'_>| {
        let kept = marks.remove(&output.name).unwrap_or_default();
        let cursor = kept.mark.cursor;
        let left = reader.as_ref().map_or(Ok(0), |reader| reader.changes_after(cursor, &output.flags))?;
        Ok(OutputStanding { output: output.name, cursor, left, failure: kept.failure })
    };
    delivery.outputs().into_iter().map(standing).collect()
}
