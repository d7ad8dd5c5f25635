//! Do several workers collect what one machine would, whatever happens to them, as politely as one?
//!
//! Real processes on one PostgreSQL and one archive. Each worker connects from an address of its
//! own, so that the server's log says who asked. What happens when the stores fail is in
//! `many_machines_broken.rs`.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
#![allow(clippy::print_stdout, reason = "nights are read for what was measured")]

mod harness;

use harness::cluster::{CALM, Cluster, Collected, connected, repeated, source};
use harness::idle::{Manners, longest_idle};
use harness::orb::{Home, PROJECT, Running};
use harness::web::{World, assert_same, without_robots};
use harness::{PATIENCE, until, wait_for};
use orb_testweb::{Feature, Latency, LoggedRequest, MEMBER, Spec};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::time::{Duration, Instant};

/// After how long workers are taken for dead that are killed or stopped.
const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// After how long a page that another leads to is known: what it was found with is committed.
const KNOWN: Duration = Duration::from_secs(15);

/// Longer than this nobody is idle while there is something to do, however busy the machine is.
const IDLE: Duration = Duration::from_secs(5);

/// What the kernel's stamps and the milliseconds of a clock may differ by.
const JITTER: Duration = Duration::from_millis(5);

fn assert_once(world: &World) {
    let twice: Vec<_> = without_robots(&world.server.log().take()).into_iter().filter(|(_, n)| *n > 1).collect();
    assert!(twice.is_empty(), "asked for more than once: {twice:?}");
}

#[test]
fn three_workers_collect_exactly_what_one_machine_does() {
    let world = World::new(connected(40));
    let wanted = Collected::alone(&world, &[]);
    let cluster = Cluster::new(CALM, SLICE);
    let gathering = cluster.gather(&world, &["--scope", "any", "--delay", "20ms"]);
    let workers = [1, 2, 3].map(|number| cluster.worker(number)).into();
    gathering.begin(3);
    cluster.wait_for_end();
    cluster.dismiss(workers);
    cluster.assert_done();
    cluster.collected().assert_is(&wanted);
    let requests = world.server.log().all();
    assert_once(&world);
    for worker in 1..=3 {
        let asked = requests.0.iter().filter(|request| request.peer == source(worker)).count();
        assert!(asked > 0, "worker {worker} has done nothing");
    }
}

/// Asserts that no address was asked twice within the delay, by whomever.
#[track_caller]
fn assert_polite(world: &World, delay: Duration) {
    let gaps = world.server.log().min_gap_by_local_ip();
    assert!(!gaps.is_empty(), "nobody was asked twice");
    for (address, gap) in gaps {
        assert!(gap + JITTER >= delay, "{address} was asked twice within {gap:?}");
    }
}

/// Hosts that share their addresses with another, so that these change hands.
fn paired(pages_per_host: u32) -> Spec {
    Spec { hosts_per_ip: 2, ..connected(pages_per_host) }
}

/// Something between these two.
fn drawn(range: Range<u64>) -> u64 {
    range.start + RandomState::new().hash_one(0) % (range.end - range.start)
}

