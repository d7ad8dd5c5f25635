//! Does the tree keep its own rules?
//!
//! Dependencies are read from the manifests, not from the compiler: an arrow between crates is a
//! line that someone wrote. Checked are the arrows, the crates that alone may use a technology,
//! SQL outside the store, meaningless names, that comments wrap, and that no two types share a
//! name.
#![expect(clippy::unwrap_used, reason = "a tree that cannot be read fails the test")]

use regex::Regex;
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
    // Every request of the browser goes out through our own fetchers.
    ("render", &["fetch"]),
    ("extract", &[]),
    ("track", &[]),
    ("graph", &[]),
    ("index", &[]),
    // Formats that may kill their reader are read in processes of their own.
    ("aside", &["extract"]),
    ("project", &["frontier", "fetch", "extract", "track", "store", "index"]),
    // `answers` because page content leaves as people read it, not as it was transferred.
    ("export", &["answers", "store", "graph"]),
    // `fetch` for its content decoding alone: the archive keeps bodies as they were transferred.
    // `frontier` for its reading of robots.txt alone.
    ("answers", &["aside", "project", "frontier", "fetch", "extract", "track", "store", "graph", "index"]),
    // `answers` because a crawl reads archived pages, too: to compare, to index, to hand them on.
    (
        "crawl",
        &["aside", "answers", "project", "frontier", "fetch", "render", "extract", "track", "store", "graph", "index"],
    ),
    ("serve", &["answers", "project", "crawl"]),
    // A face: it opens no store, asks no graph and no index, and extracts, compares and fetches
    // nothing itself.
    ("cli", &["aside", "answers", "project", "export", "crawl", "serve", "testweb"]),
    ("testweb", &[]),
    // The real frontier, and the store's names for what is asked of it.
    ("simulation", &["frontier", "store"]),
];

/// Technologies that only these crates may use: SQL, sockets, async, the text index, the graph
/// files.
const ALONE: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("fjall", &["store"]),
    ("hyper", &["fetch", "render", "serve"]),
    ("axum", &["serve"]),
    ("askama", &["serve"]),
    ("tokio-rustls", &["fetch", "render", "serve", "testweb"]),
    ("h2", &["fetch", "testweb"]),
    ("rustls", &["fetch", "render", "store", "testweb"]),
    ("hickory-resolver", &["fetch"]),
    ("tokio", &["fetch", "render", "store", "crawl", "serve", "testweb", "cli"]),
    ("tokio-postgres", &["store"]),
    ("object_store", &["store"]),
    ("reqwest", &["store"]),
    ("tantivy", &["index"]),
    ("webgraph", &["graph"]),
    ("anyhow", &["cli"]),
];

/// Files outside `store` that may hold SQL: statements for another database, an example for people,
/// and what tests ask a server.
const SQL_ELSEWHERE: &[&str] =
    &["crates/export/src/postgres", "crates/cli/src/command/demo.rs", "crates/serve/src/trial"];

/// How SQL is recognised: by how its statements begin, wherever a line of them ends.
const SQL: &str = r"(?x)\b(
    SELECT\b | INSERT\s+(OR\s+\w+\s+)?INTO | INSERT\s+OR | DELETE\s+FROM | UPDATE\s+(OR\s+\w+\s+)?[\w.{}]+\s+SET
    | UPDATE\s*$ | (CREATE|ALTER|DROP)\s+(\w+\s+){0,2}(TABLE|VIEW|INDEX|TRIGGER|SCHEMA|ROLE|FUNCTION) | TRUNCATE\s
    | WITH\s+(RECURSIVE\s+)?\w+\s*(\([^)]*\)\s*)?AS\b | PRAGMA\b | VACUUM\b | (ATTACH|DETACH)\s+['?\w] | COPY\s+\w+\s+(FROM|TO)
)";

/// Names that say nothing about the content.
const EMPTY_NAMES: &[&str] =
    &["core", "common", "utils", "util", "helpers", "misc", "types", "base", "manager", "data", "info"];

/// Type names that several crates may define, each with its reason.
const SHARED_TYPE_NAMES: &[&str] = &[
    // A crate's own result: the idiom of the standard library (`io::Result`), understood by
    // everyone.
    "Result",
];

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
    let sql = Regex::new(SQL).unwrap();
    for path in sources {
        let inside = path.strip_prefix(root()).unwrap();
        if SQL_ELSEWHERE.iter().any(|place| inside.starts_with(place)) {
            continue;
        }
        for (number, line) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            // A message may tell people what to ask for, and a link may ask it.
            let is_told = ["orb sql", "/sql?q="].iter().any(|told| line.contains(told));
            let is_spoken = !is_told && !line.trim_start().starts_with("//") && sql.is_match(line);
            assert!(!is_spoken, "{}:{number} speaks SQL: {}", inside.display(), line.trim());
        }
    }
}

