//! How does a shared project end?

use super::SharedProject;
use super::burial::bury_expired;
use super::connect::quoted;
use super::objects::ObjectArchive;
use super::schema::schema_of;
use crate::error::{Result, StoreError};

impl SharedProject {
    /// Removes everything of it, unless somebody works on it. The rows go last: whoever is broken
    /// off leaves a project, which can be removed again.
    pub fn remove(mut self) -> Result<()> {
        let (project, schema) = (self.name.clone(), schema_of(&self.name));
        let (workers, may): (i64, bool) = self.with(|line| {
            bury_expired(line, &project)?;
            let sql = "SELECT (SELECT count(*) FROM worker WHERE alive), pg_has_role(nspowner, 'USAGE')
                       FROM pg_namespace WHERE nspname = $1";
            let row = line.wait("remove a project", line.client().query_one(sql, &[&schema]))?;
            Ok((row.get(0), row.get(1)))
        })?;
        if workers > 0 {
            let who = if workers == 1 { "a worker is".to_owned() } else { format!("{workers} workers are") };
            return Err(StoreError::Shared(format!("{who} at work on project {project}; stop its run first")));
        }
        if !may {
            return Err(StoreError::Shared(format!("project {project} belongs to another user of the database")));
        }
        let archive = ObjectArchive::open(&self.address, &project)?;
        let empty = || archive.list()?.iter().try_for_each(|object| archive.remove(&object.name));
        empty()?;
        let sql = format!("DROP SCHEMA {} CASCADE", quoted(&schema));
        self.with(|line| line.wait_long("remove a project", line.client().batch_execute(&sql)))?;
        // What a worker that joined meanwhile has left.
        empty()
    }
}