/// Kills some worker again and again. `ORB_KILLS` says how often; if often, then every 5 to 15
/// seconds.
#[test]
fn killed_workers_lose_nothing_and_record_nothing_twice() {
    let kills = repeated("ORB_KILLS", 3);
    let often = kills > 3;
    let delay = Duration::from_millis(if often { 500 } else { 100 });
    let world = World::new(paired(60.max(15 * kills)));
    let wanted = Collected::alone(&world, &[]);
    let cluster = Cluster::new(LEASE, SLICE);
    let args = ["--scope", "any", "--delay", &format!("{}ms", delay.as_millis())];
    let (first, others) = cluster.crawl_with(&world, &args, &[2, 3]);
    let mut workers: Vec<(u8, Running)> = (1..).zip(std::iter::once(first).chain(others)).collect();
    let all_held = "SELECT count(*) FROM shard s JOIN worker w ON w.id = s.worker WHERE w.alive";
    until("all shards are held", || cluster.number(all_held) == 256);
    let (mut before, mut spans, mut held) = (Instant::now(), Vec::new(), Vec::new());
    for kill in 0..kills {
        cluster.wait_for_visits(20);
        if often {
            wait_for(Duration::from_millis(drawn(5_000..15_000)).saturating_sub(before.elapsed()));
        }
        assert!(!cluster.is_over(), "it was over after {kill} kills");
        spans.push(before.elapsed());
        let (name, victim) = workers.remove(usize::try_from(drawn(0..3)).unwrap());
        let dead = cluster.number(&format!("SELECT max(id) FROM worker WHERE name = 'w{name}'"));
        victim.signal(Signal::KILL);
        let killed = Instant::now();
        before = killed;
        drop(victim.finish());
        let next = 10 + u8::try_from(kill % 200).unwrap();
        workers.push((next, cluster.worker(next)));
        until("its shards are held again", || cluster.number(&format!("{all_held} AND w.id <> {dead}")) == 256);
        // Five seconds where the machine has nothing else to do.
        assert!(killed.elapsed() < LEASE + Duration::from_secs(60), "it took {:?}", killed.elapsed());
        held.push(killed.elapsed());
    }
    spans.sort_unstable();
    held.sort_unstable();
    cluster.wait_for_end();
    cluster.dismiss(workers.into_iter().map(|(_, worker)| worker).collect());
    cluster.assert_done();
    cluster.collected().assert_is(&wanted);
    assert_polite(&world, delay);
    let again: usize = without_robots(&world.server.log().take()).values().map(|count| count - 1).sum();
    assert!(again <= 1_000 * usize::try_from(kills).unwrap(), "{again} requests were repeated");
    let extremes = |times: &[Duration]| (times[0], times[times.len() / 2], times[times.len() - 1]);
    println!("least, median, most: between kills {:?}", extremes(&spans));
    println!("until all shards were held again {:?}; {again} requests repeated", extremes(&held));
}

#[test]
fn a_stopped_worker_sends_nothing_when_it_wakes_and_joins_anew() {
    let world = World::new(paired(120));
    let wanted = Collected::alone(&world, &[]);
    // Addresses are shared: it waits for a slice of the other's before it works again.
    let mut cluster = Cluster::new(CALM, Duration::from_secs(2));
    let (first, _) = cluster.crawl_with(&world, &["--scope", "any", "--delay", "100ms"], &[]);
    cluster.lease = LEASE;
    let second = cluster.worker(2);
    let asked = |worker: u8| world.server.log().all().0.iter().filter(|r| r.peer == source(worker)).count();
    until("the second worker works", || asked(2) >= 10);
    // A busy machine may have kept it from saying that it lives: then this is not its first life.
    let latest = "SELECT coalesce(max(id), 0) FROM worker WHERE name LIKE 'w2%'";
    second.signal(Signal::STOP);
    let (stopped, old) = (Instant::now(), cluster.number(latest));
    let alive = format!("SELECT count(*) FROM worker WHERE alive AND id = {old}");
    until("it is taken for dead", || cluster.number(&alive) == 0);
    let recorded = || {
        let of_old = format!("SELECT count(*) FROM warc_row WHERE id >> 32 = {old}");
        (cluster.number(&of_old), cluster.number(&format!("SELECT batch FROM worker WHERE id = {old}")))
    };
    let (before, sent) = (recorded(), asked(2));
    until("it was stopped for two leases", || stopped.elapsed() >= 2 * LEASE);
    second.signal(Signal::CONT);
    let woken = Instant::now();
    // What it had ready when it was stopped must not go out. Its new life asks for nothing before
    // it holds shards.
    let held = "SELECT count(*) FROM shard s JOIN worker w ON w.id = s.worker WHERE w.alive AND w.name LIKE 'w2%'";
    until("it works again", || {
        let works = asked(2) > sent;
        let holds = cluster.number(held) > 0;
        assert!(!works || holds, "its old life has sent something");
        works
    });
    // Ten seconds where the machine has nothing else to do.
    assert!(woken.elapsed() < Duration::from_secs(60), "it took {:?}", woken.elapsed());
    assert!(cluster.number(latest) > old, "it has not joined again");
    cluster.finish(first, vec![second], "done");
    cluster.collected().assert_is(&wanted);
    assert_eq!(recorded(), before, "its old life has recorded something");
    assert_eq!(cluster.number(&format!("SELECT count(*) FROM shard WHERE worker = {old}")), 0);
    assert_polite(&world, Duration::from_millis(100));
}