#[test]
fn every_statement_of_sql_is_recognised() {
    let sql = Regex::new(SQL).unwrap();
    for spoken in [
        "\"SELECT url FROM page\"",
        "\"SELECT",
        "INSERT INTO page VALUES (1)",
        "INSERT OR REPLACE INTO page",
        "UPDATE page SET status = 1",
        "UPDATE {schema}.page SET status = 1",
        "ALTER TABLE page ADD COLUMN x",
        "DROP TABLE page",
        "DROP VIEW IF EXISTS visit",
        "CREATE UNIQUE INDEX i ON page (url)",
        "CREATE TEMP TABLE t (x)",
        "WITH seen AS (VALUES (1))",
        "WITH RECURSIVE t(n) AS (VALUES (1))",
        "DELETE FROM page",
        "PRAGMA user_version",
        "ATTACH ?1 AS ranks",
    ] {
        assert!(sql.is_match(spoken), "{spoken}");
    }
    for said in ["Select a page", "With it, as before", "UPD", "UPDATED", "the page is updated", "SELECTED"] {
        assert!(!sql.is_match(said), "{said}");
    }
}

#[test]
fn comments_wrap_at_a_hundred_columns() {
    let mut sources = Vec::new();
    for place in ["crates", "fuzz/src", "fuzz/fuzz_targets", "fuzz/tests", "xtask", "tests"] {
        collect(&root().join(place), &mut sources);
    }
    assert!(sources.len() > 20, "the sources were not found");
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        let comments = (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with("//"));
        for (number, line) in comments {
            assert!(line.chars().count() <= 100, "{}:{number} is longer", path.display());
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

#[test]
fn a_type_name_means_one_thing_in_the_whole_workspace() {
    let mut sources = Vec::new();
    for place in ["crates", "fuzz/src", "xtask/src"] {
        collect(&root().join(place), &mut sources);
    }
    let test_files: BTreeSet<PathBuf> = sources.iter().flat_map(|path| test_modules(path)).collect();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in sources.iter().filter(|path| is_production(path) && !test_files.contains(*path)) {
        let inside = path.strip_prefix(root()).unwrap().display();
        for (name, line) in types_in(&fs::read_to_string(path).unwrap()) {
            places.entry(name).or_default().push(format!("{inside}:{line}"));
        }
    }
    assert!(places.len() > 500, "only {} types were found", places.len());
    places.retain(|name, places| places.len() > 1 && !SHARED_TYPE_NAMES.contains(&name.as_str()));
    assert!(places.is_empty(), "types share a name: {places:#?}");
}

#[test]
fn types_are_recognised_where_they_are_defined() {
    let text = "pub struct A<T>(T);\nenum B {\n    C,\n}\npub(crate) trait D {\n    type E;\n}\ntype F = u8;\n\
                fn f() {\n    struct G;\n}\n#[cfg(test)]\nmod tests {\n    struct H;\n}\nunion I {\n";
    let names: Vec<String> = types_in(text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["A", "B", "D", "F", "G", "I"]);
}

/// Whether a source is compiled into a library or program.
fn is_production(path: &Path) -> bool {
    let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
    has("src") && !has("tests") && !has("tests.rs")
}

/// The files of the modules that a file declares for its tests alone.
fn test_modules(path: &Path) -> Vec<PathBuf> {
    let stem = path.file_stem().unwrap();
    let dir = match stem.to_str().unwrap() {
        "mod" | "lib" | "main" => path.parent().unwrap().to_owned(),
        _ => path.with_extension(""),
    };
    let text = fs::read_to_string(path).unwrap();
    let after_marks = text.split("#[cfg(test)]\n").skip(1);
    let names = after_marks.filter_map(|rest| rest.trim_start().strip_prefix("mod ")?.split_once(';'));
    names.map(|(name, _)| dir.join(name).with_extension("rs")).collect()
}

/// The types that a source defines outside its test modules, with their lines. Type aliases count
/// where they are not indented: the others are local, or associated types.
fn types_in(text: &str) -> Vec<(String, usize)> {
    let (mut out, mut is_test, mut test_module) = (Vec::new(), false, None::<String>);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(end) = &test_module {
            if line == end {
                test_module = None;
            }
            continue;
        }
        let item = line.trim_start();
        let indent = &line[..line.len() - item.len()];
        if is_test && item.starts_with("mod ") && item.ends_with('{') {
            test_module = Some(format!("{indent}}}"));
        }
        is_test = item == "#[cfg(test)]" || is_test && item.starts_with("#[");
        let named = type_name(item, indent.is_empty());
        out.extend(named.map(|name| (name.to_owned(), number)));
    }
    out
}

/// The name of the type that a line begins to define.
fn type_name(item: &str, at_top: bool) -> Option<&str> {
    let item = match item.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => item.strip_prefix("pub ").unwrap_or(item),
    };
    let (keyword, rest) = item.strip_prefix("unsafe ").unwrap_or(item).split_once(' ')?;
    let is_type = matches!(keyword, "struct" | "enum" | "trait" | "union") || keyword == "type" && at_top;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    (is_type && end > 0).then(|| &rest[..end])
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
