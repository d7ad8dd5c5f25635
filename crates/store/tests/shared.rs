//! Do the facts of many workers come together exactly once?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod cluster;

use cluster::proxy::Proxy;
use cluster::until;
use cluster::worker::{SCHEMA, SHARDS, Store, Worker, letter, scratch};
use orb_page::{HostId, Moment, PageId, RunId, RunKind, RunState};
use orb_store::{
    AddressRelease, Batch, PlantedRun, RunTerms, SeedToPlant, ShardId, SharedMaking, SharedProject, StoreError,
    WorkerReport, shard_of,
};
use std::net::IpAddr;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(500);

/// Sites on all shards, each of which links to the next two and to pages of its own.
fn site(n: usize) -> String {
    format!("http://site{n}.org/")
}

fn links_of(url: &str) -> Vec<String> {
    let n: usize = url.trim_start_matches("http://site").split('.').next().unwrap().parse().unwrap();
    if url.ends_with("org/") {
        vec![site((n + 1) % 40), site((n + 7) % 40), format!("{url}a"), format!("{url}b")]
    } else {
        vec![site(n), site((n + 3) % 40)]
    }
}

/// Lets workers digest and visit until nothing is left.
fn crawl(workers: &mut [Worker]) {
    loop {
        let mut busy = false;
        for worker in workers.iter_mut() {
            let mut batch = worker.digest();
            busy |= !batch.read.is_empty();
            worker.commit(&mut batch).unwrap();
            let mut batch = worker.visit(25, links_of);
            busy |= !batch.visits.is_empty();
            worker.commit(&mut batch).unwrap();
        }
        if !busy {
            return;
        }
    }
}

/// What 40 sites with 3 pages each must have become.
fn is_complete(store: &Store) {
    assert_eq!((store.count("page_row"), store.count("visit_row")), (120, 120));
    assert_eq!(store.count("link_row"), 40 * 4 + 80 * 2);
    assert_eq!(store.server.number(&format!("SELECT count(DISTINCT url) FROM {SCHEMA}.page_row")), 120);
    let pairs = format!("(SELECT DISTINCT source, dst, kind FROM {SCHEMA}.link_row) l");
    assert_eq!(store.server.number(&format!("SELECT count(*) FROM {pairs}")), 320);
    assert_eq!(store.count("letter"), 0);
    let orphans = "link_row l WHERE NOT EXISTS (SELECT 1 FROM orb_demo.page_row p WHERE p.id = l.dst)";
    assert_eq!(store.count(orphans), 0);
}

#[test]
fn three_workers_collect_what_one_would_and_the_run_ends_in_one_snapshot() {
    let store = Store::start();
    let mut project = store.project();
    let run = store.plant(&[&site(0)]);
    let mut workers: Vec<Worker> = (0..3).map(|n| Worker::join(&store.address(), &format!("w{n}"), LONG)).collect();
    let held: Vec<usize> = workers.iter_mut().map(Worker::settle).collect();
    assert_eq!(held, [6, 5, 5], "shares of {SHARDS} shards");
    assert!(!project.end_if_done(run).unwrap(), "there is a letter, and nobody is idle");
    crawl(&mut workers);
    is_complete(&store);
    assert!(!project.end_if_done(run).unwrap(), "nobody has said that it is idle");
    for worker in &mut workers {
        worker.commit(&mut Batch { run, idle: Some(run), ..Batch::default() }).unwrap();
    }
    assert!(project.end_if_done(run).unwrap());
    assert_eq!(project.last_run().unwrap().unwrap().record.state.name(), RunState::Done.name());
    assert_eq!(store.count("worker w WHERE w.alive"), 3);
    // The views have the contract's columns and the numbers of the tables.
    assert_eq!(store.count("page p WHERE p.kind = 'HTML' AND p.discovered_at LIKE '1970-%Z'"), 120);
    assert_eq!(store.count("link l JOIN orb_demo.page s ON s.id = l.src JOIN orb_demo.page d ON d.id = l.dst"), 320);
    assert_eq!(store.count("visit"), 120);
    assert_eq!(store.count("host"), 40);
}