/// `ORB_SHARED` says how many pages each host has. If many, the rate is held against that of one
/// machine on another such address meanwhile: a busy machine is late for both.
#[test]
fn an_address_that_workers_share_is_asked_as_politely_as_by_one() {
    let pages = repeated("ORB_SHARED", 2);
    if pages == 2 {
        // A busy machine is slow to hand a lease over, and slices are short here.
        assert!(share_an_address(3, pages, SLICE) >= 0.33);
        return;
    }
    for workers in [2, 3] {
        let one = std::thread::spawn(move || {
            let world = World::new(on_one_address(pages));
            Home::new().crawl(&world.args(&ON_ONE_ADDRESS));
            reached("one machine", &world)
        });
        let together = share_an_address(workers, pages, Duration::from_secs(30));
        let one = one.join().unwrap();
        assert!(together >= 0.9 * one, "{workers} workers reached {together:.3}, one machine {one:.3}");
    }
}

/// The delay of the crawls of one address, and their arguments.
const SHARED_DELAY: Duration = Duration::from_millis(200);
const ON_ONE_ADDRESS: [&str; 5] = ["--scope", "any", "--delay", "200ms", "--ignore-robots"];

fn on_one_address(pages_per_host: u32) -> Spec {
    Spec { hosts: 50, pages_per_host, hosts_per_ip: 50, cross_host_links: 0.6, ..Spec::default() }
}

/// Lets so many workers crawl fifty hosts on one address, and asserts that nobody asks it twice
/// within the delay; tells which share of what the delay allows they reached together.
fn share_an_address(workers: u8, pages_per_host: u32, slice: Duration) -> f64 {
    let world = World::new(on_one_address(pages_per_host));
    let cluster = Cluster::new(CALM, slice);
    let gathering = cluster.gather(&world, &ON_ONE_ADDRESS);
    let all = (1..=workers).map(|number| cluster.worker(number)).collect();
    gathering.begin(workers.into());
    cluster.wait_for_end();
    cluster.dismiss(all);
    cluster.assert_done();
    let requests = world.server.log().all();
    println!("{workers} workers, least gaps: {:?}", requests.min_gap_by_local_ip());
    assert_polite(&world, SHARED_DELAY);
    let askers: BTreeSet<_> = requests.0.iter().map(|request| request.peer).collect();
    assert!(askers.len() >= 2, "only {askers:?} asked");
    reached(&format!("{workers} workers"), &world)
}

/// The share of what the delay allows, while there is enough to ask for: at first, few of the pages
/// are known, and in the end only stragglers are left.
fn reached(who: &str, world: &World) -> f64 {
    let requests = world.server.log().all().0;
    let middle = &requests[requests.len() / 10..requests.len() * 9 / 10];
    let took = |some: &[LoggedRequest]| some[some.len() - 1].at - some[0].at;
    let reached = (SHARED_DELAY * u32::try_from(middle.len() - 1).unwrap()).div_duration_f64(took(middle));
    let (changes, stays): (Vec<_>, Vec<_>) = middle.windows(2).partition(|pair| pair[0].peer != pair[1].peer);
    let waited = |pairs: &[&[LoggedRequest]]| pairs.iter().map(|pair| took(pair)).sum::<Duration>();
    println!("{who} reached {reached:.3} of what the delay allows");
    for (what, pairs) in [("by another", changes), ("by the same", stays)] {
        println!("asked {what} {} times, after {:?} together", pairs.len(), waited(&pairs));
    }
    reached
}

