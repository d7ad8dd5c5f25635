//! What does a page cost PostgreSQL?
//!
//! `cargo bench -p orb-store --bench shared -- [take-over] [MILLIONS…]`: for each number of URLs
//! already known (1 and 10 million unless told otherwise), commits batches of 1,000 pages of 50
//! links each, five of them new and ten of them in other shards, from one worker into a private
//! PostgreSQL, and prints the processor time of the connections that commit (not of the server's
//! own processes, such as autovacuum), the log written and the wall time per page; then letters
//! that are written and consumed with and without a snapshot held open, leases on addresses, and
//! how long a worker takes to load a shard of a million URLs that another has left (with
//! `take-over`, that alone). It fails if a page costs more than it may.
//!
//! Ten million URLs take 3 GB of the temporary directory and some minutes, fifty million 14 GB and
//! half an hour.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails, and prints")]

#[path = "../../tests/cluster/mod.rs"]
mod cluster;

use cluster::worker::{SCHEMA, Store, Worker, letter};
use orb_page::{Discovered, HostId, LinkKind, Moment, PageId, PageKind, UrlKey, Visit};
use orb_store::{Admission, Batch, FinishedVisit, HostFact, QueuePlace, ShardId};
use orb_urls::Address;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BATCH: u64 = 1_000;
const BATCHES: u64 = 30;
const HOSTS: u64 = 200;
/// Rounds of letters that are measured together.
const ROUNDS: u64 = 200;
/// Rows that are filled in by one statement.
const FILLED: u64 = 5_000_000;

/// The most that a page may cost PostgreSQL: microseconds of processor, and kilobytes of log.
const MOST: PageCost = PageCost { processor: 100.0, log: 9.0 };
/// How many times as much it may cost among the most URLs as among the fewest.
const GROWTH: f64 = 1.3;
/// A shard of a million URLs is to be taken over within this.
const TAKEN: Duration = Duration::from_secs(5);

/// What a page costs PostgreSQL.
struct PageCost {
    /// Microseconds of its processor.
    processor: f64,
    /// Kilobytes of its log.
    log: f64,
}

/// Figures that are not what is wanted.
#[derive(Default)]
struct Missed(Vec<String>);

impl Missed {
    fn check(&mut self, what: &str, found: f64, most: f64) {
        if found > most {
            self.0.push(format!("{what}: {found:.2}, and at most {most:.2} is wanted"));
        }
    }

    /// What pages cost among so many millions of known URLs, from the fewest to the most.
    fn judge(&mut self, costs: &[(u64, PageCost)]) {
        for (millions, cost) in costs {
            self.check(&format!("µs of PostgreSQL a page at {millions} M"), cost.processor, MOST.processor);
            self.check(&format!("kB of log a page at {millions} M"), cost.log, MOST.log);
        }
        if let [(_, first), .., (millions, last)] = costs {
            let times = last.processor / first.processor;
            println!("a page among {millions} M known URLs costs {times:.2} times one among the fewest");
            self.check("times the processor of the fewest URLs", times, GROWTH);
        }
    }

    /// Ends the bench.
    fn tell(self) {
        self.0.iter().for_each(|missed| println!("missed: {missed}"));
        std::process::exit(i32::from(!self.0.is_empty()));
    }
}

fn main() {
    let mut missed = Missed::default();
    if std::env::args().any(|arg| arg == "take-over") {
        take_over(&mut missed);
        return missed.tell();
    }
    let mut sizes: Vec<u64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![1, 10];
    }
    sizes.sort_unstable();
    let store = Store::start();
    store.project();
    store.plant(&[]);
    let mut world = World::new(&store);
    let (mut filled, mut costs) = (0, Vec::new());
    println!("| known URLs | PostgreSQL µs/page | log kB/page | worker µs/page | wall ms/batch |");
    println!("|---|---|---|---|---|");
    for millions in sizes {
        let first = 1_000_000_000 + filled;
        let more = millions * 1_000_000 - filled;
        fill(&store, first, more);
        filled += more;
        costs.push((millions, world.measure(&store, &format!("{millions} M"))));
    }
    missed.judge(&costs);
    letters(&store, &mut world, false);
    letters(&store, &mut world, true);
    addresses(&store, &world);
    drop((world, store));
    take_over(&mut missed);
    missed.tell();
}

