//! How is a shared store reached, prepared and looked at?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::{CALM, Cluster, Collected, connected};
use harness::orb::{Home, PROJECT, crawling};
use harness::postgres::{PASSWORD, Postgres};
use harness::script::Script;
use harness::tls::server_files;
use harness::until;
use harness::web::World;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Duration;

const SLICE: Duration = Duration::from_secs(5);

#[test]
fn a_store_under_tls_is_reached_if_its_certificate_is_for_it_and_from_whom_is_trusted() {
    let (postgres, issuer) = Postgres::start_secure();
    let world = World::new(connected(4));
    let wanted = Collected::alone(&world, &[]);
    let mut cluster = Cluster::on(postgres, CALM, SLICE);
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

/// Every command that reaches the store says what is missing, and what is there.
#[test]
fn what_a_newcomer_gets_wrong_is_said_with_what_to_do() {
    let (cluster, home) = (Cluster::new(CALM, SLICE), Home::new());
    let store = cluster.postgres.open_url();
    let ask = |args: &[&str], environment: &[(&str, &str)]| home.start(args, environment).finish();
    let secret = ("PGPASSWORD", PASSWORD);
    let status = |url: &str| ask(&["status", "--store", url], &[secret]);
    let without = ask(&["status", "--store", &store], &[]);
    assert!(without.complaint(1).contains("PGPASSWORD"), "{without}");
    let nowhere = status(&format!("{}nowhere", store.trim_end_matches("postgres")));
    assert!(nowhere.complaint(1).contains("nowhere"), "{nowhere}");
    for wrong in ["mysql://db/x", "localhost/x"] {
        assert!(status(wrong).complaint(1).contains("postgres://user@host/database"));
    }
    assert!(status("postgres:///x").complaint(1).contains("names no host"));
    // What other programs call the verification that is always made.
    status(&format!("{store}?sslmode=verify-full")).expect(0);
    // Neither the state nor SQL needs an archive, and another program's schema is no project.
    let strange = "CREATE SCHEMA orb_strange; CREATE TABLE orb_strange.project (x integer)";
    cluster.postgres.client().batch_execute(strange).unwrap();
    assert!(status(&store).expect(0).text().contains("no projects on this store"));
    let named = ask(&["status", "strange", "--store", &store], &[secret]);
    assert!(named.complaint(1).contains("belongs to another program"), "{named}");
    let sql = ask(&["sql", PROJECT, "SELECT 1", "--store", &store], &[secret]);
    assert!(sql.complaint(1).contains("there is no project p"), "{sql}");
    let archive = ask(&["worker", "--store", &store, "--archive", "/somewhere"], &[secret]);
    assert!(archive.complaint(1).contains("file:///directory"), "{archive}");
}

#[test]
fn a_worker_without_work_says_what_it_waits_for() {
    let world = World::new(connected(2));
    let (cluster, home) = (Cluster::new(CALM, SLICE), Home::new());
    let log = home.beside("worker.log");
    let args =
        [["worker", "--project", PROJECT, "--machine", "here"].map(str::to_owned).to_vec(), cluster.part(2)].concat();
    let mut command = home.command(&args);
    command.env("PGPASSWORD", PASSWORD).stderr(std::fs::File::create(&log).unwrap());
    let mut worker = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let says = |what: &str| std::fs::read_to_string(&log).unwrap().contains(what);
    until("it waits for the project", || says("w2 waits for project p, which is not on the store yet"));
    cluster.crawl(&world, &["--scope", "any", "--on", "here", "--machine", "far"]).finish().expect(0);
    until("it works", || says("w2 joins project p"));
    until("it is done", || cluster.number("SELECT count(*) FROM run_row WHERE finished_at IS NULL") == 0);
    cluster.crawl(&world, &["--scope", "any", "--on", "elsewhere", "--machine", "far"]).finish().expect(0);
    until("it waits for a run of its own", || {
        says("w2 waits until a run of project p begins")
            || says("w2 waits: project p runs on elsewhere alone, and this is here")
    });
    kill_process(Pid::from_child(&worker), Signal::TERM).unwrap();
    assert!(worker.wait().unwrap().success());
}

#[test]
fn a_server_that_was_down_is_asked_again_by_the_same_command() {
    let (site, is_up) = Script::down_at_first();
    let (cluster, url) = (Cluster::new(CALM, SLICE), format!("http://{}/", site.address));
    let crawl =
        || cluster.start(&[crawling(&[&url, "--retries", "0", "--delay", "0"]), cluster.part(1)].concat()).finish();
    for run in 1..=2 {
        let asked = site.heard().len();
        let failed = crawl();
        failed.expect(1);
        assert!(failed.stderr.contains(&format!("could not fetch {url}: ")), "{failed}");
        assert!(failed.stderr.contains("not HTTP"), "{failed}");
        assert!(site.heard().len() > asked, "it was not asked again");
        assert_eq!(cluster.number("SELECT max(id)::bigint FROM run_row"), run);
    }
    is_up.store(true, Ordering::SeqCst);
    assert_eq!(crawl().expect(0).number("pages"), 2);
    // Then it is known, and asked for no more.
    let asked = site.heard().len();
    crawl().expect(0);
    assert_eq!(site.heard().len(), asked, "what was fetched is asked for again");
    assert_eq!(
        cluster.number("SELECT sum(fetched)::bigint FROM shard"),
        2,
        "a page counts once, however often it is visited"
    );
}

#[test]
fn a_project_keeps_its_shards_and_says_who_waits_and_what_was_left() {
    let world = World::new(connected(30));
    let (cluster, home) = (Cluster::new(CALM, SLICE), Home::new());
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
