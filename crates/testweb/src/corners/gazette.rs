//! Corner: what is news in a newspaper that never looks the same twice?
//!
//! A front page and two hundred articles. Every response has its own advertisements, tokens,
//! counters and teasers, which nobody wrote; other advertisements, and the list of what is read
//! most, stay as they are for an epoch. From one edition to the next, an epoch later, ten
//! articles are rewritten (from a single digit to a paragraph), four are withdrawn and six are new:
//! exactly 5, 2 and 3 % of the first edition. An edition is derived from the previous one by the
//! seed; the decoration of a response comes from the web's ticket counter, so no two responses
//! agree.

use super::{Corner, Fate, Spot, Via};
use crate::chance::{Chance, mixed};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;
use crate::words::{ADJECTIVES, NOUNS, VERBS};
use std::collections::BTreeSet;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Gazette, name: "gazette", title: "The Gazette", hosts: &[], spots, answer };

/// Articles in the first edition.
const FIRST: usize = 200;
/// Articles rewritten from one edition to the next.
const REVISED: usize = 10;
/// Articles withdrawn.
const WITHDRAWN: usize = 4;
/// Articles added.
const ADDED: usize = 6;
/// The last edition; it does not change any more.
const LAST: u64 = 40;
/// Initial paragraphs per article.
const WRITTEN: usize = 4;
/// The authors.
static AUTHORS: &[&str] = &["Ada Holm", "Ben Okoro", "Chiara Vitale", "Dov Lerner", "Esther Quist", "Farid Nazari"];

/// The state of an article in an edition.
#[derive(Clone, Default)]
struct Record {
    /// Its revisions, in order.
    revisions: Vec<Revision>,
    withdrawn: bool,
}

/// A revision of an article.
#[derive(Clone, Copy)]
enum Revision {
    Digit,
    Word,
    Author,
    Headline,
    Removal,
    Addition,
}

/// Every edition has some of each.
static REVISIONS: [Revision; 6] = {
    use Revision::{Addition, Author, Digit, Headline, Removal, Word};
    [Digit, Word, Author, Headline, Removal, Addition]
};

/// All articles up to an edition, by number.
fn edition(seed: u64, epoch: u64) -> Vec<Record> {
    let mut records = vec![Record::default(); FIRST];
    for number in 1..=epoch.min(LAST) {
        let mut chance = Chance::of(&[seed, number, 23]);
        let mut there = living(&records);
        let revised = REVISIONS.iter().cycle().take(REVISED).copied().map(Some);
        for revision in revised.chain([None; WITHDRAWN]) {
            let Some(record) = records.get_mut(there.swap_remove(chance.below(there.len()))) else { continue };
            record.revisions.extend(revision);
            record.withdrawn = revision.is_none();
        }
        records.resize_with(records.len() + ADDED, Record::default);
    }
    records
}

/// The numbers of the articles that are online.
fn living(records: &[Record]) -> Vec<usize> {
    records.iter().enumerate().filter(|(_, record)| !record.withdrawn).map(|(number, _)| number).collect()
}

/// The content of an article, without its decoration.
struct Story {
    headline: u64,
    /// Number of earlier headlines.
    headlines: u64,
    authors: usize,
    /// Index of the first author.
    author: usize,
    verb: usize,
    /// The only number in it.
    tenths: u64,
    nouns: [&'static str; 2],
    /// Where its paragraphs begin in the stock.
    stock: usize,
    /// The paragraphs it has: `WRITTEN` at first, and no number is ever reused.
    paragraphs: Vec<usize>,
    /// The next paragraph number.
    next: usize,
}

impl Story {
    /// An article after these revisions.
    fn of(seed: u64, number: usize, revisions: &[Revision]) -> Self {
        let mut chance = Chance::of(&[seed, number as u64, 29]);
        let mut story = Self {
            headline: chance.draw(),
            headlines: 0,
            authors: 1,
            author: chance.below(AUTHORS.len()),
            verb: chance.below(VERBS.len()),
            tenths: chance.draw() % 10,
            nouns: [chance.one_of(NOUNS), chance.one_of(NOUNS)],
            stock: chance.below(prose::SINGLE),
            paragraphs: (0..WRITTEN).collect(),
            next: WRITTEN,
        };
        revisions.iter().for_each(|revision| story.revise(*revision, &mut chance));
        story
    }

