//! Do several workers collect what one machine would, whatever happens to them, as politely as one?
//!
//! Real processes on one PostgreSQL and one archive. Each worker connects from an address of its
//! own, so that the server's log says who asked.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::{Cluster, Collected, source};
use harness::orb::Home;
use harness::until;
use harness::web::{World, assert_same, without_robots};
use orb_testweb::{Feature, Spec};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// How late the server may notice a request.
const LATENESS: Duration = Duration::from_millis(40);

/// Twelve hosts that link to each other a lot.
fn connected(pages_per_host: u32) -> Spec {
    let spec = Spec { hosts: 12, pages_per_host, cross_host_links: 0.5, ..Spec::default() };
    [Feature::Errors, Feature::Media].into_iter().fold(spec, Spec::with)
}

fn assert_equal(found: &Collected, wanted: &Collected) {
    assert_same("pages", &found.pages, &wanted.pages);
    assert_same("links", &found.links, &wanted.links);
}

/// What one machine collects of a web.
fn by_one(world: &World) -> Collected {
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--no-index"]));
    world.server.reset();
    Collected::by_one(&home)
}

#[test]
fn three_workers_collect_exactly_what_one_machine_does() {
    let world = World::new(connected(40));
    let wanted = by_one(&world);
    let cluster = Cluster::new(LEASE, SLICE);
    let first = cluster.crawl(&world, &["--scope", "any", "--delay", "20ms"]);
    until("it is planted", || cluster.is_planted());
    let others = vec![cluster.worker(2), cluster.worker(3)];
    first.finish().expect(0);
    cluster.dismiss(others);
    cluster.assert_done();
    assert_equal(&cluster.collected(), &wanted);
    let requests = world.server.log().take();
    let twice: Vec<_> = without_robots(&requests).into_iter().filter(|(_, count)| *count > 1).collect();
    assert!(twice.is_empty(), "asked for more than once: {twice:?}");
    for worker in 1..=3 {
        let asked = requests.0.iter().filter(|request| request.peer == source(worker)).count();
        assert!(asked > 0, "worker {worker} has done nothing");
    }
}

/// Kills a random worker again and again; `ORB_KILLS` says how often.
#[test]
fn killed_workers_lose_nothing_and_record_nothing_twice() {
    let kills: u32 = std::env::var("ORB_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let world = World::new(connected(60));
    let wanted = by_one(&world);
    let cluster = Cluster::new(LEASE, SLICE);
    let first = cluster.crawl(&world, &["--scope", "any", "--delay", "50ms"]);
    until("it is planted", || cluster.is_planted());
    let mut workers = vec![cluster.worker(2), cluster.worker(3)];
    for kill in 0..kills {
        let before = cluster.visits();
        until("more is recorded", || {
            cluster.visits() >= before + 20
                || cluster.number("SELECT count(*) FROM run_row WHERE finished_at IS NOT NULL") > 0
        });
        let victim = workers.remove(usize::try_from(kill).unwrap() % workers.len());
        victim.signal(Signal::KILL);
        drop(victim.finish());
        workers.push(cluster.worker(10 + u8::try_from(kill).unwrap()));
    }
    first.finish().expect(0);
    cluster.dismiss(workers);
    cluster.assert_done();
    assert_equal(&cluster.collected(), &wanted);
    let again: usize = without_robots(&world.server.log().take()).values().map(|count| count - 1).sum();
    assert!(again <= 1_000 * usize::try_from(kills).unwrap(), "{again} requests were repeated");
}

#[test]
fn a_stopped_worker_sends_nothing_when_it_wakes_and_joins_anew() {
    let world = World::new(connected(60));
    let wanted = by_one(&world);
    let cluster = Cluster::new(LEASE, SLICE);
    let first = cluster.crawl(&world, &["--scope", "any", "--delay", "100ms"]);
    until("it is planted", || cluster.is_planted());
    let second = cluster.worker(2);
    let asked = |worker: u8| world.server.log().all().0.iter().filter(|r| r.peer == source(worker)).count();
    until("the second worker works", || asked(2) >= 10);
    second.signal(Signal::STOP);
    let buried = "SELECT count(*) FROM worker WHERE NOT alive AND name = 'w2'";
    until("it is taken for dead", || cluster.number(buried) == 1);
    let stopped = asked(2);
    second.signal(Signal::CONT);
    let woken = Instant::now();
    until("it joins anew", || cluster.number("SELECT count(*) FROM worker WHERE alive AND name LIKE 'w2%'") == 1);
    assert!(woken.elapsed() < Duration::from_secs(10), "it took {:?}", woken.elapsed());
    // What it had ready when it was stopped must not go out. Its new life has no shards yet.
    assert_eq!(asked(2), stopped, "its old life has sent something");
    assert_eq!(cluster.number("SELECT count(*) FROM worker WHERE name LIKE 'w2%'"), 2);
    first.finish().expect(0);
    cluster.dismiss(vec![second]);
    cluster.assert_done();
    assert_equal(&cluster.collected(), &wanted);
}

#[test]
fn an_address_that_workers_share_is_asked_as_politely_as_by_one() {
    const DELAY: Duration = Duration::from_millis(200);
    // Fifty hosts on one address, over all workers.
    let spec = Spec { hosts: 50, pages_per_host: 2, hosts_per_ip: 50, cross_host_links: 0.6, ..Spec::default() };
    let world = World::new(spec);
    let cluster = Cluster::new(LEASE, SLICE);
    let first = cluster.crawl(&world, &["--scope", "any", "--delay", "200ms", "--ignore-robots"]);
    until("it is planted", || cluster.is_planted());
    let others = vec![cluster.worker(2), cluster.worker(3)];
    first.finish().expect(0);
    cluster.dismiss(others);
    cluster.assert_done();
    let requests = world.server.log().take();
    for (address, gap) in requests.min_gap_by_local_ip() {
        assert!(gap + LATENESS >= DELAY, "{address} was asked twice within {gap:?}");
    }
    let askers: std::collections::BTreeSet<_> = requests.0.iter().map(|request| request.peer).collect();
    assert!(askers.len() >= 2, "only {askers:?} asked");
}

#[test]
fn who_joins_gets_a_share_and_who_leaves_in_order_repeats_nothing() {
    let world = World::new(connected(60));
    let wanted = by_one(&world);
    let cluster = Cluster::new(LEASE, SLICE);
    let first = cluster.crawl(&world, &["--scope", "any", "--delay", "50ms"]);
    until("it is planted", || cluster.is_planted());
    until("the first has all shards", || cluster.number("SELECT count(*) FROM shard WHERE worker IS NOT NULL") == 256);
    let second = cluster.worker(2);
    let even = "SELECT count(*) FROM (SELECT worker FROM shard GROUP BY worker HAVING count(*) = 128) x";
    let joined = Instant::now();
    until("shards are even", || cluster.number(even) == 2);
    assert!(joined.elapsed() < Duration::from_secs(30), "it took {:?}", joined.elapsed());
    second.signal(Signal::TERM);
    second.finish().expect(0);
    assert_eq!(cluster.number("SELECT count(*) FROM worker WHERE alive"), 1, "it has left");
    first.finish().expect(0);
    cluster.assert_done();
    assert_equal(&cluster.collected(), &wanted);
    let twice: Vec<_> = without_robots(&world.server.log().take()).into_iter().filter(|(_, n)| *n > 1).collect();
    assert!(twice.is_empty(), "asked for more than once: {twice:?}");
}
