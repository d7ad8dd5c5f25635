//! Does `orb search` find what was crawled, and say clearly what it cannot do?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT, crawling, files};
use harness::script::{Script, absent, reply};
use serde_json::Value;
use std::fs;

/// Pages of a small site: path, additional header lines, title, body text.
const PAGES: &[(&str, &str, &str, &str)] = &[
    (
        "/",
        "",
        "Start",
        "<a href=/json>the data exchange format</a> <a href=/json2>copy</a> <a href=/vector>vectors</a>
         <a href=/tokyo>Tokyo</a> <a href=/hidden>hidden</a> <a href=/plain.txt>plain</a> <a href=/gone>gone</a> <a href=/mueller>m</a>",
    ),
    ("/json", "", "JSON files", "<h1>Loading</h1><p>Call json.load to read a file. Some more words about files.</p>"),
    ("/json2", "", "JSON files", "<h1>Loading</h1><p>Call json.load to read a file. Some more words about files.</p>"),
    ("/vector", "", "std::vector", "<p>push_back appends an element at the end of a vector</p>"),
    ("/tokyo", "", "東京", "<p>東京都は日本の首都です。</p>"),
    ("/hidden", "X-Robots-Tag: noindex\r\n", "Secret", "<p>a secret file</p>"),
    ("/mueller", "", "Größe", "<p>Frau Müller wohnt in der Straße</p>"),
];

fn site() -> Script {
    Script::serve(|heard| {
        if heard.target == "/plain.txt" {
            return reply("200 OK", "Content-Type: text/plain\r\n", "Only plain words about a file here.");
        }
        let Some((_, fields, title, body)) = PAGES.iter().find(|page| page.0 == heard.target) else { return absent() };
        let fields = format!("Content-Type: text/html; charset=utf-8\r\n{fields}");
        reply("200 OK", &fields, &format!("<!doctype html><title>{title}</title>{body}"))
    })
}

fn crawl(site: &Script, home: &Home, more: &[&str]) -> Finished {
    let url = format!("http://{}/", site.address);
    home.crawl(&[&[url.as_str(), "--delay", "0"], more].concat())
}

/// The JSON output of a search.
fn search(home: &Home, args: &[&str]) -> Value {
    let finished = home.orb(&[&["search", PROJECT, "--json"], args].concat());
    finished.expect(0);
    assert_eq!(finished.stderr, "", "{finished}");
    finished.json()
}

/// The paths of the results, best first.
fn paths(home: &Home, args: &[&str]) -> Vec<String> {
    let found = search(home, args);
    let path = |hit: &Value| hit["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap().to_owned();
    found.as_array().unwrap().iter().map(|hit| format!("/{}", path(hit))).collect()
}

#[test]
fn function_words_are_not_marked_unless_they_are_what_is_looked_for() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    let told = |query: &str| home.orb(&["search", PROJECT, query]).expect(0).text().to_owned();
    let loose = told("to read a file");
    assert!(loose.contains("to *read* a *file*"), "{loose}");
    let phrase = told("\"to read a file\"");
    assert!(phrase.contains("*to* *read* *a* *file*"), "{phrase}");
    let alone = told("to");
    assert!(alone.contains("*to* read a file"), "{alone}");
}

