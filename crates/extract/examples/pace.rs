//! How fast are documents read?
//!
//! `cargo run --release -p orb-extract --example pace -- ENDING[,ENDING] DIRECTORY` reads every
//! file with one of these endings below the directory, again and again on one core, and prints a
//! line of JSON: how many there are, their bytes, the bytes of XML in those that are zip files, and
//! the seconds that the quickest round took.

#![expect(clippy::print_stdout, reason = "it is a program")]

use orb_extract::{Content, extract};
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How often all files are read.
const ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [endings, directory] = args.as_slice() else {
        println!("pace ENDING[,ENDING] DIRECTORY");
        return;
    };
    let endings: Vec<&str> = endings.split(',').collect();
    let mut files: Vec<Vec<u8>> = Vec::new();
    collect(Path::new(directory), &endings, &mut files);
    let round = || {
        let began = Instant::now();
        for bytes in &files {
            std::hint::black_box(extract(&Content { bytes, mime: None, charset: None, url: "http://a.example/file" }));
        }
        began.elapsed().as_secs_f64()
    };
    let seconds = (0..ROUNDS).map(|_| round()).fold(f64::MAX, f64::min);
    let bytes: usize = files.iter().map(Vec::len).sum();
    let xml: u64 = files.iter().map(|bytes| xml(bytes)).sum();
    println!("{}", serde_json::json!({ "files": files.len(), "bytes": bytes, "xml": xml, "seconds": seconds }));
}

fn collect(place: &Path, endings: &[&str], files: &mut Vec<Vec<u8>>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(place).into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if path.is_dir() {
            collect(&path, endings, files);
        } else if endings.contains(&ending.as_str()) {
            files.extend(fs::read(&path).ok());
        }
    }
}

/// How much XML is in a zip file, unpacked.
fn xml(bytes: &[u8]) -> u64 {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return 0 };
    let mut sum = 0;
    for number in 0..archive.len() {
        if let Ok(entry) = archive.by_index_raw(number)
            && entry.name().is_ok_and(|name| name.ends_with(".xml") || name.ends_with(".rels"))
        {
            sum += entry.size();
        }
    }
    sum
}
