//! Who has acknowledged a run?
//!
//! A project on hold reports nothing new until its last report was acknowledged (REQUIREMENTS 5.6,
//! 'Checked').

use super::{Catalogue, CatalogueReader};
use crate::error::{Result, StoreError};
use orb_page::{Flag, Moment, RunId};
use rusqlite::params;
use serde::Serialize;

/// The acknowledgement of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AckRow {
    /// The run.
    pub run: u32,
    /// When.
    pub at: String,
    /// By whom.
    pub by: Option<String>,
    /// Their comment.
    pub note: Option<String>,
}

impl Catalogue {
    /// Records that a run was acknowledged; the last one wins.
    pub(crate) fn acknowledge(&mut self, run: RunId, by: Option<&str>, note: Option<&str>) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO ack_row (run, at, by, note) VALUES (?1, ?2, ?3, ?4)";
        let done = self.db.execute(sql, params![run.0, Moment::now().0, by, note]);
        done.map(|_| ()).map_err(|e| StoreError::sql("acknowledge a run", &self.path, e))
    }
}

impl CatalogueReader {
    /// The acknowledgement of a run, if there is one.
    pub fn ack(&self, run: RunId) -> Result<Option<AckRow>> {
        self.one("SELECT run, at, by, note FROM ack WHERE run = ?1", [run.0], |r| {
            Ok(AckRow { run: r.get(0)?, at: r.get(1)?, by: r.get(2)?, note: r.get(3)? })
        })
    }

    /// The last run that reported something new, updated or gone.
    pub fn last_changed(&self) -> Result<Option<RunId>> {
        let [new, updated, missing] = [Flag::New, Flag::Updated, Flag::Missing].map(Flag::code);
        let sql = "SELECT run FROM change_row WHERE flag IN (?1, ?2, ?3) ORDER BY seq DESC LIMIT 1";
        self.one(sql, params![new, updated, missing], |r| r.get(0).map(RunId))
    }

    /// The last run that has ended and reported something, unless it or a later one was
    /// acknowledged.
    pub fn unacknowledged(&self) -> Result<Option<RunId>> {
        let Some(run) = self.last_changed()? else { return Ok(None) };
        let ended = self.run(run)?.is_some_and(|run| run.finished_at.is_some() && !run.state.is_resumed());
        let acknowledged = self.one("SELECT 1 FROM ack_row WHERE run >= ?1 LIMIT 1", [run.0], |_| Ok(()))?.is_some();
        Ok((ended && !acknowledged).then_some(run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_page::{RunKind, RunState};
    use rusqlite::Connection;

    #[test]
    fn the_last_run_that_told_something_waits_for_somebody_to_look() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("crawl.db");
        let mut catalogue = Catalogue::create_or_open(&path).unwrap();
        let reader = CatalogueReader::at(&path).unwrap();
        let told = |run: RunId, flag: Flag| {
            let sql = "INSERT INTO change_row (run, page, flag, at) VALUES (?1, 1, ?2, 0)";
            Connection::open(&path).unwrap().execute(sql, params![run.0, flag.code()]).unwrap();
        };
        let first = catalogue.begin_run(RunKind::Crawl, "").unwrap();
        catalogue.finish_run(first, RunState::Done, "").unwrap();
        assert_eq!(reader.unacknowledged().unwrap(), None);
        let second = catalogue.begin_run(RunKind::Track, "").unwrap();
        told(second, Flag::Updated);
        assert_eq!(reader.unacknowledged().unwrap(), None, "it runs");
        catalogue.finish_run(second, RunState::Stopped, "").unwrap();
        assert_eq!(reader.unacknowledged().unwrap(), None, "it goes on");
        catalogue.finish_run(second, RunState::Done, "").unwrap();
        assert_eq!(reader.unacknowledged().unwrap(), Some(second));
        catalogue.acknowledge(first, None, None).unwrap();
        assert_eq!(reader.unacknowledged().unwrap(), Some(second));
        let third = catalogue.begin_run(RunKind::Track, "").unwrap();
        told(third, Flag::Error);
        catalogue.finish_run(third, RunState::Done, "").unwrap();
        assert_eq!(reader.unacknowledged().unwrap(), Some(second), "a passing failure is no change");
        catalogue.acknowledge(third, Some("jo"), None).unwrap();
        assert_eq!(reader.unacknowledged().unwrap(), None);
        assert_eq!(reader.ack(third).unwrap().unwrap().by.as_deref(), Some("jo"));
    }
}