#[test]
fn a_buried_workers_commit_is_refused_and_another_goes_on_from_what_was_committed() {
    let store = Store::start();
    store.project();
    store.plant(&[&site(0)]);
    let mut lost = Worker::join(&store.address(), "lost", SHORT);
    lost.settle();
    let mut batch = lost.digest();
    lost.commit(&mut batch).unwrap();
    let mut never = lost.visit(1, links_of);
    assert_eq!(never.visits.len(), 1);
    let mut heir = Worker::join(&store.address(), "heir", LONG);
    until("the burial", || {
        heir.clerk.beat(&WorkerReport::default()).unwrap();
        store.count("worker w WHERE NOT w.alive") == 1
    });
    assert!(matches!(lost.project.commit(&mut never), Err(StoreError::Fenced { .. })));
    assert!(matches!(lost.clerk.beat(&WorkerReport::default()), Err(StoreError::Fenced { .. })));
    assert_eq!(store.count("visit_row"), 0, "a buried worker records nothing");
    assert_eq!(heir.settle(), usize::from(SHARDS));
    crawl(std::slice::from_mut(&mut heir));
    is_complete(&store);
    // A worker that was buried comes back under another number, with a new scratch copy.
    let card = orb_store::WorkerCard { name: "lost".into(), machine: "m".into(), weight: 1, lease: LONG };
    let again = store.project().join(&card).unwrap();
    assert!(again.worker() > lost.member.worker());
    assert_eq!(scratch(&again).1.urls_known(), 0);
}

#[test]
fn a_commit_whose_answer_is_lost_happens_once() {
    let store = Store::start();
    store.project();
    store.plant(&[&site(0)]);
    let proxy = Proxy::to(store.server.port);
    let mut worker = Worker::join(&store.address_at(proxy.port), "w", LONG);
    worker.settle();
    let mut rounds = 0;
    for round in 0.. {
        let mut batch = if round == 0 { worker.digest() } else { worker.visit(9, links_of) };
        if batch.read.is_empty() && batch.visits.is_empty() {
            break;
        }
        proxy.cut_after_next_commit();
        let first = worker.project.commit(&mut batch);
        assert!(matches!(first, Err(StoreError::StoreAway { .. })), "{first:?}");
        let again = worker.commit(&mut batch).unwrap();
        assert_eq!(Some(again.batch), batch.recorded);
        rounds += 1;
    }
    assert!(rounds > 5 && proxy.cuts() == rounds, "{rounds}");
    is_complete(&store);
    assert_eq!(store.server.number(&format!("SELECT batch FROM {SCHEMA}.worker")), rounds.cast_signed());
}

#[test]
fn a_server_that_was_away_buries_nobody_and_the_same_worker_goes_on() {
    let mut store = Store::start();
    store.project();
    store.plant(&[&site(0)]);
    // Longer than a server takes to come up on a busy machine.
    let lease = Duration::from_secs(10);
    let mut workers = [Worker::join(&store.address(), "a", lease), Worker::join(&store.address(), "b", lease)];
    workers.iter_mut().for_each(|worker| _ = worker.settle());
    let mut batch = workers[0].digest();
    let mut other = workers[1].digest();
    store.server.crash();
    assert!(matches!(workers[0].project.commit(&mut batch), Err(StoreError::StoreAway { .. })));
    assert!(matches!(workers[1].clerk.beat(&WorkerReport::default()), Err(StoreError::StoreAway { .. })));
    // All leases run out while it is away.
    std::thread::park_timeout(lease + Duration::from_millis(200));
    store.server.restart();
    workers[1].clerk.beat(&WorkerReport::default()).unwrap();
    assert_eq!(store.count("worker w WHERE w.alive"), 2, "the first to come back buries nobody");
    workers[0].clerk.beat(&WorkerReport::default()).unwrap();
    workers[0].commit(&mut batch).unwrap();
    workers[1].commit(&mut other).unwrap();
    crawl(&mut workers);
    is_complete(&store);
}

