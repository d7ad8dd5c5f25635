//! Do documents of every office format say what their source says?
//!
//! LibreOffice turns one source of each kind into all formats; each of them is read by
//! `orb inspect document` and compared with the source, word by word and link by link.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::Home;
use harness::root;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A format, its media type, and how much of the text must be found.
type Format = (&'static str, &'static str, f64);

/// Of one page; the first of them is made of the page, the others of that.
const TEXTS: &[Format] = &[
    ("odt", "application/vnd.oasis.opendocument.text", 0.995),
    ("ott", "application/vnd.oasis.opendocument.text-template", 0.995),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", 0.995),
    ("dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template", 0.995),
    ("doc", "application/msword", 0.99),
    ("rtf", "application/rtf", 0.99),
    ("epub", "application/epub+zip", 0.995),
    ("fodt", "application/vnd.oasis.opendocument.text", 0.995),
    ("pdf", "application/pdf", 0.995),
];

const SHEETS: &[Format] = &[
    ("ods", "application/vnd.oasis.opendocument.spreadsheet", 0.995),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 0.995),
    ("xls", "application/vnd.ms-excel", 0.99),
];

const SLIDES: &[Format] = &[
    ("odp", "application/vnd.oasis.opendocument.presentation", 0.995),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", 0.995),
    ("ppt", "application/vnd.ms-powerpoint", 0.99),
];

/// Turns a file into another format, beside it.
fn converted(home: &Home, source: &Path, format: &str) -> PathBuf {
    let out = home.beside("out");
    let profile = format!("-env:UserInstallation=file://{}", home.beside("profile").display());
    let mut office = Command::new("soffice");
    office.args([&profile, "--headless", "--convert-to", format, "--outdir"]).arg(&out).arg(source);
    let finished = office.output().expect("soffice; `cargo xtask setup` installs it");
    let made = out.join(source.file_name().unwrap()).with_extension(format);
    assert!(made.exists(), "{}", String::from_utf8_lossy(&finished.stderr));
    made
}

/// What `orb inspect document` says of a file of which no type is given.
fn inspected(home: &Home, file: &Path) -> Value {
    let finished = home.orb(&["inspect", "document", file.to_str().unwrap(), "--base", "http://a.example/file"]);
    finished.expect(0);
    serde_json::from_slice(&finished.stdout).unwrap()
}

/// The words of a text, with their numbers.
fn words(text: &str) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

/// The part of the wanted words that is found.
fn recall(wanted: &str, found: &str) -> f64 {
    let (wanted, found) = (words(wanted), words(found));
    let all: usize = wanted.values().sum();
    let hits: usize = wanted.iter().map(|(word, n)| (*n).min(found.get(word).copied().unwrap_or(0))).sum();
    hits as f64 / all as f64
}

/// The targets and anchors of the clickable links.
fn links(document: &Value) -> BTreeSet<(String, String)> {
    let spoken = |l: &&Value| matches!(l["kind"].as_str(), Some("a" | "document"));
    let text = |l: &Value, name: &str| l[name].as_str().unwrap().to_owned();
    let all = document["links"].as_array().unwrap().iter().filter(spoken);
    all.map(|l| (text(l, "target"), text(l, "anchor"))).collect()
}

#[track_caller]
fn compare(home: &Home, source: &Value, file: &Path, (format, mime, least): Format) {
    let made = inspected(home, file);
    assert_eq!(made["mime"], mime, "{format}");
    let found = recall(source["text"].as_str().unwrap(), made["text"].as_str().unwrap());
    assert!(found >= least, "{format}: {found}\n{}\n{}", source["text"], made["text"]);
    if format == "pdf" {
        // A link over two lines is two links.
        let targets = |d: &Value| links(d).into_iter().map(|(target, _)| target).collect::<BTreeSet<_>>();
        assert_eq!(targets(&made), targets(source), "{format}");
    } else {
        assert_eq!(links(&made), links(source), "{format}");
    }
    assert_eq!(made["problems"], serde_json::json!([]), "{format}");
}

