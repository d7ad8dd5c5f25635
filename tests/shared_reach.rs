//! How is a shared store reached, prepared and looked at?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::{Cluster, Collected, connected};
use harness::orb::{Home, PROJECT};
use harness::postgres::Postgres;
use harness::tls::server_files;
use harness::until;
use harness::web::World;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

#[test]
fn a_store_under_tls_is_reached_if_its_certificate_is_for_it_and_from_whom_is_trusted() {
    let (postgres, issuer) = Postgres::start_secure();
    let world = World::new(connected(4));
    let wanted = Collected::alone(&world, &[]);
    let mut cluster = Cluster::on(postgres, LEASE, SLICE);
    let home = Home::new();
    let (right, wrong) = (cluster.postgres.url_at("127.0.0.1"), cluster.postgres.url_at("127.0.0.2"));
    let prepare = |url: &str, issuer: Option<&str>| {
        let trusted: Vec<_> = issuer.map(|issuer| ("PGSSLROOTCERT", issuer)).into_iter().collect();
        home.start(&["store", "init", "--store", url], &trusted).finish()
    };
    let issuer = issuer.to_str().unwrap();
    let stranger = server_files(&home.beside("stranger")).2;
    for refused in [prepare(&right, None), prepare(&right, Some(&stranger)), prepare(&wrong, Some(issuer))] {
        assert!(refused.complaint(1).contains("cannot be reached by TLS"), "{refused}");
    }
    assert!(prepare(&right, Some("/nowhere")).complaint(1).contains("/nowhere"));
    prepare(&right, Some(issuer)).expect(0);
    // Whatever a worker asks is asked the same way.
    cluster.environment.push(("PGSSLROOTCERT", issuer.to_owned()));
    let mut args = vec!["crawl".to_owned()];
    args.extend(world.args(&["--scope", "any", "--delay", "0"]));
    args.extend(["--project", PROJECT, "--progress", "none"].map(str::to_owned));
    args.extend(cluster.part_at(1, &right));
    let first = cluster.start(&args);
    cluster.finish(first, Vec::new(), "done");
    cluster.collected().assert_is(&wanted);
}

#[test]
fn a_project_keeps_its_shards_and_says_who_waits_and_what_was_left() {
    let world = World::new(connected(30));
    let (cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let prepared = |shards: &str| cluster.ask(&home, &["store", "init", "--shards", shards]);
    prepared("8").expect(2);
    assert!(prepared("100").complaint(1).contains("a power of two from 16 to 1024"));
    assert!(prepared("32").expect(0).text().contains("new projects have 32 shards"));
    let (first, _) = cluster.crawl_with(&world, &["--scope", "any", "--delay", "150ms"], &[]);
    let part = cluster.part(2).into_iter().map(|word| if word == "--worker-name" { "--name".to_owned() } else { word });
    let args = ["worker", "--project", PROJECT].map(str::to_owned).into_iter();
    let second = cluster.start(&args.chain(part).collect::<Vec<_>>());
    until("the second worker is there", || cluster.number("SELECT count(*) FROM worker WHERE name = 'w2'") == 1);
    let status = |more: &[&str]| cluster.ask(&cluster.home, &[&["status", PROJECT, "--why"], more].concat());
    until("it is said where a worker's time goes", || status(&[]).expect(0).text().contains("where the time goes"));
    cluster.finish(first, vec![second], "done");
    prepared("64").expect(0);
    assert_eq!(cluster.number("SELECT count(*) FROM shard"), 32, "a project keeps its shards");
    cluster.ask(&home, &["check", PROJECT]).expect(0);
    let change = |sql: &str| {
        cluster.postgres.client().batch_execute(&format!("SET search_path = \"orb_{PROJECT}\"; {sql}")).unwrap();
    };
    change(
        "UPDATE shard SET idle = -1 WHERE id < 3;
         INSERT INTO address (key, worker, until, open_at, delay_ms, wanted, wanted_by) SELECT '192.0.2.9', a.id, now() + interval '1 hour',
           now(), 0, now() - interval '90 s', b.id FROM worker a, worker b WHERE a.name = 'w1' AND b.name = 'w2';
         INSERT INTO letter (to_shard, sender, batch, letters, body) VALUES (1, 0, 99, 7, '')",
    );
    let seen = status(&["--json"]).expect(0).json()[0].clone();
    assert_eq!((seen["shards_idle"].as_u64(), seen["shards_without_budget"].as_u64()), (Some(32), Some(3)), "{seen:#}");
    let waits = &seen["contested"][0];
    assert_eq!(
        (waits["address"].as_str(), waits["holder"].as_str(), waits["waiting"].as_str()),
        (Some("192.0.2.9"), Some("w1"), Some("w2"))
    );
    assert!(waits["seconds"].as_f64().unwrap() > 89.0, "{waits}");
    let told = status(&[]);
    assert!(told.expect(0).text().contains("192.0.2.9"), "{told}");
    let told = cluster.ask(&home, &["check", PROJECT]);
    assert!(told.expect(1).text().contains("letters: run 1 is done, and 7 wait to be read"), "{told}");
}
