//! Where does each microsecond of a page go?
//!
//! The crawler is sampled while it crawls the synthetic web (`perf`, by the CPU time of all its
//! threads, stacks unwound with DWARF, so that the release binary itself is measured). Each sample
//! is attributed to the innermost function on its stack that a line of `STAGES` knows, so copies
//! and allocations count for their callers; unknown ones are attributed to their thread.

use crate::bench::{BenchWeb, WEBS, built_by, crawl_of};
use crate::packages;
use crate::steps::{cargo, run, step};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Samples per second of CPU time.
const FREQUENCY: u32 = 997;

/// A stage in a page's life: its name, and the function names that do its work. The first matching
/// line wins.
type ProfileStage = (&'static str, &'static [&'static str]);

const STAGES: &[ProfileStage] = &[
    (
        "decode: take gzip off",
        &["libdeflate_gzip_decompress", "deflate_decompress", "orb_fetch::coding", "brotli", "zstd"],
    ),
    ("hash: SHA-256 and keys", &["sha2::", "xxhash_rust::"]),
    ("fingerprint: simhash", &["orb_extract::simhash"]),
    ("tokenise: links, text, title", &["orb_extract::", "encoding_rs::", "chardetng::"]),
    ("canonicalise: links resolved and judged", &["orb_urls::", "url::", "idna::", "orb_crawl::scope"]),
    ("compress: WARC records", &["libdeflate_", "deflate_", "orb_store::warc"]),
    ("frontier: what next, and when", &["orb_frontier::", "orb_crawl::drive::Driver"]),
    ("commit: archive, SQL, index", &["orb_store::", "sqlite3", "rusqlite", "fjall", "lsm_tree", "orb_crawl::record"]),
    ("fetch: sockets, HTTP, scheduling", &["orb_fetch::", "orb_crawl::drive::Errand", "tokio::", "mio::"]),
    ("read: the rest", &["orb_crawl::read"]),
];

/// Threads by name prefix, and the stage of samples that are not otherwise known.
const THREADS: &[(&str, &str)] = &[
    ("tokio", "fetch: sockets, HTTP, scheduling"),
    ("recorder", "commit: archive, SQL, index"),
    ("fjall", "commit: archive, SQL, index"),
    ("orb-", "read: the rest"),
];

/// What belongs to no page: start, end, signals.
const ELSE: &str = "start and end";

/// The samples of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Samples {
    all: u32,
    kernel: u32,
}

/// Crawls (`--web NAME`, one of the bench's; `--pages N`) under perf and prints a table.
pub(crate) fn profile(args: &[String]) -> Result<()> {
    let (mut pages, mut name) = (20_000, "one-gzip");
    for pair in args.chunks(2) {
        match pair {
            [flag, value] if flag == "--pages" => pages = value.parse().context("--pages")?,
            [flag, value] if flag == "--web" => name = value,
            _ => bail!("unknown: {}; there are --pages N and --web NAME", pair.join(" ")),
        }
    }
    let ground = WEBS.iter().find(|web| web.name == name).with_context(|| format!("no web is called {name}"))?;
    step("Debian packages", || packages::ensure(packages::FOR_PROFILE))?;
    // The program that users run, with the line tables that a release omits.
    step("profiling build", || cargo(&["build", "--profile", "profiling", "-p", "orb"]))?;
    step("release build of the web", || cargo(&["build", "--release", "-p", "orb-testweb"]))?;
    let web = BenchWeb::on(ground, pages)?;
    let dir = tempdir()?;
    let folded = step(&web.title(), || sampled(&web, &dir));
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    println!("\n{}", table(&web.title(), web.pages(), &folded?));
    Ok(())
}

fn tempdir() -> Result<PathBuf> {
    let dir = std::env::temp_dir().join(format!("orb-profile-{}", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// Crawls under perf and folds the samples.
fn sampled(web: &BenchWeb, dir: &Path) -> Result<BTreeMap<&'static str, Samples>> {
    let recorded = dir.join("perf.data").to_string_lossy().into_owned();
    let frequency = FREQUENCY.to_string();
    let mut args = vec![
        "record",
        "--quiet",
        "-e",
        "cpu-clock",
        "-F",
        &frequency,
        "--call-graph",
        "dwarf,8192",
        "-o",
        &recorded,
        "--",
    ];
    let crawl = crawl_of(web, &dir.join("home"));
    let program = built_by("profiling", "orb").to_string_lossy().into_owned();
    args.push(&program);
    args.extend(crawl.iter().map(String::as_str));
    run("perf", &args)?;
    let mut script = Command::new("perf")
        .args(["script", "-i", &recorded, "--no-inline", "-F", "comm,tid,ip,sym"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start perf")?;
    let out = script.stdout.take().context("perf says nothing")?;
    let folded = fold(BufReader::new(out).lines().map_while(Result::ok));
    script.wait()?;
    Ok(folded)
}

/// Samples by stage. A sample is a line with its thread, a line per function, innermost first, and
/// an empty line.
fn fold(lines: impl Iterator<Item = String>) -> BTreeMap<&'static str, Samples> {
    let mut folded: BTreeMap<&'static str, Samples> = BTreeMap::new();
    let (mut thread, mut stage, mut kernel, mut depth) = (String::new(), None, false, 0);
    for line in lines {
        if line.is_empty() {
            let by_thread =
                || THREADS.iter().find(|(name, _)| thread.starts_with(name)).map_or(ELSE, |(_, stage)| stage);
            let samples = folded.entry(stage.take().unwrap_or_else(by_thread)).or_default();
            samples.all += 1;
            samples.kernel += u32::from(kernel);
            (kernel, depth) = (false, 0);
        } else if let Some(frame) = line.strip_prefix('\t') {
            let (address, function) = frame.trim_start().split_once(' ').unwrap_or((frame, ""));
            kernel |= depth == 0 && address.len() == 16 && address.starts_with("ffff");
            stage = stage.or_else(|| stage_of(function));
            depth += 1;
        } else {
            line.trim_start().clone_into(&mut thread);
        }
    }
    folded
}

fn stage_of(function: &str) -> Option<&'static str> {
    STAGES.iter().find(|(_, known)| known.iter().any(|name| function.contains(name))).map(|(stage, _)| *stage)
}

/// A Markdown table, in the order of a page's life as in `STAGES`.
fn table(title: &str, pages: usize, folded: &BTreeMap<&'static str, Samples>) -> String {
    let micros = |samples: u32| f64::from(samples) * 1e6 / f64::from(FREQUENCY) / pages as f64;
    let all = folded.values().map(|samples| samples.all).sum::<u32>();
    let kernel = folded.values().map(|samples| samples.kernel).sum();
    let mut table = format!(
        "### Where the time goes: {title}\n\n| stage | µs a page | of it in the kernel | share |\n|---|---|---|---|\n"
    );
    let mut row = |name: &str, samples: Samples| {
        let share = f64::from(samples.all) * 100.0 / f64::from(all.max(1));
        let (all, kernel) = (micros(samples.all), micros(samples.kernel));
        table += &format!("| {name} | {all:.1} | {kernel:.1} | {share:.0} % |\n");
    };
    for name in STAGES.iter().map(|(name, _)| *name).chain([ELSE]) {
        row(name, folded.get(name).copied().unwrap_or_default());
    }
    row("all", Samples { all, kernel });
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "orb-1 7 \n\t  10 __memmove\n\t  11 orb_extract::html::reader::Reader::run\n\t  12 orb_crawl::read::Reader::read\n\n\
        recorder 8 \n\tffffffff815fde91 ext4_sync\n\t  13 fsync\n\n\
        orb-1 7 \n\t  14 orb_extract::simhash::simhash\n\t  11 orb_extract::html::reader::Reader::run\n\n\
        orb 6 \n\t  15 _dl_start\n\n";

    #[test]
    fn a_sample_belongs_to_the_innermost_function_known_or_to_its_thread() {
        let folded = fold(SCRIPT.lines().map(str::to_owned));
        let one = |kernel| Samples { all: 1, kernel };
        let wanted = BTreeMap::from([
            ("tokenise: links, text, title", one(0)),
            ("commit: archive, SQL, index", one(1)),
            ("fingerprint: simhash", one(0)),
            (ELSE, one(0)),
        ]);
        assert_eq!(folded, wanted);
    }

    #[test]
    fn every_thread_belongs_to_a_stage() {
        for (_, stage) in THREADS {
            assert!(STAGES.iter().any(|(name, _)| name == stage), "{stage}");
        }
    }
}