    /// Changes one thing to a state it never had before.
    fn revise(&mut self, revision: Revision, chance: &mut Chance) {
        // Added paragraphs stay: otherwise the article might read as it did before.
        let first = self.paragraphs.iter().position(|piece| *piece < WRITTEN);
        match (revision, first) {
            (Revision::Digit, _) => self.tenths += 1,
            (Revision::Word, _) => self.verb += 1,
            (Revision::Author, _) if self.authors < AUTHORS.len() => self.authors += 1,
            (Revision::Headline, _) => self.headlines += 1,
            (Revision::Removal, Some(first)) => _ = self.paragraphs.remove(first),
            _ => {
                self.paragraphs.insert(chance.below(self.paragraphs.len() + 1), self.next);
                self.next += 1;
            }
        }
    }

    fn headline(&self) -> String {
        let mut title = Vec::new();
        prose::title(mixed(&[self.headline, self.headlines]), &mut title);
        let title = String::from_utf8_lossy(&title);
        if self.headlines == 0 { title.into_owned() } else { format!("{title}, day {}", self.headlines + 1) }
    }

    fn authors(&self) -> String {
        let name = |n| AUTHORS.get((self.author + n) % AUTHORS.len()).copied().unwrap_or_default();
        (0..self.authors).map(name).collect::<Vec<_>>().join(" and ")
    }

    /// Its paragraphs as HTML.
    fn paragraphs(&self) -> Vec<String> {
        let verb = VERBS.get(self.verb % VERBS.len()).copied().unwrap_or_default();
        let ([noun, other], tenths) = (self.nouns, self.tenths % 10);
        let fact = format!("<p>The {noun} {verb} the {other}, which costs the town 41.{tenths} million.</p>\n");
        let piece = |n: &usize| prose::stock((self.stock + n) % prose::SINGLE);
        let piece = |n: &usize| String::from_utf8_lossy(piece(n)).into_owned();
        [fact].into_iter().chain(self.paragraphs.iter().map(piece)).collect()
    }
}

fn path(number: usize) -> String {
    format!("/gazette/article-{number}.html")
}

/// The articles that an article always links to, withdrawn or not.
fn related(number: usize) -> impl Iterator<Item = usize> {
    (1..=3).map(move |step| (number + 61 * step) % FIRST)
}

/// The status of a withdrawn article.
fn farewell(number: usize) -> u16 {
    if number.is_multiple_of(2) { 404 } else { 410 }
}

fn spots(scene: &WebView<'_>) -> Vec<Spot> {
    let records = edition(scene.web.spec().seed, scene.epoch);
    let pointed_to: BTreeSet<usize> = living(&records).into_iter().flat_map(related).collect();
    let mut spots = vec![Spot::page("/gazette/").via(Via::Spot).article(scene.epoch.min(LAST))];
    for (number, record) in records.iter().enumerate() {
        if !record.withdrawn {
            spots.push(Spot::page(path(number)).article(record.revisions.len() as u64));
        } else if pointed_to.contains(&number) {
            spots.push(Spot::new(path(number), Fate::Status(farewell(number))).via(Via::Spot));
        }
    }
    spots
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let records = edition(ask.scene.web.spec().seed, ask.scene.epoch);
    let dress = Dress::new(ask, &records);
    if rest.is_empty() {
        front(dress, reply);
        return true;
    }
    let number = rest.strip_prefix("article-").and_then(|rest| rest.strip_suffix(".html")?.parse::<usize>().ok());
    let Some(number) = number.filter(|_| number.map(path).as_deref() == Some(ask.path)) else { return false };
    match records.get(number) {
        Some(record) if !record.withdrawn => article(dress, number, reply),
        Some(_) if farewell(number) == 410 => reply.page(410, "Withdrawn", "<p>This article was withdrawn.</p>"),
        _ => reply.missing(),
    }
    true
}

/// The page that lists all articles of its edition.
fn front(mut dress: Dress<'_>, reply: &mut Reply) {
    let mut inside = dress.advertisements(0) + "<ul class=\"contents\">\n";
    for number in living(dress.records) {
        inside += &format!("<li><a href=\"{}\">{}</a></li>\n", path(number), dress.story(number).headline());
    }
    inside += "</ul>\n";
    inside += &dress.advertisements(1);
    inside += &dress.foot();
    reply.page(200, "The Gazette", &inside);
}

fn article(mut dress: Dress<'_>, number: usize, reply: &mut Reply) {
    let story = dress.story(number);
    let daily = dress.daily(number);
    let mut inside = dress.advertisements(0) + &daily.top + "<article>\n";
    inside += &dress.byline(&story);
    let paragraphs = story.paragraphs();
    let at = dress.chance.below(paragraphs.len());
    for (n, paragraph) in paragraphs.iter().enumerate() {
        inside += paragraph;
        if n == at {
            inside += &dress.advertisements(1);
        }
        if n == daily.behind {
            inside += &daily.within;
        }
    }
    inside += "</article>\n";
    inside += &daily.most_read;
    inside += &dress.teasers(number);
    inside += &dress.advertisements(2);
    inside += &dress.foot();
    reply.page(200, &story.headline(), &inside);
}

/// What is around an article for a day.
struct Daily {
    /// An advertisement above the article, possibly none.
    top: String,
    /// One within it, possibly none.
    within: String,
    /// After which paragraph that is.
    behind: usize,
    /// What others read.
    most_read: String,
}

/// The words of an advertisement.
fn slogan(chance: &mut Chance) -> String {
    let mut slogan = format!("Buy {} {}s", chance.one_of(ADJECTIVES), chance.one_of(NOUNS));
    for _ in 0..chance.below(6) {
        slogan += &format!(", {} {}s", chance.one_of(ADJECTIVES), chance.one_of(NOUNS));
    }
    slogan
}

/// The decoration of one response.
struct Dress<'a> {
    seed: u64,
    epoch: u64,
    records: &'a [Record],
    chance: Chance,
    /// Number of advertisements in each position; up to three in total.
    places: [usize; 3],
}

