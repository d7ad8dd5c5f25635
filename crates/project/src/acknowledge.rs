//! How are a run's changes acknowledged?

use crate::ProjectError;
use orb_page::RunId;
use orb_store::{AckRow, CatalogueReader, ProjectDir, SharedAddress, SharedProject};

/// Records that somebody has looked at the changes of a run and of all before it; the last run
/// where none is named.
pub fn acknowledge(
    project: &ProjectDir,
    run: Option<u32>,
    by: Option<&str>,
    note: Option<&str>,
) -> Result<AckRow, ProjectError> {
    let name = &project.name;
    let refused = |why: String| ProjectError::Refused(format!("project {name} {why}"));
    if project.is_empty() {
        return Err(refused("has collected nothing yet; run orb crawl first".to_owned()));
    }
    let reader = CatalogueReader::open(project)?;
    let found = match run.map(RunId) {
        Some(run) => reader.run(run)?.map(|run| run.id),
        None => reader.runs()?.first().map(|run| run.id),
    };
    let missing = || refused(run.map_or_else(|| "was never run".to_owned(), |run| format!("has no run {run}")));
    let found = found.ok_or_else(missing)?;
    orb_store::acknowledge(project, found, by, note)?;
    reader.ack(found)?.ok_or_else(missing)
}

/// The same for a project on a shared store.
pub fn acknowledge_shared(
    (at, project): (&SharedAddress, &str),
    run: Option<u32>,
    by: Option<&str>,
    note: Option<&str>,
) -> Result<AckRow, ProjectError> {
    let row = SharedProject::open(at, project)?.acknowledge(run.map(RunId), by, note)?;
    let which = run.map_or_else(|| "was never run".to_owned(), |run| format!("has no run {run}"));
    row.ok_or_else(|| ProjectError::Refused(format!("project {project} {which}")))
}
