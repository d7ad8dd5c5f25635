//! How fast are pages indexed?
//!
//! `rate PAGES BYTES WORDS` indexes generated prose in a temporary index and prints the time per
//! page.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement for people")]

use orb_index::{IndexEntry, PageIndexWriter, Stems, TokenizedText, WriterRules};
use orb_page::{Moment, PageId};
use std::time::Instant;

fn main() {
    let pages: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(5_000);
    let bytes: usize = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(15_000);
    let known: u64 = std::env::args().nth(3).and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let dir = tempfile::tempdir().unwrap();
    let rules = WriterRules { memory: 200_000_000, threads: 1, stems: Stems::default() };
    let (mut writer, _) = PageIndexWriter::open(dir.path(), &rules).unwrap();
    let mut dice = 0x9e37_79b9_7f4a_7c15u64;
    let mut roll = |end: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % end
    };
    let words: Vec<String> =
        (0..known).map(|_| (0..2 + roll(7)).map(|_| char::from(b'a' + roll(26) as u8)).collect()).collect();
    let mut texts = Vec::new();
    for _ in 0..200 {
        let mut text = String::new();
        while text.len() < bytes {
            // Roughly Zipf-like, as word frequencies are.
            let at = roll(known).min(roll(known)).min(roll(known));
            text.push_str(&words[at as usize]);
            text.push(' ');
        }
        texts.push(text);
    }
    let began = Instant::now();
    for page in 1..=pages {
        let text = TokenizedText::of(&texts[(page % 200) as usize]);
        let url = format!("http://127.0.0.1:1234/{page}/some-page.html");
        writer
            .put(IndexEntry {
                page: PageId(page),
                at: Moment(1),
                url,
                title: "a title of a page".into(),
                text,
                ..IndexEntry::default()
            })
            .unwrap();
    }
    writer.commit(Some("1")).unwrap();
    let took = began.elapsed();
    println!("{pages} pages of {bytes} bytes: {:.1} µs a page", took.as_secs_f64() * 1e6 / pages as f64);
    let size: u64 = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    println!("{} bytes a page on the disk", size / pages);
}
