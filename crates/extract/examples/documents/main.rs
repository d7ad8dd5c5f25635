//! How much of real documents is read, and how quickly?
//!
//! `cargo run --release -p orb-extract --example documents -- [--worst N] DIRECTORY...` reads every
//! document below the directories and compares it with what other people's programs say of it: the
//! words with those of an oracle that extracts text, links and properties where there is one that
//! knows them. An oracle that is not installed is left out. `--second DIRECTORY` has what Tika says
//! of the same files: the words on which both oracles agree are then judged, too. `--worst N` names
//! the files that differ most; `--show FILE` prints what is read of one. Each target has its
//! verdict; the program fails if one is missed.
//!
//! A format is a row of `FORMATS`. Every file is read in this process: one that kills it is a find.

#![allow(clippy::print_stdout, reason = "a program for people")]

mod agreed;
mod oracle;
mod verdicts;
mod words;

use oracle::{FORMATS, JudgedFormat};
use orb_extract::{Content, extract};
use orb_page::{Document, LinkKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use verdicts::MeasuredTargets;
use words::Words;

/// Files with fewer words than this in the oracle's text say nothing about shares.
const MIN_WORDS: usize = 5;

/// Links by target: both recall and precision.
const LINKS: f64 = 0.995;
/// Title, author, dates and number of pages that are equal.
const PROPERTIES: f64 = 0.98;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut take = |flag: &str| {
        let at = args.iter().position(|arg| arg == flag)?;
        (at + 1 < args.len()).then(|| args.drain(at..at + 2).nth(1)).flatten()
    };
    if let Some(file) = take("--show") {
        return show(Path::new(&file)).map(|()| ExitCode::SUCCESS);
    }
    let worst: usize = take("--worst").and_then(|count| count.parse().ok()).unwrap_or(0);
    let second = take("--second").map(PathBuf::from);
    let mut targets = MeasuredTargets::default();
    for directory in args.iter().map(Path::new) {
        let mut files = Vec::new();
        collect(directory, &mut files);
        files.sort();
        for format in FORMATS {
            let own: Vec<&PathBuf> = files.iter().filter(|file| format.is_of(file)).collect();
            if own.is_empty() {
                continue;
            }
            judge(format, &own, worst, &mut targets);
            match second.as_deref() {
                Some(second) => agreed::judge(format, &own, (directory, second), worst, &mut targets),
                None => targets.skipped(&format!("{}: words", format.name), "nothing was told by a second judge"),
            }
        }
    }
    Ok(targets.end())
}

fn show(file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read(file)?;
    let document = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "http://a.example/" });
    println!("{}\n", document.text);
    let Document { title, author, created, modified, page_count, problems, .. } = &document;
    println!("{title:?} {author:?} {created:?} {modified:?} {page_count:?} {problems:?}");
    document.links.iter().for_each(|link| println!("{} {} [{}]", link.kind.name(), link.target, link.anchor));
    Ok(())
}

fn collect(place: &Path, out: &mut Vec<PathBuf>) {
    if place.is_file() {
        out.push(place.to_owned());
    }
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        collect(&entry.path(), out);
    }
}

/// Sums over the files of a format.
#[derive(Debug, Default)]
struct Sums {
    files: usize,
    judged: usize,
    silent: usize,
    recall: f64,
    precision: f64,
    links: [usize; 3],
    properties: [usize; 2],
    ours: Duration,
    theirs: Duration,
    bytes: u64,
}

