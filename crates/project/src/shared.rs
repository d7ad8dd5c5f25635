//! What is done to a project on a shared store from outside?

use crate::ProjectError;
use orb_store::{SharedAddress, SharedProject};

/// The settings of a project on a shared store, as text.
pub fn shared_settings_text(at: &SharedAddress, name: &str) -> Result<String, ProjectError> {
    Ok(SharedProject::open(at, name)?.settings()?)
}

/// Removes a project from a shared store, with everything it collected.
pub fn remove_shared(at: &SharedAddress, name: &str) -> Result<(), ProjectError> {
    Ok(SharedProject::open(at, name)?.remove()?)
}
