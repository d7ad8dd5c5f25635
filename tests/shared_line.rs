//! Does a crawl keep to its share of a connection that others use too?
//!
//! The witnesses are the server's log and the kernel's connection table.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT, crawling};
use harness::script::{Script, absent, page, reply};
use harness::until;
use harness::web::World;
use orb_page::{CivilTime, Moment};
use orb_testweb::{GzipMode, Latency, Spec};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A schedule row of a project file, as one setting.
fn row(row: &str) -> String {
    format!("limits.schedule = [{{ {row} }}]")
}

/// A time of day this many seconds from now, as written in a schedule.
fn hour(seconds: u64) -> String {
    let CivilTime { hour, minute, second, .. } = Moment::now().plus(Duration::from_secs(seconds)).civil();
    format!("{hour:02}:{minute:02}:{second:02}")
}

fn heavy() -> World {
    let spec = Spec { hosts: 4, pages_per_host: 10, page_bytes: 20_000, gzip: GzipMode::Never, ..Spec::default() };
    World::new(spec)
}

#[test]
fn the_schedule_sets_the_rate_of_the_hour() {
    let world = heavy();
    let home = Home::new();
    let slow = row("rate = '400kB/s'");
    let begin = Instant::now();
    let unhurried = ["frontier.delay = '0s'", "scope.mode = 'any'", "fetch.bandwidth = '100MB/s'", &slow];
    let finished = home.crawl(&[world.project(&home, &unhurried)]);
    // More than 800 kB at that rate.
    assert!(begin.elapsed() > Duration::from_millis(1_800), "took {:?}", begin.elapsed());
    assert_eq!(finished.number("frontier"), 0);
    let status = home.orb(&["status", PROJECT, "--why", "--json"]);
    let said = status.expect(0).json().to_string();
    assert!(said.contains("schedule: 400kB/s"), "{said}");
}

#[test]
fn a_pause_of_the_schedule_ends_by_itself_and_nothing_is_asked_before() {
    let world = World::new(Spec { hosts: 2, pages_per_host: 5, ..Spec::default() });
    let home = Home::new();
    let begin = Instant::now();
    // From before now until a few seconds from now; around midnight it starts on either day.
    let quiet = row(&format!("from = '{}', to = '{}', rate = '0'", hour(86_400 - 7_200), hour(4)));
    home.crawl(&[world.project(&home, &["frontier.delay = '0s'", "scope.mode = 'any'", &quiet])]);
    let first = world.server.log().take().0[0].at;
    assert!(first - begin > Duration::from_millis(2_500), "asked after {:?}", first - begin);
}

#[test]
fn a_crawl_paused_by_the_schedule_stops_when_it_is_asked_to() {
    let world = World::with(&[]);
    let home = Home::new();
    let file = world.project(&home, &[&row("rate = '0'")]);
    let running = home.start(&crawling(&[file]), &[]);
    until("the run has begun", || home.project().join("runs/1/run.log").exists());
    running.signal(rustix::process::Signal::TERM);
    running.finish().expect(130);
    assert!(world.server.log().take().0.is_empty());
}

#[test]
fn the_schedule_sets_how_many_connections_there_are() {
    let latency = Latency { mean: Duration::from_millis(5), spread: 0.5 };
    let world = World::new(Spec { hosts: 12, pages_per_host: 10, latency, ..Spec::default() });
    let home = Home::new();
    let few = row("connections = 3");
    home.crawl(&[world.project(&home, &["frontier.delay = '0s'", "scope.mode = 'any'", &few])]);
    let most = world.server.counters().max_open;
    assert!((1..=3).contains(&most), "{most} connections at once");
}

