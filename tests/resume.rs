//! Is a crawl that was stopped, killed or broken off in the end what an undisturbed one is?
//!
//! One server, one undisturbed crawl of it, and many disturbed ones: each must end with the same pages, links, images and
//! records, every page recorded once, and a clean check.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge;
use harness::orb::{Home, PROJECT, Running, crawling};
use harness::web::{World, assert_polite};
use orb_store::fault::POINTS;
use orb_testweb::{Feature, Latency, Spec};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many processes are killed at moments of no special kind.
const KILLS: usize = 36;
/// How many of them one crawl must bear.
const KILLS_EACH: usize = 6;

/// What a crawl leaves, apart from times and the order of discovery.
#[derive(Debug, PartialEq)]
struct Picture {
    pages: BTreeMap<String, Vec<String>>,
    links: Vec<Vec<String>>,
    images: Vec<Vec<String>>,
    records: BTreeMap<(String, String), usize>,
}

impl Picture {
    fn of(home: &Home) -> Self {
        let catalogue = home.catalogue();
        let mut pages = BTreeMap::new();
        for mut row in
            catalogue.rows("SELECT url, kind, status, digest, length, mime, title, lang, visits, why FROM page")
        {
            let url = row.remove(0);
            assert!(pages.insert(url.clone(), row).is_none(), "two pages are {url}");
        }
        one_kind_for_one_content(&mut pages);
        let mut images = catalogue.rows("SELECT p.url, i.url, i.alt FROM image i JOIN page p ON p.id = i.page_id");
        images.sort();
        let mut records = BTreeMap::new();
        for record in judge::records(&home.warcs()) {
            let url = record.url.unwrap_or_default();
            // Rules that could not be had are asked for again by every process.
            if record.kind != "warcinfo" && !url.ends_with("/robots.txt") {
                *records.entry((record.kind, url)).or_default() += 1;
            }
        }
        Self { pages, links: catalogue.links(), images, records }
    }
}

/// Gives duplicates the kind of the page they are duplicates of: which one comes first depends on the order.
fn one_kind_for_one_content(pages: &mut BTreeMap<String, Vec<String>>) {
    let (kind, digest) = (0, 2);
    let mut originals = BTreeMap::new();
    for page in pages.values().filter(|page| !page[digest].is_empty() && page[kind] != "DUPLICATE") {
        originals.insert(page[digest].clone(), page[kind].clone());
    }
    for page in pages.values_mut().filter(|page| page[kind] == "DUPLICATE") {
        page[kind] = originals[&page[digest]].clone();
    }
}

/// Fails the test where two lists differ, and shows some of what does.
#[track_caller]
fn assert_alike<T: PartialEq + std::fmt::Debug>(
    what: &str,
    ours: impl IntoIterator<Item = T>,
    theirs: impl IntoIterator<Item = T>,
) {
    let (ours, theirs): (Vec<T>, Vec<T>) = (ours.into_iter().collect(), theirs.into_iter().collect());
    let only = |a: &[T], b: &[T]| {
        a.iter().filter(|one| !b.contains(one)).take(5).map(|one| format!("{one:?}")).collect::<Vec<_>>()
    };
    let (more, less) = (only(&ours, &theirs), only(&theirs, &ours));
    assert!(
        ours == theirs,
        "{what}: {} instead of {}; too many {more:#?}, missing {less:#?}",
        ours.len(),
        theirs.len()
    );
}

/// A web to be crawled again and again.
struct Scene {
    world: World,
    undisturbed: Picture,
}

impl Scene {
    fn new() -> Self {
        let latency = Latency { mean: Duration::from_millis(2), spread: 1.0 };
        let spec = Spec { hosts: 4, pages_per_host: 80, latency, ..Spec::default() };
        let features = [Feature::Furniture, Feature::Robots, Feature::Redirects, Feature::Errors, Feature::Media];
        let world = World::new(features.into_iter().fold(spec, Spec::with));
        let home = Home::new();
        home.crawl(&[&project(&home, &world, "0s")]);
        let undisturbed = Picture::of(&home);
        assert!(undisturbed.pages.len() > 320, "only {} pages", undisturbed.pages.len());
        assert!(undisturbed.records.values().all(|count| *count == 1), "{:?}", undisturbed.records);
        world.server.log().take();
        Self { world, undisturbed }
    }

