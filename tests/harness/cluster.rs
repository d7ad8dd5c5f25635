//! How do several workers run on one machine, each with an address of its own?

use super::orb::{Finished, Home, PROJECT, Running};
use super::postgres::{PASSWORD, Postgres};
use super::until;
use super::web::{World, assert_same};
use orb_testweb::{Feature, Spec};
use postgres::{Client, Row};
use rustix::process::Signal;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// After how long a worker is taken for dead where nobody is meant to be: longer than a busy
/// machine keeps a living one from saying that it lives.
pub(crate) const CALM: Duration = Duration::from_secs(12);

/// How long is waited after each question to the database. Tests ask again and again until
/// something is so, and the processor is the workers'.
const BREATH: Duration = Duration::from_millis(5);

/// The pages and the links of a collection, a line each.
const PAGES: &str =
    "SELECT url || ' ' || kind || ' ' || coalesce(CAST(status AS TEXT), '-') || ' ' || coalesce(digest, '-') FROM page";
const LINKS: &str = "SELECT a.url || ' ' || b.url || ' ' || l.kind || ' ' || CAST(l.count AS TEXT) FROM link l \
                     JOIN page a ON a.id = l.src JOIN page b ON b.id = l.dst";

/// A database, an archive and the homes of workers.
pub(crate) struct Cluster {
    pub(crate) postgres: Postgres,
    pub(crate) home: Home,
    /// After how long a worker is taken for dead.
    pub(crate) lease: Duration,
    /// For how long an address is leased.
    pub(crate) slice: Duration,
    /// The archive, if it is not a directory here.
    pub(crate) archive: Option<String>,
    /// What every command finds in its environment.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// The connection that the test asks over.
    line: RefCell<Option<Client>>,
}

/// A run that has been planted and not begun: who joins it gets no shards yet.
pub(crate) struct Gathering<'a> {
    cluster: &'a Cluster,
    lock: Client,
}

impl Gathering<'_> {
    /// Waits until so many have joined, and lets them begin: each takes its share and no more.
    pub(crate) fn begin(mut self, workers: i64) {
        until("all have joined", || self.cluster.number("SELECT count(*) FROM worker WHERE alive") == workers);
        self.lock.batch_execute("COMMIT").unwrap();
    }
}

/// What a collection has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Collected {
    pub(crate) pages: BTreeSet<String>,
    pub(crate) links: BTreeSet<String>,
}

/// Twelve hosts that link to each other a lot.
pub(crate) fn connected(pages_per_host: u32) -> Spec {
    let spec = Spec { hosts: 12, pages_per_host, cross_host_links: 0.5, ..Spec::default() };
    [Feature::Errors, Feature::Media].into_iter().fold(spec, Spec::with)
}

/// How often something is repeated: as a variable says, else so often.
pub(crate) fn repeated(variable: &str, times: u32) -> u32 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(times)
}

/// The source address of a worker.
pub(crate) fn source(worker: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 9, worker))
}

impl Cluster {
    /// An empty one.
    pub(crate) fn new(lease: Duration, slice: Duration) -> Self {
        Self::on(Postgres::start(), lease, slice)
    }

    /// An empty one on this server.
    pub(crate) fn on(postgres: Postgres, lease: Duration, slice: Duration) -> Self {
        let home = Home::new();
        let cluster =
            Self { postgres, home, lease, slice, archive: None, environment: Vec::new(), line: RefCell::new(None) };
        std::fs::create_dir_all(cluster.home.beside("archive")).unwrap();
        cluster
    }

    /// The address of the archive.
    pub(crate) fn archive(&self) -> String {
        self.archive.clone().unwrap_or_else(|| format!("file://{}", self.home.beside("archive").display()))
    }

    /// Starts a command that asks about the store, in any home.
    pub(crate) fn asking(&self, home: &Home, args: &[&str], environment: &[(&str, &str)]) -> Running {
        let (store, archive) = (self.postgres.open_url(), self.archive());
        let args = [args, &["--store", &store, "--archive", &archive]].concat();
        home.start(&args, &[environment, &[("PGPASSWORD", PASSWORD)]].concat())
    }

    /// The result of a command that asks about the store, in any home.
    pub(crate) fn ask(&self, home: &Home, args: &[&str]) -> Finished {
        self.asking(home, args, &[]).finish()
    }

