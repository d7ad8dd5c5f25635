//! Do several workers collect what one machine would when the stores fail them?
//!
//! Real processes, as in `many_machines.rs`: PostgreSQL is stopped as by a crash, lines go dark and
//! lose answers, the archive refuses, and what is set up wrongly is said in a line. How often
//! things are repeated is a variable of the environment, for nights (`cargo xtask nightly`).
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::bucket::Bucket;
use harness::cluster::{CALM, Cluster, Collected, connected, repeated, source};
use harness::disk::Disk;
use harness::judge::warcio_check;
use harness::orb::{Home, PROJECT, Running, files_below};
use harness::postgres::PASSWORD;
use harness::proxy::BrokenLine;
use harness::web::{World, assert_polite, without_robots};
use harness::{until, wait_for};
use orb_testweb::Spec;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// After how long workers are taken for dead that are meant to be.
const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// Slow enough that things can happen on the way.
const SLOW: [&str; 4] = ["--scope", "any", "--delay", "150ms"];

/// A web, what one machine collects of it, and a cluster in which nobody is meant to die.
fn scene(pages_per_host: u32) -> (World, Collected, Cluster) {
    let world = World::new(connected(pages_per_host));
    let wanted = Collected::alone(&world, &[]);
    (world, wanted, Cluster::new(CALM, SLICE))
}

/// A server of objects, with the cluster's archive in this bucket.
fn archived_in(cluster: &mut Cluster, bucket: &str) -> Bucket {
    let server = Bucket::start();
    cluster.archive = Some(format!("s3://{bucket}/archive"));
    cluster.environment = vec![
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", server.port)),
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_REGION", "test".to_owned()),
    ];
    server
}

/// `ORB_RESTARTS` says how often the server is restarted, `ORB_AWAY` for how many seconds it stays
/// away in the end.
#[test]
fn a_store_that_crashes_and_stays_away_finds_the_same_workers_again() {
    let restarts = repeated("ORB_RESTARTS", 2);
    let away = Duration::from_secs(repeated("ORB_AWAY", 18).into());
    let (world, wanted, mut cluster) = scene(40.max(40 * restarts));
    let delay = if restarts > 2 { "400ms" } else { "150ms" };
    let (first, others) = cluster.crawl_with(&world, &["--scope", "any", "--delay", delay], &[2, 3]);
    for _ in 0..restarts {
        cluster.wait_for_visits(10);
        assert!(!cluster.is_over(), "it was over before the server was restarted so often");
        cluster.postgres.stop();
        cluster.postgres.serve();
    }
    cluster.wait_for_visits(10);
    assert!(!cluster.is_over(), "it was over before the server went away");
    cluster.postgres.stop();
    // Every lease runs out meanwhile, and nobody may be buried for it.
    assert!(away > CALM, "{away:?} is shorter than a lease");
    wait_for(away);
    cluster.postgres.serve();
    cluster.finish(first, others, "done");
    cluster.collected().assert_is(&wanted);
    assert_eq!(cluster.number("SELECT count(*) FROM worker"), 3, "the same workers go on");
}

/// The standby that takes over has not heard of the last commits, and of the leases on addresses
/// that came with them.
#[test]
fn a_failover_that_loses_the_last_commits_costs_requests_and_no_page() {
    let world = World::new(Spec { hosts_per_ip: 2, ..connected(60) });
    let wanted = Collected::alone(&world, &[]);
    let mut cluster = Cluster::new(LEASE, SLICE);
    let standby = cluster.postgres.standby();
    let line = BrokenLine::to(&cluster.postgres.socket());
    let first = cluster.crawl_at(&world, &SLOW, &line.url());
    until("it is planted", || cluster.is_planted());
    let others = vec![cluster.worker_at(2, &line.url()), cluster.worker_at(3, &line.url())];
    until("all work", || cluster.number("SELECT count(DISTINCT worker) FROM shard WHERE worker IS NOT NULL") == 3);
    cluster.wait_for_visits(10);
    standby.lose_sight();
    let known = standby.number("SELECT count(*) FROM orb_p.visit_row");
    cluster.wait_for_visits(30);
    assert!(cluster.visits() > known, "nothing is lost");
    cluster.postgres.stop();
    standby.promote();
    line.redirect(&standby.socket());
    cluster.postgres = standby;
    cluster.finish(first, others, "done");
    cluster.collected().assert_is(&wanted);
    let joined = "SELECT count(*) FROM worker w JOIN project p ON p.timeline = w.timeline";
    assert!(cluster.number(joined) >= 3, "somebody has not joined again");
    assert_eq!(cluster.number("SELECT count(*) FROM shard s JOIN worker w ON w.id = s.worker WHERE w.timeline = 1"), 0);
    assert_polite(&world.server.log().take(), Duration::from_millis(150));
}

