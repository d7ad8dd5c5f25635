//! What do the tables of a shared project look like?
//!
//! One schema a project, `orb_` and its name. The base tables are those of the SQLite catalogue
//! with a column `shard`, which is part of every key, so that they can be distributed by it; the
//! views are the contract's, column for column. A page's links carry its own number as their
//! `source`: the dense number that SQLite clusters by gains nothing here, and with it every query
//! over `visit_row` and `link_row` means the same in both.
//!
//! There are no sequences, triggers, foreign keys or advisory locks on the hot path. During a crawl
//! there are the keys, an index of pages and hosts by shard, and one of links by block range; the
//! index of links by source is made when a run ends. Keys that a worker reads a whole shard by
//! begin with it. Whoever changes these tables adds a step to `upgrade.rs`.

use super::connect::{SharedLine, quoted};
use super::{fingerprint, prepare, upgrade};
use crate::error::{Result, StoreError};
use crate::sqlite::shared_views;

/// The version of the tables that this program knows.
pub(crate) const VERSION: i32 = 3;

/// The name of a project's schema.
pub(crate) fn schema_of(project: &str) -> String {
    format!("orb_{project}")
}

/// Who holds what, and what has happened.
const CONTROL: &str = "
CREATE TABLE project (
  program text NOT NULL, version integer NOT NULL, name text NOT NULL, shards smallint NOT NULL, fingerprint text NOT NULL,
  settings text NOT NULL, made_at bigint NOT NULL, next_page bigint NOT NULL, next_host integer NOT NULL, next_name integer NOT NULL,
  next_run integer NOT NULL, next_worker bigint NOT NULL, next_seed bigint NOT NULL, next_change bigint NOT NULL,
  timeline bigint NOT NULL DEFAULT 0, since timestamptz) WITH (fillfactor = 10);
CREATE TABLE worker (
  id bigint PRIMARY KEY, name text NOT NULL, machine text NOT NULL, alive boolean NOT NULL, until timestamptz NOT NULL,
  lease_ms bigint NOT NULL, batch bigint NOT NULL, nonce bigint NOT NULL, weight integer NOT NULL, why text NOT NULL DEFAULT '',
  pages_per_second real NOT NULL DEFAULT 0, queued bigint NOT NULL DEFAULT 0, ticket bigint NOT NULL DEFAULT 0, byte_ticket bigint NOT NULL DEFAULT 0, ticket_run integer,
  backend integer, version text NOT NULL, joined timestamptz NOT NULL, beaten timestamptz NOT NULL,
  timeline bigint NOT NULL DEFAULT 0) WITH (fillfactor = 10);
CREATE TABLE shard (
  id smallint PRIMARY KEY, worker bigint, batch bigint NOT NULL DEFAULT 0, pages bigint NOT NULL DEFAULT 0,
  fetched bigint NOT NULL DEFAULT 0, idle integer, since timestamptz) WITH (fillfactor = 20);
