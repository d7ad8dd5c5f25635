//! Do documents that are neither pages nor PDF say to us what they say to Tika?
//!
//! Tika reads all files of the corpus in one go, our readers in another; what Tika finds is counted
//! word by word and link by link. Files that Tika cannot read, and those in which it finds no word,
//! are left out. What Tika writes of its own (names of embedded files, numbers of notes, the codes
//! of margins, the class names of objects) counts against us all the same. `whole` counts the words
//! of embedded documents, too, those in archives included, which we do not open.

use super::{PartEnd, tika};
use crate::steps::cargo_output;
use anyhow::{Result, bail};
use serde_json::Value;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

/// Endings of what is read elsewhere.
const ELSEWHERE: [&str; 4] = ["pdf", "html", "link", "json"];

/// What Tika alone calls encrypted documents, and what others call them.
const TIKAS_OWN: (&str, &str) = ("application/x-tika-ooxml-protected", "application/encrypted");

/// Which share of Tika's words must be found in files with these endings.
const TARGETS: [(&str, &[&str], f64); 4] = [
    ("OOXML, OpenDocument, EPUB", &["docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"], 0.97),
    ("RTF", &["rtf"], 0.97),
    ("DOC, XLS, PPT", &["doc", "xls", "ppt"], 0.95),
    ("MSG", &["msg"], 0.95),
];
const LINKS: f64 = 0.98;
const TYPES: f64 = 0.995;

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
    /// Words with those of embedded documents, and how many of them were found.
    whole: [usize; 2],
    ms: f64,
}

/// Measures the documents of a corpus, the parent directory of `documents`; an error if a target is
/// missed.
pub(super) fn run(corpus: Option<&Path>) -> Result<PartEnd> {
    let Some(documents) = corpus.map(|corpus| corpus.join("documents")).filter(|place| place.is_dir()) else {
        return Ok(PartEnd::Skipped("no documents: give --corpus PATH, a directory with documents/"));
    };
    let Some(output) = tika::told(&documents)? else {
        return Ok(PartEnd::Skipped("no Tika: it takes Java and Maven"));
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
    println!("ending files recall mean precision whole links type ms");
    tallies.iter().for_each(|(ending, tally)| tally.print(ending));
    match verdicts(&tallies) {
        0 => Ok(PartEnd::Measured),
        missed => bail!("{missed} targets were missed"),
    }
}

/// Says which targets are met; how many are not.
fn verdicts(tallies: &BTreeMap<String, OfficeTally>) -> usize {
    let missed = Cell::new(0);
    let say = |what: &str, figure: f64, wanted: f64| {
        let holds = figure >= wanted;
        missed.set(missed.get() + usize::from(!holds));
        println!("- {}: {what} = {figure:.4} (wanted ≥ {wanted})", if holds { "ok" } else { "MISSED" });
    };
    for (name, endings, wanted) in TARGETS {
        if !tallies.keys().any(|ending| endings.contains(&ending.as_str())) {
            println!("- skipped: {name}: there is no such file");
            continue;
        }
        let own = || tallies.iter().filter(|(ending, _)| endings.contains(&ending.as_str())).map(|(_, tally)| tally);
        let sum = |part: fn(&OfficeTally) -> usize| own().map(part).sum::<usize>();
        say(&format!("{name}: words"), share(sum(|t| t.found), sum(|t| t.wanted)), wanted);
        let recalls: Vec<f64> = own().flat_map(|tally| tally.recalls.iter().copied()).collect();
        let mean = recalls.iter().sum::<f64>() / recalls.len().max(1) as f64;
        println!("    mean over {} files {mean:.4}", recalls.len());
    }
    let sum = |part: fn(&OfficeTally) -> usize| tallies.values().map(part).sum::<usize>();
    say("links", share(sum(|t| t.links_found), sum(|t| t.links)), LINKS);
    say("types", share(sum(|t| t.types), sum(|t| t.files)), TYPES);
    missed.get()
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

/// What Tika says of a file, and of those embedded in it.
fn judged(path: &Path) -> Option<Vec<Value>> {
    let all: Vec<Value> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let failed = all.first()?.as_object()?.keys().any(|key| key.contains("EXCEPTION"));
    (!failed).then_some(all)
}

/// How many of the wanted words are found.
fn hits(wanted: &HashMap<String, usize>, found: &HashMap<String, usize>) -> usize {
    wanted.iter().map(|(word, n)| (*n).min(found.get(word).copied().unwrap_or(0))).sum()
}

impl OfficeTally {
    fn add(&mut self, ours: &Value, all_theirs: &[Value]) {
        let Some(theirs) = all_theirs.first() else { return };
        let page = theirs["X-TIKA:content"].as_str().unwrap_or("");
        let document = &ours["document"];
        let wanted = words(&text(page));
        let found = words(document["text"].as_str().unwrap_or(""));
        let all: usize = wanted.values().sum();
        if all == 0 {
            return;
        }
        let hit = hits(&wanted, &found);
        let pages = all_theirs.iter().filter_map(|one| one["X-TIKA:content"].as_str());
        let whole = words(&pages.map(text).collect::<Vec<_>>().join(" "));
        self.whole[0] += whole.values().sum::<usize>();
        self.whole[1] += hits(&whole, &found);
        self.files += 1;
        self.wanted += all;
        self.found += hit;
        self.ours += found.values().sum::<usize>();
        self.recalls.push(hit as f64 / all as f64);
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
        let mean = self.recalls.iter().sum::<f64>() / self.recalls.len().max(1) as f64;
        println!(
            "{ending:6} {:5} {:.4} {mean:.4} {:.4} {:.4} {}/{} {}/{} {:.1}",
            self.files,
            share(self.found, self.wanted),
            share(self.found, self.ours),
            share(self.whole[1], self.whole[0]),
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

    #[test]
    fn every_missed_target_counts_and_what_is_not_there_does_not() {
        let tally = |found| OfficeTally { files: 10, wanted: 1_000, found, types: 10, ..OfficeTally::default() };
        let of =
            |all: &[(&str, usize)]| all.iter().map(|(ending, found)| ((*ending).to_owned(), tally(*found))).collect();
        assert_eq!(verdicts(&of(&[("docx", 970), ("doc", 950), ("rtf", 990), ("msg", 950)])), 0);
        assert_eq!(verdicts(&of(&[("docx", 969), ("rtf", 960), ("msg", 940)])), 3);
        let strange = OfficeTally { types: 9, links: 100, links_found: 97, ..tally(1_000) };
        assert_eq!(verdicts(&BTreeMap::from([("odt".to_owned(), strange)])), 2);
    }
}
