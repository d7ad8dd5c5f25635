//! Does a crawl that was stopped, killed or crashed end up like an undisturbed one?
//!
//! One server, one undisturbed crawl of it, and many disturbed ones: each must end with the same
//! pages, links, images and records, every page recorded once, and a clean check.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
#![allow(clippy::print_stdout, reason = "a long run says how far it is")]

mod harness;

use harness::judge;
use harness::orb::{Home, PROJECT, crawling};
use harness::scene::{BATCH, CONNECTIONS, Dice, Picture, Scene, project};
use harness::web::{World, assert_polite, without_robots};
use orb_testweb::Spec;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Number of processes killed at random moments; the nightly run uses more.
const KILLS: usize = 36;
/// Counts the visited pages.
const RECORDED: &str = "SELECT count(DISTINCT page_id) FROM visit";
/// Number of kills per crawl.
const KILLS_EACH: usize = 6;

#[test]
fn killed_at_any_moment_a_crawl_loses_nothing_and_doubles_nothing() {
    let scene = Scene::new();
    let mut dice = Dice(0x00dd_ba11);
    let wanted = std::env::var("ORB_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let (mut kills, mut homes, mut most) = (0, 0, 0);
    while kills < wanted {
        let home = Home::new();
        scene.world.server.log().take();
        let mut killed = 0;
        let mut before = Standing::of(&scene.world, &home);
        while killed < KILLS_EACH && killed_once(&scene, &home, &mut dice) {
            let now = Standing::of(&scene.world, &home);
            most = most.max(now.unrecorded_since(&before, &scene.world));
            (before, killed) = (now, killed + 1);
        }
        scene.start(&home, &[]).finish().expect(0);
        (kills, homes) = (kills + killed, homes + 1);
        scene.judge(&home, &format!("{killed} kills in home {homes}"));
        println!("{kills} of {wanted} kills in {homes} homes; at most {most} pages fetched and not recorded");
    }
    assert!(most <= BATCH + CONNECTIONS, "{most} pages were fetched and not recorded");
}

/// Progress of the server and the catalogue while no process is running.
struct Standing {
    asked: usize,
    recorded: usize,
}

impl Standing {
    fn of(world: &World, home: &Home) -> Self {
        harness::until("the server has read what the dead have sent", || world.server.counters().open == 0);
        let recorded = if home.project().join("runs").exists() { home.catalogue().number(RECORDED) } else { 0 };
        Self { asked: world.server.log().all().0.len(), recorded: usize::try_from(recorded).unwrap() }
    }

    /// Number of pages that the process in between requested and did not record.
    fn unrecorded_since(&self, before: &Self, world: &World) -> usize {
        let mut requests = world.server.log().all();
        requests.0.drain(..before.asked);
        without_robots(&requests).len().saturating_sub(self.recorded - before.recorded)
    }
}

/// Resumes the crawl and kills it at some moment; returns whether it was still running.
fn killed_once(scene: &Scene, home: &Home, dice: &mut Dice) -> bool {
    let before = scene.world.server.counters().requests;
    let mut running = scene.start(home, &[]);
    // Few requests mean a kill during start-up or recovery, many one in the middle of the work.
    let wanted = if dice.below(3) == 0 { dice.below(3) } else { dice.below(250) };
    let mut ended = None;
    harness::until("the moment has come", || {
        ended = running.ended();
        ended.is_some() || scene.world.server.counters().requests >= before + wanted
    });
    let finished = ended.unwrap_or_else(|| {
        running.signal(Signal::KILL);
        running.finish()
    });
    assert!(matches!(finished.code, None | Some(0)), "{finished}");
    finished.code.is_none()
}

#[test]
fn no_more_than_a_batch_is_fetched_and_not_recorded_however_slow_the_disk() {
    let world = World::new(Spec { hosts: 4, pages_per_host: 300, ..Spec::default() });
    let (batch, connections) = (60, 8);
    let bounds = [format!("crawl.batch_pages = {batch}"), format!("fetch.connections = {connections}")];
    let settings = ["scope.mode = 'any'", "frontier.delay = '0s'", "frontier.retries = 0", &bounds[0], &bounds[1]];
    let home = Home::new();
    let file = world.project(&home, &settings);
    home.crawl(&[&file, "--max-pages", "150"]);
    for commit in [2, 3, 5] {
        let before = Standing::of(&world, &home);
        // From this commit on the disk is full, and the recorder waits while everybody else
        // continues.
        let fault = format!("before-archive:{commit}:enospc:1000");
        let running = home.start(&crawling(&[&file]), &[("ORB_FAIL", &fault)]);
        until_still(&world);
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, None);
        let lost = Standing::of(&world, &home).unrecorded_since(&before, &world);
        assert!((batch / 2..=batch + connections).contains(&lost), "{lost} pages were not recorded");
    }
    home.crawl(&[&file]);
    let asked = world.asked();
    assert_eq!(asked.len(), 1_200);
    let again = asked.values().map(|times| times - 1).sum::<usize>();
    assert!((1..=3 * (batch + connections)).contains(&again), "{again} pages were fetched again");
}

