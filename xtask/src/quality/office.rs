//! Do documents that are neither pages nor PDF say to us what they say to Tika?
//!
//! Tika reads all files of the corpus in one go, our readers in another; what Tika finds is counted
//! word by word and link by link. Files that Tika cannot read, and those in which it finds no word,
//! are left out. What Tika writes of its own (names of embedded files, numbers of lists and slides,
//! the codes of margins) counts against us all the same.

use super::tika;
use crate::steps::cargo_output;
use anyhow::{Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

/// Endings of what is read elsewhere.
const ELSEWHERE: [&str; 4] = ["pdf", "html", "link", "json"];

/// What Tika alone calls encrypted documents, and what others call them.
const TIKAS_OWN: (&str, &str) = ("application/x-tika-ooxml-protected", "application/encrypted");

/// What was found in files of one ending.
#[derive(Default)]
struct OfficeTally {
    files: usize,
    wanted: usize,
    found: usize,
    ours: usize,
    links: usize,
    links_found: usize,
    types: usize,
    recalls: Vec<f64>,
    ms: f64,
}

/// Measures the documents of a corpus, the parent directory of `documents`.
pub(crate) fn run(corpus: &Path) -> Result<()> {
    let documents = corpus.join("documents");
    let Some(output) = tika::told(&documents)? else {
        bail!("no Tika: it takes Java and Maven");
    };
    let from = documents.display().to_string();
    let example = ["run", "--release", "--quiet", "-p", "orb-extract", "--example", "reading", "--", &from];
    let read = cargo_output(&example)?;
    let mut tallies: BTreeMap<String, OfficeTally> = BTreeMap::new();
    for line in read.lines() {
        let ours: Value = serde_json::from_str(line)?;
        let name = ours["path"].as_str().unwrap_or("");
        let ending = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        if ELSEWHERE.contains(&ending.as_str()) {
            continue;
        }
        if let Some(theirs) = judged(&output.join(format!("{name}.json"))) {
            tallies.entry(ending).or_default().add(&ours, &theirs);
        }
    }
    println!("ending files recall mean precision links type ms");
    let mut whole = OfficeTally::default();
    for (ending, tally) in &tallies {
        tally.print(ending);
        whole.files += tally.files;
        whole.types += tally.types;
    }
    println!("type told as by Tika: {} of {} files", whole.types, whole.files);
    Ok(())
}

/// What Tika says of a file itself, not of those embedded in it.
fn judged(path: &Path) -> Option<Value> {
    let all: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let own = all.get(0)?.clone();
    let failed = own.as_object()?.keys().any(|key| key.contains("EXCEPTION"));
    (!failed).then_some(own)
}

impl OfficeTally {
    fn add(&mut self, ours: &Value, theirs: &Value) {
        let page = theirs["X-TIKA:content"].as_str().unwrap_or("");
        let document = &ours["document"];
        let wanted = words(&text(page));
        let found = words(document["text"].as_str().unwrap_or(""));
        let all: usize = wanted.values().sum();
        if all == 0 {
            return;
        }
        let hits: usize = wanted.iter().map(|(word, n)| (*n).min(found.get(word).copied().unwrap_or(0))).sum();
        self.files += 1;
        self.wanted += all;
        self.found += hits;
        self.ours += found.values().sum::<usize>();
        self.recalls.push(hits as f64 / all as f64);
        self.ms += ours["ms"].as_f64().unwrap_or(0.0);
        let links = document["links"].as_array().into_iter().flatten();
        let known: HashSet<String> = links.filter_map(|l| l["target"].as_str()).map(same).collect();
        let asked = targets(page);
        self.links += asked.len();
        self.links_found += asked.iter().filter(|t| known.contains(*t)).count();
        let kind = match &theirs["Content-Type"] {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str),
            kind => kind.as_str(),
        };
        let kind = kind.and_then(|k| k.split(';').next()).map(|k| if k == TIKAS_OWN.0 { TIKAS_OWN.1 } else { k });
        self.types += usize::from(kind == document["mime"].as_str());
    }

    fn print(&self, ending: &str) {
        let share = |part: usize, all: usize| if all == 0 { 1.0 } else { part as f64 / all as f64 };
        let mean = self.recalls.iter().sum::<f64>() / self.recalls.len().max(1) as f64;
        println!(
            "{ending:6} {:5} {:.4} {mean:.4} {:.4} {}/{} {}/{} {:.1}",
            self.files,
            share(self.found, self.wanted),
            share(self.found, self.ours),
            self.links_found,
            self.links,
            self.types,
            self.files,
            self.ms
        );
    }
}

/// An address as it is compared: without fragment and last slash.
fn same(target: &str) -> String {
    target.split('#').next().unwrap_or("").trim_end_matches('/').to_owned()
}

/// The addresses of the web that a page of Tika links to.
fn targets(page: &str) -> HashSet<String> {
    let all = page.split("<a ").skip(1).filter_map(|rest| rest.split("href=\"").nth(1)?.split('"').next());
    let is_web = |t: &String| ["http:", "https:", "ftp:", "mailto:"].iter().any(|scheme| t.starts_with(scheme));
    all.map(expanded).filter(is_web).map(|t| same(&t)).collect()
}

/// The text of a page of Tika: tags of words are nothing, others end a word.
fn text(page: &str) -> String {
    const WITHIN: [&str; 8] = ["b", "i", "u", "a", "s", "span", "strong", "em"];
    let body = page.find("<body").and_then(|at| page.get(at..)).unwrap_or(page);
    let mut out = String::new();
    for piece in body.split('<') {
        let (tag, text) = piece.split_once('>').unwrap_or(("", piece));
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or("");
        if !WITHIN.contains(&name) {
            out.push(' ');
        }
        out.push_str(text);
    }
    expanded(&out)
}

fn expanded(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn words(text: &str) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_tika_is_words_and_links() {
        let page = "<html><head><title>no</title></head><body><p>One <b>t</b>wo</p><p>three &amp; <a href=\"http://a.example/?x&amp;y#z\">four</a></p></body></html>";
        assert_eq!(text(page).split_whitespace().collect::<Vec<_>>(), ["One", "two", "three", "&", "four"]);
        assert_eq!(targets(page), HashSet::from(["http://a.example/?x&y".to_owned()]));
    }
}