#[test]
fn a_schedule_that_means_nothing_is_refused_with_its_line() {
    let world = World::with(&[]);
    let home = Home::new();
    for (row, words) in [
        ("days = 'mon-fry', rate = '0'", "'mon-fry' is not a day"),
        ("rate = 'fast'", "'fast' is not a rate"),
        ("from = '9', rate = '0'", "'9' is not a time of day"),
        ("connections = 0", "connections must be at least 1"),
        ("day = 'mon', rate = '0'", "did you mean `days`?"),
    ] {
        let file = world.project(&home, &[&self::row(row)]);
        let finished = home.orb(&crawling(&[file]));
        assert!(finished.complaint(1).contains(words), "{finished}");
    }
}

/// The local ends of sockets to a port in the kernel's table; those in TIME_WAIT (6) belong to no
/// process any more.
fn sockets_to(port: u16) -> BTreeSet<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let remote = format!(":{port:04X}");
    let open = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let counts = fields.len() > 3 && fields[2].ends_with(&remote) && fields[3] != "06";
        counts.then(|| fields[1].to_owned())
    };
    table.lines().skip(1).filter_map(open).collect()
}

/// A text that resembles no other.
fn words(path: &str) -> String {
    let mut state = path.bytes().fold(7_u64, |n, b| n.wrapping_mul(31).wrapping_add(b.into()));
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:x} ", state >> 40)
    };
    (0..30).map(|_| word()).collect()
}

#[test]
fn the_system_counts_no_more_connections_than_allowed_not_even_closing_ones() {
    // A slow server that closes every connection after one response, so that some are always
    // closing.
    let site = Script::serve(|heard| {
        std::thread::park_timeout(Duration::from_millis(300));
        match heard.target.as_str() {
            "/robots.txt" => absent(),
            "/" => page((0..40).map(|n| format!("/{n}"))),
            path => reply("200 OK", "Connection: close\r\nContent-Type: text/plain\r\n", &words(path)),
        }
    });
    let home = Home::new();
    let args = [format!("http://127.0.0.1:{}/", site.port()), "--delay".into(), "0".into()];
    let caps = ["--connections", "5", "--per-host", "64"].map(str::to_owned);
    let mut running = home.start(&crawling(&[args.as_slice(), &caps].concat()), &[]);
    let (mut most, mut finished) = (0, None);
    let mut before = BTreeSet::new();
    until("the crawl ends", || {
        // Reading the table is not atomic, but an entry in two consecutive snapshots existed in
        // between.
        let now = sockets_to(site.port());
        most = most.max(now.intersection(&before).count());
        before = now;
        finished = running.ended();
        finished.is_some()
    });
    finished.unwrap().expect(0);
    assert!(most <= 5, "{most} connections at once");
    assert!(site.connections() >= 40);
}

#[test]
fn too_few_open_files_are_named_before_anything_is_asked() {
    let world = World::with(&[]);
    let home = Home::new();
    let orb = home.command(&crawling(&world.args(&["--connections", "500"])));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -n 200; exec \"$@\"", "sh"]).arg(orb.get_program()).args(orb.get_args());
    let finished = harness::orb::Running::start(shell).finish();
    let line = finished.complaint(1);
    assert!(line.contains("800 open files are needed and 200 are allowed") && line.contains("ulimit -n"), "{line}");
    assert!(world.server.log().take().0.is_empty());
}

#[test]
fn on_a_full_line_what_has_begun_is_finished_before_more_is_begun() {
    // Each body takes a tenth of a second at the rate, and all forty could start at once.
    let body = "x".repeat(60_000);
    let site = Script::serve(move |heard| match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => page((0..40).map(|n| format!("/{n}"))),
        path => reply("200 OK", "Content-Type: text/plain\r\n", &format!("{}{body}", words(path))),
    });
    let home = Home::new();
    let seed = format!("http://127.0.0.1:{}/", site.port());
    home.crawl(&[&seed, "--delay", "0", "--per-host", "64", "--connections", "64", "--bandwidth", "600kB/s"]);
    assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE status = 200"), 41);
    // Connections are kept alive and reused: no more were opened than were ever needed at once.
    assert!(site.connections() < 32, "{} connections", site.connections());
}
