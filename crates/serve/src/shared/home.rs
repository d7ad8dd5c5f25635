//! Where is a project that somebody names?
//!
//! In the home, or else on the shared store. One of the home goes before one of the store that has
//! the same name: rights are given by name, and whoever was let in to the one must not find the
//! other.

use super::SharedProjects;
use orb_answers::SharedStatus;
use orb_page::Moment;
use orb_project::{Home, ProjectDir, StoreError};
use std::ops::Deref;
use std::sync::Arc;

/// A home with the projects of the shared store, if there is one. What is not asked here is asked
/// of the home alone.
pub(crate) struct ServedHome {
    home: Home,
    shared: Option<(Arc<SharedProjects>, Home)>,
}

impl Deref for ServedHome {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

impl ServedHome {
    pub(crate) fn new(home: Home, shared: Option<&Arc<SharedProjects>>) -> Result<Self, StoreError> {
        let shared = shared.map(|shared| Ok::<_, StoreError>((Arc::clone(shared), shared.copies()?)));
        Ok(Self { home, shared: shared.transpose()? })
    }

    /// The home alone.
    pub(crate) fn alone(&self) -> &Home {
        &self.home
    }

    /// The project with this name. The copy of one on the store may not be there yet; it is made
    /// now, or brought up to date, for whoever asks next.
    pub(crate) fn locate(&self, name: &str) -> Result<ProjectDir, StoreError> {
        let here = self.home.find(name);
        let (Err(StoreError::NoSuchProject { .. }), Some((shared, copies))) = (&here, &self.shared) else {
            return here;
        };
        if !shared.has(name) {
            return here;
        }
        shared.want(name);
        let coming = || ProjectDir { name: name.to_owned(), dir: shared.place(name), created_at: Moment(0) };
        Ok(copies.find(name).unwrap_or_else(|_| coming()))
    }

    /// Whether the store has a project of this name.
    pub(crate) fn is_shared(&self, name: &str) -> bool {
        self.shared.as_ref().is_some_and(|(shared, _)| shared.has(name))
    }

    /// The project with this name, if it can be asked something.
    pub(crate) fn find(&self, name: &str) -> Result<ProjectDir, StoreError> {
        let unknown = || StoreError::NoSuchProject { name: name.to_owned(), home: self.home.path().to_owned() };
        let found = self.locate(name)?;
        let is_coming = orb_answers::is_shared_copy(&found) && found.is_empty();
        if is_coming { Err(unknown()) } else { Ok(found) }
    }

    /// All projects that can be asked something, by name.
    pub(crate) fn list(&self) -> Result<Vec<ProjectDir>, StoreError> {
        let mut all = self.home.list()?;
        if let Some((shared, copies)) = &self.shared {
            let names = shared.names();
            let is_shown = |copy: &ProjectDir| {
                names.contains(&copy.name) && !copy.is_empty() && self.home.find(&copy.name).is_err()
            };
            all.extend(copies.list()?.into_iter().filter(is_shown));
            all.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(all)
    }

    /// The projects of the store that have no copy yet, by name.
    pub(crate) fn to_come(&self) -> Vec<ProjectDir> {
        let Some((shared, copies)) = &self.shared else { return Vec::new() };
        let is_copied = |name: &String| copies.find(name).is_ok_and(|copy| !copy.is_empty());
        let is_to_come = |name: &String| !is_copied(name) && self.home.find(name).is_err();
        let dir = |name: String| ProjectDir { dir: shared.place(&name), name, created_at: Moment(0) };
        shared.names().into_iter().filter(is_to_come).map(dir).collect()
    }

    /// How the machines get on that work on projects of the store.
    pub(crate) fn teams(&self) -> Vec<SharedStatus> {
        let Some((shared, _)) = &self.shared else { return Vec::new() };
        shared.teams().into_iter().filter(|team| self.home.find(&team.project).is_err()).collect()
    }

    /// Has projects of the store that are being worked on brought up to date: somebody listens.
    pub(crate) fn attend(&self) {
        if let Some((shared, _)) = &self.shared {
            shared.attend();
        }
    }

    /// The names of all projects, also of those that cannot be asked yet.
    pub(crate) fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut all: Vec<String> = self.list()?.into_iter().map(|project| project.name).collect();
        all.extend(self.to_come().into_iter().map(|project| project.name));
        all.sort();
        Ok(all)
    }
}