/// `ORB_LOST` says how many answers are lost.
#[test]
fn a_commit_whose_answer_is_lost_has_happened_once() {
    let losses = repeated("ORB_LOST", 3);
    let (world, wanted, cluster) = scene(60.max(6 * losses));
    let line = BrokenLine::to(&cluster.postgres.socket());
    let delay = if losses > 3 { "500ms" } else { "150ms" };
    let gathering = cluster.gather(&world, &["--scope", "any", "--delay", delay]);
    let workers = [1, 2, 3].map(|number| cluster.worker_at(number, &line.url())).into();
    gathering.begin(3);
    for lost in 0..u64::from(losses) {
        line.cut(1);
        until("an answer is lost", || line.lost() > lost || cluster.is_over());
    }
    assert_eq!(line.lost(), u64::from(losses), "it was over before so many answers were lost");
    cluster.wait_for_end();
    cluster.dismiss(workers);
    cluster.assert_done();
    cluster.collected().assert_is(&wanted);
    assert_eq!(cluster.number("SELECT count(*) FROM worker"), 3, "the same workers go on");
}

/// `ORB_SILENCES` says how many answers never come. Each is waited for as long as any answer, for
/// twenty seconds, and so many are waited for by many workers at once.
#[test]
fn a_commit_that_is_answered_by_silence_has_happened_once() {
    let silences = repeated("ORB_SILENCES", 1);
    let workers = u8::try_from(silences.clamp(3, 10)).unwrap();
    let (delay, pages) = if silences > 3 { ("2s", 2 * silences) } else { ("150ms", 30) };
    let world = World::new(Spec { hosts: 4 * u32::from(workers), ..connected(pages) });
    let wanted = Collected::alone(&world, &[]);
    let cluster = Cluster::new(CALM, SLICE);
    let line = BrokenLine::to(&cluster.postgres.socket());
    let gathering = cluster.gather(&world, &["--scope", "any", "--delay", delay]);
    let all = (1..=workers).map(|number| cluster.worker_at(number, &line.url())).collect();
    gathering.begin(workers.into());
    // The first that are met take shards, all others are batches.
    line.silence(silences.into());
    let began = Instant::now();
    until("so many answers have not come", || line.lost() == u64::from(silences) || cluster.is_over());
    assert_eq!(line.lost(), u64::from(silences), "it was over before");
    println!("{silences} answers were waited for by {workers} workers within {:?}", began.elapsed());
    cluster.wait_for_end();
    cluster.dismiss(all);
    cluster.assert_done();
    cluster.collected().assert_is(&wanted);
    assert_eq!(cluster.number("SELECT count(*) FROM worker"), i64::from(workers), "the same workers go on");
}

#[test]
fn a_worker_whose_line_goes_dark_is_replaced_and_joins_anew() {
    let (world, wanted, mut cluster) = scene(80);
    let line = BrokenLine::to(&cluster.postgres.socket());
    let (first, mut others) = cluster.crawl_with(&world, &SLOW, &[3]);
    cluster.lease = LEASE;
    others.push(cluster.worker_at(2, &line.url()));
    let asked = || world.server.log().all().0.iter().filter(|request| request.peer == source(2)).count();
    until("the second worker works", || asked() >= 10);
    line.darken(true);
    let dark = Instant::now();
    // A busy machine may have kept it from saying that it lives: then this is not its first life.
    until("it is buried", || cluster.number("SELECT count(*) FROM worker WHERE name LIKE 'w2%' AND alive") == 0);
    let (buried, lives) = (asked(), cluster.number("SELECT count(*) FROM worker WHERE name LIKE 'w2%'"));
    let left = "SELECT count(*) FROM shard s JOIN worker w ON w.id = s.worker WHERE w.alive AND w.name NOT LIKE 'w2%'";
    until("the others have its shards", || cluster.number(left) == 256);
    until("two leases have passed", || dark.elapsed() >= 2 * LEASE);
    assert_eq!(asked(), buried, "it sent something after its burial");
    line.darken(false);
    until("it joins again", || {
        cluster.number("SELECT count(*) FROM worker WHERE name LIKE 'w2%'") > lives || cluster.is_over()
    });
    cluster.finish(first, others, "done");
    cluster.collected().assert_is(&wanted);
    let late = "SELECT count(*) FROM warc_row f JOIN worker w ON w.id = f.id >> 32 WHERE NOT w.alive AND w.name LIKE 'w2%' AND f.id & 4294967295 > w.batch";
    assert_eq!(cluster.number(late), 0, "its old life has recorded something");
}

