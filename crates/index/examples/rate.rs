//! How fast are pages indexed?
//!
//! `rate PAGES BYTES WORDS` indexes generated prose in a temporary index and prints the time per
//! page. `rate PAGES FILE` takes the texts from a file, in which form feeds separate them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement for people")]

use orb_index::{IndexEntry, PageIndexWriter, Stems, TokenizedText, WriterRules};
use orb_page::{Moment, PageId};
use std::time::{Duration, Instant};

fn main() {
    let argument = |n: usize| std::env::args().nth(n);
    let pages: u64 = argument(1).and_then(|n| n.parse().ok()).unwrap_or(5_000);
    let bytes: usize = argument(2).and_then(|n| n.parse().ok()).unwrap_or(15_000);
    let known: u64 = argument(3).and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let texts: Vec<String> = match argument(2).and_then(|file| std::fs::read_to_string(file).ok()) {
        Some(file) => file.split('\u{c}').map(str::to_owned).collect(),
        None => generated(bytes, known),
    };
    let dir = tempfile::tempdir().unwrap();
    let rules = WriterRules { memory: 100_000_000, threads: 1, stems: Stems::default() };
    let (mut writer, _) = PageIndexWriter::open(dir.path(), &rules).unwrap();
    let (began, mut cutting) = (Instant::now(), Duration::ZERO);
    for page in 1..=pages {
        let cut = Instant::now();
        let text = TokenizedText::of(&texts[usize::try_from(page).unwrap() % texts.len()]);
        cutting += cut.elapsed();
        let url = format!("http://127.0.0.1:1234/{page}/some-page.html");
        let (page, title) = (PageId(page), "a title of a page".into());
        writer.put(IndexEntry { page, at: Moment(1), url, title, text, ..IndexEntry::default() }).unwrap();
    }
    writer.commit(Some("1")).unwrap();
    let each = |took: Duration| took.as_secs_f64() * 1e6 / pages as f64;
    println!("{pages} pages: {:.1} µs a page, {:.1} of them tokenizing", each(began.elapsed()), each(cutting));
    let size: u64 = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    println!("{} bytes a page on the disk", size / pages);
}

/// Two hundred texts of words that are roughly as frequent as in a language.
fn generated(bytes: usize, known: u64) -> Vec<String> {
    let mut dice = 0x9e37_79b9_7f4a_7c15u64;
    let mut roll = |end: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % end
    };
    let words: Vec<String> =
        (0..known).map(|_| (0..2 + roll(7)).map(|_| char::from(b'a' + roll(26) as u8)).collect()).collect();
    let mut text = || {
        let mut text = String::new();
        while text.len() < bytes {
            let at = roll(known).min(roll(known)).min(roll(known));
            text.push_str(&words[at as usize]);
            text.push(' ');
        }
        text
    };
    (0..200).map(|_| text()).collect()
}
