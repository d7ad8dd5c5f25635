//! What is a shared project to whoever does not work on it?

use super::connect::{Redial, SharedAddress, SharedLine, quoted};
use super::join::{Membership, WorkerCard};
use super::objects::ObjectArchive;
use super::schema::{self, schema_of};
use crate::ArchiveReader;
use crate::error::{Result, StoreError};
use orb_page::RunId;
use std::sync::Arc;

/// A project in a shared store.
pub struct SharedProject {
    pub(super) address: Arc<SharedAddress>,
    pub(super) name: String,
    pub(super) shards: u16,
    pub(super) line: Redial,
}

/// One of a store's projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedListing {
    /// Its name.
    pub name: String,
    /// Its run, if one is open.
    pub run: Option<RunId>,
    /// The machines that run is meant for; empty means any.
    pub machines: Vec<String>,
    /// How many workers it has.
    pub workers: u64,
}

/// How a project is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMaking {
    /// How many shards it has, for ever; by default as many as the store says.
    pub shards: Option<u16>,
    /// Its settings, as text.
    pub settings: String,
}

impl SharedProject {
    /// The projects of a store.
    pub fn list(at: &SharedAddress) -> Result<Vec<SharedListing>> {
        let line = at.connect(None, "orb")?;
        // What another program keeps under such a name, or another user for himself, is none.
        let sql = "SELECT n.nspname::text FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
                   WHERE n.nspname LIKE 'orb\\_%' AND c.relname = 'project' AND c.relkind IN ('r', 'p')
                     AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'fingerprint')
                     AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1";
        let mut found = Vec::new();
        for row in line.wait("list the projects", line.client().query(sql, &[]))? {
            let schema: String = row.get(0);
            let sql = format!(
                "SELECT p.name, r.id, r.machines, (SELECT count(*) FROM {schema}.worker WHERE alive AND until > now())
                 FROM {schema}.project p LEFT JOIN
                   (SELECT id, machines FROM {schema}.run_row WHERE finished_at IS NULL ORDER BY id DESC LIMIT 1) r ON true",
                schema = quoted(&schema)
            );
            let rows = match line.wait("list the projects", line.client().query(&sql, &[])) {
                // It was deleted meanwhile.
                Err(StoreError::Shared(_)) if !schema::exists(&line, &schema)? => continue,
                rows => rows?,
            };
            for row in rows {
                let run = row.get::<_, Option<i32>>(1).map(|id| RunId(id.cast_unsigned()));
                let machines = row.get::<_, Option<Vec<String>>>(2).unwrap_or_default();
                let workers = row.get::<_, i64>(3).cast_unsigned();
                found.push(SharedListing { name: row.get(0), run, machines, workers });
            }
        }
        Ok(found)
    }

    /// Makes a project, or opens the one that is there.
    pub fn create(at: &SharedAddress, name: &str, made: &SharedMaking) -> Result<Self> {
        // A schema's name has at most 63 bytes.
        crate::home::check_name(name)?;
        if name.len() > 59 {
            return Err(StoreError::BadName { name: name.to_owned() });
        }
        ObjectArchive::open(at, name)?.probe()?;
        let line = at.connect(None, "orb")?;
        schema::create(&line, name, made.shards, &made.settings)?;
        drop(line);
        Self::open(at, name)
    }

    /// Opens a project.
    pub fn open(at: &SharedAddress, name: &str) -> Result<Self> {
        let address = Arc::new(at.clone());
        let described = schema::examine(&at.connect(None, "orb")?, name)?;
        let line = Redial::new(Arc::clone(&address), &schema_of(name), "orb");
        Ok(Self { address, name: name.to_owned(), shards: described.shards, line })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many shards it has.
    pub fn shards(&self) -> u16 {
        self.shards
    }

    /// Its settings, as text.
    pub fn settings(&mut self) -> Result<String> {
        let sql = "SELECT settings FROM project";
        self.with(|line| Ok(line.wait("read the settings", line.client().query_one(sql, &[]))?.get(0)))
    }

    /// Replaces its settings if they are still what they were, for the runs that begin from then
    /// on; returns whether they were.
    pub fn replace_settings(&mut self, before: &str, text: &str) -> Result<bool> {
        let sql = "UPDATE project SET settings = $2 WHERE settings = $1";
        let rows = self.with(|line| line.wait("keep the settings", line.client().execute(sql, &[&before, &text])))?;
        Ok(rows > 0)
    }

    /// Becomes one of its workers.
    pub fn join(&self, card: &WorkerCard) -> Result<Membership> {
        let joined = Membership::begin(self, card, false)?;
        joined.ok_or_else(|| StoreError::Shared(format!("project {} takes no more workers", self.name)))
    }

    /// Becomes its only worker; nothing if there is another.
    pub fn join_alone(&self, card: &WorkerCard) -> Result<Option<Membership>> {
        Membership::begin(self, card, true)
    }

    /// A reader of its bytes.
    pub fn archive(&self) -> Result<ArchiveReader> {
        Ok(ArchiveReader::over(ObjectArchive::open(&self.address, &self.name)?))
    }

    /// Whether its archive can be written to, as far as that can be known without writing.
    pub fn probe_archive(&self) -> Result<()> {
        ObjectArchive::open(&self.address, &self.name)?.probe()
    }

    /// Does something over the connection, which is opened again if it was lost.
    pub(super) fn with<T>(&mut self, work: impl FnOnce(&mut SharedLine) -> Result<T>) -> Result<T> {
        self.line.with(work)
    }
}