/// Rows as a long crawl has left them, beside those that are measured.
fn fill(store: &Store, first: u64, count: u64) {
    for begin in (first..first + count).step_by(usize::try_from(FILLED).unwrap()) {
        fill_some(store, begin, (begin + FILLED).min(first + count) - 1);
    }
    // Otherwise autovacuum would do it beside what is measured.
    store.server.run_sql(&format!("VACUUM (ANALYZE) {SCHEMA}.page_row"));
    store.server.run_sql(&format!("VACUUM (ANALYZE) {SCHEMA}.visit_row"));
    store.server.run_sql("CHECKPOINT");
}

fn fill_some(store: &Store, first: u64, last: u64) {
    store.server.run_sql(&format!(
        "SET search_path = {SCHEMA};
         INSERT INTO page_row (shard, kind, id, url, host, depth, redirects, priority, rank, at, by, origin)
         SELECT n % 16, 0, n, 'http://www.site' || n % 1000 || '.example/section/' || n % 97 || '/page-' || n || '.html', n % 1000, 3, 0, 0.5, n, n, 1, n / 5
         FROM generate_series({first}, {last}) AS n;
         INSERT INTO visit_row (shard, flag, kind, page, run, at, by, status, mime, length, transferred, digest, elapsed_ms)
         SELECT n % 16, 0, 1, n, 1, n, 1, 200, 'text/html', 20000, 5000, sha256(n::text::bytea), 100
         FROM generate_series({first}, {last}, 5) AS n; CHECKPOINT"
    ));
}

struct World {
    worker: Worker,
    hosts: Vec<HostId>,
    /// Pages to visit, with their hosts and URLs.
    waiting: std::collections::VecDeque<(PageId, usize, String)>,
    known: Vec<PageId>,
    serial: u64,
}

impl World {
    fn new(store: &Store) -> Self {
        let mut worker = Worker::join(&store.address(), "bench", Duration::from_secs(600));
        worker.settle();
        let mut world = Self {
            worker,
            hosts: Vec::new(),
            waiting: std::collections::VecDeque::new(),
            known: Vec::new(),
            serial: 0,
        };
        let mut batch = Batch { run: world.worker.run, ..Batch::default() };
        for host in 0..HOSTS {
            let address = Address::from_canonical(&format!("http://www.host{host}.example/")).unwrap();
            let id = world.worker.project.admit_host(&address.origin(), || Moment(1)).unwrap();
            world.hosts.push(id);
        }
        for _ in 0..BATCH {
            world.discover(&mut batch);
        }
        world.worker.project.commit(&mut batch).unwrap();
        world
    }

    fn discover(&mut self, batch: &mut Batch) -> (PageId, String) {
        self.serial += 1;
        let host = usize::try_from(self.serial * 7 % HOSTS).unwrap();
        let url = format!("http://www.host{host}.example/section/{}/page-{}.html", self.serial % 97, self.serial);
        let mut out = Vec::new();
        self.worker.project.admit(&[UrlKey::of(&url)], &mut out).unwrap();
        let Admission::New(page) = out[0] else { panic!("{url} is known") };
        batch.discovered.push(Discovered {
            page,
            url: url.clone(),
            key: UrlKey::of(&url),
            host: self.hosts[host],
            kind: PageKind::Frontier,
            why: None,
            depth: 3,
            redirects: 0,
            priority: 0.5,
            rank: page.0,
            at: Moment(1_700_000_000_000),
            by: Arc::from("bench"),
            step: None,
            asked: None,
            from: Some(PageId(1)),
        });
        self.waiting.push_back((page, host, url.clone()));
        self.known.push(page);
        (page, url)
    }

    /// A thousand pages: 35 links to known pages, 5 to new ones, 10 into other shards.
    fn batch(&mut self) -> Batch {
        let mut batch = Batch { run: self.worker.run, ..Batch::default() };
        for n in 0..BATCH {
            let (page, host, url) = self.waiting.pop_front().unwrap();
            let shard = self.worker.project.shard_of(&format!("www.host{host}.example")).unwrap();
            let mut visit = Visit::blank(page, self.hosts[host], url, Moment(1_700_000_000_000), Arc::from("bench"));
            (visit.kind, visit.status, visit.length, visit.transferred) = (PageKind::Html, Some(200), 31_000, 8_000);
            visit.digest = Some(std::array::from_fn(|at| (page.0 >> (at % 8 * 8)) as u8));
            (visit.mime, visit.charset) = (Some("text/html".into()), Some("UTF-8".into()));
            visit.title = Some(format!("The title of page {n} as people write it"));
            let mut targets = Vec::new();
            for link in 0..50u64 {
                let (target, to) = match link {
                    0..10 => (PageId(0), format!("http://elsewhere{}.example/path/{n}/{link}", n % 500)),
                    10..15 => self.discover(&mut batch),
                    _ => (
                        self.known[(n * 31 + link * 17) as usize % self.known.len()],
                        format!("http://www.host1.example/{link}"),
                    ),
                };
                visit.links.push(&to, UrlKey::of(&format!("{to}{link}")), LinkKind::A, "some words of a link");
                if target.0 == 0 {
                    let foreign = Address::from_canonical(&to).unwrap();
                    batch
                        .letters
                        .push((self.worker.project.shard_of(foreign.host()).unwrap(), letter(&to, (page, shard))));
                }
                targets.push(target);
            }
            batch.finished.push(QueuePlace { host: self.hosts[host], rank: page.0, page });
            batch.visits.push(FinishedVisit::unarchived(visit, targets));
            batch.facts.push(HostFact { id: self.hosts[host], pages: 1, ..HostFact::default() });
        }
        batch
    }