CREATE TABLE letter (
  to_shard smallint NOT NULL, sender bigint NOT NULL, batch bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(),
  letters integer NOT NULL, body bytea NOT NULL, PRIMARY KEY (to_shard, sender, batch))
  WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE address (
  key text PRIMARY KEY, worker bigint NOT NULL, until timestamptz NOT NULL, open_at timestamptz NOT NULL, delay_ms bigint NOT NULL,
  wanted timestamptz, wanted_by bigint, turn bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
CREATE TABLE seed (no bigint PRIMARY KEY, url text NOT NULL, step integer, origin text);
CREATE TABLE split (id bigint PRIMARY KEY, object text NOT NULL, worker bigint NOT NULL, docs bigint NOT NULL, mark bigint NOT NULL);
CREATE TABLE digest_row (shard smallint NOT NULL, digest bytea NOT NULL, page bigint NOT NULL, PRIMARY KEY (shard, digest));
";

/// The catalogue's tables, one to one.
const FACTS: &str = "
CREATE TABLE meta (key text PRIMARY KEY, value text);
CREATE TABLE name_row (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE run_row (
  id integer PRIMARY KEY, kind text NOT NULL, state text NOT NULL, started_at bigint NOT NULL, finished_at bigint, counters text,
  settings text, budget_left bigint, bytes_left bigint, max_ms bigint, used_ms bigint NOT NULL DEFAULT 0, resumed_at bigint NOT NULL DEFAULT 0,
  choice text, machines text[] NOT NULL DEFAULT '{}') WITH (fillfactor = 10);
CREATE TABLE host_row (
  shard smallint NOT NULL, id integer NOT NULL, scheme text NOT NULL, name text NOT NULL, port integer NOT NULL, ip text,
  not_before bigint, backoff_ms bigint NOT NULL DEFAULT 0, first_seen bigint NOT NULL, PRIMARY KEY (id, shard));
CREATE INDEX host_by_shard ON host_row (shard);
CREATE TABLE tally_row (
  shard smallint NOT NULL, host integer NOT NULL, pages bigint NOT NULL, errors bigint NOT NULL, run integer,
  PRIMARY KEY (host, shard)) WITH (fillfactor = 50);
CREATE TABLE robots_row (
  shard smallint NOT NULL, host integer NOT NULL, at bigint NOT NULL, status integer NOT NULL, crawl_delay double precision,
  text text NOT NULL, sitemaps text, PRIMARY KEY (host, shard));
CREATE TABLE page_row (
  shard smallint NOT NULL, kind smallint NOT NULL, id bigint NOT NULL, url text NOT NULL, host integer NOT NULL, why integer,
  depth integer NOT NULL, redirects smallint NOT NULL, priority real NOT NULL, rank bigint NOT NULL, at bigint NOT NULL,
  by integer NOT NULL, origin bigint, again integer, step integer, asked text, PRIMARY KEY (id, shard)) WITH (fillfactor = 95);
CREATE INDEX page_by_shard ON page_row (shard);
CREATE INDEX seed_row ON page_row (id) WHERE origin IS NULL;
CREATE TABLE visit_row (
  shard smallint NOT NULL, flag smallint NOT NULL, kind smallint NOT NULL, page bigint NOT NULL, run integer NOT NULL,
  at bigint NOT NULL, by integer NOT NULL, status integer, mime text, charset text, length bigint NOT NULL,
  transferred bigint NOT NULL, digest bytea, simhash bigint, title text, lang text, etag text, last_modified text,
  duplicate_of bigint, problem text, elapsed_ms bigint NOT NULL, warc bigint, warc_offset bigint, warc_length bigint,
  source bigint, PRIMARY KEY (page, run, shard));
CREATE TABLE link_row (
  shard smallint NOT NULL, kind smallint NOT NULL, source bigint NOT NULL, dst bigint NOT NULL, count bigint NOT NULL,
  first_run integer NOT NULL, last_run integer, seen_run integer NOT NULL, anchor text, rel text);
CREATE INDEX link_by_range ON link_row USING brin (source) WITH (pages_per_range = 32);
CREATE TABLE past_row (
  shard smallint NOT NULL, source bigint NOT NULL, dst bigint NOT NULL, kind smallint NOT NULL, last_run integer NOT NULL,
  first_run integer NOT NULL, anchor text, rel text, count bigint NOT NULL, PRIMARY KEY (source, dst, kind, last_run, shard));
CREATE TABLE image_row (
  shard smallint NOT NULL, page bigint NOT NULL, seq bigint NOT NULL, url text NOT NULL, alt text, width bigint, height bigint,
  mime text, PRIMARY KEY (page, seq, shard));
CREATE TABLE warc_row (id bigint PRIMARY KEY, name text NOT NULL, length bigint NOT NULL, records bigint NOT NULL);
CREATE TABLE due_row (shard smallint NOT NULL, page bigint NOT NULL, rate double precision NOT NULL, due bigint, PRIMARY KEY (page, shard));
CREATE TABLE chosen_row (shard smallint NOT NULL, page bigint NOT NULL, PRIMARY KEY (shard, page));
CREATE TABLE ack_row (run integer PRIMARY KEY, at bigint NOT NULL, by text, note text);
CREATE TABLE noise_row (shard smallint NOT NULL, host integer NOT NULL, text text NOT NULL, PRIMARY KEY (host, shard));
CREATE TABLE session_row (shard smallint NOT NULL, host integer NOT NULL, rules text NOT NULL, PRIMARY KEY (host, shard));
CREATE TABLE alias_rule_row (shard smallint NOT NULL, host integer NOT NULL, rules text NOT NULL, PRIMARY KEY (host, shard));
CREATE TABLE change_row (
  shard smallint NOT NULL, seq bigint NOT NULL, run integer NOT NULL, page bigint NOT NULL, flag smallint NOT NULL,
  at bigint NOT NULL, moved text, detail text, PRIMARY KEY (seq, shard));
CREATE TABLE around_row (shard smallint NOT NULL, run integer NOT NULL, page bigint NOT NULL, detail text NOT NULL, PRIMARY KEY (run, page, shard));
CREATE TABLE alias_row (
  shard smallint NOT NULL, host integer NOT NULL, page bigint NOT NULL, target bigint NOT NULL, rules bigint NOT NULL,
  name integer NOT NULL, tested smallint NOT NULL, PRIMARY KEY (host, page, shard));
CREATE TABLE trap_row (key bigint PRIMARY KEY, count bigint NOT NULL);
CREATE VIEW source_row AS SELECT source AS id, page FROM visit_row WHERE source IS NOT NULL;
";

/// The index that people's questions about links need, and a crawl does not. It is made beside the
/// next run's commits; what is left of an attempt that was broken off is dropped first.
pub(crate) const LINK_INDEX: &str = "CREATE INDEX CONCURRENTLY IF NOT EXISTS link_by_source ON link_row (source)";
pub(crate) const DROP_LINK_INDEX: &str = "DROP INDEX CONCURRENTLY IF EXISTS link_by_source";
pub(crate) const ANALYZE_FACTS: &str = "ANALYZE link_row, page_row, visit_row";

/// What a project's row says of it.
pub(crate) struct Described {
    pub(crate) shards: u16,
}

/// Makes a project's tables unless they are there. Two who try at once: one makes them.
pub(crate) fn create(line: &SharedLine, project: &str, shards: Option<u16>, settings: &str) -> Result<()> {
    let shards = match shards {
        Some(shards) => shards,
        None => prepare::usual_shards(line)?,
    };
    prepare::examine_shards(shards)?;
    let schema = schema_of(project);
    line.run("make a project", "BEGIN")?;
    let made = create_locked(line, &schema, (project, shards, settings));
    line.run("make a project", if made.is_ok() { "COMMIT" } else { "ROLLBACK" }).and(made)
}

fn create_locked(line: &SharedLine, schema: &str, (project, shards, settings): (&str, u16, &str)) -> Result<()> {
    // Advisory locks are for making tables and indexes, never on the way of a page.
    let client = line.client();
    line.wait("make a project", client.execute("SELECT pg_advisory_xact_lock(hashtext($1))", &[&schema]))?;
    if exists(line, schema)? {
        return Ok(());
    }
    let distributed = prepare::is_distributed(line)?;
    let tables =
        format!("CREATE SCHEMA {quoted}; SET LOCAL search_path = {quoted};{CONTROL}{FACTS}", quoted = quoted(schema));
    line.run("make the tables", &tables)?;
    if distributed {
        prepare::distribute(line)?;
    }
    line.run("make the views", &shared_views())?;
    let (shards, now) = (shards.cast_signed(), orb_page::Moment::now().0);
    let sql = "INSERT INTO project VALUES ('orbweaver', $1, $2, $3, $4, $5, $6, 1, 1, 1, 1, 1, 1, 1)";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&VERSION, &project, &shards, &fingerprint(), &settings, &now];
    line.wait("make a project", client.execute(sql, &values))?;
    let sql = "INSERT INTO shard (id) SELECT generate_series(0, $1::integer - 1)";
    line.wait("make the shards", client.execute(sql, &[&i32::from(shards)]))?;
    Ok(())
}

/// Whether a schema is there.
pub(super) fn exists(line: &SharedLine, schema: &str) -> Result<bool> {
    let sql = "SELECT count(*) FROM pg_namespace WHERE nspname = $1";
    let row = line.wait("look for the project", line.client().query_one(sql, &[&schema]))?;
    Ok(row.get::<_, i64>(0) > 0)
}

/// Refuses what is not a project of this program, version and fingerprint.
pub(crate) fn examine(line: &SharedLine, project: &str) -> Result<Described> {
    let schema = schema_of(project);
    let no = |why: String| Err(StoreError::Shared(why));
    if !exists(line, &schema)? {
        return no(format!("there is no project {project} in this store"));
    }
    let sql = "SELECT count(*) FROM information_schema.columns WHERE table_schema = $1::text AND table_name = 'project'
               AND column_name IN ('program', 'version', 'fingerprint', 'shards')";
    let columns: i64 = line.wait("look for the project", line.client().query_one(sql, &[&schema]))?.get(0);
    let strange = || format!("the schema {schema} belongs to another program");
    if columns != 4 {
        return no(strange());
    }
    let sql = format!("SELECT program, version, fingerprint, shards FROM {}.project", quoted(&schema));
    let rows = line.wait("read the project", line.client().query(&sql, &[]))?;
    let [row] = rows.as_slice() else { return no(strange()) };
    let (program, version, theirs): (String, i32, String) = (row.get(0), row.get(1), row.get(2));
    if program != "orbweaver" {
        return no(strange());
    }
    if version > VERSION {
        return no(format!(
            "project {project} in this store has format {version}, of a newer version: this program knows format {VERSION}"
        ));
    }
    if version < VERSION {
        upgrade::upgrade(line, project)?;
    }
    let ours = fingerprint();
    if theirs != ours {
        return no(format!(
            "project {project} was made with URLs and shards of fingerprint {theirs}, and this program's is {ours}: all workers must be of one build"
        ));
    }
    Ok(Described { shards: row.get::<_, i16>(3).cast_unsigned() })
}
