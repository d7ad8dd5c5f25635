//! Do the rows of a shared project and the objects of its archive stay together?
//!
//! Workers are killed between object and transaction, objects are lost, and small ones are stitched
//! together, in a directory and in a bucket that moto serves. Whatever happens in between, every
//! page can be read.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::{Cluster, Collected, connected};
use harness::judge::{MotoBucket, warcio_check};
use harness::orb::{Finished, Home, PROJECT, files};
use harness::until;
use harness::web::World;
use orb_store::fault::STITCH_POINTS;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// Slow enough for several batches.
const SLOW: [&str; 4] = ["--scope", "any", "--delay", "150ms"];

/// Slow enough for several batches of each worker.
const SLOWER: [&str; 4] = ["--scope", "any", "--delay", "400ms"];

/// A command about the store, with everything that reaches it.
fn ask(cluster: &Cluster, home: &Home, args: &[&str]) -> Finished {
    failing(cluster, home, args, None)
}

/// The same, made to fail at a point.
fn failing(cluster: &Cluster, home: &Home, args: &[&str], point: Option<&str>) -> Finished {
    let environment = cluster.environment.iter().map(|(name, value)| (*name, value.as_str()));
    let environment: Vec<_> = environment.chain(point.map(|point| ("ORB_FAIL", point))).collect();
    cluster.asking(home, args, &environment).finish()
}

/// What a check says of the archive.
#[track_caller]
fn check(cluster: &Cluster, home: &Home, more: &[&str]) -> Value {
    ask(cluster, home, &[&["check", PROJECT, "--json"], more].concat()).expect(0).json()
}

fn orphans(account: &Value) -> usize {
    account["orphans"].as_array().unwrap().len()
}

/// Asserts that everything can be read: the shared project's objects are whole, and a copy of all
/// of them agrees with the rows, digest by digest.
#[track_caller]
fn assert_readable(cluster: &Cluster, wanted: &Collected) {
    let home = Home::new();
    assert_eq!(check(cluster, &home, &[])["lost"], serde_json::json!([]));
    ask(cluster, &home, &["pull", PROJECT]).expect(0);
    let environment: Vec<_> = cluster.environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let checked = home.start(&["check", PROJECT, "--json"], &environment).finish();
    assert_eq!(checked.expect(0).json()["found"], 0, "{checked}");
    assert!(checked.json()["counts"]["digests"].as_u64().unwrap() > 20, "{checked}");
    Collected::by_one(&home).assert_is(wanted);
    warcio_check(&home.warcs());
}

fn objects(cluster: &Cluster) -> Vec<PathBuf> {
    files(&cluster.home.beside("archive").join(PROJECT), ".warc.gz")
}

