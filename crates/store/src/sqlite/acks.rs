//! Who has looked at a run?
//!
//! A project that is held tells nothing new until somebody has acknowledged what it told last (REQUIREMENTS 5.6, 'Checked').

use super::{Catalogue, CatalogueReader};
use crate::error::{Result, StoreError};
use orb_page::{Flag, Moment, RunId};
use rusqlite::params;
use serde::Serialize;

/// That a run was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AckRow {
    /// The run.
    pub run: u32,
    /// When.
    pub at: String,
    /// By whom.
    pub by: Option<String>,
    /// What they had to say.
    pub note: Option<String>,
}

impl Catalogue {
    /// Records that a run was acknowledged; the last word stands.
    pub fn acknowledge(&mut self, run: RunId, by: Option<&str>, note: Option<&str>) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO ack_row (run, at, by, note) VALUES (?1, ?2, ?3, ?4)";
        let done = self.db.execute(sql, params![run.0, Moment::now().0, by, note]);
        done.map(|_| ()).map_err(|e| StoreError::sql("acknowledge a run", &self.path, e))
    }
}

impl CatalogueReader {
    /// That a run was acknowledged, if it was.
    pub fn ack(&self, run: RunId) -> Result<Option<AckRow>> {
        self.one("SELECT run, at, by, note FROM ack WHERE run = ?1", [run.0], |r| {
            Ok(AckRow { run: r.get(0)?, at: r.get(1)?, by: r.get(2)?, note: r.get(3)? })
        })
    }

    /// The last run that told something new, updated or gone.
    pub fn last_changed(&self) -> Result<Option<RunId>> {
        let [new, updated, missing] = [Flag::New, Flag::Updated, Flag::Missing].map(Flag::code);
        let sql = "SELECT run FROM change_row WHERE flag IN (?1, ?2, ?3) ORDER BY seq DESC LIMIT 1";
        self.one(sql, params![new, updated, missing], |r| r.get(0).map(RunId))
    }

    /// The last run that has ended and told something, unless it or a later one was acknowledged.
    pub fn unacknowledged(&self) -> Result<Option<RunId>> {
        let Some(run) = self.last_changed()? else { return Ok(None) };
        let ended = self.run(run)?.is_some_and(|run| run.finished_at.is_some() && run.state != "stopped");
        let acknowledged = self.one("SELECT 1 FROM ack_row WHERE run >= ?1 LIMIT 1", [run.0], |_| Ok(()))?.is_some();
        Ok((ended && !acknowledged).then_some(run))
    }
}
