//! Does a new user find the obvious page first?
//!
//! Two real sites from Debian packages are crawled and asked what somebody who does not know them
//! would ask. `search_quality/*.tsv` lists the queries with the pages that answer them, usually
//! one, sometimes two equally good ones; the list was written before any weights were tuned. The
//! measure is the mean reciprocal rank (Voorhees, TREC-8): 1 if the page is always first, 0.5 if it
//! is second.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
#![allow(clippy::print_stdout, reason = "the table of ranks")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::site::Site;
use std::path::Path;

/// Required value for each site.
const WANTED: f64 = 0.8;

/// The rank of the first page that answers; `None` if it is not in the top ten.
fn place(home: &Home, site: &Site, query: &str, wanted: &[&str]) -> Option<usize> {
    let finished = home.orb(&["search", PROJECT, query, "--json", "--no-snippets"]);
    let found = finished.expect(0).json();
    let wanted: Vec<String> = wanted.iter().map(|path| site.url(path)).collect();
    let found: Vec<&str> = found.as_array().unwrap().iter().map(|hit| hit["url"].as_str().unwrap()).collect();
    let place = found.iter().position(|url| wanted.iter().any(|wanted| wanted == url)).map(|at| at + 1);
    let shown = place.map_or_else(|| "-".to_owned(), |place| place.to_string());
    let instead = if place == Some(1) { "" } else { found.first().copied().unwrap_or_default() };
    println!("{shown:>3}  {query}  {instead}");
    place
}

#[track_caller]
fn evaluate(root: &str, start: &str, table: &str) {
    let (site, home) = (Site::serve(Path::new(root)), Home::new());
    home.crawl(&[&site.url(start), "--delay", "0"]);
    let queries: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(queries.len() >= 20, "too few to say anything");
    let worth = |query: &Vec<&str>| place(&home, &site, query[0], &query[1..]).map_or(0.0, |place| 1.0 / place as f64);
    let mean = queries.iter().map(worth).sum::<f64>() / queries.len() as f64;
    println!("mean reciprocal rank {mean:.3} of {} queries", queries.len());
    assert!(mean >= WANTED, "the mean reciprocal rank is {mean:.3}");
}

#[test]
fn the_python_documentation_answers_new_users() {
    evaluate("/usr/share/doc/python3-doc/html", "/", include_str!("search_quality/python.tsv"));
}

#[test]
fn the_cpp_reference_answers_new_users() {
    evaluate("/usr/share/cppreference/doc/html", "/en/index.html", include_str!("search_quality/cpp.tsv"));
}
