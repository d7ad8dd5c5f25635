//! What does a database need before projects are made in it?
//!
//! Nothing, as long as one server is enough: every project makes its own tables. A database that is
//! prepared says in the schema `orb` what its projects are to be like. Where the extension Citus is
//! wanted, the facts of projects that are made from then on are distributed over its servers by
//! their shard, all in the same way, so that what belongs to a page is on one server. Names of
//! things and of objects, which facts refer to, are on every server. Who holds what (workers,
//! shards, letters, addresses, runs) stays on the one that is connected to: these tables are small,
//! and their locks decide.

use super::connect::{SharedAddress, SharedLine};
use super::project::SharedProject;
use super::{DEFAULT_SHARDS, MAX_SHARDS, MIN_SHARDS, may_be_shards};
use crate::error::{Result, StoreError};

/// The oldest server that is understood.
const OLDEST: i32 = 150_000;

/// What was found and done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePreparation {
    /// The server's version.
    pub server: String,
    /// Whether the database was prepared before.
    pub known: bool,
    /// The version of Citus, where tables of new projects are distributed.
    pub citus: Option<String>,
    /// How many servers keep them.
    pub servers: u64,
    /// How many shards new projects have unless they say otherwise.
    pub shards: u16,
    /// Projects whose tables are on this server alone, because they were made before.
    pub undistributed: Vec<String>,
}

const TABLES: &str = "CREATE SCHEMA IF NOT EXISTS orb;
    CREATE TABLE IF NOT EXISTS orb.store (program text NOT NULL, version integer NOT NULL, distributed boolean NOT NULL, made_at bigint NOT NULL);
    ALTER TABLE orb.store ADD COLUMN IF NOT EXISTS shards smallint";

/// The tables of facts; the others are placed as the first.
const DISTRIBUTED: [&str; 17] = [
    "page_row",
    "host_row",
    "tally_row",
    "robots_row",
    "visit_row",
    "link_row",
    "past_row",
    "image_row",
    "due_row",
    "chosen_row",
    "noise_row",
    "session_row",
    "alias_rule_row",
    "change_row",
    "around_row",
    "alias_row",
    "digest_row",
];

/// Small tables that those are joined with, of which every server has a copy.
const EVERYWHERE: [&str; 2] = ["name_row", "warc_row"];

