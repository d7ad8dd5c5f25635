//! Who has acknowledged a run of a shared project?

use super::SharedProject;
use crate::error::Result;
use crate::sqlite::AckRow;
use orb_page::{Moment, RunId};

impl SharedProject {
    /// Records that somebody has looked at the changes of a run and of all before it, the last run
    /// where none is named; the last acknowledgement of a run wins. `None` if there is no such run.
    pub fn acknowledge(&mut self, run: Option<RunId>, by: Option<&str>, note: Option<&str>) -> Result<Option<AckRow>> {
        let wanted = run.map(|run| run.0.cast_signed());
        let sql = "INSERT INTO ack_row (run, at, by, note)
                     SELECT id, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $2::text, $3::text FROM run_row
                     WHERE id = coalesce($1, (SELECT max(id) FROM run_row))
                   ON CONFLICT (run) DO UPDATE SET at = excluded.at, by = excluded.by, note = excluded.note
                   RETURNING run, at";
        let row =
            self.with(|line| line.wait("acknowledge a run", line.client().query_opt(sql, &[&wanted, &by, &note])))?;
        Ok(row.map(|row| AckRow {
            run: row.get::<_, i32>(0).cast_unsigned(),
            at: Moment(row.get(1)).to_string(),
            by: by.map(str::to_owned),
            note: note.map(str::to_owned),
        }))
    }
}