/// Two hosts with very many pages beside many with a few. `ORB_HOT` says how many.
///
/// Answers of the small hosts take long and connections are few, so that for a while there is more
/// to do than can be done at once.
#[test]
fn nobody_is_idle_while_a_host_is_due_beside_two_hot_ones() {
    const DELAY: Duration = Duration::from_millis(20);
    let pages = repeated("ORB_HOT", 1_000);
    let hosts = (pages / 30).clamp(50, 500);
    let hot = World::new(Spec { hosts: 2, pages_per_host: pages, page_bytes: 1_000, ..Spec::default() });
    let latency = Latency { mean: Duration::from_millis(200), spread: 0.0 };
    let few = Spec { hosts, pages_per_host: 8, links: 16, cross_host_links: 0.0, latency, ..Spec::default() };
    let small = World::new(few);
    let cluster = Cluster::new(CALM, SLICE);
    let seeds = cluster.home.beside("seeds");
    let homes = (0..hosts).map(|host| small.url(host, "/")).chain([hot.url(0, "/"), hot.url(1, "/")]);
    std::fs::write(&seeds, homes.collect::<Vec<_>>().join("\n")).unwrap();
    let mut args = vec!["crawl".to_owned(), format!("@{}", seeds.display())];
    for fixed in [hot.resolve_beside(0), small.resolve_beside(2)].concat() {
        args.extend(["--resolve".to_owned(), fixed]);
    }
    args.extend(["--scope", "any", "--delay", "20ms", "--connections", "4"].map(str::to_owned));
    let gathering = cluster.gather_by(&args);
    let workers = [1, 2, 3].map(|number| cluster.worker(number)).into();
    gathering.begin(3);
    let (began, longest) = (Instant::now(), PATIENCE + 5 * pages * DELAY);
    while !cluster.is_over() {
        assert!(began.elapsed() < longest, "it takes longer than {longest:?}");
        // Asked seldom: the processor is the workers'.
        wait_for(Duration::from_secs(1));
    }
    cluster.dismiss(workers);
    cluster.assert_done();
    for (world, all) in [(&hot, 2 * pages), (&small, 8 * hosts)] {
        assert_polite(world, DELAY);
        let asked = without_robots(&world.server.log().all());
        assert_eq!(asked.len(), usize::try_from(all).unwrap(), "pages");
        assert!(asked.values().all(|times| *times == 1), "a page was asked for more than once");
    }
    let (of_hot, of_small) = (hot.server.log().take().0, small.server.log().take().0);
    let (begun, over) = (of_small[0].at, of_small[of_small.len() - 1].at);
    println!("small hosts: {} requests within {:?}", of_small.len(), over - begun);
    println!("hot hosts: {} requests within {:?}", of_hot.len(), of_hot[of_hot.len() - 1].at - of_hot[0].at);
    let mut requests = [of_hot, of_small].concat();
    requests.sort_by_key(|request| request.at);
    let askers = [1, 2, 3].map(source);
    let idle = longest_idle(&requests, &askers, &Manners { delay: DELAY, known: KNOWN });
    println!("longest time idle while a host was due: {idle:?}");
    for (worker, longest) in idle {
        assert!(longest < IDLE, "{worker} was idle for {longest:?} while a host was due");
    }
}

#[test]
fn who_joins_gets_a_share_and_who_leaves_in_order_repeats_nothing() {
    let world = World::new(connected(100));
    let wanted = Collected::alone(&world, &[]);
    let cluster = Cluster::new(CALM, SLICE);
    let (first, _) = cluster.crawl_with(&world, &["--scope", "any", "--delay", "150ms"], &[]);
    until("the first has all shards", || cluster.number("SELECT count(*) FROM shard WHERE worker IS NOT NULL") == 256);
    let second = cluster.worker(2);
    let even = "SELECT count(*) FROM (SELECT worker FROM shard GROUP BY worker HAVING count(*) = 128) x";
    let joined = Instant::now();
    until("shards are even", || cluster.number(even) == 2);
    // Half of that where the machine has nothing else to do.
    assert!(joined.elapsed() < Duration::from_secs(60), "it took {:?}", joined.elapsed());
    second.signal(Signal::TERM);
    second.finish().expect(0);
    assert_eq!(cluster.number("SELECT count(*) FROM worker WHERE alive"), 1, "it has left");
    cluster.finish(first, Vec::new(), "done");
    cluster.collected().assert_is(&wanted);
    assert_once(&world);
}