    /// The arguments of a worker with this number.
    pub(crate) fn part(&self, worker: u8) -> Vec<String> {
        self.part_at(worker, &self.postgres.open_url())
    }

    /// The same where the store is reached at another URL.
    pub(crate) fn part_at(&self, worker: u8, store: &str) -> Vec<String> {
        let archive = self.archive();
        let (lease, slice) = (format!("{}ms", self.lease.as_millis()), format!("{}ms", self.slice.as_millis()));
        let (name, source) = (format!("w{worker}"), source(worker).to_string());
        let args = ["--store", store, "--archive", &archive, "--worker-name", &name, "--source", &source];
        args.into_iter().chain(["--lease", &lease, "--slice", &slice]).map(str::to_owned).collect()
    }

    /// Starts a command that reaches the store.
    pub(crate) fn start(&self, args: &[String]) -> Running {
        self.start_with(args, &[])
    }

    /// The same with more in its environment.
    pub(crate) fn start_with(&self, args: &[String], more: &[(&str, &str)]) -> Running {
        let mut environment = vec![("PGPASSWORD", PASSWORD)];
        environment.extend(self.environment.iter().map(|(name, value)| (*name, value.as_str())));
        environment.extend(more);
        self.home.start(args, &environment)
    }

    /// Plants a crawl as the first worker, and lets others join once it is there.
    pub(crate) fn crawl_with(&self, world: &World, more: &[&str], others: &[u8]) -> (Running, Vec<Running>) {
        let first = self.crawl(world, more);
        until("it is planted", || self.is_planted());
        (first, others.iter().map(|number| self.worker(*number)).collect())
    }

