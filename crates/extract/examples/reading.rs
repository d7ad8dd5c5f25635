//! What is read of a directory of documents?
//!
//! `cargo run --release -p orb-extract --example reading -- DIRECTORY` prints a line of JSON for
//! each file: its name, the document, and the milliseconds that reading it took. The types of the
//! files are told from their bytes.

#![expect(clippy::print_stdout, reason = "it is a program")]

use orb_extract::{Content, extract};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() {
    let Some(directory) = std::env::args().nth(1) else {
        println!("reading DIRECTORY");
        return;
    };
    let directory = Path::new(&directory);
    for path in files(directory) {
        let Ok(bytes) = fs::read(&path) else { continue };
        let started = Instant::now();
        let document = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "http://a.example/file" });
        let took = started.elapsed();
        let name = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        println!("{}", serde_json::json!({ "path": name, "ms": took.as_secs_f64() * 1e3, "document": document }));
    }
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
