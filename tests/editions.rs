//! Does a report on a real site agree with `diff` on its files?
//!
//! The Clang manual from two Debian packages, served in turn at the same address. What a run
//! reports for each page is compared with what `diff -rq` says of its file.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::site::{Site, decoded};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const OLD: &str = "/usr/share/doc/clang-14/html";
const NEW: &str = "/usr/share/doc/clang-15/html";

/// The result of `diff -rq` on two editions: files that differ, that only the first has, that only
/// the second has.
fn diff(from: &str, to: &str) -> [BTreeSet<PathBuf>; 3] {
    let ran = Command::new("diff").args(["-rq", from, to]).env("LC_ALL", "C").output().unwrap();
    let mut said = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        if let Some(pair) = line.strip_prefix("Files ") {
            let file = Path::new(pair.split(" and ").next().unwrap());
            said[0].insert(file.strip_prefix(from).unwrap().to_owned());
        } else if let Some((dir, name)) = line.strip_prefix("Only in ").and_then(|only| only.split_once(": ")) {
            let path = Path::new(dir).join(name);
            match path.strip_prefix(from) {
                Ok(path) => said[1].insert(path.to_owned()),
                Err(_) => said[2].insert(path.strip_prefix(to).unwrap().to_owned()),
            };
        }
    }
    assert!(said[0].len() > 100, "the editions differ");
    said
}

/// The directory that is served, and how to switch editions.
struct Shelf {
    dir: tempfile::TempDir,
    site: Site,
}

impl Shelf {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let site = Site::serve(dir.path());
        let shelf = Self { dir, site };
        shelf.show(OLD);
        shelf
    }

    fn show(&self, edition: &str) {
        let place = self.dir.path().join("doc");
        let _ = std::fs::remove_file(&place);
        symlink(edition, place).unwrap();
    }
}

/// Documents by file, with their flags in the last run.
fn told(home: &Home, site: &Site) -> BTreeMap<PathBuf, String> {
    let sql = "SELECT p.url, v.flag FROM visit v JOIN page p ON p.id = v.page_id LEFT JOIN change c ON c.run = v.run AND c.page_id = p.id
               WHERE v.run = (SELECT max(id) FROM run) AND (c.seq NOTNULL OR v.flag = 'SAM' OR v.run = 1 AND v.flag = 'NEW')
               AND p.kind <> 'REDIRECT'";
    let begin = site.url("/doc/");
    let file = |url: &str| PathBuf::from(decoded(url.strip_prefix(&begin).unwrap().split('?').next().unwrap()));
    home.catalogue().rows(sql).into_iter().map(|row| (file(&row[0]), row[1].clone())).collect()
}

fn project(home: &Home, site: &Site, compare: &str) -> String {
    let file = home.beside("p.toml");
    let settings = "scope.mode = 'prefix'\nfrontier.delay = '0s'\nindex.enabled = false\n";
    std::fs::write(&file, format!("seeds = ['{}']\n{settings}{compare}", site.url("/doc/index.html"))).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The expected flag of a known file.
fn flag(file: &Path, [differ, gone, _]: &[BTreeSet<PathBuf>; 3]) -> &'static str {
    match file {
        _ if differ.contains(file) => "UPD",
        _ if gone.contains(file) => "MIS",
        _ => "SAM",
    }
}

#[test]
fn what_is_said_of_two_editions_of_a_manual_is_what_diff_says_of_their_files() {
    let (shelf, home) = (Shelf::new(), Home::new());
    home.crawl(&[&project(&home, &shelf.site, "track.compare = [{ by = 'bytes' }]\n")]);
    let mut counts = BTreeMap::new();
    for (from, to) in [(OLD, NEW), (NEW, OLD), (OLD, OLD)] {
        let (diff, before) = (if from == to { Default::default() } else { diff(from, to) }, told(&home, &shelf.site));
        shelf.show(to);
        home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0);
        let after = told(&home, &shelf.site);
        for (file, _) in before.iter().filter(|(_, flag)| *flag != "MIS") {
            assert_eq!(after[file], flag(file, &diff), "{}", file.display());
        }
        for (file, _) in after.iter().filter(|(_, flag)| *flag == "NEW") {
            assert!(diff[2].contains(file), "{}", file.display());
        }
        after.into_values().for_each(|flag| *counts.entry(flag).or_insert(0) += 1);
    }
    assert!(["NEW", "SAM", "UPD", "MIS"].iter().all(|flag| counts[*flag] > 5), "{counts:?}");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn by_its_text_a_page_is_updated_only_where_its_file_differs_and_nothing_linked_is_missed() {
    let (shelf, home, diff) = (Shelf::new(), Home::new(), diff(OLD, NEW));
    home.crawl(&[&project(&home, &shelf.site, "")]);
    let before = told(&home, &shelf.site);
    assert!(before.len() > 90, "{} documents", before.len());
    shelf.show(NEW);
    home.orb(&["track", PROJECT, "--json", "--progress", "none"]).expect(0);
    let after = told(&home, &shelf.site);
    for file in before.keys() {
        // Every page of the manual names its edition; other files may differ in bytes but not in
        // text.
        let (said, want) = (after[file].as_str(), flag(file, &diff));
        let is_page = file.extension().is_some_and(|ending| ending == "html");
        assert!(said == want || !is_page && (said, want) == ("SAM", "UPD"), "{said} {want} {}", file.display());
    }
    let fresh = Home::new();
    fresh.crawl(&[&project(&fresh, &shelf.site, "")]);
    for file in told(&fresh, &shelf.site).keys() {
        assert!(after.get(file).is_some_and(|flag| flag != "MIS"), "{}", file.display());
    }
}
