//! How is a page named and headed as a file of its own?
//!
//! The export as Markdown and the output that follows changes write the same files, so that one
//! keeps the other's up to date.

use orb_page::PageId;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Maximum length of the words in a file name.
const WORDS: usize = 60;

/// The front matter of a file as YAML. A JSON value is a YAML value.
pub fn front_matter(facts: &[(&str, Value)]) -> String {
    let mut text = "---\n".to_owned();
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_null()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
    text + "---\n\n"
}

/// A page's file below the directory.
pub fn page_file_name(page: PageId, url: &str) -> PathBuf {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' }).collect();
    let host = if host.trim_matches('.').is_empty() { "_".to_owned() } else { host };
    let mut words = String::new();
    for c in path.chars() {
        match c.is_ascii_alphanumeric() {
            true => words.push(c.to_ascii_lowercase()),
            false if !words.is_empty() && !words.ends_with('-') => words.push('-'),
            false => {}
        }
        if words.len() >= WORDS {
            break;
        }
    }
    let (words, page) = (words.trim_end_matches('-'), page.0);
    let file = if words.is_empty() { format!("{page}.md") } else { format!("{page}-{words}.md") };
    Path::new(&host).join(file)
}
