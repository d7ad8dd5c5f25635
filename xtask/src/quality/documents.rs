//! How much of real documents is read, and how quickly?
//!
//! The program of the crate that reads them does the measuring, against whatever other people's
//! programs are installed: pdftotext and pdfinfo (poppler-utils), qpdf, and Tika as the second
//! judge of the text.

use super::{PartEnd, tika};
use crate::steps::{cargo, succeeds};
use anyhow::Result;
use std::path::Path;

/// Prints words, links, properties and times of every format over the documents of the corpus, and
/// which targets are met; an error if one is not.
pub(super) fn run(corpus: Option<&Path>, passed: &[String]) -> Result<PartEnd> {
    let Some(documents) = corpus.map(|corpus| corpus.join("documents")).filter(|place| place.is_dir()) else {
        return Ok(PartEnd::Skipped("no documents: give --corpus PATH, a directory with documents/"));
    };
    if !succeeds("pdftotext", &["-v"]) {
        return Ok(PartEnd::Skipped("no pdftotext: it is in poppler-utils"));
    }
    let second = tika::told(&documents)?.map(|place| place.display().to_string());
    let documents = documents.display().to_string();
    let mut args = vec!["run", "--release", "--quiet", "-p", "orb-extract", "--example", "documents", "--"];
    let worst = passed.iter().position(|arg| arg == "--worst").and_then(|at| passed.get(at..at + 2));
    args.extend(worst.unwrap_or_default().iter().map(String::as_str));
    args.extend(second.iter().flat_map(|place| ["--second", place]));
    args.push(&documents);
    cargo(&args).map(|()| PartEnd::Measured)
}