/// A server that crashed accepts nobody while it recovers, and has been up all that time.
#[test]
fn a_server_that_has_recovered_for_longer_than_a_lease_buries_nobody_at_once() {
    let mut store = Store::start();
    store.project();
    store.plant(&[]);
    let lease = Duration::from_secs(4);
    let [mut back, mut late] = ["back", "late"].map(|name| Worker::join(&store.address(), name, lease));
    store.server.crash();
    assert!(matches!(back.clerk.beat(&WorkerReport::default()), Err(StoreError::StoreAway { .. })));
    store.server.restart();
    let up = "SELECT (extract(epoch FROM now() - pg_postmaster_start_time()) * 1000)::bigint";
    until("it has been up for a lease", || store.server.number(up) > 4_100);
    back.clerk.beat(&WorkerReport::default()).unwrap();
    assert_eq!(store.count("worker w WHERE w.alive"), 2, "the other has not had the time to come back");
    late.clerk.beat(&WorkerReport::default()).unwrap();
    // One that does not come is buried after all.
    until("the burial", || {
        back.clerk.beat(&WorkerReport::default()).unwrap();
        store.count("worker w WHERE NOT w.alive AND w.name = 'late'") == 1
    });
}

fn host_of(row: &tokio_postgres::Row) -> HostId {
    HostId(row.get::<_, i32>(0).cast_unsigned())
}

#[test]
fn shards_are_given_away_in_a_commit_and_come_back_as_they_are_then() {
    let store = Store::start();
    store.project();
    store.plant(&[&site(0)]);
    let mut old = Worker::join(&store.address(), "old", LONG);
    assert_eq!(old.settle(), usize::from(SHARDS));
    let mut batch = old.digest();
    old.commit(&mut batch).unwrap();
    let mut batch = old.visit(1, links_of);
    old.commit(&mut batch).unwrap();
    let mut young = Worker::join(&store.address(), "young", LONG);
    let beat = old.clerk.beat(&WorkerReport::default()).unwrap();
    assert_eq!((beat.share, beat.held.len(), beat.free), (8, 16, 0));
    assert_eq!(young.settle(), 0, "nothing is free");
    let gifts: Vec<ShardId> = beat.held[..8].to_vec();
    let hosts = store.server.rows(&format!("SELECT id, shard FROM {SCHEMA}.host_row"));
    let known = |worker: &Worker| {
        let has = |row: &&tokio_postgres::Row| worker.project.has_host(host_of(row)).unwrap();
        hosts.iter().filter(has).map(|row| ShardId(row.get::<_, i16>(1).cast_unsigned())).collect::<Vec<_>>()
    };
    assert_eq!(known(&old).len(), hosts.len());
    old.commit(&mut Batch { run: old.run, gifts: gifts.clone(), ..Batch::default() }).unwrap();
    assert_eq!(old.project.held().len(), 8);
    let left = known(&old);
    assert!(!left.is_empty() && left.len() < hosts.len() && left.iter().all(|shard| !gifts.contains(shard)));
    let pages = store.count("page_row");
    let queued = old.project.queued();
    assert_eq!(young.settle(), 8);
    assert_eq!(young.project.held(), gifts);
    assert_eq!(young.project.queued() + queued, pages.cast_unsigned() - 1, "each queue is in one place");
    crawl(std::slice::from_mut(&mut young));
    let mut both = [old, young];
    crawl(&mut both);
    is_complete(&store);
    let [mut old, mut young] = both;
    young.clerk.leave().unwrap();
    assert_eq!(old.settle(), 8, "who leaves frees its shards at once");
    assert_eq!(old.project.queued(), 0);
    assert!(old.project.owns("site1.org"));
}