impl<'a> Dress<'a> {
    /// A new decoration for every response.
    fn new(ask: &Ask<'_>, records: &'a [Record]) -> Self {
        let (web, seed) = (ask.scene.web, ask.scene.web.spec().seed);
        let mut chance = Chance::of(&[seed, web.draw(), 31]);
        let mut places = [0; 3];
        for _ in 0..chance.below(4) {
            places[chance.below(3)] += 1;
        }
        Self { seed, epoch: ask.scene.epoch, records, chance, places }
    }

    fn story(&self, number: usize) -> Story {
        Story::of(self.seed, number, self.records.get(number).map_or(&[], |record| record.revisions.as_slice()))
    }

    /// The advertisements in a position, possibly none.
    fn advertisements(&mut self, place: usize) -> String {
        let mut all = String::new();
        for _ in 0..self.places.get(place).copied().unwrap_or(0) {
            let slogan = slogan(&mut self.chance);
            all += &format!("<aside class=\"ad\" id=\"ad-{:x}\"><p>{slogan}!</p></aside>\n", self.chance.draw());
        }
        all
    }

    /// What is around an article today.
    fn daily(&self, number: usize) -> Daily {
        let mut chance = Chance::of(&[self.seed, self.epoch, number as u64, 37]);
        let mut advertisement = || match chance.below(3) {
            0 => String::new(),
            _ => format!("<aside class=\"advertisement\">{}!</aside>\n", slogan(&mut chance)),
        };
        let (top, within) = (advertisement(), advertisement());
        let living = living(self.records);
        let mut most_read = String::from("<aside class=\"most-read\"><h2>Most read today</h2>\n<ol>\n");
        for _ in 0..3 {
            let other = living.get(chance.below(living.len())).copied().unwrap_or(number);
            most_read += &format!("<li><a href=\"{}\">{}</a></li>\n", path(other), self.story(other).headline());
        }
        Daily { top, within, behind: chance.below(WRITTEN), most_read: most_read + "</ol></aside>\n" }
    }

    /// The author, with a counter in the same line.
    fn byline(&mut self, story: &Story) -> String {
        let (authors, reads) = (story.authors(), self.chance.below(100_000));
        format!("<p class=\"byline\">By {authors}. Read {reads} times.</p>\n")
    }

    /// Three fixed articles and two random ones, shuffled.
    fn teasers(&mut self, number: usize) -> String {
        let living = living(self.records);
        let kicker = |other| format!("More on the {}", prose::subject(mixed(&[self.seed, other as u64])));
        let mut rows: Vec<(usize, String)> = related(number).map(|other| (other, kicker(other))).collect();
        for _ in 0..2 {
            let drawn = living.get(self.chance.below(living.len())).copied().unwrap_or(number);
            rows.push((drawn, self.story(drawn).headline()));
        }
        let mut list = String::from("<ul class=\"teasers\">\n");
        while !rows.is_empty() {
            let (other, text) = rows.swap_remove(self.chance.below(rows.len()));
            list += &format!("<li><a href=\"{}\">{text}</a></li>\n", path(other));
        }
        list + "</ul>\n"
    }

