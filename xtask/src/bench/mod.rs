//! How fast is the crawler, beside others, on the same web in the same run?
//!
//! The synthetic web runs as a process of its own. Every tool crawls it whole, one after the other and round after round,
//! so that a slow minute of the machine hits all of them; what counts are the ratios within one run. A tool is one line in
//! `TOOLS`, a web one line in `WEBS`.

mod known;
mod measure;
mod tools;
mod web;

use crate::steps::{cargo, root, step};
use crate::{judges, packages};
use anyhow::{Context, Result, bail};
use measure::Figures;
use tools::{TOOLS, Tool};
use web::{BenchWeb, WEBS};

/// What the command line asks for.
struct Wish {
    pages: u32,
    rounds: usize,
    only: Vec<String>,
}

impl Wish {
    /// Reads `--pages N` (a web's pages, at most), `--rounds N` and `--only tool,tool` (`known` for the web of a million URLs).
    fn read(args: &[String]) -> Result<Self> {
        let mut wish = Self { pages: 20_000, rounds: 3, only: Vec::new() };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("{flag} needs a value"))?;
            match flag.as_str() {
                "--pages" => wish.pages = value.parse().context("--pages")?,
                "--rounds" => wish.rounds = value.parse().context("--rounds")?,
                "--only" => wish.only = value.split(',').map(str::to_owned).collect(),
                _ => bail!("unknown flag {flag}; there are --pages, --rounds and --only"),
            }
        }
        Ok(wish)
    }

    fn wants(&self, tool: &Tool) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == tool.name)
    }
}

/// Builds, sets up, measures, and prints a table in Markdown.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let wish = Wish::read(args)?;
    step("Debian packages", || packages::ensure(packages::FOR_BENCH))?;
    step("peers from PyPI", || judges::ensure("peers", "xtask/peers/requirements.txt"))?;
    step("release build", || cargo(&["build", "--release", "-p", "orb", "-p", "orb-testweb"]))?;
    let mut tables = Vec::new();
    let tools_wanted = TOOLS.iter().any(|tool| wish.wants(tool));
    for shape in WEBS.iter().filter(|_| tools_wanted) {
        let web = BenchWeb::start(*shape, wish.pages)?;
        let table = step(&web.title(), || measured(&web, &wish))?;
        tables.push(table);
    }
    if wish.only.is_empty() || wish.only.iter().any(|name| name == "known") {
        tables.push(step("a million known URLs", known::measured)?);
    }
    for table in tables {
        println!("\n{table}");
    }
    Ok(())
}

/// Every tool's figures on one web, as a table.
fn measured(web: &BenchWeb, wish: &Wish) -> Result<String> {
    let tools: Vec<&Tool> = TOOLS.iter().filter(|tool| wish.wants(tool)).collect();
    let mut figures: Vec<Vec<Figures>> = vec![Vec::new(); tools.len()];
    for round in 0..wish.rounds {
        for (tool, figures) in tools.iter().zip(&mut figures) {
            // What takes minutes is measured once.
            if round > 0 && tool.slow {
                continue;
            }
            let one = measure::run(tool, web)?;
            println!("    round {}: {:<10} {one}", round + 1, tool.name);
            figures.push(one);
        }
    }
    let heads = measure::HEADS;
    let mut table =
        format!("### {}\n\n| tool | {} |\n|{}\n", web.title(), heads.join(" | "), "---|".repeat(heads.len() + 1));
    for (tool, figures) in tools.iter().zip(&mut figures) {
        if let Some(row) = measure::median(figures) {
            table += &format!("| {} | {} |\n", tool.name, row.row(web.pages()));
        }
    }
    Ok(table)
}

/// A program of the release build.
fn built(name: &str) -> std::path::PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    target.join("release").join(name)
}