#[test]
fn what_was_crawled_is_found() {
    let (site, home) = (site(), Home::new());
    let crawled = crawl(&site, &home, &[]);
    assert_eq!(crawled.json()["index"]["current"], true, "{crawled}");
    assert_eq!(crawled.json()["index"]["pages"], 8, "all pages but the one that is gone");
    assert_eq!(paths(&home, &["json", "load"])[0], "/json");
    assert_eq!(paths(&home, &["vector push_back"]), ["/vector"]);
    assert_eq!(paths(&home, &["\"push back appends\""]), ["/vector"]);
    assert_eq!(paths(&home, &["日本の首都"]), ["/tokyo"]);
    assert_eq!(paths(&home, &["muller strasse"]), ["/mueller"]);
    assert_eq!(paths(&home, &["file", "filetype:txt"]), ["/plain.txt"]);
    assert_eq!(paths(&home, &["file -json -title:json"]), ["/plain.txt"]);
    assert_eq!(paths(&home, &["title:vec*"]), ["/vector"]);
    assert_eq!(paths(&home, &["vectr~ -start"]), ["/vector"]);
    assert_eq!(paths(&home, &["exchange -title:start"]), ["/json"], "by the words of a link");
    assert_eq!(paths(&home, &["secret"]), Vec::<String>::new(), "it asks not to be indexed");
    assert_eq!(paths(&home, &["site:127.0.0.1", "since:1d", "push"]), ["/vector"]);
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn a_result_has_a_snippet_its_copies_and_an_explanation() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    let found = search(&home, &["json load", "--explain"]);
    let first = &found[0];
    assert_eq!((first["rank"].as_u64(), first["title"].as_str()), (Some(1), Some("JSON files")));
    assert_eq!(first["alike"].as_array().unwrap().len(), 1, "{first}");
    assert_eq!(found[0]["total"], found.as_array().unwrap().len() + 1);
    let (text, marks) = (first["snippet"].as_str().unwrap(), first["marks"].as_array().unwrap());
    let marked: Vec<String> = marks
        .iter()
        .map(|mark| {
            let (from, to) = (mark[0].as_u64().unwrap(), mark[1].as_u64().unwrap());
            text.chars().skip(usize::try_from(from).unwrap()).take(usize::try_from(to - from).unwrap()).collect()
        })
        .collect();
    assert_eq!(marked, ["Loading", "json", "load"], "{text}");
    let shares = first["explain"]["shares"].as_array().unwrap();
    assert!(shares.iter().any(|share| share["field"] == "title" && share["words"] == "json"), "{first}");
    let shown = home.orb(&["search", PROJECT, "json load", "--explain"]);
    assert!(shown.expect(0).text().contains("Call *json*.*load* to read"), "{shown}");
    assert!(shown.text().contains("and 1 that say the same") && shown.text().contains("json in title"), "{shown}");
}

#[test]
fn a_section_that_answers_is_linked_to() {
    let home = Home::new();
    let site = Script::serve(|heard| match heard.target.as_str() {
        "/" => reply(
            "200 OK",
            "Content-Type: text/html\r\n",
            "<title>Functions</title><h1>Built-in functions</h1><dl><dt id=abs>abs(x)<dd>the absolute value
             <dt id=open>open(file)<dd>opens a file and returns it<dt id=zip>zip(a)<dd>iterates in parallel</dl>",
        ),
        _ => absent(),
    });
    crawl(&site, &home, &[]);
    let found = search(&home, &["how do I open a file"]);
    let section = &found[0]["section"];
    assert_eq!((section["id"].as_str(), section["title"].as_str()), (Some("open"), Some("open")), "{found}");
    assert_eq!(found[0]["snippet"], "open(file) opens a file and returns it");
    let shown = home.orb(&["search", PROJECT, "open"]);
    assert!(shown.expect(0).text().contains("Functions › open"), "{shown}");
    assert!(shown.text().contains("/#open\n"), "{shown}");
}

#[test]
fn a_misspelt_word_is_corrected_and_said_so() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    let found = search(&home, &["vektor"]);
    assert_eq!(found[0]["corrections"][0]["used"], "vector", "{found}");
    let shown = home.orb(&["search", PROJECT, "vektor"]);
    assert!(shown.expect(0).text().contains("searched for vector instead of vektor; +vektor insists"), "{shown}");
    assert_eq!(paths(&home, &["+vektor"]), Vec::<String>::new());
    assert_eq!(search(&home, &["--complete", "json lo"])[0]["text"], "json loading");
    assert_eq!(home.orb(&["search", PROJECT, "--complete", "pus"]).expect(0).text(), "push\n");
}

#[test]
fn an_index_of_another_version_is_rebuilt_by_itself() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    let before = paths(&home, &["json load"]);
    let meta = home.project().join("index/meta.json");
    let old = || {
        let text = fs::read_to_string(&meta).unwrap();
        let older = text.replace("\\\"format\\\":", "\\\"format\\\":9");
        assert_ne!(older, text, "{text}");
        fs::write(&meta, older).unwrap();
    };
    old();
    let checked = home.orb(&["check", PROJECT]);
    assert!(checked.expect(0).text().contains("another version of orb"), "{checked}");
    let shown = home.orb(&["search", PROJECT, "json load"]);
    assert!(
        shown.expect(0).stderr.contains("another version of orb; it was rebuilt from the archive: 8 pages"),
        "{shown}"
    );
    assert_eq!(paths(&home, &["json load"]), before);
    old();
    let updated = home.orb(&["index", "update", PROJECT]);
    assert!(updated.expect(0).text().contains("rebuilt: it was written by another version of orb"), "{updated}");
    assert_eq!(paths(&home, &["json load"]), before);
}