#[test]
fn budgets_are_drawn_in_tickets_and_what_is_left_goes_back() {
    let store = Store::start();
    store.project();
    let run = store.plant(&[&site(0)]);
    let mut spender = Worker::join(&store.address(), "spender", SHORT);
    spender.settle();
    assert_eq!(spender.clerk.draw(run, 600).unwrap(), Some(600));
    let mut batch = spender.digest();
    batch.spent = 100;
    spender.commit(&mut batch).unwrap();
    let mut other = Worker::join(&store.address(), "other", LONG);
    assert_eq!(other.clerk.draw(run, 600).unwrap(), Some(400));
    assert_eq!(other.clerk.draw(run, 600).unwrap(), Some(0));
    until("the burial", || {
        other.clerk.beat(&WorkerReport::default()).unwrap();
        store.count("worker w WHERE NOT w.alive") == 1
    });
    assert_eq!(other.clerk.draw(run, 600).unwrap(), Some(500), "the dead spend nothing more");
    assert_eq!(store.project().overview().unwrap().workers.len(), 1);
}

/// The worker was stopped while it drew on the budget, say: it holds a row that every commit needs.
#[test]
fn a_dead_worker_that_holds_a_lock_keeps_nobody_waiting() {
    let store = Store::start();
    store.project();
    let run = store.plant(&[&site(0)]);
    let mut lost = Worker::join(&store.address(), "lost", SHORT);
    lost.clerk.draw(run, 600).unwrap();
    let name = "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE '% clerk lost'";
    let name: String = store.server.rows(name)[0].get(0);
    let lock = format!("BEGIN; SELECT 1 FROM {SCHEMA}.run_row FOR UPDATE; SELECT 1 FROM {SCHEMA}.shard FOR UPDATE");
    let _stopped = store.server.fall_silent(&name, &lock);
    let mut heir = Worker::join(&store.address(), "heir", LONG);
    let began = Instant::now();
    until("the burial", || {
        heir.clerk.beat(&WorkerReport::default()).unwrap();
        store.count("worker w WHERE NOT w.alive") == 1
    });
    assert_eq!(heir.clerk.draw(run, 2_000).unwrap(), Some(1_000), "what it had drawn is back");
    assert_eq!(heir.settle(), usize::from(SHARDS), "its shards are free");
    crawl(std::slice::from_mut(&mut heir));
    is_complete(&store);
    // The server ends a transaction that rests for a minute: nobody has waited for that.
    assert!(began.elapsed() < Duration::from_secs(55), "it took {:?}", began.elapsed());
    assert_eq!(store.count("worker w WHERE w.ticket > 0 AND NOT w.alive"), 0);
}

#[test]
fn who_draws_does_not_wait_for_a_lock_longer_than_it_may_be_silent() {
    let store = Store::start();
    store.project();
    let run = store.plant(&[&site(0)]);
    let lease = Duration::from_secs(15);
    let mut worker = Worker::join(&store.address(), "w", lease);
    worker.settle();
    let held = store.server.fall_silent("somebody", &format!("BEGIN; SELECT 1 FROM {SCHEMA}.run_row FOR UPDATE"));
    let began = Instant::now();
    assert!(matches!(worker.clerk.draw(run, 10), Err(StoreError::StoreAway { .. })));
    assert!(began.elapsed() < lease, "it took {:?}", began.elapsed());
    worker.clerk.beat(&WorkerReport::default()).unwrap();
    drop(held);
    until("the row is free", || worker.clerk.draw(run, 10).is_ok_and(|drawn| drawn == Some(10)));
    worker.clerk.give_back(run).unwrap();
    assert_eq!(store.server.number(&format!("SELECT budget_left FROM {SCHEMA}.run_row")), 1_000);
}

