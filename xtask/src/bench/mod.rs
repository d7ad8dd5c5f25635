//! How fast is the crawler compared with others, on the same web in the same run?
//!
//! The synthetic web runs as a separate process. Every tool crawls it completely, in turn and round
//! after round, so that a slow minute of the machine affects all of them; only ratios within one
//! run count. Each ratio has a target, and a bench that misses it fails. Another build can be
//! measured in turn with ours (`--against`), which reveals changes that the machine's variance
//! would hide. A part is one line in `PARTS`, a tool one in `TOOLS`, a web one in `WEBS`.

mod authority;
mod cluster;
mod cores;
mod documents;
mod freshness;
mod graph;
mod grown;
mod indexed;
mod known;
mod manuals;
mod measure;
mod peers;
mod planned;
mod polite;
mod protocols;
mod ranked;
mod rendered;
mod served;
mod sessions;
mod tools;
mod tracked;
mod verdict;
mod web;

pub(crate) use tools::crawl_of;
pub(crate) use web::{BenchWeb, WEBS};

use crate::steps::{cargo, root, step};
use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;
use verdict::TargetVerdict;

/// A part of the bench: its name, what it shows, and its function.
type BenchPart = (&'static str, &'static str, fn(&BenchOptions) -> Result<PartReport>);

const PARTS: &[BenchPart] = &[
    ("peers", "crawlers side by side", peers::measured),
    ("cores", "a crawl on one core and on all", cores::measured),
    ("polite", "a thousand hosts at a request a second each", polite::measured),
    ("index", "a crawl with the text index and without", indexed::crawled),
    ("manuals", "two documentations with the text index and without", manuals::measured),
    ("search", "queries of three words over a hundred thousand pages", indexed::searched),
    ("track", "twenty thousand unchanged pages, visited again", tracked::measured),
    ("protocols", "trees and newsgroups that are not on the web, and peers", protocols::measured),
    ("known", "a million known URLs", |wish| known::measured(wish).map(PartReport::from)),
    ("graph", "fifty million arcs, and who points to a page", graph::measured),
    ("ranks", "how many arcs PageRank follows in a second", |_| ranked::measured()),
    ("plan", "twenty thousand pages, planned and then crawled", planned::measured),
    ("sessions", "session ids in links", |_| sessions::measured()),
    ("documents", "documents against pdftotext and Tika, and in a crawl", documents::measured),
    ("freshness", "what is gained by visiting pages where it is worth most", freshness::measured),
    ("serve", "screens and API over a million pages, and two hundred viewers", served::measured),
    ("render", "pages of applications in a browser", rendered::measured),
    ("upkeep", "five thousand pages in a browser", rendered::upkeep),
    ("growth", "what a page costs with 1, 10 and 50 million known URLs", grown::growth),
    ("shared", "what a page of a shared project costs PostgreSQL", grown::shared),
    ("cluster", "one worker on a shared store, and how speed adds up over several", cluster::measured),
    ("restart", "how soon a project of 10 million known URLs resumes", grown::restart),
];

/// Parts that take long or gigabytes: run only when named.
const LONG: &[&str] = &["cluster", "documents", "growth", "render", "restart", "serve", "shared", "upkeep"];

/// The result of a part: Markdown tables, and whether the targets are met.
#[derive(Default)]
struct PartReport {
    tables: Vec<String>,
    verdicts: Vec<TargetVerdict>,
}

impl From<String> for PartReport {
    fn from(table: String) -> Self {
        Self { tables: vec![table], verdicts: Vec::new() }
    }
}

/// The command line options.
struct BenchOptions {
    pages: u32,
    rounds: usize,
    slow: bool,
    only: Vec<String>,
    tools: Vec<String>,
    webs: Vec<String>,
    /// The build to measure; by default the release build of this tree.
    orb: PathBuf,
    /// The base build that it is compared with, in turn.
    against: Option<PathBuf>,
    /// The source tree of the base build, if it was given as a tree.
    base_tree: Option<PathBuf>,
    /// The home that is served; it stays, for another time.
    home: Option<PathBuf>,
}

impl Default for BenchOptions {
    fn default() -> Self {
        let [only, tools, webs] = [const { Vec::new() }; 3];
        Self {
            pages: 20_000,
            rounds: 3,
            slow: false,
            only,
            tools,
            webs,
            orb: built("orb"),
            against: None,
            base_tree: None,
            home: None,
        }
    }
}

