//! Does the scanner tokenize as the standard says?
//!
//! Runs all of html5lib's tokenizer tests except those whose input is not Unicode. What the scanner
//! leaves to its reader (references, NULs, newlines, the case of names, duplicate attributes) is
//! done here as the reader does it.

use super::name::NameKey;
use super::raw::Raw;
use super::scan::{Attributes, HtmlToken, Scanner, TagToken, TextMode};
use crate::entity::{ReferenceContext, unescape};
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::path::Path;

#[derive(Default)]
struct Collected(Vec<(Range<usize>, Range<usize>)>);

impl Attributes for Collected {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn attribute(&mut self, _: NameKey, name: Range<usize>, value: Range<usize>) {
        self.0.push((name, value));
    }
}

fn replace_nul(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// Appends characters, merging them with preceding ones.
fn push_text(out: &mut Vec<Value>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(Value::Array(last)) = out.last_mut()
        && last[0] == "Character"
    {
        last[1] = Value::String(format!("{}{text}", last[1].as_str().unwrap_or("")));
        return;
    }
    out.push(json!(["Character", text]));
}

fn start_tag(src: &str, tag: &TagToken, attributes: &Collected) -> Value {
    let mut seen = Map::new();
    for (name, value) in &attributes.0 {
        let name = replace_nul(&src[name.clone()]).to_ascii_lowercase();
        let value = unescape(&src[value.clone()], ReferenceContext::Attribute).into_owned();
        seen.entry(name).or_insert(Value::String(value));
    }
    let name = replace_nul(&src[tag.name.clone()]).to_ascii_lowercase();
    if tag.self_closing { json!(["StartTag", name, seen, true]) } else { json!(["StartTag", name, seen]) }
}

fn tokens(input: &str, state: &str, last_start_tag: &str) -> Vec<Value> {
    let input = input.replace("\r\n", "\n").replace('\r', "\n");
    let prefix = if state == "CDATA section state" { "<![CDATA[" } else { last_start_tag };
    let src = format!("{prefix}{input}");
    let raw = match state {
        "RCDATA state" => Some(Raw::Referenced),
        "RAWTEXT state" => Some(Raw::Literal),
        "Script data state" => Some(Raw::Script),
        "PLAINTEXT state" => Some(Raw::Endless),
        _ => None,
    };
    let mut scanner = Scanner::new(&src);
    scanner.allow_cdata(state == "CDATA section state");
    scanner.start_at(if state == "CDATA section state" { 0 } else { prefix.len() });
    let mut in_raw = raw.is_some();
    if let Some(raw) = raw {
        scanner.raw(raw);
    }
    let (mut out, mut attributes) = (Vec::new(), Collected::default());
    while let Some(token) = scanner.next(&mut attributes) {
        match token {
            HtmlToken::Text(range, reading) => {
                let text = &src[range];
                let text = if in_raw { replace_nul(text) } else { text.to_owned() };
                match reading {
                    TextMode::Literal => push_text(&mut out, &text),
                    TextMode::Referenced if in_raw => push_text(&mut out, &unescape(&text, ReferenceContext::Text)),
                    TextMode::Referenced => text.split_inclusive('\0').for_each(|part| {
                        let (part, nul) = part.strip_suffix('\0').map_or((part, ""), |p| (p, "\0"));
                        push_text(&mut out, &unescape(part, ReferenceContext::Text));
                        push_text(&mut out, nul);
                    }),
                }
            }
            HtmlToken::Start => out.push(start_tag(&src, scanner.tag(), &attributes)),
            HtmlToken::End => {
                let name = replace_nul(&src[scanner.tag().name.clone()]).to_ascii_lowercase();
                out.push(json!(["EndTag", name]));
            }
            HtmlToken::Comment(range) => {
                let closes_nothing = range.is_empty() && src[..range.start].ends_with("</");
                if !closes_nothing || !src[range.start..].starts_with('>') {
                    out.push(json!(["Comment", replace_nul(&src[range])]));
                }
            }
            HtmlToken::Doctype(_) => out.push(json!(["DOCTYPE"])),
        }
        in_raw = false;
    }
    out
}

/// The expected tokens in the same form. Errors and the parts of a doctype are ignored.
fn expected(output: &Value) -> Vec<Value> {
    let mut out = Vec::new();
    for token in output.as_array().into_iter().flatten().filter(|t| t.is_array()) {
        match token[0].as_str() {
            Some("Character") => push_text(&mut out, token[1].as_str().unwrap_or("")),
            Some("DOCTYPE") => out.push(json!(["DOCTYPE"])),
            _ => out.push(token.clone()),
        }
    }
    out
}

/// Undoes the double escaping of a test's strings; `None` if a string contains a lone surrogate.
fn unescaped(value: &Value) -> Option<Value> {
    let twice = serde_json::to_string(value).ok()?.replace("\\\\u", "\\u");
    serde_json::from_str(&twice).ok()
}

/// Runs one case in each of its initial states and returns the failures.
fn run(case: &Value) -> Option<Vec<String>> {
    let doubly = case["doubleEscaped"] == true;
    let input = if doubly { unescaped(&case["input"])? } else { case["input"].clone() };
    let output = if doubly { unescaped(&case["output"])? } else { case["output"].clone() };
    let states = case["initialStates"].as_array().cloned().unwrap_or_else(|| vec![json!("Data state")]);
    let expected = expected(&output);
    let last = case["lastStartTag"].as_str().unwrap_or("\u{1}");
    let failures = states.iter().filter_map(|state| {
        let got = tokens(input.as_str()?, state.as_str()?, last);
        (got != expected).then(|| format!("{} [{state}] {input}: {got:?}, not {expected:?}", case["description"]))
    });
    Some(failures.collect())
}

#[test]
fn the_scanner_passes_html5libs_tokenizer_tests() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/html5lib");
    let (mut ran, mut skipped, mut failures) = (0, 0, Vec::new());
    for file in std::fs::read_dir(data).expect("the data").flatten() {
        if file.path().extension().is_none_or(|e| e != "test") {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).expect("the data is text");
        let cases: Value = serde_json::from_str(&text).expect("the data is JSON");
        for case in cases["tests"].as_array().into_iter().flatten() {
            match run(case) {
                Some(failed) => failures.extend(failed),
                None => skipped += 1,
            }
            ran += 1;
        }
    }
    assert!(failures.is_empty(), "{} of {ran} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(ran > 2_500 && skipped < 20, "{ran} ran, {skipped} skipped");
}