#[test]
fn budgets_of_pages_bytes_and_time_hold_for_all_workers_together() {
    let world = World::new(connected(30));
    let wanted = Collected::alone(&world, &[]);
    let cluster = Cluster::new(CALM, SLICE);
    let args = ["--scope", "any", "--delay", "20ms", "--max-pages", "70"];
    let (first, others) = cluster.crawl_with(&world, &args, &[2, 3]);
    cluster.finish(first, Vec::new(), "budget");
    assert_eq!(cluster.visits(), 70, "exactly as many as were allowed");
    assert_eq!(cluster.number("SELECT budget_left FROM run_row"), 0);
    // The budgets were those of one run: the project's settings have none.
    let go_on = |more: &[&str]| {
        let args = [&["crawl", PROJECT, "--json", "--progress", "none"], more].concat();
        cluster.start(&[args.into_iter().map(str::to_owned).collect(), cluster.part(1)].concat())
    };
    let transferred = "SELECT coalesce(sum(transferred), 0)::bigint FROM visit_row WHERE run = 2";
    cluster.finish(go_on(&["--max-bytes", "100KB"]), Vec::new(), "budget");
    let bytes = cluster.number(transferred);
    assert!((100_000..400_000).contains(&bytes), "{bytes} bytes of 100 kB");
    let finished = cluster.finish(go_on(&["--max-time", "2s", "--delay", "400ms"]), Vec::new(), "budget");
    // It was not done, and so has ended for want of time; how soon that is noticed is up to the
    // machine.
    let seconds = finished.json()["seconds"].as_f64().unwrap();
    assert!((2.0..60.0).contains(&seconds), "{seconds} of 2 seconds");
    cluster.finish(go_on(&["--delay", "20ms"]), others, "done");
    cluster.collected().assert_is(&wanted);
    assert_once(&world);
}

#[test]
fn a_shorter_path_found_later_brings_in_what_was_too_deep() {
    let world = World::new(connected(25));
    let args = ["--depth", "3", "--order", "dfs"];
    let wanted = Collected::alone(&world, &args);
    let outside = |of: &Collected| of.pages.iter().filter(|page| page.contains(" OUTSIDE ")).count();
    assert!(outside(&wanted) > 0, "nothing is too deep");
    let cluster = Cluster::new(CALM, SLICE);
    let (first, others) =
        cluster.crawl_with(&world, &[&["--scope", "any", "--delay", "20ms"], &args[..]].concat(), &[2, 3]);
    cluster.finish(first, others, "done");
    cluster.collected().assert_is(&wanted);
    let corrected = "SELECT count(*) FROM page_row p JOIN page_row o ON o.id = p.origin WHERE p.depth <= o.depth";
    assert!(cluster.number(corrected) > 0, "no shorter path was found later");
    assert_once(&world);
}

