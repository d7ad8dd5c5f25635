//! What does the text index cost a crawl, and how fast does it answer?
//!
//! The same web is crawled with and without the index, in turn, with the CPU as the only limit: the
//! ratio of the rates is the figure. Then a large crawl is asked queries of three words, each often
//! enough to tell the slowest from the others, and the program is restarted for a few of them.

use super::measure::{self, Figures};
use super::tools::{Role, Tool, crawl_of, orb};
use super::verdict::{FigureTarget, NO_SLOWER, TargetVerdict};
use super::web::{BenchWeb, WEBS, number_field};
use super::{BenchOptions, PartReport, chosen};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The minimum share of the rate with the index, where words are few and where they are as many as
/// in real texts.
const WANTED: f64 = 0.6;
const WANTED_OF_WORDS: f64 = 0.5;

/// Number of pages searched.
const PAGES: u32 = 100_000;

const WITH: Tool = Tool { name: "with index", role: Role::Ours, command: with_index };
const WITHOUT: Tool = Tool { name: "without", role: Role::Ours, command: orb };

fn with_index(web: &BenchWeb, dir: &Path, build: &Path) -> Result<Command> {
    let mut command = Command::new(build);
    command.args(crawl_of(web, dir).into_iter().filter(|arg| arg != "--no-index"));
    Ok(command)
}

/// The rates with and without, on one host in plain bytes, compressed, and with many words.
pub(super) fn crawled(wish: &BenchOptions) -> Result<PartReport> {
    let mut report = PartReport::default();
    let one = |name: &str| {
        if wish.webs.is_empty() {
            name.starts_with("one-") || name.starts_with("words-")
        } else {
            chosen(&wish.webs, name)
        }
    };
    for ground in WEBS.iter().filter(|ground| one(ground.name)) {
        let web = BenchWeb::on(ground, wish.pages)?;
        let (mut rounds, mut base): (Vec<[Figures; 2]>, Vec<[Figures; 2]>) = (Vec::new(), Vec::new());
        let both = |build| anyhow::Ok([measure::run(&WITHOUT, &web, build)?, measure::run(&WITH, &web, build)?]);
        for _ in 0..wish.rounds {
            rounds.push(both(&wish.orb)?);
            base.extend(wish.against.as_deref().map(both).transpose()?);
        }
        let rows = [WITHOUT, WITH]
            .iter()
            .enumerate()
            .filter_map(|(which, tool)| Some((tool.name, measure::median(rounds.iter().map(|round| &round[which]))?)));
        report.tables.push(measure::table(&web.title(), web.pages(), rows.collect::<Vec<_>>().into_iter()));
        let ratios = rounds.iter().map(|[without, with]| with.rate() / without.rate());
        let what = format!("{}: pages/s with the index / without", ground.name);
        let wanted = if ground.vocabulary { WANTED_OF_WORDS } else { WANTED };
        report.verdicts.extend(TargetVerdict::of(what, ratios, FigureTarget::AtLeast(wanted)));
        for (which, tool) in [WITHOUT, WITH].iter().enumerate() {
            let ratios = rounds.iter().zip(&base).map(|(ours, base)| ours[which].rate() / base[which].rate());
            let what = format!("{}: pages/s {}, orb / base", ground.name, tool.name);
            report.verdicts.extend(TargetVerdict::of(what, ratios, NO_SLOWER));
        }
    }
    Ok(report)
}

/// Search latency on a crawl of a hundred thousand pages.
pub(super) fn searched(wish: &BenchOptions) -> Result<PartReport> {
    let dir = std::env::temp_dir().join(format!("orb-bench-{}-search", std::process::id()));
    let report = search_in(&dir, wish);
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    report
}

fn search_in(dir: &Path, wish: &BenchOptions) -> Result<PartReport> {
    let pages = PAGES.min(wish.pages.max(20_000) * 5);
    let web = BenchWeb::start((1, pages), pages)?;
    let crawled = with_index(&web, dir, &wish.orb)?.status().context("cannot start orb")?;
    if !crawled.success() {
        bail!("the crawl failed: {crawled}");
    }
    drop(web);
    let (orb, home) = (wish.orb.as_path(), dir.display().to_string());
    let queries = dir.join("queries");
    std::fs::write(&queries, questions(orb, &home)?)?;
    let search = ["search", "bench", "--home", &home, "--json", "--timing"];
    let told = output(Command::new(orb).args(search).arg(&queries))?;
    let figure = |name: &str| number_field(&told, name).with_context(|| format!("no {name} in {told}"));
    let (p50, p99) = (figure("p50_us")? as f64 / 1e3, figure("p99_us")? as f64 / 1e3);
    let mut starts = Vec::new();
    for query in std::fs::read_to_string(&queries)?.lines().take(9) {
        let began = Instant::now();
        output(Command::new(orb).args(["search", "bench", query, "--home", &home, "--json"]))?;
        starts.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let table = format!("### {pages} pages, queries of three words\n\n{told}\n");
    let of = |what: &str, figures: Vec<f64>, most| {
        TargetVerdict::of(format!("search: {what} in ms"), figures, FigureTarget::AtMost(most))
    };
    let verdicts =
        [of("p50", vec![p50], 5.0), of("p99", vec![p99], 30.0), of("start to end of one search", starts, 200.0)];
    Ok(PartReport { tables: vec![table], verdicts: verdicts.into_iter().flatten().collect() })
}

/// Triples of dictionary words, common and rare.
fn questions(orb: &Path, home: &str) -> Result<String> {
    let mut words = Vec::new();
    for letter in b'a'..=b'z' {
        let start = format!("{}*", char::from(letter));
        let told = output(Command::new(orb).args(["words", "bench", &start, "--home", home, "--limit", "4000"]))?;
        let rows = told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        words.extend(rows.filter(|row| row.get(1) == Some(&"body")).map(|row| row[0].to_owned()));
    }
    if words.len() < 100 {
        bail!("only {} words to ask for", words.len());
    }
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        &words[usize::try_from(dice % words.len() as u64).unwrap_or(0)]
    };
    Ok((0..1_000).map(|_| format!("{} {} {}\n", draw(), draw(), draw())).collect())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().context("cannot start orb")?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