/// Makes a database ready for projects, with their facts distributed where that is wanted, and with
/// so many shards unless they say otherwise. What was done before is left as it is.
pub fn prepare_store(at: &SharedAddress, distributed: bool, shards: Option<u16>) -> Result<StorePreparation> {
    shards.map_or(Ok(()), examine_shards)?;
    let line = at.connect(None, "orb")?;
    let server = fitness(&line)?;
    if distributed {
        need_citus(&line)?;
    }
    line.run("prepare the database", "BEGIN")?;
    let done = prepare_locked(&line, distributed, shards.map(u16::cast_signed));
    line.run("prepare the database", if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    let known = done?;
    let citus = if is_distributed(&line)? { version_of_citus(&line)? } else { None };
    let shards = usual_shards(&line)?;
    let mut preparation = StorePreparation { server, known, citus, servers: 1, shards, undistributed: Vec::new() };
    if preparation.citus.is_some() {
        let sql = "SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards";
        let servers: i64 = line.wait("count the servers", line.client().query_one(sql, &[]))?.get(0);
        preparation.servers = servers.max(1).cast_unsigned();
        let sql = "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = to_regclass($1::text)";
        for project in SharedProject::list(at)? {
            let table = format!("{}.page_row", super::connect::quoted(&super::schema::schema_of(&project.name)));
            if line.wait("look at a project", line.client().query_one(sql, &[&table]))?.get::<_, i64>(0) == 0 {
                preparation.undistributed.push(project.name);
            }
        }
    }
    Ok(preparation)
}

/// The version of a server that can hold projects of this user.
fn fitness(line: &SharedLine) -> Result<String> {
    let sql = "SELECT current_setting('server_version_num')::integer, current_setting('server_version'),
                 has_database_privilege(current_database(), 'CREATE'), current_user::text, current_database()::text";
    let row = line.wait("look at the server", line.client().query_one(sql, &[]))?;
    let (number, version, user, database): (i32, String, String, String) =
        (row.get(0), row.get(1), row.get(3), row.get(4));
    if number < OLDEST {
        return Err(StoreError::Shared(format!("PostgreSQL 15 or later is needed, and the server has {version}")));
    }
    if !row.get::<_, bool>(2) {
        return Err(StoreError::Shared(format!(
            "user {user} may not make projects: GRANT CREATE ON DATABASE {database} TO {user}"
        )));
    }
    line.timeline()?;
    Ok(version)
}

/// Makes the extension, or says what to install.
fn need_citus(line: &SharedLine) -> Result<()> {
    if version_of_citus(line)?.is_some() {
        return Ok(());
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'citus'),
                 'citus' = ANY(string_to_array(replace(current_setting('shared_preload_libraries'), ' ', ''), ',')),
                 current_setting('server_version_num')::integer / 10000";
    let row = line.wait("look for Citus", line.client().query_one(sql, &[]))?;
    let (installed, loaded, major): (bool, bool, i32) = (row.get(0), row.get(1), row.get(2));
    if !installed {
        return Err(StoreError::Shared(format!(
            "Citus is not installed on this server: install Citus 13 for PostgreSQL {major} (package postgresql-{major}-citus-13.2 or https://github.com/citusdata/citus), set shared_preload_libraries = 'citus' and restart it"
        )));
    }
    if !loaded {
        let why =
            "Citus is installed on this server and not loaded: set shared_preload_libraries = 'citus' and restart it";
        return Err(StoreError::Shared(why.to_owned()));
    }
    line.run("make the extension citus", "CREATE EXTENSION IF NOT EXISTS citus")
}

fn version_of_citus(line: &SharedLine) -> Result<Option<String>> {
    let sql = "SELECT extversion FROM pg_extension WHERE extname = 'citus'";
    Ok(line.wait("look for Citus", line.client().query_opt(sql, &[]))?.map(|row| row.get(0)))
}

/// Writes down what projects are to be like; whether that was known.
fn prepare_locked(line: &SharedLine, distributed: bool, shards: Option<i16>) -> Result<bool> {
    const WHAT: &str = "prepare the database";
    let client = line.client();
    line.wait(WHAT, client.execute("SELECT pg_advisory_xact_lock(hashtext('orb'))", &[]))?;
    line.run(WHAT, TABLES)?;
    let sql = "UPDATE orb.store SET distributed = distributed OR $1, shards = coalesce($2, shards)";
    if line.wait(WHAT, client.execute(sql, &[&distributed, &shards]))? > 0 {
        return Ok(true);
    }
    let sql =
        "INSERT INTO orb.store (program, version, distributed, made_at, shards) VALUES ('orbweaver', 1, $1, $2, $3)";
    line.wait(WHAT, client.execute(sql, &[&distributed, &orb_page::Moment::now().0, &shards]))?;
    Ok(false)
}

/// Refuses a number of shards that no project may have.
pub(super) fn examine_shards(shards: u16) -> Result<()> {
    if may_be_shards(shards) {
        return Ok(());
    }
    let which = format!("a power of two from {MIN_SHARDS} to {MAX_SHARDS}");
    Err(StoreError::Shared(format!("the number of shards is {which}, not {shards}")))
}

/// How many shards a new project has unless it says otherwise.
pub(super) fn usual_shards(line: &SharedLine) -> Result<u16> {
    const WHAT: &str = "look at the store";
    let sql = "SELECT count(*) FROM information_schema.columns
               WHERE table_schema = 'orb' AND table_name = 'store' AND column_name = 'shards'";
    if line.wait(WHAT, line.client().query_one(sql, &[]))?.get::<_, i64>(0) == 0 {
        return Ok(DEFAULT_SHARDS);
    }
    let row = line.wait(WHAT, line.client().query_opt("SELECT shards FROM orb.store LIMIT 1", &[]))?;
    Ok(row.and_then(|row| row.get::<_, Option<i16>>(0)).map_or(DEFAULT_SHARDS, i16::cast_unsigned))
}

/// Whether the facts of new projects are distributed.
pub(super) fn is_distributed(line: &SharedLine) -> Result<bool> {
    const WHAT: &str = "look at the store";
    let sql = "SELECT to_regclass('orb.store') IS NOT NULL";
    if !line.wait(WHAT, line.client().query_one(sql, &[]))?.get::<_, bool>(0) {
        return Ok(false);
    }
    let row = line.wait(WHAT, line.client().query_opt("SELECT distributed FROM orb.store LIMIT 1", &[]))?;
    Ok(row.is_some_and(|row| row.get(0)))
}

/// Distributes the tables of a project that has just been made, within its transaction.
pub(super) fn distribute(line: &SharedLine) -> Result<()> {
    const WHAT: &str = "distribute the tables";
    for table in EVERYWHERE {
        line.wait_long(WHAT, line.client().batch_execute(&format!("SELECT create_reference_table('{table}')")))?;
    }
    let [first, others @ ..] = DISTRIBUTED;
    let how = |table: &str, with: &str| {
        format!("SELECT create_distributed_table('{table}', 'shard', colocate_with => '{with}')")
    };
    line.wait_long(WHAT, line.client().batch_execute(&how(first, "none")))?;
    others.iter().try_for_each(|table| line.wait_long(WHAT, line.client().batch_execute(&how(table, first))))
}
