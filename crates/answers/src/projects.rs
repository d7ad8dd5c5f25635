//! Which projects are there?

use crate::{Result, Window};
use orb_store::Home;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// A project of a home.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListedProject {
    /// Its name.
    pub project: String,
    /// The same.
    pub name: String,
    /// When it was made.
    pub created_at: String,
    /// Where it lies.
    pub dir: PathBuf,
}

/// The projects of a home, by name.
pub fn projects(home: &Home, rows: Window) -> Result<Vec<ListedProject>> {
    let listed = home.list()?.into_iter().map(|project| ListedProject {
        name: project.name.clone(),
        project: project.name,
        created_at: project.created_at.to_string(),
        dir: project.dir,
    });
    Ok(rows.of(listed))
}
