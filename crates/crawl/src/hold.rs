//! May the next run begin?
//!
//! A project may require that nothing new is reported until the last report was acknowledged. A run
//! that was stopped or interrupted may be resumed: it has not reported everything yet.

use crate::CrawlError;
use orb_project::Settings;
use orb_store::{CatalogueReader, ProjectDir};

/// Refuses a run if the project is on hold and the last run with changes was not acknowledged.
pub fn may_begin(project: &ProjectDir, settings: &Settings) -> Result<(), CrawlError> {
    if !settings.track.hold_until_acknowledged || project.is_empty() {
        return Ok(());
    }
    match CatalogueReader::open(project)?.unacknowledged()? {
        Some(run) => Err(CrawlError::Held { project: project.name.clone(), run: run.0 }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_page::{RunKind, RunState};
    use orb_store::{Home, Project};

    #[test]
    fn a_project_without_changes_is_not_held() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let mut settings = Settings::default();
        settings.track.hold_until_acknowledged = true;
        may_begin(&project, &settings).unwrap();
        let mut opened = Project::open(&project).unwrap();
        let run = opened.begin_run(RunKind::Crawl, "").unwrap();
        opened.finish_run(run, RunState::Done, "{}").unwrap();
        drop(opened);
        may_begin(&project, &settings).unwrap();
    }
}