#[test]
fn an_archive_that_fails_every_fifth_time_holds_everything() {
    let (world, wanted, mut cluster) = scene(25);
    let bucket = archived_in(&mut cluster, "crawl");
    bucket.state.fail_every.store(5, Ordering::SeqCst);
    bucket.state.in_all_ways.store(true, Ordering::SeqCst);
    let (first, others) = cluster.crawl_with(&world, &SLOW, &[2, 3]);
    cluster.finish(first, others, "done");
    cluster.collected().assert_is(&wanted);
    assert!(bucket.state.failures.load(Ordering::SeqCst) > 3, "not everything has failed");
    let kept: BTreeSet<String> =
        bucket.state.objects.lock().unwrap().keys().map(|key| key.rsplit('/').next().unwrap().to_owned()).collect();
    for name in cluster.column("SELECT name FROM warc_row") {
        assert!(kept.contains(&name), "{name} is named and not there");
    }
}

#[test]
fn a_worker_that_leaves_while_the_archive_is_slow_records_its_last_pages() {
    let (world, wanted, mut cluster) = scene(60);
    let bucket = archived_in(&mut cluster, "crawl");
    let (first, _) = cluster.crawl_with(&world, &SLOW, &[]);
    cluster.lease = Duration::from_secs(6);
    let second = cluster.worker(2);
    let asked = || world.server.log().all().0.iter().filter(|request| request.peer == source(2)).count();
    until("the second worker works", || asked() >= 10);
    let slow = u64::try_from(2 * cluster.lease.as_millis()).unwrap();
    bucket.state.slow.store(slow, Ordering::SeqCst);
    second.signal(rustix::process::Signal::TERM);
    let left = Instant::now();
    second.finish().expect(0);
    assert!(left.elapsed() > cluster.lease, "nothing was slow");
    bucket.state.slow.store(0, Ordering::SeqCst);
    cluster.finish(first, Vec::new(), "done");
    cluster.collected().assert_is(&wanted);
    let twice: Vec<_> = without_robots(&world.server.log().take()).into_iter().filter(|(_, n)| *n > 1).collect();
    assert!(twice.is_empty(), "asked for more than once: {twice:?}");
}

#[test]
fn a_project_that_cannot_be_worked_on_is_said_once_and_the_others_are() {
    let (world, wanted, cluster) = scene(10);
    let crawl = |project: &str, more: &[&str]| {
        let mut args = vec!["crawl".to_owned()];
        args.extend(world.args(&["--scope", "any", "--delay", "50ms", "--project", project, "--progress", "none"]));
        args.extend(more.iter().map(|arg| (*arg).to_owned()));
        cluster.start(&[args, cluster.part(1)].concat()).finish().expect(0);
    };
    // The first by name, with settings that nobody understands.
    crawl("a", &["--max-pages", "2"]);
    let spoil = "UPDATE orb_a.run_row SET state = 'running', finished_at = NULL, settings = 'nonsense = 1'";
    cluster.postgres.client().batch_execute(spoil).unwrap();
    crawl(PROJECT, &["--on", "far", "--machine", "near"]);
    let args = ["worker", "--machine", "far"].map(str::to_owned).to_vec();
    let worker = cluster.start(&[args, cluster.part(2)].concat());
    cluster.wait_for_end();
    cluster.collected().assert_is(&wanted);
    worker.signal(rustix::process::Signal::TERM);
    let finished = worker.finish();
    finished.expect(0);
    assert_eq!(finished.stderr.matches("project a cannot be worked on").count(), 1, "{finished}");
    assert!(finished.stderr.contains("nonsense"), "{finished}");
}

