//! How much does detecting session ids cost? Each line is a name and the minimum of many rounds, in
//! microseconds.

use orb_urls::session::{Site, one_session, two_sessions};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

const PAIRS: &str = include_str!("../tests/data/sessions/pairs.tsv");
const OLD: &str = include_str!("../tests/data/sessions/amazon-old.txt");
const NEW: &str = include_str!("../tests/data/sessions/amazon-new.txt");

/// The links of a page with session ids, and of one without.
const LINKS: usize = 300;

fn main() {
    let mut told = String::new();
    let mut tell = |name: &str, work: &mut dyn FnMut()| {
        let _ = writeln!(told, "{name}\t{:.2}", best(work));
    };
    for (number, line) in (1..=3).zip(PAIRS.lines()) {
        let pair: Vec<&str> = line.split('\t').skip(1).collect();
        tell(&format!("pair {number} of section 6.1"), &mut || drop(black_box(one_session(black_box(&pair)))));
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (OLD.lines().collect(), NEW.lines().collect());
    tell("two lists of section 4.2.3", &mut || drop(black_box(two_sessions(black_box(&old), black_box(&new)))));
    let with = page(|n| format!("http://x.example/shop/item-{n}/view?cat={}&q=4f8ab91c77de20aa3bc1&lang=en", n % 7));
    let with: Vec<&str> = with.iter().map(String::as_str).collect();
    tell("300 links with ids", &mut || drop(black_box(one_session(black_box(&with)))));
    let site = one_session(&with);
    tell("300 links without their ids", &mut || {
        with.iter().for_each(|url| drop(black_box(site.identity(black_box(url)))));
    });
    let without = page(|n| format!("http://x.example/news/2024/05/{n}/a-longer-title-with-words?page={}", n % 9));
    let without: Vec<&str> = without.iter().map(String::as_str).collect();
    let none = Site::default();
    tell("first look at 300 links without ids", &mut || {
        drop(black_box(none.observe(black_box("http://x.example/"), black_box(&without))));
    });
    let few: Vec<&str> = without.iter().copied().take(40).collect();
    tell("first look at 40 links without ids", &mut || {
        drop(black_box(none.observe(black_box("http://x.example/"), black_box(&few))));
    });
    let _ = std::io::stdout().write_all(told.as_bytes());
}

fn page(link: impl Fn(usize) -> String) -> Vec<String> {
    (0..LINKS).map(link).collect()
}

/// Microseconds per call: the fastest of fifty rounds of a hundred calls.
fn best(work: &mut dyn FnMut()) -> f64 {
    let round = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        (0..100).for_each(|_| work());
        began.elapsed().as_secs_f64() * 1e4
    };
    (0..50).map(|_| round(work)).fold(f64::INFINITY, f64::min)
}
