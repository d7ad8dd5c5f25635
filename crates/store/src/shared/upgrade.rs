//! How do the tables of an earlier version become those of this one?
//!
//! By the steps between the two, in one transaction, under the lock under which they were made. A
//! step says `IF NOT EXISTS` of everything it adds: stores were made between two versions and call
//! themselves by the earlier one. The views are made anew at the end, as this version defines them.
//! `tests/shared_upgrade.rs` compares what comes of it with tables made by this version.

use super::connect::{SharedLine, quoted};
use super::schema::{VERSION, schema_of};
use crate::error::{Result, StoreError};
use crate::sqlite::shared_views;

/// What makes the tables of a version those of the next; the first is for version 1.
const STEPS: [&str; 2] = [TIMELINES, TRACKING];

const TIMELINES: &str = "
ALTER TABLE project ADD COLUMN IF NOT EXISTS timeline bigint NOT NULL DEFAULT 0, ADD COLUMN IF NOT EXISTS since timestamptz;
ALTER TABLE worker ADD COLUMN IF NOT EXISTS timeline bigint NOT NULL DEFAULT 0;
ALTER TABLE address ADD COLUMN IF NOT EXISTS turn bigint NOT NULL DEFAULT 0;
";

/// Stores that came from version 1 call themselves version 2 and lack what is added here. In those
/// a link was seen last when its page was visited last, and time was not counted.
const TRACKING: &str = "
ALTER TABLE worker ADD COLUMN IF NOT EXISTS byte_ticket bigint NOT NULL DEFAULT 0;
ALTER TABLE run_row ADD COLUMN IF NOT EXISTS bytes_left bigint, ADD COLUMN IF NOT EXISTS max_ms bigint,
  ADD COLUMN IF NOT EXISTS used_ms bigint NOT NULL DEFAULT 0, ADD COLUMN IF NOT EXISTS resumed_at bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS choice text;
UPDATE run_row SET resumed_at = coalesce(finished_at, started_at), used_ms = coalesce(finished_at - started_at, 0) WHERE resumed_at = 0;
CREATE TABLE IF NOT EXISTS chosen_row (shard smallint NOT NULL, page bigint NOT NULL, PRIMARY KEY (shard, page));
DO $$BEGIN
  IF NOT EXISTS (SELECT 1 FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = 'link_row' AND column_name = 'seen_run') THEN
    ALTER TABLE link_row ADD COLUMN seen_run integer NOT NULL DEFAULT 1;
    UPDATE link_row l SET seen_run = v.run
      FROM (SELECT shard, page, max(run) AS run FROM visit_row WHERE run > 1 GROUP BY shard, page) v
      WHERE v.page = l.source AND v.shard = l.shard;
    ALTER TABLE link_row ALTER COLUMN seen_run DROP DEFAULT;
  END IF;
END$$;
ALTER TABLE chosen_row DROP CONSTRAINT chosen_row_pkey, ADD PRIMARY KEY (shard, page);
ALTER TABLE digest_row DROP CONSTRAINT digest_row_pkey, ADD PRIMARY KEY (shard, digest);
";

/// Brings the tables of an earlier version up to this one, in one transaction and under the lock
/// under which they were made. Workers of the earlier version must not be there: they would write
/// rows without what is new in them.
pub(super) fn upgrade(line: &SharedLine, project: &str) -> Result<()> {
    let schema = schema_of(project);
    line.run("upgrade a project", "BEGIN")?;
    let done = upgrade_locked(line, &schema, project);
    line.run("upgrade a project", if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).and(done)
}

fn upgrade_locked(line: &SharedLine, schema: &str, project: &str) -> Result<()> {
    let client = line.client();
    line.wait("upgrade a project", client.execute("SELECT pg_advisory_xact_lock(hashtext($1))", &[&schema]))?;
    let found = format!(
        "SELECT version, (SELECT count(*) FROM {schema}.worker WHERE alive AND until > now()) FROM {schema}.project",
        schema = quoted(schema)
    );
    let row = line.wait("upgrade a project", client.query_one(&found, &[]))?;
    let (version, working): (i32, i64) = (row.get(0), row.get(1));
    if version >= VERSION {
        // Somebody else was first.
        return Ok(());
    }
    if working > 0 {
        return Err(StoreError::Shared(format!(
            "project {project} has format {version} and {working} workers of an earlier version: stop them, so that it can be brought to format {VERSION}"
        )));
    }
    let from = usize::try_from(version - 1).unwrap_or(usize::MAX);
    let steps = STEPS.get(from..).ok_or_else(|| {
        StoreError::Shared(format!("project {project} in this store has format {version}, which nobody knows"))
    })?;
    let all = format!(
        "SET LOCAL search_path = {};{}{};UPDATE project SET version = {VERSION}",
        quoted(schema),
        steps.concat(),
        shared_views()
    );
    line.wait_long("upgrade a project", client.batch_execute(&all))
}
