//! Which crawlers are measured, and how is each called?
//!
//! Each with what its manual says for a whole site as fast as may be, and with what was found to make it faster here. orb, wget and HTTrack
//! keep what they fetch, Scrapy keeps a line a page, the crate spider keeps nothing. Hosts are named by their addresses, so that nobody
//! needs a resolver or a proxy.

use super::web::BenchWeb;
use super::{built, peers};
use crate::steps::root;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// A crawler.
pub(super) struct Tool {
    /// What it is called, on the command line and in tables.
    pub(super) name: &'static str,
    /// What it is beside ours.
    pub(super) role: Role,
    /// The command that crawls this web into a directory.
    pub(super) command: fn(&BenchWeb, &Path) -> Result<Command>,
}

/// What a tool is beside ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Ours.
    Ours,
    /// As fast as there are any: measured in every round.
    Rival,
    /// Slower: measured once.
    Once,
    /// Slower by minutes: measured once, where asked for, and where the web compresses.
    Slow,
    /// Not a crawler: our client with all URLs given and nothing else to do.
    Ceiling,
}

const fn tool(name: &'static str, role: Role, command: fn(&BenchWeb, &Path) -> Result<Command>) -> Tool {
    Tool { name, role, command }
}

/// All of them; ours first.
pub(super) const TOOLS: &[Tool] = &[
    tool("orb", Role::Ours, orb),
    tool("fetch-only", Role::Ceiling, fetch_only),
    tool("spider", Role::Rival, spider),
    tool("wget2", Role::Rival, wget2),
    tool("wget", Role::Once, wget),
    tool("httrack", Role::Slow, httrack),
    tool("scrapy", Role::Slow, scrapy),
];

fn orb(web: &BenchWeb, dir: &Path) -> Result<Command> {
    let mut command = Command::new(built("orb"));
    command.args(crawl_of(web, dir));
    Ok(command)
}

/// The arguments with which orb crawls a whole web into a home, as fast as it can; without an index, which none of the others makes.
pub(crate) fn crawl_of(web: &BenchWeb, home: &Path) -> Vec<String> {
    let (seed, home) = (web.seed(), home.to_string_lossy());
    let mut args = vec!["crawl", &seed, "--project", "bench", "--delay", "0", "--quiet", "--no-index", "--home", &home];
    if web.has_many() {
        args.extend(["--scope", "any", "--allow-private"]);
    }
    args.into_iter().map(str::to_owned).collect()
}

fn fetch_only(web: &BenchWeb, dir: &Path) -> Result<Command> {
    let urls = dir.join("urls");
    std::fs::write(&urls, web.urls()?).with_context(|| format!("cannot write {}", urls.display()))?;
    let mut command = Command::new(built("examples/ceiling"));
    command.arg(urls);
    Ok(command)
}

/// It crawls sites, so it is given them all; more at once made it no faster.
fn spider(web: &BenchWeb, _: &Path) -> Result<Command> {
    let mut command = Command::new(peers::spider());
    command.args(if web.has_many() { ["16", "8"] } else { ["1", "32"] }).args(web.homes());
    Ok(command)
}

/// What wget and wget2 have in common.
fn wget_like(program: &str, web: &BenchWeb, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--recursive", "--level=0", "--quiet", "--directory-prefix"]).arg(dir);
    command.args(web.has_many().then_some("--span-hosts")).arg(web.seed());
    command
}

fn wget(web: &BenchWeb, dir: &Path) -> Result<Command> {
    Ok(wget_like("wget", web, dir))
}

/// More threads than its five help on one host and hurt on many.
fn wget2(web: &BenchWeb, dir: &Path) -> Result<Command> {
    let mut command = wget_like("wget2", web, dir);
    command.arg(if web.has_many() { "--max-threads=5" } else { "--max-threads=20" });
    Ok(command)
}

fn httrack(web: &BenchWeb, dir: &Path) -> Result<Command> {
    let mut command = Command::new("httrack");
    command.args([&web.seed(), "--quiet", "--sockets=16", "--max-rate=0", "--connection-per-second=0"]);
    command.args(["--disable-security-limits", "-I0", "--depth=9999", "--path"]).arg(dir);
    command.args(web.has_many().then_some("--go-everywhere"));
    Ok(command)
}

fn scrapy(web: &BenchWeb, dir: &Path) -> Result<Command> {
    let mut command = Command::new(root().join("target/peers/bin/python"));
    command.arg(root().join("xtask/peers/with_scrapy.py")).arg(web.seed()).current_dir(dir);
    Ok(command)
}