/// `ORB_KILLS` says how often.
#[test]
fn an_object_whose_batch_never_happened_is_named_by_no_row() {
    let kills = repeated("ORB_KILLS", 1);
    let (world, wanted, mut cluster) = scene(60.max(14 * kills));
    let delay = if kills > 3 { "700ms" } else { "150ms" };
    let (first, mut others) = cluster.crawl_with(&world, &["--scope", "any", "--delay", delay], &[]);
    cluster.lease = LEASE;
    for kill in 0..kills {
        let number = 10 + u8::try_from(kill % 200).unwrap();
        let args = [vec!["worker".to_owned(), "--project".to_owned(), PROJECT.to_owned()], cluster.part(number)];
        let doomed = cluster.start_with(&args.concat(), &[("ORB_FAIL", "after-object:2")]);
        assert_eq!(doomed.finish().code, None, "it ends between object and transaction");
    }
    others.push(cluster.worker(2));
    cluster.finish(first, others, "done");
    cluster.collected().assert_is(&wanted);
    let objects = files_below(&cluster.home.beside("archive"));
    let there: BTreeSet<String> =
        objects.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    let named: BTreeSet<String> = cluster.column("SELECT name FROM warc_row").into_iter().collect();
    assert!(named.is_subset(&there), "named and not there: {:?}", named.difference(&there));
    assert_eq!(there.difference(&named).count(), usize::try_from(kills).unwrap(), "what was left behind");
    warcio_check(&objects);
}

#[test]
fn what_is_set_up_wrongly_is_said_in_a_line() {
    let world = World::new(connected(2));
    let mut cluster = Cluster::new(CALM, SLICE);
    let mut args = vec!["crawl".to_owned()];
    args.extend(world.args(&["--scope", "any", "--project", PROJECT, "--progress", "none"]));
    let with = |part: Vec<String>| [args.clone(), part].concat();
    let wrong = cluster.start_with(&with(cluster.part(1)), &[("PGPASSWORD", "wrong")]).finish();
    assert!(wrong.complaint(1).contains("password"), "{wrong}");
    let _bucket = archived_in(&mut cluster, "nowhere");
    let nowhere = cluster.start(&with(cluster.part(1))).finish();
    assert!(nowhere.complaint(1).contains("bucket"), "{nowhere}");
    assert!(!cluster.is_planted(), "what is refused leaves nothing behind");
}

#[test]
fn a_project_runs_on_the_machines_it_names_and_a_name_is_given_once() {
    let (world, wanted, cluster) = scene(10);
    let mut args = vec!["crawl".to_owned()];
    args.extend(world.args(&["--scope", "any", "--delay", "100ms", "--project", PROJECT, "--progress", "none"]));
    args.extend(["--on", "far", "--machine", "near"].map(str::to_owned));
    let planted = cluster.start(&[args, cluster.part(1)].concat()).finish();
    planted.expect(0);
    assert!(planted.stderr.contains("it runs on far"), "{planted}");
    let worker = |number: u8, machine: &str, home: &Home| {
        let args = ["worker", "--machine", machine].map(str::to_owned).to_vec();
        home.start(&[args, cluster.part(number)].concat(), &[("PGPASSWORD", PASSWORD)])
    };
    let homes = [Home::new(), Home::new(), Home::new()];
    let near = worker(1, "near", &homes[0]);
    // Two machines that were given one name: both work.
    let far = [worker(2, "far", &homes[1]), worker(2, "far", &homes[2])];
    cluster.wait_for_end();
    cluster.dismiss(vec![near]);
    cluster.dismiss(far.into_iter().collect());
    cluster.assert_done();
    cluster.collected().assert_is(&wanted);
    let names = cluster.column("SELECT DISTINCT name || ' ' || machine FROM worker ORDER BY 1");
    assert_eq!(names, ["w2 far", "w2-2 far"]);
}

/// Sets a command's clock an hour forward; false where there is no `libfaketime`.
fn set_an_hour_forward(command: &mut Command) -> bool {
    let places = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut libraries = places.map(|place| place.path().join("faketime/libfaketime.so.1"));
    let Some(library) = libraries.find(|library| library.exists()) else { return false };
    command.env("LD_PRELOAD", library).env("FAKETIME", "+1h").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    true
}