#[test]
fn any_query_is_answered_or_refused_with_a_reason() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    for query in ["the", "to be or not to be", "a", "x", "東", "שלום", "مرحبا بالعالم"] {
        home.orb(&["search", PROJECT, query]).expect(0);
    }
    for query in ["…!?", &"long ".repeat(2_000), &"x".repeat(10_000)] {
        home.orb(&["search", PROJECT, query]).complaint(2);
    }
}

#[test]
fn results_come_page_by_page() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    let all = paths(&home, &["*"]);
    assert_eq!(all.len(), 6, "{all:?}");
    let pages: Vec<String> =
        (0..4).flat_map(|n| paths(&home, &["*", "--limit", "2", "--offset", &(2 * n).to_string()])).collect();
    assert_eq!(pages, all);
    assert_eq!(paths(&home, &["*", "--per-host", "1"]).len(), 1);
    assert_eq!(search(&home, &["nowhere"]), Value::Array(Vec::new()));
}

#[test]
fn a_query_that_is_wrong_is_told_with_its_place() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    for (query, told) in [
        ("titel:json", "did you mean title:?"),
        ("\"never closed", "at character 1"),
        ("a AND", "something must follow AND"),
        ("NOT json", "leave out"),
        ("since:tomorrow x", "is not a date"),
        ("...", "no word to look for"),
    ] {
        let finished = home.orb(&["search", PROJECT, query]);
        assert!(finished.complaint(2).contains(told), "{query}: {finished}");
    }
    let none = home.orb(&["search", "nobody", "x"]);
    assert!(none.complaint(1).contains("there is no project nobody"), "{none}");
}

#[test]
fn without_an_index_it_is_said_how_to_get_one() {
    let (site, home) = (site(), Home::new());
    let crawled = crawl(&site, &home, &["--no-index"]);
    assert!(crawled.json().get("index").is_none() && !home.project().join("index").exists());
    let finished = home.orb(&["search", PROJECT, "json"]);
    assert!(finished.complaint(1).contains("orb index rebuild p"), "{finished}");
    assert!(home.orb(&["words", PROJECT, "json"]).complaint(1).contains("orb index rebuild p"));
    home.orb(&["check", PROJECT]).expect(0);
    let rebuilt = home.orb(&["index", "rebuild", PROJECT, "--json"]);
    assert_eq!(rebuilt.expect(0).number("read"), 8);
    assert_eq!(paths(&home, &["json load"])[0], "/json");
    assert_eq!(paths(&home, &["exchange -title:start"]), ["/json"]);
    assert_eq!(paths(&home, &["secret"]), Vec::<String>::new());
    let status = home.orb(&["index", "status", PROJECT, "--json"]).json();
    assert_eq!(
        (&status["current"], &status["pages"], &status["anchors"]),
        (&true.into(), &8.into(), &"current".into())
    );
}

#[test]
fn the_dictionary_lists_page_and_position() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    let finished = home.orb(&["words", PROJECT, "Files", "--json"]);
    let rows = finished.expect(0).json();
    let rows: Vec<(String, u64)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["field"].as_str().unwrap().to_owned(), row["position"].as_u64().unwrap()))
        .collect();
    let of_page = [("title".to_owned(), 1), ("body".to_owned(), 12)];
    assert_eq!(rows, [of_page.clone(), of_page].concat(), "{finished}");
    let shown = home.orb(&["words", PROJECT, "files", "--limit", "1"]);
    assert!(shown.expect(0).text().contains("title 2 (2 times), body 2 (2 times)"), "{shown}");
    assert!(shown.text().lines().nth(1).unwrap().contains("@1  title  http://"), "{shown}");
    assert!(home.orb(&["words", PROJECT, "fil*"]).expect(0).text().contains("files"), "words that begin so");
    assert!(home.orb(&["words", PROJECT, "zzz"]).expect(0).text().contains("in no page"));
    assert!(home.orb(&["words", PROJECT, "two words"]).complaint(2).contains("not one word"));
}