#[test]
fn a_text_says_the_same_in_every_format() {
    let home = Home::new();
    let page = root().join("tests/office/text.html");
    let source = inspected(&home, &page);
    assert_eq!(links(&source).len(), 4);
    let odt = converted(&home, &page, "odt");
    for &format in TEXTS {
        let made = if format.0 == "odt" { odt.clone() } else { converted(&home, &odt, format.0) };
        compare(&home, &source, &made, format);
    }
    let docx = inspected(&home, &converted(&home, &odt, "docx"));
    assert_eq!(docx["title"], "Wolf spiders of the north");
    let headings: Vec<_> = docx["headings"].as_array().unwrap().iter().map(|h| h["text"].as_str().unwrap()).collect();
    assert_eq!(headings, ["Wolf spiders", "Elsewhere"]);
}

/// A page of many kinds of text, with a link in each part.
fn long_page() -> String {
    let words = ["spider", "burrow", "Größe", "dusk’s", "λύκος", "паук", "égarée", "co-operate", "naïve", "42.5"];
    let word = |n: usize| words[n * 7919 % 104_729 % words.len()];
    let text = |from: usize, count: usize| (from..from + count).map(word).collect::<Vec<_>>().join(" ");
    let mut page = String::from("<!DOCTYPE html><html><head><meta charset=utf-8><title>Long</title></head><body>");
    for part in 0..60 {
        let link = |n: usize| format!("<a href=\"http://a.example/{part}/{n}?q=a&amp;r=b\">link {part} {n}</a>");
        page +=
            &format!("<h2>Part {part} {}</h2><p>{} {} {}.</p>", text(part, 3), text(part, 90), link(1), text(7, 30));
        page += &match part % 6 {
            0 => format!("<ul><li>{}<ol><li>{} {}</li></ol></li></ul>", text(part, 8), link(2), text(part, 5)),
            1 => format!(
                "<table border=1><tr><td colspan=2>{}</td></tr><tr><td>{}</td><td>{part}</td></tr></table>",
                text(part, 12),
                link(2)
            ),
            2 => format!(
                "<dl><dt>{}</dt><dd>{} {}</dd></dl><pre>{}\n  {}</pre>",
                text(part, 2),
                text(3, 20),
                link(2),
                text(1, 6),
                text(2, 6)
            ),
            3 => format!(
                "<p>H<sub>2</sub>O and x<sup>{part}</sup>, <b>{}</b><br>{} {}</p>",
                text(part, 4),
                text(9, 9),
                link(2)
            ),
            4 => format!("<blockquote><p>{}</p></blockquote><hr><address>{}</address>", text(part, 70), link(2)),
            _ => format!("<div><p>{}</p><center>{}</center></div>", text(part, 40), link(2)),
        };
    }
    page + "</body></html>"
}

#[test]
fn a_long_page_says_the_same_in_nine_formats() {
    let home = Home::new();
    let page = home.beside("long.html");
    std::fs::write(&page, long_page()).unwrap();
    let source = inspected(&home, &page);
    assert_eq!(links(&source).len(), 120);
    let odt = converted(&home, &page, "odt");
    for &format in TEXTS {
        let made = if format.0 == "odt" { odt.clone() } else { converted(&home, &odt, format.0) };
        compare(&home, &source, &made, format);
    }
}

#[test]
fn sheets_and_slides_say_the_same_in_every_format() {
    let home = Home::new();
    for (source, formats) in [("sheet.fods", SHEETS), ("slides.fodp", SLIDES)] {
        let path = root().join("tests/office").join(source);
        let told = inspected(&home, &path);
        assert_eq!(links(&told), [("http://a.example/one".to_owned(), "the first link".to_owned())].into());
        for &format in formats {
            compare(&home, &told, &converted(&home, &path, format.0), format);
        }
    }
}