/// Waits until a running crawl makes no more requests.
fn until_still(world: &World) {
    let (begin, mut last, mut since) = (world.server.counters().requests, 0, Instant::now());
    harness::until("nothing is asked for any more", || {
        let now = world.server.counters().requests;
        if now != last || now < begin + 20 {
            (last, since) = (now, Instant::now());
        }
        since.elapsed() > Duration::from_millis(700)
    });
}

#[test]
fn stopped_by_a_signal_a_crawl_saves_everything_and_goes_on() {
    let scene = Scene::new();
    for signal in [Signal::INT, Signal::TERM] {
        let home = Home::new();
        scene.world.server.log().take();
        let before = scene.world.server.counters().requests;
        let running = scene.start(&home, &[]);
        harness::until("half of it is done", || scene.world.server.counters().requests > before + 150);
        running.signal(signal);
        let stopped = running.finish();
        assert_eq!(stopped.expect(130).json()["state"], "stopped");
        assert!(stopped.number("frontier") > 0, "{stopped}");
        home.orb(&["check", PROJECT]).expect(0);
        judge::warcio_check(&home.warcs());
        let visited = home.catalogue().number("SELECT count(*) FROM visit");
        let answered = scene.world.server.log().all().0.iter().filter(|r| !r.path.ends_with("/robots.txt")).count();
        assert_eq!(usize::try_from(visited).unwrap(), answered, "what was asked for is saved");
        let done = scene.start(&home, &[]).finish();
        assert_eq!(done.expect(0).json()["state"], "done");
        assert_eq!(done.number("run"), 1, "the same run is resumed");
        assert_eq!(done.number("pages"), u64::try_from(home.catalogue().number("SELECT count(*) FROM visit")).unwrap());
        let twice: Vec<_> = scene.world.server.log().take().by_url().into_iter().filter(|(_, n)| *n > 1).collect();
        assert!(twice.is_empty(), "asked for twice: {twice:?}");
        scene.judge(&home, "a signal");
    }
}

#[test]
fn killed_while_it_only_looks_it_leaves_everything_as_it_was() {
    let scene = Scene::small(&[]);
    let home = Home::new();
    scene.start(&home, &[]).finish().expect(0);
    let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, page";
    let mut dice = Dice(0x0100_75ee);
    for look in [["check", PROJECT].as_slice(), &["sql", PROJECT, long], &["stats", PROJECT]] {
        for _ in 0..4 {
            let running = home.start(look, &[]);
            let at = Instant::now() + Duration::from_millis(dice.below(60));
            harness::until("the moment has come", || Instant::now() >= at);
            running.signal(Signal::KILL);
            running.finish();
        }
        scene.compare(&home, look[0]);
    }
    scene.world.server.log().take();
    scene.start(&home, &[]).finish().expect(0);
    assert!(scene.world.asked().is_empty(), "nothing is left to do");
}

#[test]
fn politeness_survives_kills() {
    let delay = Duration::from_millis(150);
    let world = World::new(Spec { hosts: 2, hosts_per_ip: 2, pages_per_host: 12, ..Spec::default() });
    let home = Home::new();
    let file = project(&home, &world, &["frontier.delay = '150ms'"]);
    for kill in 1..=5 {
        let running = home.start(&crawling(&[&file]), &[]);
        harness::until("it is at work again", || world.server.counters().requests >= kill * 3);
        running.signal(Signal::KILL);
        running.finish();
    }
    home.crawl(&[&file]);
    let log = world.server.log().take();
    assert_polite(&log, delay);
    assert_eq!(home.catalogue().urls(&["HTML"]).len(), 24);
}

#[test]
fn a_finished_crawl_finds_nothing_left_to_do() {
    let world = World::new(Spec::default());
    let home = Home::new();
    let args = world.args(&["--scope", "any", "--delay", "0"]);
    home.crawl(&args);
    let before = Picture::of(&home);
    world.server.log().take();
    home.crawl(&args);
    let asked: Vec<String> = world.server.log().take().by_url().into_keys().collect();
    assert!(asked.iter().all(|url| url.ends_with("/robots.txt")), "{asked:?}");
    assert_eq!(Picture::of(&home), before);
}
