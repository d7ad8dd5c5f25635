//! Are all pages of a real site found, as an independent crawler finds them?
//!
//! Two real sites from Debian packages, a static server on loopback, and `wget --recursive` as the
//! reference. Where the two crawlers request different URLs, the test names each kind of difference
//! and its reason.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::site::{Site, decoded};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A kind of difference: a path fragment, and why only one of the two crawlers requests it.
type Reason = (&'static str, &'static str);

/// The requests of a crawl, percent-decoded, since the two encode differently.
fn asked(site: &Site) -> BTreeSet<String> {
    let mut asked: BTreeSet<String> = site.take_asked().into_keys().map(|path| decoded(&path)).collect();
    asked.remove("/robots.txt");
    asked
}

/// The URLs that wget finds.
fn by_wget(site: &Site, start: &str) -> BTreeSet<String> {
    let dir = tempfile::tempdir().unwrap();
    let mut wget = Command::new("wget");
    wget.args(["--recursive", "--level=inf", "--quiet", "--no-directories", "--delete-after", "--no-config"]);
    // It exits with 8 if the site has a dead link, as these have.
    let ended = wget.arg(site.url(start)).current_dir(dir.path()).status();
    let ended = ended.expect("wget is missing; `cargo xtask setup` installs it");
    assert!(matches!(ended.code(), Some(0 | 8)), "wget: {ended}");
    asked(site)
}

/// The URLs that the program finds, checked against the catalogue.
fn by_orb(site: &Site, start: &str) -> BTreeSet<String> {
    let home = Home::new();
    let finished = home.crawl(&[&site.url(start), "--delay", "0"]);
    let asked_once = site.take_asked();
    let twice: Vec<_> = asked_once.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "asked for more than once: {twice:?}");
    let mut asked: BTreeSet<String> = asked_once.into_keys().collect();
    asked.remove("/robots.txt");
    let begin = site.url("");
    let visited = home.catalogue().column("SELECT url FROM page WHERE visits > 0");
    let recorded: BTreeSet<String> = visited.iter().map(|url| url.strip_prefix(&begin).unwrap().to_owned()).collect();
    assert_eq!(asked, recorded, "what was asked for is what is recorded");
    assert_eq!((finished.number("frontier"), finished.number("pages")), (0, recorded.len() as u64));
    home.orb(&["check", PROJECT]).expect(0);
    recorded.iter().map(|path| decoded(path)).collect()
}

/// The differences without a reason, and the reasons without a difference.
fn unexplained<'a>(difference: &'a BTreeSet<String>, reasons: &[Reason]) -> (Vec<&'a String>, Vec<Reason>) {
    let explained = |path: &str| reasons.iter().any(|(part, _)| path.contains(part));
    let idle = |(part, _): &&Reason| !difference.iter().any(|path| path.contains(part));
    (difference.iter().filter(|path| !explained(path)).collect(), reasons.iter().filter(idle).copied().collect())
}

/// Asserts that the crawlers differ only for the named reasons.
#[track_caller]
fn compare(root: &str, start: &str, only_orb: &[Reason], only_wget: &[Reason]) {
    let site = Site::serve(Path::new(root));
    let (ours, theirs) = (by_orb(&site, start), by_wget(&site, start));
    assert!(ours.len() > 500, "only {} pages", ours.len());
    for (who, difference, reasons) in [
        ("orb", ours.difference(&theirs).cloned().collect::<BTreeSet<_>>(), only_orb),
        ("wget", theirs.difference(&ours).cloned().collect(), only_wget),
    ] {
        let (unexplained, idle) = unexplained(&difference, reasons);
        let few: Vec<_> = unexplained.iter().take(40).collect();
        assert!(few.is_empty(), "only {who} asks for {} of {} paths: {few:#?}", unexplained.len(), ours.len());
        assert!(idle.is_empty(), "nothing differs any more because {idle:?}");
    }
}

#[test]
fn the_python_documentation_is_found_whole() {
    compare("/usr/share/doc/python3-doc/html", "/", &[], &[]);
}

#[test]
fn what_matters_most_in_the_python_documentation_is_what_every_page_leads_to() {
    let site = Site::serve(Path::new("/usr/share/doc/python3-doc/html"));
    let home = Home::new();
    home.crawl(&[&site.url("/"), "--delay", "0", "--no-archive"]);
    home.orb(&["graph", "build", PROJECT, "--quiet"]).expect(0);
    for (by, expected) in [
        ("pagerank", ["/genindex.html", "/py-modindex.html", "/contents.html", "/library/index.html"]),
        ("harmonic", ["/genindex.html", "/py-modindex.html", "/contents.html", "/bugs.html"]),
        // Hubs link to what matters: the tables of contents.
        ("hub", ["/contents.html", "/library/index.html", "/genindex-all.html", "/py-modindex.html"]),
    ] {
        let top = home.orb(&["top", PROJECT, "--by", by, "--fetched", "--limit", "12", "--json"]).expect(0).json();
        let urls: Vec<&str> = top.as_array().unwrap().iter().map(|row| row["url"].as_str().unwrap()).collect();
        let missing: Vec<_> = expected.iter().filter(|path| !urls.contains(&site.url(path).as_str())).collect();
        assert!(missing.is_empty(), "by {by} {missing:?} are not among {urls:#?}");
        assert!(urls.iter().all(|url| url.starts_with(&site.url(""))), "by {by} some were never fetched: {urls:#?}");
    }
}

#[test]
fn the_cpp_reference_is_found_whole() {
    let scripts = [("/mwiki/", "paths in the text of scripts, which wget does not read; the copy has no such files")];
    let nofollow = [("/ftp:/", "the one link to it is rel=nofollow, which wget follows")];
    compare("/usr/share/cppreference/doc/html", "/en/index.html", &scripts, &nofollow);
}
