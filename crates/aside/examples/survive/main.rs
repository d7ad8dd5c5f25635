//! What becomes of those who read a directory of documents?
//!
//! `cargo run --release -p orb-aside --example survive -- DIRECTORY` has every file below the
//! directory read by helpers, as it is, cut off at ten places and with random bytes changed ten
//! times. Nothing is said of the files' types. It reports how many helpers died of sound files and
//! of others, the slowest, the most memory that the process that asked took beyond what it held of
//! the file, and the peaks of the helper. It fails if too many died or took too much.

#![expect(clippy::print_stdout, reason = "it is a program")]

mod memory;
mod mutate;

use memory::HelperPeaks;
use orb_aside::{HelperLimits, HelperProgram, Helpers};
use orb_extract::Content;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

/// How many cut-off and how many changed copies of a file are read.
const COPIES: u64 = 10;
/// How many sound files may kill their reader.
const MOST_DEATHS: f64 = 0.002;
/// How much more memory than before this process may take at any moment, in kilobytes, beyond the
/// file and the copy that it holds itself: what is read of it.
const MOST_MEMORY: u64 = 20 << 10;
/// What the helper may take, in kilobytes, for all but one in a hundred documents.
const MOST_HELPER_MEMORY: u64 = 100 << 10;

fn main() -> ExitCode {
    let first = std::env::args().nth(1);
    if first.as_deref() == Some("__read") {
        let served = orb_aside::serve(io::stdin().lock(), io::stdout().lock(), &HelperLimits::default());
        return if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let Some(directory) = first else {
        println!("survive DIRECTORY");
        return ExitCode::FAILURE;
    };
    orb_aside::install(HelperProgram { path: "/proc/self/exe".into(), arguments: vec!["__read".to_owned()] });
    let mut survey = Survey::new();
    for path in files(Path::new(&directory)) {
        survey.file(&path);
    }
    survey.report()
}

/// The files below a directory, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(place) = pending.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            if entry.path().is_dir() { pending.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.sort();
    found
}

/// What has happened so far.
struct Survey {
    helpers: Helpers,
    sound: u32,
    sound_deaths: u32,
    copies: u32,
    deaths: u32,
    slowest: Duration,
    /// Memory of this process before the first file, and the most that was added to it.
    before: u64,
    grown: u64,
    peaks: HelperPeaks,
}

impl Survey {
    fn new() -> Self {
        let helpers = Helpers::new(1, HelperLimits::default());
        let before = memory::field("self", "VmRSS").unwrap_or(0);
        Self {
            helpers,
            sound: 0,
            sound_deaths: 0,
            copies: 0,
            deaths: 0,
            slowest: Duration::ZERO,
            before,
            grown: 0,
            peaks: HelperPeaks::default(),
        }
    }

    fn file(&mut self, path: &Path) {
        let Ok(bytes) = fs::read(path) else { return };
        self.sound += 1;
        self.sound_deaths += u32::from(self.dies(&bytes, 0, path, "as it is"));
        for n in 0..COPIES {
            self.deaths += u32::from(self.dies(&mutate::cut(&bytes, n, COPIES), bytes.len(), path, "cut off"));
            self.deaths += u32::from(self.dies(&mutate::changed(&bytes, n), bytes.len(), path, "changed"));
            self.copies += 2;
        }
    }

    /// Whether a helper dies of a file. So many bytes are held beside it.
    fn dies(&mut self, bytes: &[u8], beside: usize, path: &Path, how: &str) -> bool {
        let helper = memory::child();
        for pid in helper.as_deref().into_iter().chain(["self"]) {
            memory::forget_peak(pid);
        }
        let began = Instant::now();
        let content = Content { bytes, mime: None, charset: None, url: "http://a.example/file" };
        let document = self.helpers.extract(&content, String::new(), true);
        self.slowest = self.slowest.max(began.elapsed());
        let death = document.problems.iter().find(|problem| problem.code.starts_with("reader-"));
        if let Some(problem) = death {
            println!("{}: {} ({how})", problem.code, path.display());
        }
        let held = self.before + (bytes.len() + beside) as u64 / 1_024;
        let peak = memory::field("self", "VmHWM").unwrap_or(u64::MAX);
        self.grown = self.grown.max(peak.saturating_sub(held));
        // Documents that are read in this process have no helper.
        let read_by = memory::child().and_then(|pid| memory::field(&pid, "VmHWM"));
        self.peaks.add(if death.is_some() { memory::ALLOWED } else { read_by.unwrap_or(0) });
        death.is_some()
    }

    fn report(&self) -> ExitCode {
        let (grown, usual) = (self.grown, self.peaks.quantile(0.99));
        let share = f64::from(self.sound_deaths) / f64::from(self.sound.max(1));
        println!(
            "{} sound files: {} readers died ({:.2} %); {} others: {} died; slowest {} ms; at most {grown} kB more memory here; \
             helper: median {} kB, p99 {usual} kB, most {} kB",
            self.sound,
            self.sound_deaths,
            share * 100.0,
            self.copies,
            self.deaths,
            self.slowest.as_millis(),
            self.peaks.quantile(0.5),
            self.peaks.quantile(1.0),
        );
        let holds = [share <= MOST_DEATHS, grown <= MOST_MEMORY, usual <= MOST_HELPER_MEMORY];
        for (holds, what) in holds.into_iter().zip(["deaths", "memory here", "memory of the helper"]) {
            println!("- {}: {what}", if holds { "ok" } else { "MISSED" });
        }
        if holds == [true; 3] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
