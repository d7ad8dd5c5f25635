//! What survives of real pages when they become Markdown?
//!
//! `cargo run --release -p orb-extract --example markdown -- [--peers PYTHON SCRIPT] DIRECTORY...`
//! writes pages of each directory as Markdown, lets a CommonMark parser make HTML of it, and
//! compares that with the page: the share of its words, headings, links, list items, terms, cells
//! of data tables and code blocks that are still what they were. With `--peers` the same is
//! measured of other writers, which SCRIPT runs. `--show FILE` prints the main content of one page
//! as Markdown, `--show FILE --whole` all of it; `--lost N` before the directories prints what is
//! lost of each kind on N pages.

#![allow(clippy::print_stdout, reason = "a program for people")]

mod parts;

use orb_extract::{MainContent, MarkdownRequest, markdown};
use parts::{KINDS, PageParts};
use pulldown_cmark::{Options, Parser, html};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of pages that are read of each directory, evenly spread over it.
const PAGES: usize = 100;
/// Larger pages are left out: the peers need minutes for them.
const MAX_SIZE: usize = 500_000;
/// What pages are said to be at, for their links.
const PLACE: &str = "http://a.example/";
/// The writers that the script knows.
const PEERS: &[&str] = &["html2text", "markdownify"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = |flag: &str| args.iter().position(|a| a == flag).and_then(|at| args.get(at + 1));
    if let Some(path) = after("--show") {
        show(Path::new(path), args.iter().any(|a| a == "--whole"))?;
        return Ok(());
    }
    let peers = after("--peers").zip(after("--peers").and_then(|python| after(python)));
    let taken = 3 * usize::from(peers.is_some()) + 2 * usize::from(after("--lost").is_some());
    let directories = &args[taken..];
    println!("{:<28} {}", "share that survives", KINDS.map(|kind| format!("{kind:>9}")).join(""));
    for directory in directories {
        let pages = sampled(Path::new(directory));
        println!("{} pages of {directory}", pages.len());
        let ours: Vec<String> = pages.iter().map(|page| written(&page.html, true)).collect();
        report("ours", &pages, &ours);
        lost(&pages, &ours, after("--lost").and_then(|n| n.parse().ok()).unwrap_or(0));
        for name in PEERS {
            if let Some((python, script)) = peers {
                report(name, &pages, &by_peer(python, script, name, &pages)?);
            }
        }
    }
    Ok(())
}

/// A page to be written.
struct SampledPage {
    path: PathBuf,
    html: String,
}

fn show(path: &Path, is_whole: bool) -> std::io::Result<()> {
    let html = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    println!("{}", written(&html, is_whole));
    Ok(())
}

fn written(html: &str, is_whole: bool) -> String {
    let page = (!is_whole).then(|| MainContent::of(html, false)).filter(|page| page.is_told);
    let ranges = page.map(|page| page.ranges());
    markdown(html, &MarkdownRequest { url: Some(PLACE), only: ranges.as_deref() })
}

fn sampled(directory: &Path) -> Vec<SampledPage> {
    let mut files = Vec::new();
    collect(directory, &mut files);
    files.sort();
    let step = (files.len() / PAGES).max(1);
    let page = |path: PathBuf| {
        let html = String::from_utf8(std::fs::read(&path).ok()?).ok()?;
        (html.len() <= MAX_SIZE).then_some(SampledPage { path, html })
    };
    files.into_iter().step_by(step).filter_map(page).collect()
}

fn collect(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            out.push(path);
        }
    }
}

/// The pages as another writer has them.
fn by_peer(python: &str, script: &str, name: &str, pages: &[SampledPage]) -> std::io::Result<Vec<String>> {
    let dir = std::env::temp_dir().join(format!("orb-markdown-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let paths = pages.iter().map(|page| page.path.as_path());
    let status = Command::new(python).arg(script).arg(name).arg(&dir).args(paths).status()?;
    if !status.success() {
        return Err(std::io::Error::other(format!("{name} failed")));
    }
    let made = (0..pages.len()).map(|i| std::fs::read_to_string(dir.join(format!("{i}.md")))).collect();
    std::fs::remove_dir_all(&dir)?;
    made
}

/// Prints the shares over all pages.
fn report(name: &str, pages: &[SampledPage], made: &[String]) {
    let mut sums = [(0usize, 0usize); KINDS.len()];
    for (page, made) in pages.iter().zip(made) {
        let source = PageParts::of(&page.html, PLACE);
        let rendered = PageParts::of(&rendered(made), PLACE);
        for (sum, (common, all)) in sums.iter_mut().zip(source.common(&rendered)) {
            sum.0 += common;
            sum.1 += all;
        }
    }
    let share = |(common, all): (usize, usize)| match all {
        0 => format!("{:>9}", "-"),
        _ => format!("{:>9.3}", common as f64 / all as f64),
    };
    println!("{name:<28} {}", sums.map(share).join(""));
}

/// Prints some parts of each kind that do not survive, from as many pages.
fn lost(pages: &[SampledPage], made: &[String], count: usize) {
    for (kind, name) in KINDS.iter().enumerate().filter(|_| count > 0) {
        let of = |(page, made): (&SampledPage, &String)| {
            let (source, rendered) = (PageParts::of(&page.html, PLACE), PageParts::of(&rendered(made), PLACE));
            source.lost(&rendered, kind).map(|part| format!("{name} {}: {part}", page.path.display()))
        };
        pages.iter().zip(made).filter_map(of).take(count).for_each(|line| println!("{line}"));
    }
}

fn rendered(made: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_DEFINITION_LIST;
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(made, options));
    out
}