#[test]
fn pages_that_found_no_room_are_read_from_the_archive_at_the_end() {
    let (site, home) = (site(), Home::new());
    let file = home.beside("p.toml");
    fs::write(&file, "frontier.delay = '0s'\nindex.queue = '0B'\ncrawl.batch_pages = 2").unwrap();
    let crawled = home.crawl(&[&format!("http://{}/", site.address), file.to_str().unwrap()]);
    let index = &crawled.json()["index"];
    assert!(index["current"] == true && index["from_archive"].as_u64().unwrap() > 0, "{crawled}");
    assert_eq!(paths(&home, &["json load"])[0], "/json");
    home.orb(&["check", PROJECT]).expect(0);
}

/// Resumes the crawl with an injected fault.
fn go_on(site: &Script, home: &Home, fault: &str) -> Finished {
    let url = format!("http://{}/", site.address);
    home.start(&crawling(&[&url, "--delay", "0"]), &[("ORB_FAIL", fault)]).finish()
}

#[test]
fn killed_while_indexing_it_lacks_nothing_in_the_end() {
    let site = site();
    for point in ["before-text", "after-text"] {
        let home = Home::new();
        assert_eq!(go_on(&site, &home, point).code, None, "{point} was not met");
        home.orb(&["check", PROJECT]).expect(0);
        crawl(&site, &home, &[]);
        home.orb(&["check", PROJECT]).expect(0);
        assert_eq!(paths(&home, &["*"]).len(), 6, "{point}");
        assert_eq!(paths(&home, &["json load"])[0], "/json");
        // The rebuild is interrupted, too.
        let killed = home.start(&["index", "rebuild", PROJECT], &[("ORB_FAIL", point)]).finish();
        assert_eq!(killed.code, None, "{killed}");
        home.orb(&["check", PROJECT]).expect(0);
        home.orb(&["index", "update", PROJECT]).expect(0);
        assert_eq!(paths(&home, &["*"]).len(), 6, "{point}");
        home.orb(&["check", PROJECT]).expect(0);
    }
}

#[test]
fn an_index_that_fails_is_told_and_does_not_end_a_crawl() {
    let (site, home) = (site(), Home::new());
    let failed = go_on(&site, &home, "before-text:1:enospc:9");
    let index = &failed.expect(0).json()["index"];
    assert!(index["current"] == false && index["problem"].as_str().is_some(), "{failed}");
    let check = home.orb(&["check", PROJECT]);
    assert!(check.code == Some(0), "{check}");
    home.orb(&["index", "update", PROJECT]).expect(0);
    assert_eq!(paths(&home, &["json load"])[0], "/json");
}

#[test]
fn a_damaged_index_is_told_and_made_anew() {
    let (site, home) = (site(), Home::new());
    crawl(&site, &home, &[]);
    let dir = home.project().join("index");
    let whole: Vec<_> =
        files(&dir, "").into_iter().filter(|file| file.is_file()).map(|f| (fs::read(&f).unwrap(), f)).collect();
    for (bytes, file) in &whole {
        let name = file.file_name().unwrap().to_str().unwrap();
        if bytes.len() < 20 || name.starts_with('.') {
            continue;
        }
        for damage in [scribbled(bytes), bytes[..bytes.len() / 2].to_vec(), Vec::new()] {
            fs::write(file, damage).unwrap();
            let looked = home.orb(&["search", PROJECT, "json load"]);
            match looked.code {
                Some(0) => {}
                _ => assert!(looked.complaint(1).contains("orb index rebuild"), "{name}: {looked}"),
            }
            let checked = home.orb(&["check", PROJECT]);
            assert!(checked.code == Some(1) && !checked.stderr.contains("panicked"), "{name}: {checked}");
        }
        fs::write(file, bytes).unwrap();
    }
    home.orb(&["check", PROJECT]).expect(0);
    fs::write(dir.join("meta.json"), "{}").unwrap();
    home.orb(&["index", "update", PROJECT]).expect(0);
    home.orb(&["check", PROJECT]).expect(0);
    assert_eq!(paths(&home, &["json load"])[0], "/json");
}

fn scribbled(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().enumerate().map(|(at, byte)| if at % 7 == 3 { byte ^ 0x55 } else { *byte }).collect()
}
