//! Do the inputs that fuzzing found, and its seeds, still pass?
#![expect(clippy::unwrap_used, reason = "a corpus that cannot be read fails the test")]

use orb_fuzz::TARGETS;
use std::collections::BTreeSet;
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};

fn here(place: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(place)
}

/// The entries of a directory, sorted.
fn listed(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn names(dir: &str) -> BTreeSet<String> {
    listed(&here(dir)).iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_target_has_a_program_and_a_corpus_and_there_are_no_others() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("fuzz_targets"), targets);
    assert_eq!(names("corpus"), targets);
    let manifest = fs::read_to_string(here("Cargo.toml")).unwrap();
    for name in &targets {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name} is not in the manifest");
        let program = fs::read_to_string(here("fuzz_targets").join(name).with_extension("rs")).unwrap();
        assert!(program.contains(&format!("orb_fuzz::{name}(bytes)")), "{name} drives something else");
        assert!(!listed(&here("corpus").join(name)).is_empty(), "the corpus of {name} is empty");
    }
}

#[test]
fn every_input_of_every_corpus_holds() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        for path in listed(&here("corpus").join(name)) {
            let input = fs::read(&path).unwrap();
            if panic::catch_unwind(|| target(&input)).is_err() {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn no_target_minds_an_empty_or_a_tiny_input() {
    for (_, target) in TARGETS {
        target(b"");
        (0..=255).for_each(|byte| target(&[byte]));
    }
}

#[test]
fn the_corpora_are_small() {
    let files: Vec<u64> = TARGETS
        .iter()
        .flat_map(|(name, _)| listed(&here("corpus").join(name)))
        .map(|path| fs::metadata(path).unwrap().len())
        .collect();
    assert!(files.iter().sum::<u64>() <= 1 << 20, "{} bytes", files.iter().sum::<u64>());
}