fn judge(format: &JudgedFormat, files: &[&PathBuf], worst: usize, targets: &mut MeasuredTargets) {
    let (mut latin, mut other) = (Sums::default(), Sums::default());
    let mut ranking: Vec<(f64, f64, usize, &Path)> = Vec::new();
    for file in files {
        let Ok(bytes) = std::fs::read(file) else { continue };
        let began = Instant::now();
        let content = Content { bytes: &bytes, mime: Some(format.mime), charset: None, url: "http://a.example/" };
        let document = extract(&content);
        let ours = began.elapsed();
        let began = Instant::now();
        let Some(text) = (format.text)(file) else { continue };
        let theirs = began.elapsed();
        let (found, wanted) = (Words::of(&document.text), Words::of(&text));
        let sums = if wanted.is_other() { &mut other } else { &mut latin };
        sums.files += 1;
        sums.bytes += bytes.len() as u64;
        sums.ours += ours;
        sums.theirs += theirs;
        judge_links(format, file, &document, sums);
        judge_properties(format, file, &document, sums);
        if wanted.count() < MIN_WORDS {
            sums.silent += 1;
            continue;
        }
        let common = found.common(&wanted) as f64;
        let (recall, precision) = (common / wanted.count() as f64, common / found.count().max(1) as f64);
        sums.judged += 1;
        sums.recall += recall;
        sums.precision += precision;
        ranking.push((recall.min(precision), recall, wanted.count(), file));
    }
    report(&format!("{} (Latin, Greek, Cyrillic)", format.name), &latin);
    report(&format!("{} (CJK, right to left, Indic)", format.name), &other);
    latin.and(&other).verdicts(format.name, targets);
    ranking.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (share, recall, words, file) in ranking.iter().take(worst) {
        println!("    {share:.3} recall {recall:.3} of {words:>6} words  {}", file.display());
    }
}

fn judge_links(format: &JudgedFormat, file: &Path, document: &Document, sums: &mut Sums) {
    let Some(wanted) = format.links.and_then(|links| links(file)) else { return };
    let own = document.links.iter().filter(|link| link.kind == LinkKind::Document);
    let found: BTreeSet<String> = own.map(|link| link.target.clone()).collect();
    let common = found.intersection(&wanted).count();
    sums.links = [sums.links[0] + common, sums.links[1] + wanted.len(), sums.links[2] + found.len()];
}

fn judge_properties(format: &JudgedFormat, file: &Path, document: &Document, sums: &mut Sums) {
    let Some(wanted) = format.properties.and_then(|properties| properties(file)) else { return };
    let pages = document.page_count.map(|pages| pages.to_string());
    let found = [&document.title, &document.author, &document.created, &document.modified, &pages];
    for (wanted, found) in wanted.iter().zip(found) {
        sums.properties[0] += usize::from(wanted == found);
        sums.properties[1] += 1;
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

impl Sums {
    /// What is judged of all scripts together.
    fn and(&self, other: &Self) -> Self {
        let links = std::array::from_fn(|n| self.links[n] + other.links[n]);
        let properties = std::array::from_fn(|n| self.properties[n] + other.properties[n]);
        Self { files: self.files + other.files, links, properties, ..Self::default() }
    }

    fn verdicts(&self, name: &str, targets: &mut MeasuredTargets) {
        let [common, wanted, found] = self.links;
        if wanted + found == 0 {
            targets.skipped(&format!("{name}: links"), "no judge that is installed knows any");
        } else {
            targets.at_least(&format!("{name}: links, recall"), share(common, wanted), LINKS);
            targets.at_least(&format!("{name}: links, precision"), share(common, found), LINKS);
        }
        match self.properties {
            [_, 0] => targets.skipped(&format!("{name}: properties"), "no judge that is installed knows any"),
            [equal, all] => targets.at_least(&format!("{name}: properties"), share(equal, all), PROPERTIES),
        }
    }
}

fn report(name: &str, sums: &Sums) {
    if sums.files == 0 {
        return;
    }
    let judged = sums.judged.max(1) as f64;
    println!("{name}: {} files, {} with words", sums.files, sums.judged);
    println!("  words       recall {:.4}  precision {:.4}", sums.recall / judged, sums.precision / judged);
    let [common, wanted, found] = sums.links;
    if wanted + found > 0 {
        println!(
            "  links       recall {:.4}  precision {:.4}  of {wanted}",
            share(common, wanted),
            share(common, found)
        );
    }
    if sums.properties[1] > 0 {
        println!("  properties  equal {:.4}  of {}", share(sums.properties[0], sums.properties[1]), sums.properties[1]);
    }
    let [ours, theirs] = [sums.ours, sums.theirs].map(|time| time.as_secs_f64());
    println!(
        "  time        {ours:.2} s against {theirs:.2} s: {:.2} times as quick, {:.1} MB/s, {:.2} ms a file",
        theirs / ours.max(1e-9),
        sums.bytes as f64 / 1e6 / ours.max(1e-9),
        1_000.0 * ours / sums.files as f64
    );
}