    /// Starts a crawl of it, or goes on with one.
    fn start(&self, home: &Home, environment: &[(&str, &str)]) -> Running {
        let file = project(home, &self.world, "0s");
        home.start(&crawling(&[&file]), environment)
    }

    /// Fails the test unless the home holds what the undisturbed crawl left.
    fn judge(&self, home: &Home, what: &str) {
        let picture = Picture::of(home);
        let (ours, theirs) = (&picture, &self.undisturbed);
        assert_alike(&format!("pages after {what}"), &ours.pages, &theirs.pages);
        assert_alike(&format!("links after {what}"), &ours.links, &theirs.links);
        assert_alike(&format!("images after {what}"), &ours.images, &theirs.images);
        assert_alike(&format!("records after {what}"), &ours.records, &theirs.records);
        home.orb(&["check", PROJECT]).expect(0);
        judge::warcio_check(&home.warcs());
    }
}

/// Writes the project's file, with batches so small that a short crawl has many.
fn project(home: &Home, world: &World, delay: &str) -> String {
    let delay = format!("frontier.delay = '{delay}'");
    let settings = ["scope.mode = 'any'", &delay, "frontier.retries = 0", "frontier.max_backoff = '100ms'"];
    let batches = ["crawl.batch_pages = 20", "crawl.batch_time = '20ms'"];
    world.project(home, &[settings.as_slice(), &batches].concat())
}

/// Numbers without a pattern, the same in every run (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[test]
fn killed_at_any_moment_a_crawl_loses_nothing_and_doubles_nothing() {
    let scene = Scene::new();
    let mut dice = Dice(0x00dd_ba11);
    let (mut kills, mut homes) = (0, 0);
    while kills < KILLS {
        let home = Home::new();
        let killed = (0..KILLS_EACH).take_while(|_| killed_once(&scene, &home, &mut dice)).count();
        scene.start(&home, &[]).finish().expect(0);
        (kills, homes) = (kills + killed, homes + 1);
        scene.judge(&home, &format!("{killed} kills in home {homes}"));
    }
}

/// Goes on with the crawl and kills it at some moment; says whether it was still at work then.
fn killed_once(scene: &Scene, home: &Home, dice: &mut Dice) -> bool {
    let before = scene.world.server.counters().requests;
    let mut running = scene.start(home, &[]);
    // Few requests mean a kill while starting or recovering, many one in the middle of the work.
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
fn broken_off_at_any_step_of_a_commit_a_crawl_goes_on_as_if_nothing_had_been() {
    let scene = Scene::new();
    for point in POINTS {
        let home = Home::new();
        for pass in [1, 2, 5] {
            let crashed = scene.start(&home, &[("ORB_FAIL", &format!("{point}:{pass}"))]).finish();
            assert_eq!(crashed.code, None, "{point} was not met {pass} times: {crashed}");
        }
        scene.start(&home, &[]).finish().expect(0);
        scene.judge(&home, point);
    }
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
        assert_eq!(done.number("run"), 1, "the same run goes on");
        assert_eq!(done.number("pages"), u64::try_from(home.catalogue().number("SELECT count(*) FROM visit")).unwrap());
        let twice: Vec<_> = scene.world.server.log().take().by_url().into_iter().filter(|(_, n)| *n > 1).collect();
        assert!(twice.is_empty(), "asked for twice: {twice:?}");
        scene.judge(&home, "a signal");
    }
}

#[test]
fn politeness_survives_kills() {
    let delay = Duration::from_millis(150);
    let world = World::new(Spec { hosts: 2, hosts_per_ip: 2, pages_per_host: 12, ..Spec::default() });
    let home = Home::new();
    let file = project(&home, &world, "150ms");
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