impl BenchOptions {
    /// Parses `--pages N` (maximum pages of a web), `--rounds N`, `--slow` (also the tools and
    /// sizes that take minutes), and filters: `--only part,part`, `--tools tool,tool`, `--webs
    /// web,web`.
    /// `--orb PATH` measures that program instead of the one that is built; `--against PATH`
    /// measures another in turn with it: a program, or a source tree, which is built and grown,
    /// too. `--home PATH` is where the served collections are, or will be.
    fn read(args: &[String]) -> Result<Self> {
        let mut wish = Self::default();
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            if flag == "--slow" {
                wish.slow = true;
                continue;
            }
            let value = args.next().with_context(|| format!("{flag} needs a value"))?;
            let names = || value.split(',').map(str::to_owned).collect();
            match flag.as_str() {
                "--pages" => wish.pages = value.parse().context("--pages")?,
                "--rounds" => wish.rounds = value.parse().context("--rounds")?,
                "--only" => wish.only = names(),
                "--tools" => wish.tools = names(),
                "--webs" => wish.webs = names(),
                "--home" => wish.home = Some(std::path::absolute(value)?),
                "--orb" => wish.orb = std::path::absolute(value)?,
                "--against" => wish.hold_against(std::path::absolute(value)?),
                _ => bail!(
                    "unknown flag {flag}; there are --pages, --rounds, --slow, --only, --tools, --webs, --home, --orb and --against"
                ),
            }
        }
        check("part", &wish.only, PARTS.iter().map(|part| part.0))?;
        check("tool", &wish.tools, tools::TOOLS.iter().map(|tool| tool.name))?;
        check("web", &wish.webs, WEBS.iter().map(|web| web.name))?;
        Ok(wish)
    }

    /// Compares with a program, or with that of another tree.
    fn hold_against(&mut self, path: PathBuf) {
        if path.is_dir() {
            self.against = Some(path.join("target/release/orb"));
            self.base_tree = Some(path);
        } else {
            self.against = Some(path);
        }
    }

    /// Builds what is measured, unless it is given.
    fn build(&self) -> Result<()> {
        if let Some(tree) = &self.base_tree {
            let manifest = tree.join("Cargo.toml").to_string_lossy().into_owned();
            let target = tree.join("target").to_string_lossy().into_owned();
            let build = ["build", "--release", "-p", "orb", "--manifest-path", &manifest, "--target-dir", &target];
            step("release build of the base", || cargo(&build))?;
        }
        let web = ["build", "--release", "-p", "orb-testweb"];
        let both = ["build", "--release", "-p", "orb", "-p", "orb-testweb"];
        step("release build", || cargo(if self.orb == built("orb") { &both } else { &web }))?;
        for program in [Some(&self.orb), self.against.as_ref()].into_iter().flatten() {
            ensure!(program.is_file(), "there is no program {}", program.display());
        }
        Ok(())
    }
}

/// Rejects an unknown name.
fn check(what: &str, wanted: &[String], known: impl Iterator<Item = &'static str>) -> Result<()> {
    let known: Vec<&str> = known.collect();
    match wanted.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => bail!("no {what} is called {name}; there are {}", known.join(", ")),
        None => Ok(()),
    }
}

/// Whether a name was selected; without a selection, everything is.
fn chosen(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|one| one == name)
}

/// Builds, runs part after part, and prints all tables and verdicts at the end; a missed target is
/// a failure.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let wish = BenchOptions::read(args)?;
    wish.build()?;
    let mut all = PartReport::default();
    let wanted = |part: &&BenchPart| chosen(&wish.only, part.0) && !(wish.only.is_empty() && LONG.contains(&part.0));
    for (name, what, measured) in PARTS.iter().filter(wanted) {
        let report = step(&format!("{name}: {what}"), || measured(&wish))?;
        all.tables.extend(report.tables);
        all.verdicts.extend(report.verdicts);
    }
    for table in &all.tables {
        println!("\n{table}");
    }
    for verdict in &all.verdicts {
        println!("{verdict}");
    }
    match all.verdicts.iter().filter(|verdict| !verdict.holds()).count() {
        0 => Ok(()),
        missed => bail!("{missed} of {} figures are not what is wanted", all.verdicts.len()),
    }
}

/// A program of the release build.
pub(crate) fn built(name: &str) -> PathBuf {
    built_by("release", name)
}

/// A program of the build with this profile.
pub(crate) fn built_by(profile: &str, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    target.join(profile).join(name)
}
