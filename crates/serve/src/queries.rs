//! Which questions to the tables were worth keeping?
//!
//! They are in `queries.json` in the project's directory, for everybody who may ask the project in
//! SQL. Whoever may edit the project keeps and removes them.

use crate::problem::ProblemDetails;
use orb_project::ProjectDir;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// The most queries of a project, and the longest.
const MOST: usize = 100;
const LONGEST: usize = 20_000;

/// A query under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SavedQuery {
    /// What people call it.
    pub(crate) name: String,
    /// The query.
    pub(crate) query: String,
    /// Who has saved it.
    pub(crate) by: String,
}

fn place(project: &ProjectDir) -> PathBuf {
    project.dir.join("queries.json")
}

/// The queries of a project, by name.
pub(crate) fn saved(project: &ProjectDir) -> Result<Vec<SavedQuery>, ProblemDetails> {
    match fs::read(place(project)) {
        Ok(text) => serde_json::from_slice(&text).map_err(|e| ProblemDetails::failed(&format!("queries.json: {e}"))),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(ProblemDetails::failed(&e)),
    }
}

/// Keeps a query; one of the same name is replaced.
pub(crate) fn keep(project: &ProjectDir, wanted: SavedQuery) -> Result<(), ProblemDetails> {
    let is_name = !wanted.name.is_empty() && wanted.name.chars().count() <= 100;
    if !is_name || wanted.query.trim().is_empty() || wanted.query.len() > LONGEST {
        return Err(ProblemDetails::unprocessable("a query has a name of 1 to 100 characters, and a text"));
    }
    change(project, |queries| {
        queries.retain(|query| query.name != wanted.name);
        if queries.len() >= MOST {
            return Err(ProblemDetails::unprocessable(format!("a project keeps at most {MOST} queries")));
        }
        queries.push(wanted);
        queries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    })
}

/// Removes the query of this name.
pub(crate) fn remove(project: &ProjectDir, name: &str) -> Result<(), ProblemDetails> {
    change(project, |queries| {
        let before = queries.len();
        queries.retain(|query| query.name != name);
        let unknown = || ProblemDetails::not_found(format!("there is no query {name}"));
        if queries.len() < before { Ok(()) } else { Err(unknown()) }
    })
}

/// Changes the queries; one at a time.
fn change(
    project: &ProjectDir,
    change: impl FnOnce(&mut Vec<SavedQuery>) -> Result<(), ProblemDetails>,
) -> Result<(), ProblemDetails> {
    let failed = |e: io::Error| ProblemDetails::failed(&format!("queries.json: {e}"));
    let lock = File::create(project.dir.join("queries.lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut queries = saved(project)?;
    change(&mut queries)?;
    let text = serde_json::to_vec_pretty(&queries).map_err(|e| ProblemDetails::failed(&e))?;
    let new = project.dir.join("queries.json.new");
    fs::write(&new, text).and_then(|()| fs::rename(&new, place(project))).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_project::Home;

    #[test]
    fn queries_are_kept_by_name() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let query = |name: &str, text: &str| SavedQuery { name: name.into(), query: text.into(), by: "ann".into() };
        keep(&project, query("b", "one")).unwrap();
        keep(&project, query("a", "two")).unwrap();
        keep(&project, query("b", "three")).unwrap();
        assert_eq!(saved(&project).unwrap(), [query("a", "two"), query("b", "three")]);
        assert!(keep(&project, query("", "one")).is_err() && keep(&project, query("c", " ")).is_err());
        remove(&project, "a").unwrap();
        assert!(remove(&project, "a").is_err());
        assert_eq!(saved(&project).unwrap().len(), 1);
    }
}