    fn measure(&mut self, store: &Store, size: &str) -> PageCost {
        // The first fills caches and plans.
        let mut batch = self.batch();
        self.worker.project.commit(&mut batch).unwrap();
        // A commit is a few ticks of the clock that counts processor time: all of them together are
        // enough.
        let (mut sum, began) = (Spent::default(), store.server.cpu());
        for _ in 0..BATCHES {
            let mut batch = self.batch();
            let before = Spent::now(store);
            self.worker.project.commit(&mut batch).unwrap();
            sum.add(&before, &Spent::now(store));
            // Letters are somebody else's: they are measured by themselves.
            store.server.run_sql(&format!("TRUNCATE {SCHEMA}.letter"));
        }
        sum.server = store.server.cpu() - began;
        let pages = (BATCH * BATCHES) as f64;
        let cost = PageCost { processor: sum.server.as_secs_f64() * 1e6 / pages, log: sum.log as f64 / 1e3 / pages };
        println!(
            "| {size} | {:.1} | {:.2} | {:.1} | {:.0} |",
            cost.processor,
            cost.log,
            sum.own.as_secs_f64() * 1e6 / pages,
            sum.wall.as_secs_f64() * 1e3 / BATCHES as f64
        );
        cost
    }
}

#[derive(Default)]
struct Spent {
    server: Duration,
    own: Duration,
    wall: Duration,
    log: i64,
    at: Option<Instant>,
}

impl Spent {
    fn now(store: &Store) -> Self {
        let log = store.server.number("SELECT (pg_current_wal_lsn() - '0/0')::bigint");
        Self { server: Duration::ZERO, own: own_cpu(), wall: Duration::ZERO, log, at: Some(Instant::now()) }
    }

    fn add(&mut self, before: &Self, after: &Self) {
        self.own += after.own.saturating_sub(before.own);
        self.log += after.log - before.log;
        self.wall += after.at.unwrap() - before.at.unwrap();
    }
}

fn own_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

/// Letters to our own shards, written and consumed, while a reader holds an old snapshot or not: at
/// first, and when very many consumed ones are still there for that reader.
fn letters(store: &Store, world: &mut World, held: bool) {
    let holder = held.then(|| store.server.hold_snapshot());
    let shards = u64::from(cluster::worker::SHARDS);
    let mut round = 0;
    for (label, skipped) in
        [("at first", 0), ("after 16,000 rows", 1_000 - ROUNDS), ("after 32,000 rows", 1_000 - ROUNDS)]
    {
        (0..skipped).for_each(|_| write_and_consume(world, &mut round));
        let (before, cpu) = (Spent::now(store), store.server.cpu());
        (0..ROUNDS).for_each(|_| write_and_consume(world, &mut round));
        let mut sum = Spent { server: store.server.cpu() - cpu, ..Spent::default() };
        sum.add(&before, &Spent::now(store));
        let rows = (ROUNDS * shards) as f64;
        println!(
            "letters{}, {label}: {:.1} µs of PostgreSQL and {:.2} kB of log a row (20 letters each), {:.2} ms a round",
            if holder.is_some() { " under a held snapshot" } else { "" },
            sum.server.as_secs_f64() * 1e6 / rows,
            sum.log as f64 / 1e3 / rows,
            sum.wall.as_secs_f64() * 1e3 / ROUNDS as f64
        );
    }
}

