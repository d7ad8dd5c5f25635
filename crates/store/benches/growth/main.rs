//! Does a page cost more when more is known?
//!
//! `cargo bench -p orb-store --bench growth -- [--sizes 1,10,33,50] [--window PAGES] [--home DIR]`:
//! grows one project through the store's own front door to so many million known URLs and measures,
//! at each size, a window of ordinary pages (45 links, 5 of them new, batches of a thousand, hosts
//! in turn; a hundred thousand of them, or one for every two hundred known URLs): processor time a
//! page, bytes handed to the disk, memory. The first million comes from ordinary pages, so that
//! there are as many visits as a crawl has by then; from there on it grows by pages with 40 new
//! links, which leave the same index. With many more, hosts would hardly get on in their queues,
//! and all of them would read on for the first time within one window. No archive is written: its
//! bytes are the pages' own. With `--home` the project stays there, as a process that was killed
//! would leave it, and the next call resumes it.
//!
//! A machine that others share is a fifth slower in one minute than in the next. So at last another
//! project is grown to the first size, and the two are measured in turn, a few seconds each.
//!
//! The index merges its tables in the background, seldom and much at a time: a window would meet
//! such a merge or not. So what its threads spent since the size before is shared out over all URLs
//! found since then, and a page is charged with its new ones. All tables are merged at some 27 and
//! some 55 million. The thread that moves the catalogue's log works several times in a window, and
//! is charged as it is.
//!
//! It fails where the last size costs more than 1.4 times the processor time of the first, in turn;
//! a page more than 30 kB; or the process more than 1 GB.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench that cannot go on fails, and prints"
)]

mod crawler;
mod grown;
mod web;

use grown::{Cost, Figures, Grown};
use std::path::PathBuf;
use std::process::ExitCode;

/// Turns of the two projects that are compared, and the batches each visits in one.
const TURNS: u64 = 10;
const SMALL: u64 = 10;
const LARGE: u64 = 50;

/// The command line options.
struct Wish {
    sizes: Vec<u64>,
    window: Option<u64>,
    home: Option<PathBuf>,
}

fn main() -> ExitCode {
    let wish = Wish::read();
    let tmp = tempfile::tempdir().unwrap();
    let mut grown = Grown::open(wish.home.as_ref().unwrap_or(&tmp.path().to_owned()));
    println!("{}", Figures::HEADS);
    let mut figures = Vec::new();
    for size in &wish.sizes {
        grown.grow_to(*size);
        let one = grown.measure(wish.window);
        println!("{one}");
        figures.push(one);
    }
    if wish.home.is_some() {
        // Left as a crash leaves it: neither closed nor fingerprinted.
        std::process::exit(0);
    }
    let first = wish.sizes.first().copied().unwrap_or(0);
    verdict(&figures, &in_turn(&mut grown, first))
}

impl Wish {
    fn read() -> Self {
        let mut wish = Self { sizes: vec![1_000_000, 5_000_000], window: None, home: None };
        let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
        while let Some(flag) = args.next() {
            let value = args.next().unwrap_or_default();
            match flag.as_str() {
                "--sizes" => wish.sizes = value.split(',').map(millions).collect(),
                "--window" => wish.window = Some(value.parse().unwrap()),
                "--home" => wish.home = Some(value.into()),
                _ => panic!("unknown flag {flag}"),
            }
        }
        wish
    }
}

fn millions(text: &str) -> u64 {
    (text.parse::<f64>().unwrap() * 1e6) as u64
}

/// Measures a project of this size and the grown one, a little of each in turn.
fn in_turn(large: &mut Grown, size: u64) -> [Figures; 2] {
    let tmp = tempfile::tempdir().unwrap();
    let mut small = Grown::open(tmp.path());
    small.grow_to(size);
    let known = [small.known(), large.known()];
    let mut costs = [Cost::default(), Cost::default()];
    for _ in 0..TURNS {
        costs[0] += small.spell(SMALL);
        costs[1] += large.spell(LARGE);
    }
    let figures = [small.figures(known[0], &costs[0]), large.figures(known[1], &costs[1])];
    println!("\nin turn:\n\n{}", Figures::HEADS);
    figures.iter().for_each(|one| println!("{one}"));
    figures
}

/// Whether the targets are met.
fn verdict(figures: &[Figures], [small, large]: &[Figures; 2]) -> ExitCode {
    let ratio = large.cpu() / small.cpu();
    let written = figures.iter().map(Figures::written).fold(0.0, f64::max);
    let peak = figures.iter().map(Figures::peak).max().unwrap_or(0);
    let good = ratio <= 1.4 && written <= 30_000.0 && peak < 1_000;
    println!("\nin turn, CPU a page at {} known URLs is {ratio:.2} times that at {}: ", large.known, small.known);
    println!("{}", if good { "within the bounds" } else { "OUT OF BOUNDS (1.4 times, 30 kB a page, 1 GB)" });
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
