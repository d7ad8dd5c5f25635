//! What becomes of a directory of documents?
//!
//! `survival read DIR` prints a line of JSON for each file: its type, text, links, facts, problems
//! and the time it took. `survival survive DIR` reads every file as it is, cut off at ten places
//! and with random bytes changed ten times, and reports panics, slow files and memory. Neither is
//! told the types of the files.

#![expect(clippy::print_stdout, reason = "it is a program")]

mod mutate;

use orb_extract::{Content, extract};
use orb_page::Document;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a file may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many cut-off and how many changed copies of a file are read.
const COPIES: u64 = 10;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["read", directory] => read(Path::new(directory)),
        ["survive", directory] => return survive(Path::new(directory)),
        _ => {
            println!("survival read DIR | survival survive DIR");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
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

fn read(directory: &Path) {
    for path in files(directory) {
        let Ok(bytes) = fs::read(&path) else { continue };
        let started = Instant::now();
        let doc = document(&bytes);
        let took = started.elapsed();
        let name = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        println!("{}", serde_json::json!({ "path": name, "ms": took.as_secs_f64() * 1e3, "document": doc }));
    }
}

fn document(bytes: &[u8]) -> Document {
    extract(&Content { bytes, mime: None, charset: None, url: "http://a.example/file" })
}

fn survive(directory: &Path) -> ExitCode {
    let mut bad = 0u32;
    let mut read = 0u32;
    let mut slowest = Duration::ZERO;
    for path in files(directory) {
        let Ok(bytes) = fs::read(&path) else { continue };
        let copies = (0..COPIES).map(|n| mutate::cut(&bytes, n, COPIES));
        let changed = (0..COPIES).map(|n| mutate::changed(&bytes, n));
        for (number, copy) in std::iter::once(bytes.clone()).chain(copies).chain(changed).enumerate() {
            read += 1;
            let started = Instant::now();
            if let Some(what) = trouble(copy) {
                println!("{what}: {} (copy {number})", path.display());
                bad += 1;
            }
            slowest = slowest.max(started.elapsed());
        }
    }
    println!("{read} copies read, {bad} bad, slowest {} ms, peak memory {} kB", slowest.as_millis(), peak());
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads a copy in a thread of its own, and says what went wrong.
fn trouble(bytes: Vec<u8>) -> Option<&'static str> {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let ended = catch_unwind(|| drop(document(&bytes)));
        let _ = done.send(ended.is_ok());
    });
    match result.recv_timeout(PATIENCE) {
        Ok(true) => None,
        Ok(false) => Some("panic"),
        Err(_) => Some("slow"),
    }
}

/// The most memory this process has had, in kilobytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
