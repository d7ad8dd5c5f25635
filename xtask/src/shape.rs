//! Has a file or a function grown too large?
//!
//! The limits: 600 lines per file, 80 per function; tests and pure tables are exempt. The check
//! reads formatted source, where a function begins at a line with `fn` and ends at the brace in its
//! own column; that is exact enough to send someone to look.

use crate::steps::root;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

const FILE: usize = 600;
const FUNCTION: usize = 80;
/// Where sources are.
const PLACES: &[&str] = &["crates", "fuzz", "xtask", "tests"];

/// Lists every file and function beyond the limits; fails if there is one.
pub(crate) fn check() -> Result<()> {
    let mut files = Vec::new();
    for place in PLACES {
        sources(&root().join(place), &mut files)?;
    }
    files.sort();
    let mut findings = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(root()).unwrap_or(file).display().to_string();
        findings.extend(measure(&text).into_iter().map(|what| format!("{name}{what}")));
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("too large:\n  {}", findings.join("\n  "))
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target" && name != "data" && name != "corpus") {
                sources(&path, out)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    Ok(())
}

/// What is too large in one source, each with its line.
fn measure(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let code = lines.iter().position(|line| *line == "#[cfg(test)]").unwrap_or(lines.len());
    let mut findings = Vec::new();
    let functions = functions(&lines[..code]);
    // A file without functions is a table.
    if code > FILE && !functions.is_empty() {
        findings.push(format!(": {code} lines of code, at most {FILE}"));
    }
    for (start, length) in functions {
        if length > FUNCTION {
            findings.push(format!(":{}: a function of {length} lines, at most {FUNCTION}", start + 1));
        }
    }
    findings
}

/// The first line and the length of every function with a body of more than a line.
fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if !begins_function(line.trim_start()) {
            continue;
        }
        let own_column = |line: &&str| line.len() - line.trim_start().len() == indent;
        let end = lines[start..].iter().position(|line| own_column(line) && line.trim_start().starts_with('}'));
        let bodiless = lines[start..].iter().position(|line| line.ends_with(';') && own_column(line));
        if let Some(end) = end.filter(|end| bodiless.is_none_or(|none| none > *end)) {
            found.push((start, end + 1));
        }
    }
    found
}

fn begins_function(line: &str) -> bool {
    let mut words = line.split(' ').skip_while(|word| {
        matches!(*word, "pub" | "pub(crate)" | "pub(super)" | "const" | "async" | "unsafe" | "extern")
    });
    words.next() == Some("fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function_of(lines: usize) -> String {
        format!("pub(crate) fn long() {{\n{}}}\n", "    line();\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_function_is_named_with_its_line() {
        assert_eq!(measure(&function_of(80)), Vec::<String>::new());
        assert_eq!(measure(&format!("//! Head.\n{}", function_of(81))), [":2: a function of 81 lines, at most 80"]);
    }

    #[test]
    fn a_declaration_without_body_does_not_reach_into_the_next_function() {
        let text = format!("trait T {{\n    fn bare();\n    fn also();\n{}}}\n", "    // line\n".repeat(100));
        assert_eq!(functions(&text.lines().collect::<Vec<_>>()), []);
    }

    #[test]
    fn tests_and_tables_do_not_count() {
        let tests = format!("fn a() {{\n}}\n#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(700));
        assert_eq!(measure(&tests), Vec::<String>::new());
        assert_eq!(measure(&"    (1, 2),\n".repeat(1000)), Vec::<String>::new());
    }
}
