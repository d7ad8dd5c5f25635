//! How do several workers run on one machine, each with an address of its own?

use super::orb::{Home, PROJECT, Running};
use super::postgres::{PASSWORD, Postgres};
use super::web::World;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

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
}

/// What a collection has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Collected {
    pub(crate) pages: BTreeSet<String>,
    pub(crate) links: BTreeSet<String>,
}

/// The source address of a worker.
pub(crate) fn source(worker: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 9, worker))
}

impl Cluster {
    /// An empty one.
    pub(crate) fn new(lease: Duration, slice: Duration) -> Self {
        let cluster = Self { postgres: Postgres::start(), home: Home::new(), lease, slice };
        std::fs::create_dir_all(cluster.home.beside("archive")).unwrap();
        cluster
    }

    /// The arguments of a worker with this number.
    fn part(&self, worker: u8) -> Vec<String> {
        let archive = format!("file://{}", self.home.beside("archive").display());
        let (lease, slice) = (format!("{}ms", self.lease.as_millis()), format!("{}ms", self.slice.as_millis()));
        let (name, source) = (format!("w{worker}"), source(worker).to_string());
        let store = self.postgres.open_url();
        let args = ["--store", &store, "--archive", &archive, "--worker-name", &name, "--source", &source];
        args.into_iter().chain(["--lease", &lease, "--slice", &slice]).map(str::to_owned).collect()
    }

    fn start(&self, args: &[String]) -> Running {
        self.home.start(args, &[("PGPASSWORD", PASSWORD)])
    }

    /// Plants a crawl of this web and works on it as the first worker.
    pub(crate) fn crawl(&self, world: &World, more: &[&str]) -> Running {
        let mut args = vec!["crawl".to_owned()];
        args.extend(world.args(more));
        args.extend(["--project", PROJECT, "--json", "--progress", "none"].map(str::to_owned));
        args.extend(self.part(1));
        self.start(&args)
    }

    /// Starts another worker.
    pub(crate) fn worker(&self, number: u8) -> Running {
        self.start(&[vec!["worker".to_owned(), "--project".to_owned(), PROJECT.to_owned()], self.part(number)].concat())
    }

    /// The single number that a query on the project's tables returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let mut client = self.postgres.client();
        client.batch_execute(&format!("SET search_path = \"orb_{PROJECT}\"")).unwrap();
        client.query_one(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}")).get(0)
    }

    /// The first column of a query on the project's tables; none if there is no project yet.
    pub(crate) fn column(&self, sql: &str) -> Vec<String> {
        let mut client = self.postgres.client();
        client.batch_execute(&format!("SET search_path = \"orb_{PROJECT}\"")).unwrap();
        client.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}")).iter().map(|row| row.get(0)).collect()
    }

    /// Whether the project has been planted.
    pub(crate) fn is_planted(&self) -> bool {
        self.postgres.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'orb_p'") > 0
            && self.number("SELECT count(*) FROM run_row") > 0
    }

    /// Visits recorded so far.
    pub(crate) fn visits(&self) -> i64 {
        if self.is_planted() { self.number("SELECT count(*) FROM visit_row") } else { 0 }
    }

    /// Everything that was collected; panics if a page or a link is there twice.
    #[track_caller]
    pub(crate) fn collected(&self) -> Collected {
        Collected::of(self.column(PAGES), self.column(LINKS))
    }

    /// Asserts that the run is done and that no letter is left.
    #[track_caller]
    pub(crate) fn assert_done(&self) {
        assert_eq!(self.column("SELECT state FROM run_row"), ["done"]);
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
    /// What one machine has collected.
    pub(crate) fn by_one(home: &Home) -> Self {
        let catalogue = home.catalogue();
        Self::of(catalogue.column(PAGES), catalogue.column(LINKS))
    }

    #[track_caller]
    fn of(pages: Vec<String>, links: Vec<String>) -> Self {
        let once = |lines: Vec<String>| {
            let (all, set): (usize, BTreeSet<String>) = (lines.len(), lines.into_iter().collect());
            assert_eq!(set.len(), all, "something is there twice");
            set
        };
        Self { pages: once(pages), links: once(links) }
    }
}
