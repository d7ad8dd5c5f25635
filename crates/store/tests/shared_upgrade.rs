//! Is a shared project of every earlier version brought up to this one, and does it go on?
//!
//! `shared_stores/v1.sql` has the tables and views as version 1 made them, word for word, in a
//! project with a page that was visited and linked, and a run whose seeds nobody has read yet.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod cluster;

use cluster::worker::{SCHEMA, Store, Worker};
use orb_page::RunId;
use orb_store::{SharedProject, StoreError, WorkerReport};
use std::collections::BTreeSet;
use std::time::Duration;

const VERSION_1: &str = include_str!("shared_stores/v1.sql");

/// What an earlier version 2 made of version 1: a store that calls itself version 2 and is not.
const HALF_WAY: &str = "
ALTER TABLE project ADD COLUMN timeline bigint NOT NULL DEFAULT 0, ADD COLUMN since timestamptz;
ALTER TABLE worker ADD COLUMN timeline bigint NOT NULL DEFAULT 0;
ALTER TABLE address ADD COLUMN turn bigint NOT NULL DEFAULT 0;
UPDATE project SET version = 2;
";

/// The same as a fresh project: columns, indexes and keys, views, and how full pages are.
const SHAPE: [&str; 5] = [
    "SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
     FROM information_schema.columns WHERE table_schema = '{schema}'",
    "SELECT replace(indexdef, '{schema}.', '') FROM pg_indexes WHERE schemaname = '{schema}'",
    "SELECT viewname || ' ' || replace(definition, '{schema}.', '') FROM pg_views WHERE schemaname = '{schema}'",
    "SELECT concat_ws(' ', relname, relkind::text, reloptions::text) FROM pg_class WHERE relnamespace = '{schema}'::regnamespace",
    "SELECT concat_ws(' ', conrelid::regclass::text, conname, contype::text) FROM pg_constraint
     WHERE connamespace = '{schema}'::regnamespace",
];

fn shape(store: &Store, schema: &str) -> BTreeSet<String> {
    let lines = |sql: &str| {
        let rows = store.server.rows(&sql.replace("{schema}", schema));
        rows.iter().map(|row| row.get::<_, String>(0).replace(&format!("{schema}."), "")).collect::<Vec<_>>()
    };
    SHAPE.iter().flat_map(|sql| lines(sql)).collect()
}

fn old_store(more: &str) -> Store {
    let store = Store::start();
    store.server.run_sql(&format!("CREATE SCHEMA {SCHEMA}; SET search_path = {SCHEMA};{VERSION_1}{more}"));
    store
}

#[test]
fn a_project_of_an_earlier_version_becomes_what_a_new_one_is_and_is_crawled() {
    for more in ["", HALF_WAY] {
        let store = old_store(more);
        let at = store.address();
        SharedProject::create(&at, "fresh", &orb_store::SharedMaking { shards: Some(16), ..Default::default() })
            .unwrap();
        let mut project = store.project();
        let (old, new) = (shape(&store, SCHEMA), shape(&store, "orb_fresh"));
        let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
        assert_eq!((only(&old, &new), only(&new, &old)), (Vec::new(), Vec::new()));
        assert!(new.len() > 300, "{} lines are compared", new.len());
        assert_eq!(project.last_run().unwrap().unwrap().record.id, RunId(2));
        assert_eq!(
            store.count("run_row r WHERE resumed_at = started_at AND used_ms = 0"),
            1,
            "time is counted from its begin"
        );
        assert_eq!(store.count("run_row r WHERE used_ms = 60000"), 1);
        assert_eq!(store.count("link_row l WHERE seen_run = 1"), 1);
        let mut worker = Worker::join(&at, "w", Duration::from_secs(60));
        worker.settle();
        let mut batch = worker.digest();
        assert_eq!(batch.discovered.len(), 2, "a seed is known, two are new");
        worker.commit(&mut batch).unwrap();
        let mut batch = worker.visit(50, |_| Vec::new());
        worker.commit(&mut batch).unwrap();
        worker.clerk.beat(&WorkerReport::default()).unwrap();
        assert_eq!(store.count("page p WHERE p.kind = 'HTML'"), 4);
        worker.clerk.leave().unwrap();
    }
}

#[test]
fn a_project_is_not_brought_up_under_workers_of_its_version() {
    let store = old_store(
        "INSERT INTO worker (id, name, machine, alive, until, lease_ms, batch, nonce, weight, version, joined, beaten)
           VALUES (9, 'old', 'm', true, now() + interval '1 hour', 15000, 1, 1, 1, '0.1', now(), now());",
    );
    let refused = SharedProject::open(&store.address(), cluster::worker::NAME).map(drop).unwrap_err();
    assert!(
        matches!(&refused, StoreError::Shared(why) if why.contains("1 workers of an earlier version")),
        "{refused}"
    );
}
