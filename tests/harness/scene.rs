//! How is a crawl disturbed again and again, and compared with an undisturbed one?

use super::judge;
use super::orb::{Home, PROJECT, Running, crawling, files};
use super::web::World;
use orb_testweb::{Feature, Latency, Spec};
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum pages that are fetched and not yet recorded.
pub(crate) const BATCH: usize = 20;
/// Maximum requests in flight.
pub(crate) const CONNECTIONS: usize = 32;

/// The result of a crawl, ignoring times and the order of discovery.
#[derive(Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) pages: BTreeMap<String, Vec<String>>,
    links: Vec<Vec<String>>,
    images: Vec<Vec<String>>,
    /// Number of responses in the archive by URL, according to its CDXJ files.
    answers: BTreeMap<String, usize>,
}

impl Picture {
    pub(crate) fn of(home: &Home) -> Self {
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
        let mut answers = BTreeMap::new();
        for index in files(&home.project().join("warc"), ".cdxj") {
            for line in judge::read_cdxj(&std::fs::read_to_string(&index).unwrap()) {
                // Every process requests unavailable rules again.
                if !line.fields["url"].ends_with("/robots.txt") {
                    *answers.entry(line.fields["url"].clone()).or_default() += 1;
                }
            }
        }
        Self { pages, links: catalogue.links(), images, answers }
    }

    /// Asserts that it equals another.
    #[track_caller]
    pub(crate) fn assert_like(&self, theirs: &Self, what: &str) {
        assert_alike(&format!("pages after {what}"), &self.pages, &theirs.pages);
        assert_alike(&format!("links after {what}"), &self.links, &theirs.links);
        assert_alike(&format!("images after {what}"), &self.images, &theirs.images);
        assert_alike(&format!("answers after {what}"), &self.answers, &theirs.answers);
    }
}

/// Gives duplicates the kind of their original: which one comes first depends on the order.
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

/// Asserts that two lists are equal, and shows some of the differences.
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
    if ours == theirs {
        return;
    }
    let (more, less) = (only(&ours, &theirs), only(&theirs, &ours));
    panic!("{what}: {} instead of {}; too many {more:#?}, missing {less:#?}", ours.len(), theirs.len());
}

/// A web to be crawled again and again.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) undisturbed: Picture,
    settings: Vec<&'static str>,
}

impl Scene {
    /// Four hosts with a little of everything.
    pub(crate) fn new() -> Self {
        let latency = Latency { mean: Duration::from_millis(2), spread: 1.0 };
        Self::of(Spec { hosts: 4, pages_per_host: 80, latency, ..Spec::default() }, &[])
    }

    /// A few pages, for crawls that are disturbed very often.
    pub(crate) fn small(settings: &[&'static str]) -> Self {
        Self::of(Spec { hosts: 3, pages_per_host: 15, ..Spec::default() }, settings)
    }

    fn of(spec: Spec, settings: &[&'static str]) -> Self {
        let features = [Feature::Furniture, Feature::Robots, Feature::Redirects, Feature::Errors, Feature::Media];
        let least = (spec.hosts * spec.pages_per_host) as usize;
        let world = World::new(features.into_iter().fold(spec, Spec::with));
        let home = Home::new();
        let mut scene = Self { undisturbed: Picture::nothing(), world, settings: settings.to_vec() };
        scene.start(&home, &[]).finish().expect(0);
        scene.undisturbed = Picture::of(&home);
        assert!(scene.undisturbed.pages.len() > least, "only {} pages", scene.undisturbed.pages.len());
        assert!(scene.undisturbed.answers.values().all(|count| *count == 1), "{:?}", scene.undisturbed.answers);
        scene.world.server.log().take();
        scene
    }

    /// Starts or resumes a crawl of it.
    pub(crate) fn start(&self, home: &Home, environment: &[(&str, &str)]) -> Running {
        self.start_with(home, &[], environment)
    }

    /// The same, with more arguments.
    pub(crate) fn start_with(&self, home: &Home, args: &[&str], environment: &[(&str, &str)]) -> Running {
        let file = project(home, &self.world, &[&["frontier.delay = '0s'"], self.settings.as_slice()].concat());
        home.start(&crawling(&[&[file.as_str()], args].concat()), environment)
    }

    /// Asserts that the home holds the same as the undisturbed crawl's, by our own reading.
    #[track_caller]
    pub(crate) fn compare(&self, home: &Home, what: &str) {
        Picture::of(home).assert_like(&self.undisturbed, what);
        home.orb(&["check", PROJECT]).expect(0);
    }

    /// The same, and by other tools too.
    #[track_caller]
    pub(crate) fn judge(&self, home: &Home, what: &str) {
        self.compare(home, what);
        let mut answers = BTreeMap::new();
        for record in judge::records(&home.warcs()) {
            let url = record.url.unwrap_or_default();
            if ["response", "revisit", "resource"].contains(&record.kind.as_str()) && !url.ends_with("/robots.txt") {
                *answers.entry(url).or_default() += 1;
            }
        }
        assert_alike(&format!("records after {what}"), &answers, &self.undisturbed.answers);
        judge::warcio_check(&home.warcs());
    }
}

impl Picture {
    fn nothing() -> Self {
        Self { pages: BTreeMap::new(), links: Vec::new(), images: Vec::new(), answers: BTreeMap::new() }
    }
}

/// Writes the project file, with batches so small that a short crawl has many.
pub(crate) fn project(home: &Home, world: &World, more: &[&str]) -> String {
    let settings = ["scope.mode = 'any'", "frontier.retries = 0", "frontier.max_backoff = '100ms'"];
    let bounds = [format!("crawl.batch_pages = {BATCH}"), format!("fetch.connections = {CONNECTIONS}")];
    let batches = [bounds[0].as_str(), &bounds[1], "crawl.batch_time = '20ms'"];
    world.project(home, &[settings.as_slice(), &batches, more].concat())
}

/// A deterministic pseudo-random number generator (Marsaglia's xorshift).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
