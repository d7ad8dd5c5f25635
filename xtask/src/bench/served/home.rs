//! What is served?
//!
//! Three collections: `large`, which a program of the store writes in a minute, with its graph;
//! `bench`, a crawl of the synthetic web with archive and text index, for content and search; and
//! `live`, a slow run that goes on while it is watched. Besides, there are small ones, up to
//! fifty.

use super::client::USER;
use crate::bench::web::BenchWeb;
use crate::bench::{BenchOptions, built};
use crate::steps::{cargo, step};
use anyhow::{Context, Result, ensure};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Pages of the large collection, unless fewer are wanted.
const PAGES: u32 = 1_000_000;
/// Pages of the searched one.
const SEARCHED: u32 = 5_000;
/// Collections of one page.
const SMALL: u32 = 47;

/// Makes what is missing of a home.
pub(super) fn prepare(wish: &BenchOptions, home: &Path) -> Result<()> {
    std::fs::create_dir_all(home)?;
    if !home.join("large").exists() {
        let pages = if wish.pages == BenchOptions::default().pages { PAGES } else { wish.pages };
        cargo(&["build", "--release", "-p", "orb-store", "--example", "large"])?;
        let make = || done(Command::new(built("examples/large")).arg(home).arg(pages.to_string()));
        step(&format!("a collection of {pages} pages"), make)?;
    }
    if !home.join("large/graph").exists() {
        step("its graph", || done(orb(wish, home, &["graph", "build", "large"])))?;
    }
    if !home.join("bench").exists() {
        let web = BenchWeb::start((1, SEARCHED), SEARCHED)?;
        let crawl = ["crawl", &web.seed(), "--project", "bench", "--delay", "0", "--quiet"];
        step("a collection with text index", || done(orb(wish, home, &crawl)))?;
        step("its second version", || done(orb(wish, home, &["track", "bench", "--delay", "0", "--quiet"])))?;
        for number in 1..=SMALL {
            let name = format!("small-{number}");
            done(orb(wish, home, &["crawl", &web.seed(), "--project", &name, "--max-pages", "1", "--quiet"]))?;
        }
        add_user(wish, home)?;
    }
    Ok(())
}

/// A run of ten pages a second, for as long as it is watched: everything it finds is new, since the
/// crawl before it has seen one page.
pub(super) fn slow_run(wish: &BenchOptions, home: &Path, web: &BenchWeb) -> Result<Child> {
    let first = ["crawl", &web.seed(), "--project", "live", "--max-pages", "1", "--no-index", "--quiet"];
    done(orb(wish, home, &first))?;
    let args = ["track", "live", "--delay", "100ms", "--quiet"];
    orb(wish, home, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot start orb")
}

fn add_user(wish: &BenchOptions, home: &Path) -> Result<()> {
    let mut command = orb(wish, home, &["user", "add", USER[0], "--admin"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().context("cannot start orb")?;
    child.stdin.take().context("orb reads nothing")?.write_all(format!("{}\n", USER[1]).as_bytes())?;
    ensure!(child.wait()?.success(), "no account was made");
    Ok(())
}

fn orb(wish: &BenchOptions, home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(&wish.orb);
    command.args(args).arg("--home").arg(home);
    command
}

fn done(mut command: impl std::borrow::BorrowMut<Command>) -> Result<()> {
    let command = command.borrow_mut();
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}
