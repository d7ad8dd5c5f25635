//! `cargo xtask simulate protocol [--seeds N] [--seed S]`: plays histories and says which fail.
#![expect(clippy::print_stdout, reason = "a program for people at a terminal")]

use orb_simulation::{Flaw, play};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let (first, count) = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(10_000));
    if std::env::args().any(|arg| arg == "--flaws") {
        for flaw in Flaw::ALL {
            let found = (first..first + count).find_map(|seed| play(seed, Some(flaw)).err().map(|wrong| (seed, wrong)));
            println!("{flaw:?}: {found:?}");
        }
        return ExitCode::SUCCESS;
    }
    let (began, mut failed, mut events, mut requests, mut lives) = (Instant::now(), 0, 0, 0, 0);
    for seed in first..first + count {
        match play(seed, None) {
            Ok(outcome) => {
                (events, requests) = (events + outcome.events, requests + outcome.requests);
                lives += outcome.lives;
                if count == 1 {
                    println!("{outcome:?}");
                }
            }
            Err(wrong) => {
                failed += 1;
                println!("seed {seed}: {wrong}");
            }
        }
    }
    println!(
        "{count} histories, {failed} failed: {requests} requests of {lives} lives of workers, {events} events, {:.1} s",
        began.elapsed().as_secs_f64()
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