#[test]
fn a_machine_whose_clock_is_an_hour_fast_works_and_dates_as_the_others_do() {
    let (world, wanted, cluster) = scene(40);
    let args = [vec!["worker".to_owned(), "--project".to_owned(), PROJECT.to_owned()], cluster.part(2)].concat();
    let home = Home::new();
    let mut fast = home.command(&args);
    if !set_an_hour_forward(&mut fast) {
        println!("skipped: there is no libfaketime to set a clock with");
        return;
    }
    fast.env("PGPASSWORD", PASSWORD);
    let gathering = cluster.gather(&world, &SLOW);
    let workers = vec![cluster.worker(1), Running::start(fast)];
    gathering.begin(2);
    let told = "SELECT count(*) FROM worker WHERE name = 'w2' AND why LIKE '%its clock is % s fast'";
    until("it is said", || cluster.number(told) == 1 || cluster.is_over());
    assert_eq!(cluster.number(told), 1, "nobody says that its clock is wrong");
    cluster.wait_for_end();
    cluster.dismiss(workers);
    cluster.assert_done();
    cluster.collected().assert_is(&wanted);
    let askers: BTreeSet<_> = world.server.log().all().0.iter().map(|request| request.peer).collect();
    assert!(askers.contains(&source(2)), "it has done nothing");
    let ahead =
        "SELECT count(*) FROM visit_row WHERE at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 60000";
    assert_eq!(cluster.number(ahead), 0, "visits of the future");
    assert_polite(&world.server.log().take(), Duration::from_millis(150));
}

#[test]
fn a_project_deleted_under_a_run_ends_its_workers_with_a_line() {
    let (world, _, cluster) = scene(40);
    let (first, others) = cluster.crawl_with(&world, &SLOW, &[2]);
    until("both work", || cluster.number("SELECT count(DISTINCT worker) FROM shard WHERE worker IS NOT NULL") == 2);
    let mut client = cluster.postgres.client();
    client.batch_execute(&format!("DROP SCHEMA \"orb_{PROJECT}\" CASCADE")).unwrap();
    let finished = first.finish();
    finished.expect(1);
    let last = finished.stderr.lines().last().unwrap_or_default();
    assert!(last.contains("was it deleted?"), "{finished}");
    // A worker has other projects to look after: it stays until it is asked to stop. What it says
    // depends on what it was doing when the tables went.
    for worker in others {
        worker.signal(rustix::process::Signal::TERM);
        let finished = worker.finish();
        finished.expect(0);
        assert!(!finished.stderr.contains("panicked"), "{finished}");
    }
}

#[test]
fn a_worker_whose_scratch_disk_is_full_waits_and_goes_on_when_there_is_room() {
    let (world, wanted, cluster) = scene(40);
    let file =
        world.project(&cluster.home, &["scope.mode = 'any'", "frontier.delay = '150ms'", "store.min_free = '0B'"]);
    let gathering = cluster.gather_by(&["crawl".to_owned(), file]);
    let first = cluster.worker(1);
    let home = Home::new();
    let _disk = Disk::under(&home, "64m");
    let args = ["worker", "--project", PROJECT].map(str::to_owned).to_vec();
    let second = home.start(&[args, cluster.part(2)].concat(), &[("PGPASSWORD", PASSWORD)]);
    gathering.begin(2);
    let of_second = |what: &str| format!("SELECT count(*) FROM worker WHERE alive AND name = 'w2' AND {what}");
    until("the second worker records", || cluster.number(&of_second("batch > 1")) == 1 || cluster.is_over());
    let ballast = home.path().join("ballast");
    assert!(std::fs::write(&ballast, vec![0; 80 << 20]).is_err(), "the disk is full");
    until("it waits for room", || cluster.number(&of_second("why LIKE '%disk is full%'")) == 1 || cluster.is_over());
    std::fs::remove_file(&ballast).unwrap();
    cluster.wait_for_end();
    cluster.dismiss(vec![first, second]);
    cluster.assert_done();
    cluster.collected().assert_is(&wanted);
    assert_eq!(cluster.number("SELECT count(*) FROM worker"), 2, "nobody was taken for dead");
}