/// A row of letters for each shard, and the commit that consumes them.
fn write_and_consume(world: &mut World, round: &mut u64) {
    *round += 1;
    let shards = u64::from(cluster::worker::SHARDS);
    let all = (0..shards * 20).map(|n| {
        let url = format!("http://elsewhere{n}.example/{round}");
        (ShardId(u16::try_from(n % shards).unwrap()), letter(&url, (PageId(1), ShardId(0))))
    });
    let run = world.worker.run;
    let mut batch = Batch { run, letters: all.collect(), ..Batch::default() };
    world.worker.project.commit(&mut batch).unwrap();
    let held = world.worker.project.held();
    let read = world.worker.mail.read(&held, usize::MAX).unwrap().into_iter().map(|delivery| delivery.id).collect();
    let mut batch = Batch { run, read, ..Batch::default() };
    world.worker.commit(&mut batch).unwrap();
}

/// Leases on ten thousand addresses, taken and renewed.
fn addresses(store: &Store, world: &World) {
    let mut desk = world.worker.member.addresses(Duration::from_secs(1)).unwrap();
    let ips: Vec<std::net::IpAddr> = (0..10_000u32).map(|n| std::net::Ipv4Addr::from(0x0a00_0000 + n).into()).collect();
    for what in ["taken", "renewed", "renewed"] {
        // The connection is there before it is measured.
        desk.ask(&ips[..1], &[], Duration::from_secs(60)).unwrap();
        let (before, cpu) = (Spent::now(store), store.server.cpu());
        for some in ips.chunks(500) {
            desk.ask(some, &[], Duration::from_secs(60)).unwrap();
        }
        let mut sum = Spent { server: store.server.cpu() - cpu, ..Spent::default() };
        sum.add(&before, &Spent::now(store));
        let rows = ips.len() as f64;
        println!(
            "addresses {what}: {:.1} µs of PostgreSQL and {:.0} B of log a row",
            sum.server.as_secs_f64() * 1e6 / rows,
            sum.log as f64 / rows
        );
    }
}

/// A shard of a million URLs on a hundred hosts, a fifth of them visited, whose rows lie between
/// those of nine others: from its taking to the first page that can be leased.
fn take_over(missed: &mut Missed) {
    const PAGES: u64 = 1_000_000;
    const SHARDS: u64 = 10;
    let store = Store::start();
    store.project();
    store.plant(&[]);
    let mut worker = Worker::join(&store.address(), "heir", Duration::from_secs(600));
    let of_shard = |name: &String| worker.project.shard_of(name).unwrap() == ShardId(0);
    let hosts: Vec<String> = (0..).map(|n| format!("www.site{n}.example")).filter(of_shard).take(100).collect();
    let rows = hosts.iter().enumerate().map(|(id, name)| format!("(0, {}, 'http', '{name}', 80, 1)", id + 1));
    store.server.run_sql(&format!(
        "SET search_path = {SCHEMA};
         INSERT INTO host_row (shard, id, scheme, name, port, first_seen) VALUES {};
         INSERT INTO page_row (shard, kind, id, url, host, depth, redirects, priority, rank, at, by, origin)
         SELECT n % {SHARDS}, 0, n, 'http://' || h.name || '/section/' || n % 97 || '/page-' || n || '.html', h.id, 3, 0, 0.5, n, n, 1, n / 5
         FROM generate_series(1, {all}) AS n JOIN host_row h ON h.id = n / {SHARDS} % 100 + 1 ORDER BY n;
         INSERT INTO visit_row (shard, flag, kind, page, run, at, by, status, mime, length, transferred, digest, elapsed_ms)
         SELECT n % {SHARDS}, 0, 1, n, 1, n, 1, 200, 'text/html', 20000, 5000, sha256(n::text::bytea), 100
         FROM generate_series(1, {all}) AS n WHERE n / {SHARDS} % 5 = 0;
         INSERT INTO digest_row SELECT n % {SHARDS}, sha256(n::text::bytea), n FROM generate_series(1, {all}, 5) AS n;
         UPDATE project SET next_page = {all} + 1, next_host = 101",
        rows.collect::<Vec<_>>().join(", "),
        all = PAGES * SHARDS,
    ));
    for table in ["page_row", "visit_row", "digest_row"] {
        store.server.run_sql(&format!("VACUUM (ANALYZE) {SCHEMA}.{table}"));
    }
    let (begun, before) = (Instant::now(), own_cpu());
    let taken = worker.clerk.take(1).unwrap();
    assert_eq!(worker.project.adopt(&taken).unwrap().pages, PAGES);
    let took = begun.elapsed().as_secs_f64();
    missed.check("seconds to take over a shard of a million URLs", took, TAKEN.as_secs_f64());
    println!(
        "a shard of a million URLs, one of {SHARDS}, taken over in {took:.2} s, {:.2} s of the worker's processor",
        (own_cpu() - before).as_secs_f64()
    );
}
