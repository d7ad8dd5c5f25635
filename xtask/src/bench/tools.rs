//! Which crawlers are measured, and how is each invoked?
//!
//! Each with what its manual recommends for crawling a whole site at full speed, and with what was
//! found to make it faster here. orb, wget and HTTrack store what they fetch, Scrapy stores a line
//! per page, the crate spider stores nothing. Hosts are named by address, so nobody needs a
//! resolver or a proxy. Over TLS every tool verifies certificates, resumes sessions if it can, and
//! uses HTTP/2 if the server offers it.

use super::web::BenchWeb;
use super::{built, peers};
use crate::steps::root;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// A crawler.
pub(super) struct Tool {
    /// Its name on the command line and in tables.
    pub(super) name: &'static str,
    /// Its role in the comparison.
    pub(super) role: Role,
    /// The command that crawls this web into a directory; the program is a build of ours, for tools
    /// that are.
    pub(super) command: Call,
}

/// Builds the command that crawls a web into a directory, with this build if the tool is ours.
pub(super) type Call = fn(&BenchWeb, &Path, &Path) -> Result<Command>;

/// The role of a tool in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Ours.
    Ours,
    /// Our base build, measured in every round.
    Base,
    /// As fast as any: measured in every round.
    Rival,
    /// Slower: measured once.
    Once,
    /// Slower by minutes: measured once, on request, and if the web compresses and does not use
    /// TLS.
    Slow,
    /// Not a crawler: our client with all URLs given and nothing else to do.
    Ceiling,
}

const fn tool(name: &'static str, role: Role, command: Call) -> Tool {
    Tool { name, role, command }
}

/// All of them; ours first.
pub(super) const TOOLS: &[Tool] = &[
    tool("orb", Role::Ours, orb),
    tool("base", Role::Base, orb),
    tool("fetch-only", Role::Ceiling, fetch_only),
    tool("spider", Role::Rival, spider),
    tool("wget2", Role::Rival, wget2),
    tool("wget", Role::Once, wget),
    tool("httrack", Role::Slow, httrack),
    tool("scrapy", Role::Slow, scrapy),
];

pub(super) fn orb(web: &BenchWeb, dir: &Path, build: &Path) -> Result<Command> {
    let mut command = Command::new(build);
    command.args(crawl_of(web, dir));
    Ok(command)
}

/// The arguments with which orb crawls a whole web into a home at full speed; without an index,
/// which none of the others builds.
pub(crate) fn crawl_of(web: &BenchWeb, home: &Path) -> Vec<String> {
    let (seed, home) = (web.seed(), home.to_string_lossy());
    let mut args = vec!["crawl", &seed, "--project", "bench", "--delay", "0", "--quiet", "--no-index", "--home", &home];
    if web.has_many() {
        args.extend(["--scope", "any", "--allow-private"]);
    }
    let ca_file = web.ca_file().map(|path| path.to_string_lossy().into_owned());
    args.extend(ca_file.iter().flat_map(|path| ["--ca-file", path]));
    args.into_iter().map(str::to_owned).collect()
}

fn fetch_only(web: &BenchWeb, dir: &Path, _: &Path) -> Result<Command> {
    let urls = dir.join("urls");
    std::fs::write(&urls, web.urls()?).with_context(|| format!("cannot write {}", urls.display()))?;
    let mut command = Command::new(built("examples/ceiling"));
    command.arg(urls).args(web.ca_file());
    Ok(command)
}

/// It crawls sites, so it gets all of them; more in parallel made it no faster.
fn spider(web: &BenchWeb, _: &Path, _: &Path) -> Result<Command> {
    let mut command = Command::new(peers::spider());
    command.args(if web.has_many() { ["16", "8"] } else { ["1", "32"] }).args(web.homes());
    command.envs(web.ca_file().map(|path| ("SSL_CERT_FILE", path)));
    Ok(command)
}

/// What wget and wget2 share.
fn wget_like(program: &str, web: &BenchWeb, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--recursive", "--level=0", "--quiet", "--directory-prefix"]).arg(dir);
    command.args(web.has_many().then_some("--span-hosts")).arg(web.seed());
    command.args(web.ca_file().map(|path| format!("--ca-certificate={}", path.display())));
    command
}

fn wget(web: &BenchWeb, dir: &Path, _: &Path) -> Result<Command> {
    Ok(wget_like("wget", web, dir))
}

/// More than its five threads help on one host and hurt on many.
fn wget2(web: &BenchWeb, dir: &Path, _: &Path) -> Result<Command> {
    let mut command = wget_like("wget2", web, dir);
    command.arg(if web.has_many() { "--max-threads=5" } else { "--max-threads=20" });
    Ok(command)
}

fn httrack(web: &BenchWeb, dir: &Path, _: &Path) -> Result<Command> {
    let mut command = Command::new("httrack");
    command.args([&web.seed(), "--quiet", "--sockets=16", "--max-rate=0", "--connection-per-second=0"]);
    command.args(["--disable-security-limits", "-I0", "--depth=9999", "--path"]).arg(dir);
    command.args(web.has_many().then_some("--go-everywhere"));
    Ok(command)
}

fn scrapy(web: &BenchWeb, dir: &Path, _: &Path) -> Result<Command> {
    let mut command = Command::new(root().join("target/peers/bin/python"));
    command.arg(root().join("xtask/peers/with_scrapy.py")).arg(web.seed()).current_dir(dir);
    Ok(command)
}
