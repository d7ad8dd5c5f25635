//! Does the HTML reader see what a browser's DOM contains, on real pages and on broken ones?
//!
//! `cargo run --release -p orb-extract --example oracle -- DIRECTORY...` compares the reader with
//! html5ever's tree on every `.html` below the directories, then on mutations of them made by
//! cutting, duplicating and swapping pieces.

#![allow(clippy::print_stdout, reason = "a program for people")]

#[path = "../tests/oracle/mod.rs"]
mod oracle;

use oracle::Saying;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Tally {
    pages: usize,
    bytes: usize,
    links: usize,
    found: usize,
    right: usize,
    titles: usize,
    texts: usize,
    alike: usize,
}

impl Tally {
    fn count(&mut self, name: &str, html: &str, show: bool) {
        let (ours, theirs) = (oracle::reader(html), oracle::tree(html));
        self.pages += 1;
        self.bytes += html.len();
        self.links += theirs.links.len();
        self.found += ours.links.len();
        self.right += common(&ours, &theirs);
        self.titles += usize::from(ours.title == theirs.title);
        self.texts += usize::from(ours.text == theirs.text);
        self.alike += usize::from(ours == theirs);
        if ours != theirs && show {
            println!("{name}: {}", difference(&ours, &theirs));
        }
    }

    fn print(&self, what: &str) {
        let ratio = |a: usize, b: usize| a as f64 / b.max(1) as f64;
        println!(
            "{what}: {} pages, {:.1} MB, {} links; recall {:.5}, precision {:.5}; titles {:.5}, texts {:.5}, pages alike {:.5}",
            self.pages,
            self.bytes as f64 / 1e6,
            self.links,
            ratio(self.right, self.links),
            ratio(self.right, self.found),
            ratio(self.titles, self.pages),
            ratio(self.texts, self.pages),
            ratio(self.alike, self.pages),
        );
    }
}

/// Size of the multiset intersection of both sides' links.
fn common(ours: &Saying, theirs: &Saying) -> usize {
    let mut left: HashMap<_, usize> = HashMap::new();
    theirs.links.iter().for_each(|l| *left.entry(l).or_default() += 1);
    ours.links.iter().filter(|l| left.get_mut(l).is_some_and(|n| std::mem::replace(n, n.saturating_sub(1)) > 0)).count()
}

fn difference(ours: &Saying, theirs: &Saying) -> String {
    if ours.title != theirs.title {
        return format!("title {:?}, not {:?}", ours.title, theirs.title);
    }
    if let Some(i) = (0..ours.links.len().max(theirs.links.len())).find(|&i| ours.links.get(i) != theirs.links.get(i)) {
        return format!("link {i} {:?}, not {:?}", ours.links.get(i), theirs.links.get(i));
    }
    if ours.alts != theirs.alts {
        return format!("alts {:?}, not {:?}", ours.alts, theirs.alts);
    }
    let at = ours.text.chars().zip(theirs.text.chars()).take_while(|(a, b)| a == b).count();
    let near = |text: &str| text.chars().skip(at.saturating_sub(20)).take(60).collect::<String>();
    format!("text at {at} {:?}, not {:?}", near(&ours.text), near(&theirs.text))
}

fn pages(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, out);
        } else if path.extension().is_some_and(|e| e == "html" || e == "htm") {
            out.push(path);
        }
    }
}

/// A deterministic mutation of a page.
fn mutated(html: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % n.max(1) as u64).unwrap_or(0)
    };
    let mut text: Vec<char> = html.chars().take(20_000).collect();
    for _ in 0..8 {
        let (at, len) = (next(text.len()), 1 + next(12));
        let end = (at + len).min(text.len());
        match next(4) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece: Vec<char> = text[at..end].to_vec();
                let to = next(text.len());
                text.splice(to..to, piece);
            }
            2 => {
                const NASTY: [&str; 10] = ["<", ">", "\"", "'", "<!--", "</a>", "<a href=x>", "&", "</", "="];
                text.splice(at..at, NASTY[next(NASTY.len())].chars());
            }
            _ => {
                let other = next(text.len());
                text.swap(at, other);
            }
        }
    }
    text.into_iter().collect()
}

fn main() {
    let mut paths = Vec::new();
    std::env::args().skip(1).for_each(|directory| pages(Path::new(&directory), &mut paths));
    paths.sort();
    let (mut real, mut broken) = (Tally::default(), Tally::default());
    for (i, path) in paths.iter().enumerate() {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let html = String::from_utf8_lossy(&bytes);
        real.count(&path.display().to_string(), &html, true);
        if i % 4 == 0 {
            broken.count(
                &format!("{} broken", path.display()),
                &mutated(&html, i as u64 + 1),
                std::env::var_os("SHOW").is_some(),
            );
        }
    }
    real.print("as they are");
    broken.print("broken");
}