#[test]
fn a_transaction_that_falls_silent_is_ended_by_the_server() {
    let store = Store::start();
    store.project();
    store.plant(&[&site(0)]);
    let proxy = Proxy::to(store.server.port);
    let mut worker = Worker::join(&store.address_at(proxy.port), "w", Duration::from_secs(5));
    worker.settle();
    let mut batch = worker.digest();
    proxy.stall_after_next_begin();
    let first = worker.project.commit(&mut batch);
    assert!(proxy.has_stalled() && matches!(first, Err(StoreError::StoreAway { .. })), "{first:?}");
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    until("the server has given it up", || store.server.number(open) == 0);
    worker.commit(&mut batch).unwrap();
    crawl(std::slice::from_mut(&mut worker));
    is_complete(&store);
}

#[test]
fn a_run_is_taken_up_with_its_seeds_and_one_that_is_refused_changes_nothing() {
    let store = Store::start();
    let mut project = store.project();
    let run = store.plant(&[&site(0)]);
    let mut worker = Worker::join(&store.address(), "w", LONG);
    worker.settle();
    crawl(std::slice::from_mut(&mut worker));
    worker.commit(&mut Batch { run, idle: Some(run), ..Batch::default() }).unwrap();
    project.finish_run(run, RunState::Stopped).unwrap();
    let seeds = [SeedToPlant { url: site(50), step: None }];
    let terms = |text: &str| RunTerms { kept: Some(text.to_owned()), ..RunTerms::default() };
    // Nothing is queued and every shard rests: only the seed keeps the run open.
    project.resume_on(run, Some(7), &terms("resumed"), &seeds).unwrap();
    assert!(!project.end_if_done(run).unwrap());
    assert_eq!(project.last_run().unwrap().unwrap().budget, Some(7));
    assert_eq!(project.settings().unwrap(), "resumed");
    // One that goes on keeps its budget.
    project.resume_on(run, Some(9), &terms("again"), &[]).unwrap();
    assert_eq!(project.last_run().unwrap().unwrap().budget, Some(7));
    project.finish_run(run, RunState::Done).unwrap();
    assert!(project.resume_on(run, None, &terms("refused"), &seeds).is_err(), "it is over");
    let planted = PlantedRun {
        kind: RunKind::Crawl,
        settings: "s".to_owned(),
        budget: None,
        machines: Vec::new(),
        seeds: Vec::new(),
        by: "planter".into(),
    };
    let taken = RunTerms { number: Some(run), ..terms("refused") };
    assert!(project.plant_on(&planted, &taken).is_err(), "there is such a run");
    assert_eq!(project.settings().unwrap(), "again");
    assert_eq!(store.count("letter"), 1, "the seed, once");
}

#[test]
fn the_index_of_links_that_was_broken_off_is_made_again() {
    let store = Store::start();
    let mut project = store.project();
    let run = store.plant(&[&site(0)]);
    project.finish_run(run, RunState::Stopped).unwrap();
    let valid =
        format!("SELECT count(*) FROM pg_index WHERE indexrelid = '{SCHEMA}.link_by_source'::regclass AND indisvalid");
    assert_eq!(store.server.number(&valid), 1);
    store.server.run_sql(&format!(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{SCHEMA}.link_by_source'::regclass"
    ));
    project.resume_run(run, None).unwrap();
    project.finish_run(run, RunState::Stopped).unwrap();
    assert_eq!(store.server.number(&valid), 1);
}

