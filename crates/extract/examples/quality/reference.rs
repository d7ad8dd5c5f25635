//! How much of the documentation in a directory is kept?
//!
//! Documentation marks its content by an element that a selector names: the words inside it should
//! be kept, the others not.

use orb_extract::{MainContent, WantedPart, select};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Number of pages that are read, evenly spread over the directory.
const PAGES: usize = 200;
/// Fewer words are no page.
const LEAST: usize = 50;

/// Prints the share of the content's words that are kept, and of the kept words that are content,
/// as means over pages. What `without` selects is not content, wherever it is.
pub(crate) fn measure(selector: &str, without: Option<&str>, directory: &Path) {
    let mut files = Vec::new();
    collect(directory, &mut files);
    files.sort();
    let (mut recall, mut precision, mut count) = (0.0, 0.0, 0.0f64);
    for file in files.iter().step_by((files.len() / PAGES).max(1)) {
        let Ok(html) = std::fs::read_to_string(file) else { continue };
        let (include, exclude) = ([selector.to_owned()], Vec::from_iter(without.map(str::to_owned)));
        let content = select(&html, &WantedPart { include: &include, exclude: &exclude, ..WantedPart::default() });
        let wanted = words(content.blocks.iter().map(|block| block.text.as_str()));
        let all: usize = wanted.values().sum();
        if !content.matched || all < LEAST {
            continue;
        }
        let main = MainContent::of(&html, false).main_text();
        let kept = words(std::iter::once(main.as_str()));
        let common: usize = kept.iter().map(|(word, n)| (*n).min(wanted.get(word).copied().unwrap_or(0))).sum();
        recall += common as f64 / all as f64;
        precision += common as f64 / kept.values().sum::<usize>().max(1) as f64;
        count += 1.0;
    }
    println!(
        "{count} pages: {:.3} of the content is kept, {:.3} of what is kept is content",
        recall / count,
        precision / count
    );
}

fn words<'a>(texts: impl Iterator<Item = &'a str>) -> HashMap<String, usize> {
    let mut out = HashMap::new();
    for word in texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty()) {
        *out.entry(word.to_owned()).or_default() += 1;
    }
    out
}

fn collect(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            out.push(path);
        }
    }
}
