//! Does a new user find the page that answers, and the section on it?
//!
//! Two real sites from Debian packages are crawled and asked what somebody who does not know them
//! would ask: names (`name`), topics (`words`) and questions in words (`question`), each sixth with
//! a misspelling (`~`). `search_quality/*.tsv` lists them with the pages that answer,
//! `page#section` where one section of a long page does. They were written before anything was
//! tuned, and divided by chance: the ranking was tuned on `tune`, and of `held` only the totals are
//! looked at. The measure is the mean reciprocal rank (Voorhees, TREC-8): 1 if the page is always
//! first, 0.5 if it is second, 0 if it is not among the first ten. Of the held questions of both
//! sites together it must reach 0.90.
//!
//! `cargo xtask quality --only search` prints the figures.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
#![allow(clippy::print_stdout, reason = "the table of ranks")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::site::Site;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A crawled site.
struct CrawledSite {
    site: Site,
    home: Home,
}

/// A question with the pages that answer it.
struct Question<'a> {
    kind: &'a str,
    query: &'a str,
    wanted: Vec<&'a str>,
}

/// How well one question was answered.
struct Outcome {
    /// 1 divided by the rank of the first page that answers.
    worth: f64,
    /// Whether that hit names the section, where one is wanted.
    section: Option<bool>,
}

fn questions(table: &str) -> Vec<Question<'_>> {
    let lines = table.lines().map(|line| line.split('\t'));
    lines
        .map(|mut cells| Question {
            kind: cells.next().unwrap(),
            query: cells.next().unwrap(),
            wanted: cells.collect(),
        })
        .collect()
}

impl CrawledSite {
    fn of(root: &str, start: &str) -> Self {
        let (site, home) = (Site::serve(Path::new(root)), Home::new());
        home.crawl(&[&site.url(start), "--delay", "0"]);
        Self { site, home }
    }

    fn ask(&self, question: &Question<'_>, tell: bool) -> Outcome {
        let finished = self.home.orb(&["search", PROJECT, question.query, "--json"]);
        let found = finished.expect(0).json();
        let hits = found.as_array().unwrap();
        let answers = |hit: &Value| {
            let url = hit["url"].as_str().unwrap();
            question.wanted.iter().any(|wanted| self.site.url(wanted.split('#').next().unwrap()) == url)
        };
        let place = hits.iter().position(answers);
        if tell && place != Some(0) {
            let first = hits.first().map_or("nothing", |hit| hit["url"].as_str().unwrap());
            println!("{:>3}  {}  {first}", place.map_or(0, |place| place + 1), question.query);
        }
        let wants_section = question.wanted.iter().any(|wanted| wanted.contains('#'));
        let section = place.filter(|_| wants_section).map(|place| {
            let url = hits[place]["section"]["url"].as_str().or(hits[place]["url"].as_str()).unwrap();
            question.wanted.iter().any(|wanted| self.site.url(wanted) == url)
        });
        Outcome { worth: place.map_or(0.0, |place| 1.0 / (place + 1) as f64), section }
    }

    /// Asks all questions of a table and requires a mean reciprocal rank; the worth of each answer.
    #[track_caller]
    fn evaluate(&self, name: &str, table: &str, least: f64) -> Vec<f64> {
        let mut kinds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let (mut sections, mut right) = (0, 0);
        for question in &questions(table) {
            let outcome = self.ask(question, name.ends_with("tune"));
            kinds.entry("all").or_default().push(outcome.worth);
            kinds.entry(question.kind.trim_end_matches('~')).or_default().push(outcome.worth);
            if question.kind.ends_with('~') {
                kinds.entry("misspelt").or_default().push(outcome.worth);
            }
            sections += usize::from(outcome.section.is_some());
            right += usize::from(outcome.section == Some(true));
        }
        let told: Vec<String> =
            kinds.iter().map(|(kind, worths)| format!("{kind} {:.3} of {}", mean(worths), worths.len())).collect();
        println!("{name}: MRR@10 {}; section right in {right} of {sections}", told.join(", "));
        let all = kinds.remove("all").unwrap_or_default();
        assert!(all.len() >= 40, "too few to say anything");
        judged(name, &all, least);
        all
    }
}

fn mean(worths: &[f64]) -> f64 {
    worths.iter().sum::<f64>() / worths.len() as f64
}

/// Prints the verdict on a mean reciprocal rank, and requires it to be good enough.
#[track_caller]
fn judged(name: &str, worths: &[f64], least: f64) {
    let figure = mean(worths);
    let word = if figure >= least { "ok" } else { "MISSED" };
    println!("- {word}: {name}: MRR@10 = {figure:.4} of {} questions (wanted ≥ {least})", worths.len());
    assert!(figure >= least, "{name}: the mean reciprocal rank is {figure:.3}");
}

#[test]
fn two_documentations_answer_new_users() {
    let site = CrawledSite::of("/usr/share/doc/python3-doc/html", "/");
    site.evaluate("python tune", include_str!("search_quality/python_tune.tsv"), 0.91);
    let mut held = site.evaluate("python held", include_str!("search_quality/python_held.tsv"), 0.91);
    let site = CrawledSite::of("/usr/share/cppreference/doc/html", "/en/index.html");
    site.evaluate("cpp tune", include_str!("search_quality/cpp_tune.tsv"), 0.85);
    held.extend(site.evaluate("cpp held", include_str!("search_quality/cpp_held.tsv"), 0.84));
    judged("held questions of both", &held, 0.90);
}