    /// Plants a crawl of this web without beginning it: nobody who joins can look at the shards.
    pub(crate) fn gather(&self, world: &World, more: &[&str]) -> Gathering<'_> {
        self.gather_by(&[vec!["crawl".to_owned()], world.args(more)].concat())
    }

    /// The same by a command of one's own.
    pub(crate) fn gather_by(&self, crawl: &[String]) -> Gathering<'_> {
        let quiet = ["--project", PROJECT, "--progress", "none", "--on", "nobody", "--machine", "somebody"];
        let args = [crawl, &quiet.map(str::to_owned), &self.part(1)].concat();
        self.start(&args).finish().expect(0);
        let mut lock = self.postgres.client();
        let sql = format!("SET search_path = \"orb_{PROJECT}\"; BEGIN; LOCK TABLE shard IN ACCESS EXCLUSIVE MODE");
        lock.batch_execute(&sql).unwrap();
        let open = format!("UPDATE \"orb_{PROJECT}\".run_row SET machines = '{{}}'");
        self.postgres.client().batch_execute(&open).unwrap();
        Gathering { cluster: self, lock }
    }

    /// Whether the last run is over.
    pub(crate) fn is_over(&self) -> bool {
        self.number("SELECT count(*) FROM run_row WHERE finished_at IS NULL") == 0
    }

    /// Waits until it is, whoever works on it.
    pub(crate) fn wait_for_end(&self) {
        until("it is done", || self.is_over());
    }

    /// Waits for the end of a run, whose state is this, and dismisses the others.
    #[track_caller]
    pub(crate) fn finish(&self, first: Running, others: Vec<Running>, state: &str) -> Finished {
        let finished = first.finish();
        finished.expect(0);
        self.dismiss(others);
        self.assert_ended(state);
        finished
    }

    /// Plants a crawl of this web and works on it as the first worker.
    pub(crate) fn crawl(&self, world: &World, more: &[&str]) -> Running {
        self.crawl_at(world, more, &self.postgres.open_url())
    }

    /// The same over another line to the store.
    pub(crate) fn crawl_at(&self, world: &World, more: &[&str], store: &str) -> Running {
        let mut args = vec!["crawl".to_owned()];
        args.extend(world.args(more));
        args.extend(["--project", PROJECT, "--json", "--progress", "none"].map(str::to_owned));
        args.extend(self.part_at(1, store));
        self.start(&args)
    }

    /// Starts another worker.
    pub(crate) fn worker(&self, number: u8) -> Running {
        self.start(&[vec!["worker".to_owned(), "--project".to_owned(), PROJECT.to_owned()], self.part(number)].concat())
    }

    /// The same over another line to the store.
    pub(crate) fn worker_at(&self, number: u8, store: &str) -> Running {
        let args = vec!["worker".to_owned(), "--project".to_owned(), PROJECT.to_owned()];
        self.start(&[args, self.part_at(number, store)].concat())
    }

    /// The single number that a query on the project's tables returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.rows(sql)[0].get(0)
    }

    /// The first column of a query on the project's tables.
    pub(crate) fn column(&self, sql: &str) -> Vec<String> {
        self.rows(sql).iter().map(|row| row.get(0)).collect()
    }

    /// The rows of a query on the project's tables, over a connection that is kept as long as the
    /// server is there.
    fn rows(&self, sql: &str) -> Vec<Row> {
        std::thread::park_timeout(BREATH);
        let mut line = self.line.borrow_mut();
        if let Some(kept) = line.as_mut()
            && let Ok(rows) = kept.query(sql, &[])
        {
            return rows;
        }
        let mut fresh = self.postgres.client();
        fresh.batch_execute(&format!("SET search_path = \"orb_{PROJECT}\"")).unwrap();
        let rows = fresh.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
        *line = Some(fresh);
        rows
    }

    /// Whether the project has been planted.
    pub(crate) fn is_planted(&self) -> bool {
        self.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'orb_p'") > 0
            && self.number("SELECT count(*) FROM run_row") > 0
    }

    /// Visits recorded so far.
    pub(crate) fn visits(&self) -> i64 {
        if self.is_planted() { self.number("SELECT count(*) FROM visit_row") } else { 0 }
    }

    /// Waits until so many more visits are recorded, or the run has ended.
    pub(crate) fn wait_for_visits(&self, more: i64) {
        let before = self.visits();
        until("more is recorded", || self.visits() >= before + more || self.is_over());
    }

    /// Everything that was collected; panics if a page or a link is there twice.
    #[track_caller]
    pub(crate) fn collected(&self) -> Collected {
        Collected::of(self.column(PAGES), self.column(LINKS))
    }

    /// Asserts that the run is done and that no letter is left.
    #[track_caller]
    pub(crate) fn assert_done(&self) {
        self.assert_ended("done");
    }

    /// Asserts that the last run has ended like this and that no letter is left.
    #[track_caller]
    pub(crate) fn assert_ended(&self, state: &str) {
        assert_eq!(self.column("SELECT state FROM run_row ORDER BY id DESC LIMIT 1"), [state]);
        assert_eq!(self.number("SELECT count(*) FROM letter"), 0, "letters left");
        assert_eq!(
            self.number("SELECT count(*) FROM (SELECT page FROM visit_row GROUP BY page, run HAVING count(*) > 1) x"),
            0
        );
    }

    /// Ends workers in order.
    pub(crate) fn dismiss(&self, workers: Vec<Running>) {
        workers.iter().for_each(|worker| worker.signal(Signal::TERM));
        workers.into_iter().for_each(|worker| drop(worker.finish()));
    }
}

impl Collected {
    /// What one machine collects of a web, whose log is empty afterwards.
    pub(crate) fn alone(world: &World, more: &[&str]) -> Self {
        let home = Home::new();
        home.crawl(&world.args(&[&["--scope", "any", "--delay", "0", "--no-index"], more].concat()));
        world.server.reset();
        Self::by_one(&home)
    }

    /// Asserts that it is the same as another, and names the differences.
    #[track_caller]
    pub(crate) fn assert_is(&self, wanted: &Self) {
        assert_same("pages", &self.pages, &wanted.pages);
        assert_same("links", &self.links, &wanted.links);
    }

    /// What one machine has collected.
    pub(crate) fn by_one(home: &Home) -> Self {
        let catalogue = home.catalogue();
        Self::of(catalogue.column(PAGES), catalogue.column(LINKS))
    }

    #[track_caller]
    fn of(pages: Vec<String>, links: Vec<String>) -> Self {
        let once = |lines: Vec<String>| {
            let (mut set, mut twice) = (BTreeSet::new(), Vec::new());
            for line in lines {
                if let Some(line) = set.replace(line) {
                    twice.push(line);
                }
            }
            assert!(twice.is_empty(), "there twice: {twice:#?}");
            set
        };
        let urls: Vec<String> = pages.iter().filter_map(|page| page.split(' ').next().map(str::to_owned)).collect();
        once(urls);
        Self { pages: once(pages), links: once(links) }
    }
}
