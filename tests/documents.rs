//! Do the documents hold together?
//!
//! What is checked: links between files and to headings lead somewhere, the manual's index names
//! every page, its lists of traps, metrics and tables and the map of the crates are complete, prose
//! wraps at 100 columns, and the README keeps the project's two commands.
#![expect(clippy::unwrap_used, reason = "a document that cannot be read fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every document by its path: those at the root, the manual, the decisions, the map of the crates.
fn documents() -> BTreeMap<PathBuf, String> {
    ["", "docs", "docs/decisions", "crates"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

/// The lines of a document that are prose: no code blocks, no tables, no comments.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence && !line.starts_with('|')
    })
}

/// The targets of a document's links, code spans and addresses on the web left out.
fn links(text: &str) -> Vec<String> {
    let whole = text.lines().filter(|line| !line.trim_start().starts_with("```")).collect::<Vec<_>>().join("\n");
    let targets = whole.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

fn has_heading(text: &str, wanted: &str) -> bool {
    prose(text).any(|(_, line)| line.starts_with('#') && anchor(line) == wanted)
}

#[test]
fn every_link_leads_somewhere() {
    let documents = documents();
    assert!(documents.len() > 40, "the documents were not found");
    for (path, text) in &documents {
        for target in links(text) {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let aim = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let aim = aim.canonicalize().unwrap_or_else(|_| panic!("{}: {target} is not there", path.display()));
            let there = heading.is_empty() || documents.get(&aim).is_some_and(|text| has_heading(text, heading));
            assert!(there, "{}: {target} names no heading", path.display());
        }
    }
}

#[test]
fn the_index_of_the_manual_names_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&format!("]({name})")), "docs/README.md does not name {name}");
    }
}

/// The string literals below a folder's sources that begin with a prefix and are one word.
fn literals(folder: &str, prefix: &str) -> BTreeSet<String> {
    let mut sources = vec![root().join(folder)];
    let mut found = BTreeSet::new();
    while let Some(path) = sources.pop() {
        if path.is_dir() {
            sources.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(path).unwrap();
            let words = text.split('"').filter(|word| word.starts_with(prefix) && word.len() > prefix.len());
            let plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'));
            found.extend(words.filter(plain).map(str::to_owned));
        }
    }
    found
}

#[test]
fn the_manual_lists_every_trap_and_every_metric() {
    let lists = [
        ("docs/crawling.md", "crates/page/src", "trap-"),
        ("docs/monitoring.md", "crates/serve/src/doors/metrics", "orb_"),
    ];
    for (page, folder, prefix) in lists {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let names = literals(folder, prefix);
        assert!(names.len() > 5, "{folder} names nothing that begins with {prefix}");
        for name in names {
            assert!(text.contains(&format!("`{name}`")), "{page} does not list {name}");
        }
    }
}

#[test]
fn the_manual_lists_every_table_and_view() {
    let schema = fs::read_to_string(root().join("tests/golden/sql-schema.json")).unwrap();
    let tables: Vec<serde_json::Value> = serde_json::from_str(&schema).unwrap();
    let text = fs::read_to_string(root().join("docs/sql.md")).unwrap();
    for table in tables.iter().map(|table| table["table"].as_str().unwrap()) {
        assert!(text.contains(&format!("`{table}`")), "docs/sql.md does not list {table}");
    }
}

#[test]
fn the_map_names_every_crate() {
    let map = fs::read_to_string(root().join("crates/README.md")).unwrap();
    for entry in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        assert!(!entry.path().is_dir() || map.contains(&format!("]({name})")), "crates/README.md does not name {name}");
    }
}

#[test]
fn the_architecture_names_places_that_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut places = 0;
    for span in text.split('`').skip(1).step_by(2) {
        let Some((name, rest)) = span.split_once('/') else { continue };
        let sources = root().join("crates").join(name).join("src");
        if sources.exists() && !rest.contains(char::is_whitespace) {
            let there = sources.join(rest).exists() || sources.join(format!("{rest}.rs")).exists();
            assert!(there, "ARCHITECTURE.md: {span} is not there");
            places += 1;
        }
    }
    assert!(places > 20, "the places were not found");
}

#[test]
fn no_two_decisions_have_one_number() {
    let mut numbers = BTreeSet::new();
    for path in documents().into_keys().filter(|path| path.parent().is_some_and(|parent| parent.ends_with("decisions")))
    {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let number: String = name.chars().take_while(char::is_ascii_digit).collect();
        assert!(number.is_empty() || numbers.insert(number), "{name} has the number of another decision");
    }
}

#[test]
fn prose_wraps_at_a_hundred_columns() {
    for (path, text) in documents() {
        for (number, line) in prose(&text) {
            assert!(line.chars().count() <= 100, "{}:{} is too long", path.display(), number + 1);
        }
    }
}

#[test]
fn the_readme_keeps_the_two_commands_of_the_project() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for command in ["cargo run --release -- demo", "cargo xtask test"] {
        assert!(readme.contains(command), "README.md does not say {command}");
    }
}
