//! Does the reference file `docs/project.toml` list every key with its default, and nothing else?

use orb_project::{KEYS, Settings};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn reference() -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/project.toml");
    let text = std::fs::read_to_string(&path).expect("the reference file");
    (path, text)
}

/// Every key as `section.key`.
fn keys(table: &toml::Table, prefix: &str, out: &mut BTreeSet<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => keys(inner, &format!("{prefix}{key}."), out),
            _ => drop(out.insert(format!("{prefix}{key}"))),
        }
    }
}

/// The file with its commented-out optional keys enabled.
fn with_optional_keys(text: &str) -> String {
    let is_key = |line: &str| {
        line.strip_prefix("# ")
            .and_then(|l| l.split_once(" = "))
            .is_some_and(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    };
    text.lines().map(|l| if is_key(l) { &l[2..] } else { l }).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_reference_file_gives_every_key_its_default() {
    let (path, text) = reference();
    assert_eq!(Settings::parse(&text, &path).unwrap(), Settings::default());
    let mut listed = BTreeSet::new();
    keys(&text.parse::<toml::Table>().unwrap(), "", &mut listed);
    let mut known = BTreeSet::new();
    keys(&Settings::default().to_toml().parse::<toml::Table>().unwrap(), "", &mut known);
    assert_eq!(listed, known);
}

#[test]
fn the_reference_file_names_every_optional_key() {
    let (path, text) = reference();
    let whole = with_optional_keys(&text);
    let settings = Settings::parse(&whole, &path).unwrap();
    let mut listed = BTreeSet::new();
    keys(&settings.to_toml().parse::<toml::Table>().unwrap(), "", &mut listed);
    let source = include_str!("../src/settings.rs");
    let optional = |line: &&str| line.trim_start().starts_with("pub ") && line.contains(": Option<");
    for line in source.lines().filter(optional) {
        let key = line.trim().trim_start_matches("pub ").split(':').next().unwrap();
        assert!(listed.iter().any(|l| l.rsplit('.').next() == Some(key)), "{key} is not in docs/project.toml");
    }
}

/// The keys of a list of tables, which the file describes in a comment.
fn described(text: &str) -> BTreeSet<String> {
    let (mut section, mut out) = (String::new(), BTreeSet::new());
    for line in text.lines() {
        let Some(line) = line.strip_prefix("#   ") else {
            section.clear();
            continue;
        };
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_start_matches('[').split(']').next().unwrap_or_default().to_owned();
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !section.is_empty()) {
            let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            out.extend(is_key(key.trim()).then(|| format!("{section}.{}", key.trim())));
        }
    }
    out
}

#[test]
fn every_key_of_the_reference_file_is_in_exactly_one_class() {
    let (path, text) = reference();
    let whole = Settings::parse(&with_optional_keys(&text), &path).unwrap();
    let mut listed = described(&text);
    keys(&whole.to_toml().parse::<toml::Table>().unwrap(), "", &mut listed);
    let mut classified: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    let all = classified.len();
    classified.sort_unstable();
    classified.dedup();
    assert_eq!(classified.len(), all, "a key is there twice");
    let lists = ["steps", "auth", "outputs.webhook", "track.compare"];
    let missing: Vec<_> =
        listed.iter().filter(|key| !classified.contains(&key.as_str()) && !lists.contains(&key.as_str())).collect();
    assert!(missing.is_empty(), "not classified: {missing:?}");
    // Alternatives that the comments name in passing have no line of their own.
    let leaf_is_named = |key: &str| text.contains(key.rsplit('.').next().unwrap());
    let surplus: Vec<_> = classified.iter().filter(|key| !listed.contains(**key) && !leaf_is_named(key)).collect();
    assert!(surplus.is_empty(), "no such key: {surplus:?}");
}
