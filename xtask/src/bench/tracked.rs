//! What does it cost to find that nothing has changed?
//!
//! A site of pages with validators is crawled and then tracked, with archive and links on. The rate and the bytes of the second run are held
//! against those of the first.

use super::tools::crawl_of;
use super::verdict::{Verdict, Wanted};
use super::web::{BenchWeb, number_field};
use super::{Report, Wish, built};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// How many times as fast as the first crawl it should be.
const FASTER: f64 = 3.0;

/// The share of the first crawl's bytes it may take.
const BYTES: f64 = 0.05;

/// What a run says of itself.
struct Account {
    rate: f64,
    bytes: f64,
    same: u64,
}

pub(super) fn measured(wish: &Wish) -> Result<Report> {
    let (mut faster, mut less) = (Vec::new(), Vec::new());
    let mut table = String::from("| run | pages/s | bytes |\n|---|---|---|\n");
    for round in 0..wish.rounds {
        let web = BenchWeb::with_validators((1, 20_000), wish.pages)?;
        let dir = std::env::temp_dir().join(format!("orb-bench-{}-track-{round}", std::process::id()));
        let runs = both(&web, &dir);
        std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
        let [first, second] = runs?;
        if second.same != web.pages() as u64 {
            bail!("{} of {} pages were found unchanged", second.same, web.pages());
        }
        for (name, run) in [("crawl", &first), ("track", &second)] {
            table += &format!("| {name} | {:.0} | {:.0} |\n", run.rate, run.bytes);
        }
        faster.push(second.rate / first.rate);
        less.push(second.bytes / first.bytes);
    }
    let verdicts = [
        Verdict::of("track: pages/s / those of the first crawl".to_owned(), faster, Wanted::AtLeast(FASTER)),
        Verdict::of("track: bytes / those of the first crawl".to_owned(), less, Wanted::AtMost(BYTES)),
    ];
    Ok(Report { tables: vec![table], verdicts: verdicts.into_iter().flatten().collect() })
}

fn both(web: &BenchWeb, dir: &Path) -> Result<[Account; 2]> {
    let crawl = crawl_of(web, dir);
    let home = dir.to_string_lossy().into_owned();
    let track = ["track", "bench", "--quiet", "--home", &home].map(str::to_owned);
    Ok([account(&crawl)?, account(&track)?])
}

fn account(args: &[String]) -> Result<Account> {
    let began = Instant::now();
    let output = Command::new(built("orb")).args(args).arg("--json").output().context("cannot start orb")?;
    let seconds = began.elapsed().as_secs_f64();
    if !output.status.success() {
        bail!("orb {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let told = String::from_utf8_lossy(&output.stdout);
    let number = |name: &str| number_field(&told, name).with_context(|| format!("no {name} in {told}"));
    let (pages, bytes) = (number("pages")?, number("bytes")?);
    Ok(Account { rate: pages as f64 / seconds, bytes: bytes as f64, same: number("SAM")? })
}