#[test]
fn what_a_killed_worker_leaves_behind_is_found_and_removed_on_wish() {
    let world = World::new(connected(40));
    let wanted = Collected::alone(&world, &[]);
    let (cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let (first, mut others) = cluster.crawl_with(&world, &SLOW, &[]);
    let args = [vec!["worker".to_owned(), "--project".to_owned(), PROJECT.to_owned()], cluster.part(9)];
    let doomed = cluster.start_with(&args.concat(), &[("ORB_FAIL", "after-object:2")]);
    assert_eq!(doomed.finish().code, None, "it ends between object and transaction");
    others.push(cluster.worker(2));
    // Beside a crawl nothing is lost, and nothing is removed that a batch may still name.
    for _ in 0..3 {
        cluster.wait_for_visits(20);
        assert_eq!(check(&cluster, &home, &["--quiet"])["lost"], serde_json::json!([]));
    }
    cluster.finish(first, others, "done");
    let account = check(&cluster, &home, &[]);
    assert_eq!((orphans(&account), account["under_way"].as_u64()), (1, Some(0)), "{account:#}");
    let orphan = account["orphans"][0]["name"].as_str().unwrap().to_owned();
    let path = cluster.home.beside("archive").join(PROJECT).join(&orphan);
    assert_eq!(path.metadata().unwrap().len(), account["orphan_bytes"].as_u64().unwrap());
    assert_eq!(account["objects"].as_u64().unwrap(), objects(&cluster).len() as u64 - 1);
    let told = ask(&cluster, &home, &["check", PROJECT]);
    assert!(told.expect(0).text().contains(&format!("orphan: {orphan}")), "{told}");
    assert!(path.exists(), "it is removed on wish alone");
    assert_eq!(check(&cluster, &home, &["--remove-orphans"])["removed"], true);
    assert!(!path.exists());
    assert_eq!(orphans(&check(&cluster, &home, &[])), 0);
    assert_readable(&cluster, &wanted);
    cluster.collected().assert_is(&wanted);
    let refused = home.orb(&["check", "nowhere", "--remove-orphans"]);
    assert_ne!(refused.code, Some(0), "{refused}");
}

#[test]
fn an_object_that_is_missing_or_too_short_is_said() {
    let world = World::new(connected(20));
    let (cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let (first, others) = cluster.crawl_with(&world, &SLOW, &[2]);
    cluster.finish(first, others, "done");
    let there = objects(&cluster);
    assert!(there.len() > 2, "only {} objects", there.len());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    std::fs::remove_file(&there[0]).unwrap();
    std::fs::File::options().write(true).open(&there[1]).unwrap().set_len(100).unwrap();
    let told = ask(&cluster, &home, &["check", PROJECT]);
    let text = told.expect(1).text();
    assert!(text.contains(&format!("{} is missing", name(&there[0]))), "{told}");
    assert!(text.contains(&format!("{} has 100 bytes", name(&there[1]))), "{told}");
    let json = ask(&cluster, &home, &["check", PROJECT, "--json"]);
    assert_eq!(json.expect(1).json()["lost"].as_array().unwrap().len(), 2, "{json}");
}

#[test]
fn many_objects_become_few_and_a_copy_follows() {
    let world = World::new(connected(40));
    let wanted = Collected::alone(&world, &[]);
    let (cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let (first, others) = cluster.crawl_with(&world, &SLOWER, &[2, 3]);
    let stitch = ["store", "stitch", PROJECT, "--json"];
    cluster.wait_for_visits(1);
    let refused = ask(&cluster, &home, &stitch);
    assert!(refused.complaint(1).contains("works on project p"), "{refused}");
    cluster.finish(first, others, "done");
    let before = objects(&cluster).len() as u64;
    assert!(before > 4, "only {before} objects");
    ask(&cluster, &home, &["pull", PROJECT]).expect(0);
    ask(&cluster, &home, &["pull", PROJECT, "--as", "facts", "--no-archive"]).expect(0);
    let url = world.url(3, "/");
    let content = home.orb(&["cat", PROJECT, &url]).expect(0).stdout.clone();
    let done = ask(&cluster, &home, &stitch);
    assert_eq!(done.expect(0).json()["into"], 1, "{done}");
    assert_eq!((done.number("objects"), done.number("left")), (before, 1), "{done}");
    assert_eq!(objects(&cluster).len(), 1, "the small ones are gone");
    assert_eq!(orphans(&check(&cluster, &home, &[])), 0);
    // A question goes to the new place; a copy has the old files until it is brought up to date.
    assert_eq!(ask(&cluster, &home, &["cat", PROJECT, &url]).expect(0).stdout, content);
    assert_eq!(home.orb(&["cat", PROJECT, &url]).expect(0).stdout, content);
    for (name, fetched) in [(PROJECT, 1), ("facts", 0)] {
        let more: &[&str] = if fetched == 0 { &["--no-archive"] } else { &[] };
        let pulled = ask(&cluster, &home, &[&["pull", PROJECT, "--as", name, "--json"], more].concat());
        assert_eq!((pulled.json()["change"].as_str(), pulled.number("files")), (Some("updated"), fetched), "{pulled}");
        assert_eq!(home.orb(&["cat", name, &url]).expect(0).stdout, content);
    }
    assert_eq!(home.warcs().len(), 1, "the old files are gone here as well");
    home.orb(&["check", PROJECT]).expect(0);
    assert_readable(&cluster, &wanted);
    // Stitched again there is nothing to do; and workers go on with what was stitched.
    let again = ask(&cluster, &home, &stitch);
    assert_eq!(again.expect(0).json()["into"], 0, "{again}");
    let args = ["track", PROJECT, "--json", "--progress", "none", "--delay", "0"].map(str::to_owned).to_vec();
    cluster.start(&[args, cluster.part(1)].concat()).finish().expect(0);
    assert_readable(&cluster, &wanted);
}

#[test]
fn a_kill_while_objects_are_stitched_leaves_every_page_readable() {
    let world = World::new(connected(40));
    let wanted = Collected::alone(&world, &[]);
    let (cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let (first, others) = cluster.crawl_with(&world, &SLOWER, &[2, 3]);
    cluster.finish(first, others, "done");
    let sum = cluster.number("SELECT sum(length)::bigint FROM warc_row");
    // Small enough that something is left to stitch when some of it is.
    let size = format!("{}B", sum / 2);
    for point in STITCH_POINTS {
        let killed = failing(&cluster, &home, &["store", "stitch", PROJECT, "--size", &size], Some(point));
        assert_eq!(killed.code, None, "{point}: {killed}");
        assert_readable(&cluster, &wanted);
    }
    assert!(orphans(&check(&cluster, &home, &["--remove-orphans"])) > 0, "old objects were left behind");
    ask(&cluster, &home, &["store", "stitch", PROJECT]).expect(0);
    assert_eq!(cluster.number("SELECT count(*) FROM warc_row"), 1);
    assert_readable(&cluster, &wanted);
    assert_eq!(cluster.number("SELECT count(*) FROM pg_indexes WHERE indexname = 'visit_by_warc'"), 0);
}

#[test]
fn a_bucket_is_kept_in_order_like_a_directory() {
    let world = World::new(connected(20));
    let wanted = Collected::alone(&world, &[]);
    let (mut cluster, home) = (Cluster::new(LEASE, SLICE), Home::new());
    let bucket = MotoBucket::start();
    cluster.archive = Some("s3://crawl/archive".to_owned());
    cluster.environment = vec![
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", bucket.port)),
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ];
    let (first, mut others) = cluster.crawl_with(&world, &SLOW, &[]);
    let args = [vec!["worker".to_owned(), "--project".to_owned(), PROJECT.to_owned()], cluster.part(9)];
    let doomed = cluster.start_with(&args.concat(), &[("ORB_FAIL", "after-object:2")]);
    assert_eq!(doomed.finish().code, None, "it ends between object and transaction");
    others.push(cluster.worker(2));
    cluster.finish(first, others, "done");
    assert_eq!(orphans(&check(&cluster, &home, &["--remove-orphans"])), 1);
    let account = check(&cluster, &home, &[]);
    assert_eq!((orphans(&account), account["lost"].as_array().unwrap().len()), (0, 0), "{account:#}");
    let kept = ask(&cluster, &home, &["store", "stitch", PROJECT, "--keep", "--json"]);
    assert_eq!(kept.expect(0).number("objects"), account["objects"].as_u64().unwrap(), "{kept}");
    assert_eq!(cluster.number("SELECT count(*) FROM warc_row"), 1);
    assert_readable(&cluster, &wanted);
    let account = check(&cluster, &home, &["--remove-orphans"]);
    assert_eq!(orphans(&account) as u64, kept.number("objects"), "{account:#}");
    until("they are gone", || orphans(&check(&cluster, &home, &[])) == 0);
    assert_readable(&cluster, &wanted);
}
