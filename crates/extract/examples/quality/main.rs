//! How well is the main content of real pages found?
//!
//! `cargo run --release -p orb-extract --example quality -- CORPUS [--worst N] [--cross] [--learn]`
//! where CORPUS holds `pages.json` and `pages/`: for each page the passages that belong to its main
//! content and those that do not. A passage counts as found if it occurs in the extracted text
//! after folding white space. Printed are precision, recall and F over all passages, for the model
//! that is compiled in, for the whole text as a base line and, with `--cross`, for models each
//! learnt without the pages they are judged by (five folds). `--learn` learns from all pages and
//! writes the table of the model. `--show FILE` prints what is found on one page; `--reference
//! SELECTOR [--without SELECTOR] DIRECTORY` measures documentation whose content CSS selectors
//! name. F of unseen pages and the time a page takes have targets; the program fails if one is
//! missed.

#![allow(clippy::print_stdout, reason = "a program for people")]

mod boost;
mod corpus;
mod judge;
mod reference;
#[path = "../documents/verdicts.rs"]
mod verdicts;

use boost::Boosted;
use corpus::{AnnotatedPage, read};
use judge::Tally;
use orb_extract::learning::observe;
use orb_extract::{MainContent, WantedPart, select};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use verdicts::MeasuredTargets;

/// Number of parts in cross-validation.
const FOLDS: usize = 5;
/// Number of divisions into folds, over which the figure is averaged.
const SEEDS: u64 = 3;

/// The least F on pages that nothing was learnt from.
const LEAST_F: f64 = 0.93;
/// How long a page may take, in milliseconds.
const MOST_MS: f64 = 1.0;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let after = |flag: &str| args.iter().position(|a| a == flag).and_then(|at| args.get(at + 1));
    if let Some(path) = after("--show") {
        let page = MainContent::of(&std::fs::read_to_string(path)?, false);
        println!("{}\n{:?}\n{}", page.is_told, page.facts, page.main_text());
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(selector), Some(directory)) = (after("--reference"), args.last()) {
        reference::measure(selector, after("--without").map(String::as_str), Path::new(directory));
        return Ok(ExitCode::SUCCESS);
    }
    let corpus = PathBuf::from(args.first().filter(|a| !a.starts_with("--")).ok_or("no corpus given")?);
    let pages = read(&corpus)?;
    println!("{} pages of {}", pages.len(), corpus.display());
    println!("{:<28} precision  recall  F", "");
    show("the whole text", &Tally::of(&pages, |page| whole(&page.html)));
    let shipped = Tally::of(&pages, |page| MainContent::of(&page.html, false).main_text());
    show("the model as compiled in", &shipped);
    let ignored = Tally::of(&pages, |page| ignored(&page.html));
    println!("{}", ignored.told());
    let (median, mean) = times(&pages);
    println!("median {median:.3} ms a page, mean {mean:.3} ms");
    let mut targets = MeasuredTargets::default();
    match has("--cross") {
        true => targets.at_least("F of unseen pages", cross(&pages), LEAST_F),
        false => targets.at_least("F of the model as compiled in", shipped.figures().2, LEAST_F),
    }
    targets.at_most("median ms a page", median, MOST_MS);
    if let Some(count) = after("--worst").and_then(|n| n.parse().ok()) {
        shipped.worst(count);
    }
    if has("--learn") {
        let samples = judge::samples(&pages, &observed(&pages), |_| true);
        let model = Boosted::learn(&samples, 1);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main_content/trees.rs");
        std::fs::write(&path, model.table())?;
        println!("wrote {}", path.display());
    }
    Ok(targets.end())
}

fn show(name: &str, tally: &Tally) {
    let (precision, recall, f) = tally.figures();
    println!("{name:<28} {precision:.4}     {recall:.4}  {f:.4}   {tally}");
}

fn whole(html: &str) -> String {
    MainContent::of(html, false).text
}

/// What tracking takes for boilerplate.
fn ignored(html: &str) -> String {
    let blocks = select(html, &WantedPart { mark_around: true, ..WantedPart::default() }).blocks;
    let around: Vec<String> = blocks.into_iter().filter(|block| block.around).map(|block| block.text).collect();
    around.join("\n")
}

fn observed(pages: &[AnnotatedPage]) -> Vec<judge::Observed> {
    pages.iter().map(|page| observe(&page.html, false)).collect()
}

/// F for pages that the model has not seen.
fn cross(pages: &[AnnotatedPage]) -> f64 {
    let observed = observed(pages);
    let mut sum = 0.0;
    for seed in 1..=SEEDS {
        let fold = |i: usize| boost::mixed(i as u64 ^ (seed << 32)) as usize % FOLDS;
        let mut tally = Tally::default();
        for part in 0..FOLDS {
            let model = Boosted::learn(&judge::samples(pages, &observed, |i| fold(i) != part), seed);
            for page in pages.iter().enumerate().filter(|(i, _)| fold(*i) == part).map(|(_, page)| page) {
                let text = MainContent::judged(&page.html, false, |row| model.score(row)).main_text();
                tally.add(page, &text);
            }
        }
        show(&format!("unseen pages, five folds ({seed})"), &tally);
        sum += tally.figures().2;
    }
    sum / SEEDS as f64
}

/// Median and mean time a page in milliseconds.
fn times(pages: &[AnnotatedPage]) -> (f64, f64) {
    let time = |page: &AnnotatedPage| {
        let start = Instant::now();
        std::hint::black_box(MainContent::of(&page.html, false));
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut all: Vec<f64> = pages.iter().map(|page| time(page).min(time(page)).min(time(page))).collect();
    all.sort_by(f64::total_cmp);
    (all[all.len() / 2], all.iter().sum::<f64>() / all.len() as f64)
}