#[test]
fn a_worker_knows_the_time_of_the_store() {
    let store = Store::start();
    store.project();
    let worker = Worker::join(&store.address(), "w", LONG);
    let now = || Moment(store.server.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"));
    let (before, told, after) = (now(), worker.member.store_time(), now());
    assert!(told <= after, "never ahead of it");
    assert!(before.since(told) < Duration::from_secs(30), "{told:?}, and it was {before:?}");
}

#[test]
fn an_address_has_one_holder_and_its_gap_travels_with_it() {
    let store = Store::start();
    store.project();
    let (a, b) = (Worker::join(&store.address(), "a", LONG), Worker::join(&store.address(), "b", LONG));
    let delay = Duration::from_secs(60);
    let (mut a, mut b) = (a.member.addresses(delay).unwrap(), b.member.addresses(delay).unwrap());
    let ips: Vec<IpAddr> = vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
    let slice = Duration::from_secs(30);
    let got = a.ask(&ips, &[], slice).unwrap();
    assert_eq!((got.granted.len(), got.refused.len(), got.contested.len()), (2, 0, 0));
    assert_eq!(b.ask(&ips[..1], &[], slice).unwrap().refused, ips[..1]);
    assert_eq!(a.ask(&ips, &[], slice).unwrap().contested, ips[..1], "the holder learns that it is wanted");
    a.ask(&[], &[AddressRelease { ip: ips[0], open_in: Duration::from_secs(40) }], slice).unwrap();
    let got = b.ask(&ips[..1], &[], Duration::from_millis(50)).unwrap();
    let wait = got.granted[0].open_in;
    assert!(wait <= Duration::from_secs(40) && wait > Duration::from_secs(10), "{wait:?}");
    assert!(got.contested.is_empty());
    // A lease that runs out unreleased opens a delay after its end.
    until("the end of the slice", || !a.ask(&ips[..1], &[], slice).unwrap().granted.is_empty());
    let got = a.ask(&ips[..1], &[], slice).unwrap();
    assert!(got.granted[0].open_in > Duration::from_secs(30), "{got:?}");
}

#[test]
fn strangers_are_refused_in_one_line() {
    let store = Store::start();
    store.project();
    let at = store.address();
    let said = |name: &str| SharedProject::open(&at, name).map(drop).unwrap_err().to_string();
    assert_eq!(said("absent"), "there is no project absent in this store");
    store.server.run_sql("CREATE SCHEMA orb_theirs; CREATE TABLE orb_theirs.project (id int)");
    assert!(said("theirs").contains("another program"), "{}", said("theirs"));
    store.server.run_sql(&format!("UPDATE {SCHEMA}.project SET version = 99"));
    assert!(said("demo").contains("format 99, of a newer version"), "{}", said("demo"));
    store.server.run_sql(&format!("UPDATE {SCHEMA}.project SET version = 3, fingerprint = '1-abc'"));
    let line = said("demo");
    assert!(line.contains("1-abc") && line.contains("fingerprint"), "{line}");
    let nobody =
        orb_store::SharedAddress { postgres: "postgres://orb@127.0.0.1:1/x?sslmode=disable".into(), ..at.clone() };
    assert!(matches!(SharedProject::open(&nobody, "demo"), Err(StoreError::StoreAway { .. })));
    let tls = orb_store::SharedAddress { postgres: at.postgres.replace("disable", "require"), ..at.clone() };
    let line = SharedProject::open(&tls, "demo").map(drop).unwrap_err().to_string();
    assert!(line.contains("TLS"), "{line}");
    let bad = orb_store::SharedAddress { archive: "ftp://x".into(), ..at.clone() };
    let line = SharedProject::create(&bad, "p", &SharedMaking::default()).map(drop).unwrap_err().to_string();
    assert!(line.contains("s3://bucket"), "{line}");
    let names: Vec<String> =
        SharedProject::list(&at).map(|list| list.into_iter().map(|p| p.name).collect()).unwrap_or_default();
    assert!(!names.contains(&"absent".to_owned()));
}

#[test]
fn letters_that_were_read_and_not_committed_are_read_again_by_whoever_comes_next() {
    let store = Store::start();
    store.project();
    store.plant(&[&site(0), &site(1), &site(2)]);
    let mut first = Worker::join(&store.address(), "first", SHORT);
    first.settle();
    let unread = first.digest();
    assert_eq!(unread.discovered.len(), 3);
    assert!(first.digest().read.is_empty(), "a mailbox delivers once");
    let mut heir = Worker::join(&store.address(), "heir", LONG);
    until("the burial", || {
        heir.clerk.beat(&WorkerReport::default()).unwrap();
        store.count("worker w WHERE NOT w.alive") == 1
    });
    heir.settle();
    let mut batch = heir.digest();
    assert_eq!(batch.discovered.len(), 3);
    heir.commit(&mut batch).unwrap();
    // A letter that is consumed twice would be a doubled link: the batch is refused.
    let mut twice = Batch { run: RunId(1), read: batch.read.clone(), ..Batch::default() };
    assert!(matches!(heir.project.commit(&mut twice), Err(StoreError::BadBatch(_))));
    let mut fine = heir.visit(3, links_of);
    heir.commit(&mut fine).unwrap();
    let no = letter("http://site9.org/", (PageId(1), shard_of("site1.org", SHARDS)));
    assert_eq!(no.clone(), no);
}

#[test]
fn what_is_pulled_is_a_project_that_every_reader_knows() {
    let store = Store::start();
    let mut project = store.project();
    let run = store.plant(&[&site(0)]);
    project.add_seeds(run, &[SeedToPlant { url: site(5), step: None }]).unwrap();
    assert_eq!(project.seeds_after(0).unwrap().len(), 2);
    let mut worker = Worker::join(&store.address(), "w", LONG);
    worker.settle();
    crawl(std::slice::from_mut(&mut worker));
    let home = tempfile::TempDir::new().unwrap();
    let dir = orb_store::Home::open(home.path()).unwrap().project("copy").unwrap();
    assert_eq!(project.pull(&dir, false).unwrap().pages, 120);
    let reader = orb_store::CatalogueReader::open(&dir).unwrap();
    let page = reader.page(PageId(1)).unwrap().unwrap();
    assert!(page.url.contains("site"));
    assert_eq!(reader.links_out(PageId(1), 10, 0).unwrap().len(), 4);
    assert_eq!(reader.runs().unwrap().len(), 1);
}

#[test]
fn a_shard_that_several_take_at_once_is_held_by_one() {
    const ROUNDS: usize = 300;
    let store = Store::start();
    store.project();
    let members: Vec<_> = (0..4).map(|n| Worker::join(&store.address(), &format!("w{n}"), LONG).member).collect();
    let mut desks: Vec<_> = members.iter().map(|member| member.clerk().unwrap()).collect();
    for round in 0..ROUNDS {
        let barrier = Barrier::new(desks.len());
        let taken: Vec<Vec<ShardId>> = std::thread::scope(|threads| {
            let takers: Vec<_> = desks
                .iter_mut()
                .map(|desk| {
                    threads.spawn(|| {
                        barrier.wait();
                        desk.take(SHARDS).unwrap()
                    })
                })
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        let mut all = taken.concat();
        all.sort_unstable();
        assert!(all.is_sorted_by(|a, b| a < b), "round {round}: {taken:?}");
        store.server.run_sql(&format!("UPDATE {SCHEMA}.shard SET worker = NULL"));
    }
}

#[test]
fn pages_of_a_shard_that_is_held_elsewhere_are_not_recorded() {
    let store = Store::start();
    store.project();
    store.plant(&[&site(0)]);
    let mut worker = Worker::join(&store.address(), "w", LONG);
    worker.settle();
    let mut batch = worker.digest();
    let other = Worker::join(&store.address(), "other", LONG);
    let (shard, other) = (shard_of("site0.org", SHARDS), other.member.worker());
    store.server.run_sql(&format!("UPDATE {SCHEMA}.shard SET worker = {} WHERE id = {}", other.0, shard.0));
    assert!(matches!(worker.project.commit(&mut batch), Err(StoreError::Fenced { .. })));
    assert_eq!((store.count("page_row"), store.count("letter")), (0, 1), "nothing has happened");
}
