//! When is a project due next?

use crate::{Result, last_run};
use orb_page::Moment;
use orb_project::{Due, Settings};
use orb_store::{ProjectDir, ProjectLock};

/// When a project is to run, by its settings and its runs.
pub fn due(project: &ProjectDir, settings: &Settings, now: Moment) -> Result<Due> {
    let last = last_run(project)?;
    Ok(Due::of(&settings.schedule, project, last.as_ref(), ProjectLock::is_held(project), now))
}
