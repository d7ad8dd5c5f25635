//! Does the tree keep its own rules?
//!
//! Dependencies are read from the manifests, not from the compiler: an arrow between crates is a
//! line that someone wrote. Checked are the arrows, the crates that alone may use a technology, and
//! meaningless names.
#![expect(clippy::unwrap_used, reason = "a tree that cannot be read fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// Which crates a crate may depend on, besides `urls` and `page`, which everyone may.
const ARROWS: &[(&str, &[&str])] = &[
    ("urls", &[]),
    ("page", &[]),
    ("store", &[]),
    ("frontier", &["store"]),
    ("fetch", &[]),
    ("extract", &[]),
    ("track", &[]),
    ("graph", &[]),
    ("index", &[]),
    ("project", &["frontier", "fetch", "extract", "track", "store", "index"]),
    ("export", &["store", "graph"]),
    // `fetch` for its content decoding alone: the archive keeps bodies as they were transferred.
    ("answers", &["project", "fetch", "extract", "track", "store", "graph", "index"]),
    // `answers` because a crawl reads archived pages, too: to compare, to index, to hand them on.
    ("crawl", &["answers", "project", "frontier", "fetch", "extract", "track", "store", "graph", "index"]),
    ("serve", &["answers", "project", "crawl"]),
    // What is left besides `answers`, `crawl`, `project` and `export`: `inspect` asks the crate
    // that knows one thing (`frontier`, `fetch`, `extract`); exports, plans and acknowledgements
    // still open `store` themselves, and `track` renders differences.
    (
        "cli",
        &[
            "answers", "frontier", "fetch", "extract", "track", "store", "project", "export", "crawl", "serve",
            "testweb",
        ],
    ),
    ("testweb", &[]),
];

/// Technologies that only these crates may use: SQL, sockets, async, the text index, the graph
/// files.
const ALONE: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("fjall", &["store"]),
    ("hyper", &["fetch", "serve"]),
    ("h2", &["fetch", "testweb"]),
    ("rustls", &["fetch", "testweb"]),
    ("hickory-resolver", &["fetch"]),
    ("tokio", &["fetch", "crawl", "serve", "testweb", "cli"]),
    ("tantivy", &["index"]),
    ("webgraph", &["graph"]),
    ("anyhow", &["cli"]),
];

/// Files outside `store` that may hold SQL: statements for another database, and an example for
/// people.
const SQL_ELSEWHERE: &[&str] = &["crates/export/src/postgres", "crates/cli/src/command/demo.rs"];

/// How SQL is recognised.
const SQL: &[&str] = &[
    "SELECT ",
    "INSERT INTO ",
    "INSERT OR ",
    "DELETE FROM ",
    "CREATE TABLE ",
    "CREATE VIEW ",
    "CREATE INDEX ",
    "PRAGMA ",
];

/// Names that say nothing about the content.
const EMPTY_NAMES: &[&str] =
    &["core", "common", "utils", "util", "helpers", "misc", "types", "base", "manager", "data", "info"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The crates by directory name, with their manifests.
fn manifests() -> BTreeMap<String, Table> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    crates
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap())
        })
        .collect()
}

/// A crate's build dependencies, without those of tests and benches.
fn dependencies(manifest: &Table) -> BTreeSet<&str> {
    let tables = ["dependencies", "build-dependencies"];
    tables
        .iter()
        .filter_map(|name| manifest.get(*name)?.as_table())
        .flat_map(|t| t.keys().map(String::as_str))
        .collect()
}

/// The directory of one of our crates, by dependency name.
fn ours(dependency: &str) -> Option<&str> {
    dependency.strip_prefix("orb-")
}

#[test]
fn every_arrow_between_crates_is_drawn_in_the_table() {
    for (name, manifest) in manifests() {
        let allowed = ARROWS.iter().find(|(from, _)| *from == name);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("crate {name} is not in the table of arrows"));
        for to in dependencies(&manifest).into_iter().filter_map(ours) {
            let everyones = (to == "page" && name != "urls") || (to == "urls" && name != "testweb");
            assert!(everyones || allowed.contains(&to), "crate {name} may not depend on {to}");
        }
    }
}

#[test]
fn each_technology_is_known_to_its_own_crate_alone() {
    for (name, manifest) in manifests() {
        for dependency in dependencies(&manifest) {
            let owners = ALONE.iter().find(|(technology, _)| *technology == dependency);
            assert!(
                owners.is_none_or(|(_, who)| who.contains(&name.as_str())),
                "crate {name} may not know {dependency}"
            );
        }
    }
}

#[test]
fn every_crate_obeys_the_common_lints_and_says_what_it_is_for() {
    for (name, manifest) in manifests() {
        let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
        assert_eq!(lints.and_then(toml::Value::as_bool), Some(true), "crate {name} has lints of its own");
        let description = manifest["package"].get("description").and_then(toml::Value::as_str);
        assert!(description.is_some_and(|text| !text.is_empty()), "crate {name} has no description");
    }
}

#[test]
fn sql_is_spoken_in_the_store_alone() {
    let mut sources = Vec::new();
    for name in manifests().into_keys().filter(|name| name != "store") {
        collect(&root().join("crates").join(name).join("src"), &mut sources);
    }
    assert!(sources.len() > 20, "the sources were not found");
    for path in sources {
        let inside = path.strip_prefix(root()).unwrap();
        if SQL_ELSEWHERE.iter().any(|place| inside.starts_with(place)) {
            continue;
        }
        for (number, line) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            // A message may tell people what to ask for.
            let is_told = line.contains("orb sql") || line.trim_start().starts_with("//");
            let spoken = SQL.iter().find(|word| !is_told && line.contains(**word));
            assert!(spoken.is_none(), "{}:{number} speaks SQL: {}", inside.display(), line.trim());
        }
    }
}

#[test]
fn no_crate_or_module_has_a_name_that_says_nothing() {
    let mut sources = Vec::new();
    for place in ["crates", "fuzz/src", "fuzz/fuzz_targets", "fuzz/tests", "xtask", "tests"] {
        collect(&root().join(place), &mut sources);
    }
    assert!(sources.len() > 20, "the sources were not found");
    for path in sources {
        let inside = path.strip_prefix(root()).unwrap();
        for part in &inside.with_extension("") {
            assert!(!EMPTY_NAMES.iter().any(|name| part == *name), "{} says nothing by its name", inside.display());
        }
    }
}

#[test]
fn every_module_begins_with_the_question_it_answers() {
    let mut sources = Vec::new();
    for place in ["crates", "fuzz/src", "xtask"] {
        collect(&root().join(place), &mut sources);
    }
    for path in sources.iter().filter(|path| path.components().any(|part| part.as_os_str() == "src")) {
        let text = fs::read_to_string(path).unwrap();
        // A file of unit tests belongs to the module it tests.
        let tests = path.file_name().is_some_and(|name| name == "tests.rs");
        assert!(tests || text.starts_with("//!"), "{} has no header", path.display());
    }
}

/// Every Rust source below a directory, except test inputs.
fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}
