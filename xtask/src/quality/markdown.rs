//! What survives of a page when it becomes Markdown?
//!
//! The program of the crate that writes it does the measuring; html2text and markdownify from PyPI
//! are measured by the same program on the same pages.

use super::PartEnd;
use crate::judges;
use crate::steps::{cargo, root};
use anyhow::Result;
use std::path::Path;

/// Two documentations, as Debian installs them.
const DOCUMENTATIONS: [&str; 2] = ["/usr/share/doc/python3-doc/html", "/usr/share/cppreference/doc/html"];

/// Prints the shares over the documentations and, where it is there, the corpus. They have no
/// targets: the peers beside them are the measure.
pub(super) fn run(corpus: Option<&Path>) -> Result<PartEnd> {
    if let Err(why) = judges::ensure("markdown-peers", "xtask/peers/markdown.txt") {
        println!("{why:#}");
        return Ok(PartEnd::Skipped("html2text and markdownify cannot be installed"));
    }
    let python = root().join("target/markdown-peers/bin/python").display().to_string();
    let script = root().join("xtask/peers/markdown.py").display().to_string();
    let pages = corpus.map(|corpus| corpus.join("pages").display().to_string());
    let mut args = vec!["run", "--release", "--quiet", "-p", "orb-extract", "--example", "markdown", "--"];
    args.extend(["--peers", &python, &script]);
    args.extend(DOCUMENTATIONS.into_iter().filter(|directory| Path::new(directory).is_dir()));
    args.extend(pages.as_deref());
    cargo(&args).map(|()| PartEnd::Measured)
}
