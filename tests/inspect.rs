//! Is `orb inspect` right about input that we did not write?
//!
//! Robots: the examples of RFC 9309. URLs: the test data of the WHATWG URL standard. Documents:
//! real pages, with html5lib as the oracle.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::Home;
use harness::{judge, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A robots.txt, the agent, the path, and whether it is allowed.
type Case = (&'static str, &'static str, &'static str, bool);

/// RFC 9309, section 5.1.
const SIMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
    User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
    User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n";

/// RFC 9309, section 5.2.
const LONGEST: &str = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";

/// RFC 9309, section 2.2.1: groups of one agent are merged.
const SPLIT: &str =
    "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n";

/// RFC 9309, section 2.2.1: a group starts with any number of agents.
const SHARED: &str = "user-agent: ExampleBot\nuser-agent: OtherBot\ndisallow: /foo\n\nuser-agent: *\ndisallow: /all\n";

/// RFC 9309, section 2.2.3.
const SPECIAL: &str = "user-agent: *\ndisallow: /\nallow: /this/path/exactly$\nallow: /that/*/exactly # comment\n\
    allow: /path/file-with-a-%2A.html\nallow: /path/foo-%24\n";

/// RFC 9309, section 2.2.2: octets are compared, however they are written.
const OCTETS: &str = "user-agent: *\ndisallow: /foo/bar?baz=quz\ndisallow: /foo/bar/%E3%83%84\ndisallow: /foo/baz/ツ\n\
    disallow: /foo/%62%61%7A\n";

const ROBOTS: &[Case] = &[
    (SIMPLE, "anybot", "/picture.gif", false),
    (SIMPLE, "anybot", "/picture.gif?large", true),
    (SIMPLE, "anybot", "/example/page.html", false),
    (SIMPLE, "anybot", "/publications/", true),
    (SIMPLE, "anybot", "/elsewhere", true),
    (SIMPLE, "foobot", "/", false),
    (SIMPLE, "foobot", "/example/page.html", true),
    (SIMPLE, "foobot", "/example/allowed.gif", true),
    (SIMPLE, "foobot", "/publications/", false),
    (SIMPLE, "barbot", "/example/page.html", false),
    (SIMPLE, "barbot", "/example/other.html", true),
    (SIMPLE, "bazbot", "/example/page.html", false),
    (SIMPLE, "bazbot", "/picture.gif", true),
    (SIMPLE, "quxbot", "/example/page.html", true),
    (SIMPLE, "QuxBot/2.1 (+http://example.test/)", "/picture.gif", true),
    (LONGEST, "foobot", "/example/page/", true),
    (LONGEST, "foobot", "/example/page/disallowed.gif", false),
    (SPLIT, "examplebot", "/foo", false),
    (SPLIT, "examplebot", "/baz", false),
    (SPLIT, "examplebot", "/qux", true),
    (SHARED, "otherbot", "/foo", false),
    (SHARED, "otherbot", "/all", true),
    (SHARED, "thirdbot", "/all", false),
    (SPECIAL, "anybot", "/this/path/exactly", true),
    (SPECIAL, "anybot", "/this/path/exactly/not", false),
    (SPECIAL, "anybot", "/that/long/way/exactly", true),
    (SPECIAL, "anybot", "/path/file-with-a-*.html", true),
    (SPECIAL, "anybot", "/path/foo-$", true),
    (SPECIAL, "anybot", "/path/foo-x", false),
    (OCTETS, "anybot", "/foo/bar?baz=quz", false),
    (OCTETS, "anybot", "/foo/bar/ツ", false),
    (OCTETS, "anybot", "/foo/bar/%E3%83%84", false),
    (OCTETS, "anybot", "/foo/baz/%E3%83%84", false),
    (OCTETS, "anybot", "/foo/baz", false),
    (OCTETS, "anybot", "/foo/bay", true),
    // Section 2.2.2: without a group for us, or without rules, everything is allowed; robots.txt
    // itself always is.
    ("", "anybot", "/anything", true),
    ("user-agent: other\ndisallow: /\n", "anybot", "/anything", true),
    ("user-agent: *\ndisallow:\n", "anybot", "/anything", true),
    ("user-agent: *\ndisallow: /\n", "anybot", "/robots.txt", true),
    ("\u{feff}user-agent: *\r\ndisallow: /a\r\n", "anybot", "/a", false),
    ("disallow: /before-any-agent\n", "anybot", "/before-any-agent", true),
    ("user-agent: *\nallow: /page\ndisallow: /page\n", "anybot", "/page", true),
];

#[test]
fn robots_are_read_as_rfc_9309_says() {
    let home = Home::new();
    for (robots, agent, path, allowed) in ROBOTS {
        let file = home.beside("robots.txt");
        fs::write(&file, robots).unwrap();
        let file = file.to_str().unwrap();
        for url in [(*path).to_owned(), format!("http://example.test{path}")] {
            let args = ["inspect", "robots", "--file", file, "--agent", agent, "--json", &url];
            let answer = home.orb(&args).expect(0).json();
            assert_eq!(answer[0]["allowed"], *allowed, "{agent} asks for {url}: {answer}\n{robots}");
        }
    }
}

#[test]
fn the_rule_that_decides_is_shown_with_its_line() {
    let home = Home::new();
    fs::write(home.beside("robots.txt"), SIMPLE).unwrap();
    let file = home.beside("robots.txt");
    let args = ["inspect", "robots", "--file", file.to_str().unwrap(), "--agent", "foobot", "/example/page.html", "/x"];
    let finished = home.orb(&args);
    let lines: Vec<&str> = finished.expect(0).text().lines().collect();
    assert!(lines[0].starts_with("allowed") && lines[0].contains("line 8"), "{finished}");
    assert!(lines[1].starts_with("disallowed") && lines[1].contains("line 7"), "{finished}");
}

/// The cases of the URL standard by base: the input, and a browser's result.
fn url_cases() -> BTreeMap<Option<String>, Vec<(String, Option<String>)>> {
    let mut cases: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let file = root().join("crates/urls/tests/data/whatwg.tsv");
    for line in fs::read_to_string(&file).unwrap().lines() {
        let mut parts = line.split('\t').map(|part| serde_json::from_str::<Option<String>>(part).unwrap());
        let mut next = || parts.next().unwrap();
        let (base, input, href) = (next(), next().unwrap(), next());
        // A command line cannot contain a NUL, and an argument with a leading dash is a flag.
        if !input.contains('\0') && !input.starts_with('-') && !input.is_empty() {
            cases.entry(base).or_default().push((input, href));
        }
    }
    cases
}

/// The output of `inspect url` for each, in order: the canonical form, or `None` if it is refused.
fn canonical(home: &Home, base: Option<&str>, urls: &[&str]) -> Vec<Option<String>> {
    let mut args = vec!["inspect", "url", "--json"];
    args.extend(base.iter().flat_map(|base| ["--base", *base]));
    args.extend(urls);
    let answer = home.orb(&args).expect(0).json();
    let rows = answer.as_array().unwrap();
    assert_eq!(rows.len(), urls.len());
    rows.iter().map(|row| row["url"].as_str().map(str::to_owned)).collect()
}

#[test]
fn urls_lead_where_browsers_go() {
    let home = Home::new();
    let (mut told, mut wrong) = (0, Vec::new());
    for (base, cases) in url_cases() {
        let inputs: Vec<&str> = cases.iter().map(|(input, _)| input.as_str()).collect();
        // If the base is not a web address, there is nothing to test.
        if base.as_deref().is_some_and(|base| canonical(&home, None, &[base])[0].is_none()) {
            continue;
        }
        let ours = canonical(&home, base.as_deref(), &inputs);
        for ((input, href), ours) in cases.iter().zip(ours) {
            // A page of the web names no file of this machine to us.
            let is_web = base.as_deref().is_some_and(|base| base.starts_with("http"));
            let led = href.as_deref().filter(|href| !(is_web && href.starts_with("file:")));
            let theirs = led.and_then(|href| canonical(&home, None, &[href]).remove(0));
            told += 1;
            // A user may omit the scheme, a browser's parser requires it.
            let seed = base.is_none() && href.is_none();
            if ours != theirs && !seed {
                wrong.push(format!("{input:?} on {base:?}: {ours:?}, not {theirs:?}"));
            }
        }
    }
    assert!(told > 300, "only {told} cases");
    assert!(wrong.is_empty(), "{} of {told} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A sample of real pages: every `step`th below a directory, none so large that the oracle takes
/// minutes.
fn pages(dir: &str, step: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let dir = Path::new(dir).canonicalize().expect("`cargo xtask setup` installs the real sites");
    collect(&dir, &mut found);
    found.sort();
    found.into_iter().step_by(step).collect()
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "html") && path.metadata().is_ok_and(|m| m.len() < 60_000) {
            out.push(path);
        }
    }
}

/// The targets of a document's links of one kind, as written.
fn targets(document: &Value, kind: &str) -> BTreeSet<String> {
    let links = document["links"].as_array().unwrap().iter().filter(|link| link["kind"] == kind);
    links.map(|link| link["target"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn documents_are_read_as_html5lib_reads_them() {
    let home = Home::new();
    let mut files = pages("/usr/share/doc/python3-doc/html", 12);
    files.extend(pages("/usr/share/cppreference/doc/html", 100));
    assert!(files.len() > 50, "only {} pages", files.len());
    for (file, theirs) in files.iter().zip(judge::html5lib(&files)) {
        let name = file.to_str().unwrap();
        let args = ["inspect", "document", name, "--base", "http://docs.test/", "--mime", "text/html"];
        let finished = home.orb(&args);
        let ours: Value = serde_json::from_str(finished.expect(0).text()).unwrap();
        assert_eq!(ours["title"].as_str().map(str::to_owned), theirs.title, "title of {name}");
        assert_eq!(targets(&ours, "a"), theirs.a.into_iter().collect(), "anchors of {name}");
        let images = targets(&ours, "img");
        let missed: Vec<&String> = theirs.img.iter().filter(|image| !images.contains(*image)).collect();
        assert!(missed.is_empty(), "images of {name}: {missed:?}");
    }
}