/// A log-in and a search; the password is in the environment of every worker.
fn members(world: &World, cluster: &Cluster, delay: &str) -> String {
    let steps = format!(
        "[[steps]]\nname = 'log in'\nstart = ['{}']\ncollect = false\nexpect_selector = 'a.logout'\n\
         form = {{ id = 'login', fields = {{ user = '{}', password = {{ env = 'MEMBER_PASSWORD' }} }} }}\n\
         [[steps]]\nname = 'search'\ncollect = false\nform = {{ action = 'search', fields = {{ q = 'basalt' }} }}\n\
         depth = 9\nrules = [{{ allow = '[?&]page=' }}]\n\
         [[steps]]\nname = 'results'\nlinks = 'ol.results a'\ndepth = 1\nrules = [{{ allow = '/inside/item-' }}]\n",
        world.url(0, "/members/login"),
        MEMBER.0
    );
    let file = world.project(&cluster.home, &[&format!("frontier.delay = '{delay}'"), &steps]);
    let text = std::fs::read_to_string(&file).unwrap();
    let without_seeds: Vec<&str> = text.lines().filter(|line| !line.starts_with("seeds = ")).collect();
    std::fs::write(&file, without_seeds.join("\n")).unwrap();
    file
}

#[test]
fn a_project_with_a_log_in_is_worked_on_by_one_worker_at_a_time() {
    const FETCHED: &str = "SELECT url FROM page WHERE kind NOT IN ('OUTSIDE', 'FRONTIER', 'DISALLOWED')";
    let world = World::with(&[Feature::Members]);
    let mut cluster = Cluster::new(CALM, SLICE);
    cluster.environment = vec![("MEMBER_PASSWORD", MEMBER.1.to_owned())];
    let file = members(&world, &cluster, "300ms");
    let alone = Home::new();
    let args = ["crawl", &file, "--project", PROJECT, "--progress", "none", "--no-index", "--delay", "0"];
    alone.start(&args, &[("MEMBER_PASSWORD", MEMBER.1)]).finish().expect(0);
    let wanted: BTreeSet<String> = alone.catalogue().column(FETCHED).into_iter().collect();
    world.server.reset();
    let args = ["crawl", &file, "--project", PROJECT, "--json", "--progress", "none"].map(str::to_owned).to_vec();
    let first = cluster.start(&[args, cluster.part(1)].concat());
    until("it is planted", || cluster.is_planted());
    let second = cluster.worker(2);
    let asked = |worker: u8| world.server.log().all().0.iter().filter(|r| r.peer == source(worker)).count();
    until("it collects", || cluster.visits() > 0);
    let busy = if asked(1) > 0 { 1 } else { 2 };
    let idle = 3 - busy;
    assert_eq!(asked(idle), 0, "two at once");
    // The other takes over when the first leaves.
    let (leaving, staying) = if busy == 1 { (first, second) } else { (second, first) };
    leaving.signal(Signal::TERM);
    drop(leaving.finish());
    cluster.wait_for_end();
    cluster.dismiss(vec![staying]);
    cluster.assert_done();
    assert_same("fetched", &cluster.column(FETCHED).into_iter().collect(), &wanted);
    assert!(asked(idle) > 0, "the other has never worked");
}

#[test]
fn a_log_in_that_takes_longer_than_a_lease_is_done_by_one_worker() {
    const LEASE: Duration = Duration::from_secs(6);
    let world = World::with(&[Feature::Members]);
    let mut cluster = Cluster::new(LEASE, SLICE);
    cluster.environment = vec![("MEMBER_PASSWORD", MEMBER.1.to_owned())];
    let file = members(&world, &cluster, "4s");
    let args = ["crawl", &file, "--project", PROJECT, "--json", "--progress", "none"].map(str::to_owned).to_vec();
    let first = cluster.start(&[args, cluster.part(1)].concat());
    until("it is planted", || cluster.is_planted());
    let second = cluster.worker(2);
    let askers = || world.server.log().all().0.iter().map(|request| request.peer).collect::<BTreeSet<_>>();
    until("somebody begins to log in", || !askers().is_empty());
    let began = Instant::now();
    until("the steps have led somewhere", || cluster.number("SELECT count(*) FROM seed WHERE step IS NOT NULL") > 0);
    assert!(began.elapsed() > LEASE + LEASE / 2, "it took only {:?}", began.elapsed());
    assert_eq!(cluster.number("SELECT count(*) FROM worker"), 1, "another has joined meanwhile");
    assert_eq!(askers().len(), 1, "two have logged in");
    cluster.dismiss(vec![first, second]);
}
