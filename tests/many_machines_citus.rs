//! Do several workers collect what one machine would where the tables are distributed by Citus?
//!
//! Citus is a server's extension that not every machine has. Where it is missing, these tests say
//! so in a line and look at what is said to users.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
#![allow(clippy::print_stderr, reason = "what was not tested is said")]

mod harness;

use harness::cluster::{Cluster, Collected, connected};
use harness::orb::{Home, PROJECT};
use harness::postgres::Postgres;
use harness::web::World;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(5);
const SLICE: Duration = Duration::from_secs(5);

#[test]
fn a_database_is_prepared_once_and_without_citus_it_is_said_what_to_install() {
    let (cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let first = cluster.ask(&home, &["store", "init"]);
    assert!(first.expect(0).text().contains("the database is prepared: PostgreSQL"), "{first}");
    let again = cluster.ask(&home, &["store", "init", "--json"]);
    assert_eq!(again.expect(0).json()["known"], true, "{again}");
    let refused = cluster.ask(&home, &["store", "init", "--citus"]);
    let why = refused.complaint(1);
    assert!(why.contains("Citus is not installed") || why.contains("not loaded"), "{refused}");
    assert!(why.contains("shared_preload_libraries = 'citus'"), "{refused}");
    // What is refused changes nothing.
    assert_eq!(cluster.ask(&home, &["store", "init", "--json"]).json()["citus"], serde_json::Value::Null);
}

#[test]
fn three_workers_on_one_server_with_citus_collect_exactly_what_one_machine_does() {
    on_citus(1);
}

#[test]
fn three_workers_on_three_servers_with_citus_collect_exactly_what_one_machine_does() {
    on_citus(3);
}

fn on_citus(servers: usize) {
    let Some(mut servers_of_it) = Postgres::start_citus(servers) else {
        return eprintln!("Citus is not installed: only the message about that was tested");
    };
    let world = World::new(connected(20));
    let wanted = Collected::alone(&world, &[]);
    let cluster = Cluster::on(servers_of_it.remove(0), LEASE, SLICE);
    let home = Home::new();
    let prepared = cluster.ask(&home, &["store", "init", "--citus", "--json"]);
    assert_eq!(prepared.expect(0).number("servers"), servers as u64, "{prepared}");
    let (first, others) = cluster.crawl_with(&world, &["--scope", "any", "--delay", "50ms"], &[2, 3]);
    cluster.finish(first, others, "done");
    let distributed =
        "SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h' AND logicalrelid = 'visit_row'::regclass";
    assert_eq!(cluster.number(distributed), 1);
    let used = "SELECT count(DISTINCT nodename || nodeport) FROM citus_shards WHERE table_name = 'visit_row'::regclass";
    assert_eq!(cluster.number(used), i64::try_from(servers).unwrap(), "servers that keep visits");
    let prepared = cluster.ask(&home, &["store", "init", "--citus", "--json"]);
    assert_eq!(prepared.expect(0).json()["undistributed"], serde_json::json!([]), "{prepared}");
    // A copy has everything, and is compared.
    cluster.ask(&home, &["pull", PROJECT]).expect(0);
    home.orb(&["check", PROJECT]).expect(0);
    Collected::by_one(&home).assert_is(&wanted);
    // So do the views; what joins two pages is asked of the copy.
    let pages = [
        "sql",
        PROJECT,
        "SELECT kind, count(*) AS n, sum(length) AS bytes FROM page GROUP BY kind ORDER BY kind",
        "--json",
    ];
    let visits =
        ["sql", PROJECT, "SELECT flag, count(*) AS n, sum(transferred) AS b FROM visit GROUP BY flag", "--json"];
    for question in [pages, visits] {
        let told = cluster.ask(&home, &question);
        assert_eq!(told.expect(0).json(), home.orb(&question).expect(0).json());
    }
    // Once more, and kept in order.
    let args = ["track", PROJECT, "--json", "--progress", "none", "--delay", "0"].map(str::to_owned).to_vec();
    cluster.start(&[args, cluster.part(1)].concat()).finish().expect(0);
    cluster.assert_ended("done");
    cluster.ask(&home, &["store", "stitch", PROJECT]).expect(0);
    cluster.ask(&home, &["check", PROJECT]).expect(0);
    cluster.ask(&home, &["pull", PROJECT]).expect(0);
    home.orb(&["check", PROJECT]).expect(0);
    Collected::by_one(&home).assert_is(&wanted);
}