    /// Tokens and counters.
    fn foot(&mut self) -> String {
        let (token, session) = (self.chance.draw(), self.chance.draw());
        let (visitor, took) = (self.chance.below(1_000_000), self.chance.below(900));
        format!(
            "<form method=\"post\" action=\"/gazette/letters\"><input type=\"hidden\" name=\"csrf\" value=\"{token:016x}\">\
             <input name=\"letter\"></form>\n<footer><p>You are visitor number {visitor} today. Session {session:016x}. \
             Made in {took} ms.</p></footer>\n<script>var token = \"{token:016x}\";</script>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Course, CrawlReach, HostNaming, Spec, Web};
    use std::sync::Arc;

    const NAMING: HostNaming = HostNaming::Names { port: 80 };

    fn web(seed: u64) -> Arc<Web> {
        Web::new(Spec { seed, hosts: 1, ..Spec::default().with(Feature::Gazette) }).unwrap()
    }

    /// What happened to the articles from the previous epoch to this one.
    fn course(web: &Web, epoch: u64) -> Course {
        web.set_epoch(epoch - 1);
        let before = web.expected(NAMING, CrawlReach::Host(0));
        web.set_epoch(epoch);
        before.course(&web.expected(NAMING, CrawlReach::Host(0)))
    }

    #[test]
    fn an_edition_has_as_many_changes_as_it_must() {
        for seed in [1, 2, 2026] {
            let web = web(seed);
            for epoch in [1, 2, 3, LAST] {
                let Course { new, updated, missing, .. } = course(&web, epoch);
                // The front page changes, too.
                assert_eq!(
                    (new.len(), updated.len(), missing.len()),
                    (ADDED, REVISED + 1, WITHDRAWN),
                    "{seed} {epoch}"
                );
            }
            assert_eq!(course(&web, LAST + 1).same.len(), web.expected(NAMING, CrawlReach::Host(0)).pages.len());
            web.set_epoch(u64::MAX);
            assert_eq!(web.get(NAMING, 0, "/gazette/").status, 200);
        }
        assert_ne!(course(&web(1), 1).updated, course(&web(2), 1).updated);
    }

    #[test]
    fn what_is_said_of_an_article_is_what_the_server_does() {
        let web = web(1);
        let mut farewells = BTreeSet::new();
        for epoch in 1..4 {
            let Course { new, updated, missing, .. } = course(&web, epoch);
            let status = |url: &String| web.get(NAMING, 0, url.trim_start_matches("http://h0000.test")).status;
            assert!(new.union(&updated).all(|url| status(url) == 200));
            farewells.extend(missing.iter().map(status));
            web.set_epoch(epoch - 1);
            assert!(new.iter().all(|url| status(url) == 404));
        }
        assert_eq!(farewells, [404, 410].into());
    }

    #[test]
    fn every_revision_of_an_article_says_something_else() {
        for (number, record) in edition(1, LAST).iter().enumerate() {
            let text = |revisions| {
                let story = Story::of(1, number, record.revisions.get(..revisions).unwrap());
                (story.headline(), story.authors(), story.paragraphs())
            };
            let texts: BTreeSet<_> = (0..=record.revisions.len()).map(text).collect();
            assert_eq!(texts.len(), record.revisions.len() + 1, "{number}");
        }
    }

    #[test]
    fn no_two_answers_agree_and_the_article_is_in_both() {
        let web = web(1);
        let read = || String::from_utf8(web.get(NAMING, 0, "/gazette/article-7.html").body).unwrap();
        let answers: Vec<String> = (0..40).map(|_| read()).collect();
        let story = Story::of(1, 7, &[]);
        for (n, answer) in answers.iter().enumerate() {
            assert!(answers[..n].iter().all(|other| other != answer));
            assert!(story.paragraphs().iter().all(|paragraph| answer.contains(paragraph)), "{answer}");
            assert!(answer.contains(&story.headline()) && answer.contains(&story.authors()));
        }
        let advertisements: BTreeSet<_> = answers.iter().map(|answer| answer.matches("class=\"ad\"").count()).collect();
        assert_eq!(advertisements, [0, 1, 2, 3].into());
    }

    #[test]
    fn some_of_what_is_around_an_article_stays_for_a_day() {
        let web = web(1);
        let today = |epoch: u64| {
            web.set_epoch(epoch);
            let read = || String::from_utf8(web.get(NAMING, 0, "/gazette/article-7.html").body).unwrap();
            let daily = |page: String| {
                let asides = page.split("<aside class=\"").skip(1).filter(|aside| !aside.starts_with("ad\""));
                asides.map(|aside| aside.split("</aside>").next().unwrap().to_owned()).collect::<Vec<_>>()
            };
            let first = daily(read());
            assert!((0..5).all(|_| daily(read()) == first));
            first
        };
        let days: BTreeSet<Vec<String>> = (0..4).map(today).collect();
        assert_eq!(days.len(), 4, "{days:?}");
    }
}
