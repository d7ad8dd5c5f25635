//! What becomes of those who read a directory of documents?
//!
//! `cargo run --release -p orb-aside --example survive -- DIRECTORY` has every file below the
//! directory read by helpers, as it is, cut off at ten places and with random bytes changed ten
//! times. Nothing is said of the files' types. It reports how many helpers died of sound files and
//! of others, the slowest, and the memory of the process that asked.

#![expect(clippy::print_stdout, reason = "it is a program")]

mod mutate;

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
/// How much more memory than before this process may take, in kilobytes: a file and what is read
/// of it.
const MOST_MEMORY: u64 = 20 << 10;

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
    let before = memory();
    for path in files(Path::new(&directory)) {
        survey.file(&path);
    }
    survey.report(memory().saturating_sub(before))
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
}

impl Survey {
    fn new() -> Self {
        let helpers = Helpers::new(1, HelperLimits::default());
        Self { helpers, sound: 0, sound_deaths: 0, copies: 0, deaths: 0, slowest: Duration::ZERO }
    }

    fn file(&mut self, path: &Path) {
        let Ok(bytes) = fs::read(path) else { return };
        self.sound += 1;
        self.sound_deaths += u32::from(self.dies(&bytes, path, "as it is"));
        for n in 0..COPIES {
            self.deaths += u32::from(self.dies(&mutate::cut(&bytes, n, COPIES), path, "cut off"));
            self.deaths += u32::from(self.dies(&mutate::changed(&bytes, n), path, "changed"));
            self.copies += 2;
        }
    }

    /// Whether a helper dies of a file.
    fn dies(&mut self, bytes: &[u8], path: &Path, how: &str) -> bool {
        let began = Instant::now();
        let content = Content { bytes, mime: None, charset: None, url: "http://a.example/file" };
        let document = self.helpers.extract(&content, String::new(), true);
        self.slowest = self.slowest.max(began.elapsed());
        let death = document.problems.iter().find(|problem| problem.code.starts_with("reader-"));
        if let Some(problem) = death {
            println!("{}: {} ({how})", problem.code, path.display());
        }
        death.is_some()
    }

    fn report(&self, grown: u64) -> ExitCode {
        let share = f64::from(self.sound_deaths) / f64::from(self.sound.max(1));
        println!(
            "{} sound files: {} readers died ({:.2} %); {} others: {} died; slowest {} ms; {grown} kB more memory here",
            self.sound,
            self.sound_deaths,
            share * 100.0,
            self.copies,
            self.deaths,
            self.slowest.as_millis(),
        );
        if share <= MOST_DEATHS && grown <= MOST_MEMORY { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The memory of this process in kilobytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
