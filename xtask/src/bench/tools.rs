//! Which crawlers are measured, and how is each called?
//!
//! Each with what its manual says for a whole site as fast as may be; all of them keep what they fetch, except Scrapy,
//! which keeps a line a page. Hosts beyond the machine's own are reached through the synthetic web as a proxy.

use super::built;
use super::web::BenchWeb;
use crate::steps::root;
use std::path::Path;
use std::process::Command;

/// A crawler.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Whether one round takes minutes.
    pub(super) slow: bool,
    /// The command that crawls this web into a directory.
    pub(super) command: fn(&BenchWeb, &Path) -> Command,
}

const fn tool(name: &'static str, slow: bool, command: fn(&BenchWeb, &Path) -> Command) -> Tool {
    Tool { name, slow, command }
}

/// All of them; ours first.
pub(super) const TOOLS: &[Tool] = &[
    tool("orb", false, orb),
    tool("wget2", false, wget2),
    tool("wget", false, wget),
    tool("httrack", true, httrack),
    tool("scrapy", true, scrapy),
];

fn orb(web: &BenchWeb, dir: &Path) -> Command {
    let mut command = Command::new(built("orb"));
    command.args(["crawl", &web.seed(), "--project", "bench", "--delay", "0", "--progress", "none", "--home"]).arg(dir);
    if web.is_named() {
        command.args(["--scope", "any", "--proxy", &format!("http://{}", web.address)]);
    }
    command
}

/// What wget and wget2 have in common.
fn wget_like(program: &str, web: &BenchWeb, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--recursive", "--level=0", "--quiet", "--directory-prefix"]).arg(dir);
    if web.is_named() {
        command.args(["--span-hosts"]).env("http_proxy", format!("http://{}", web.address));
    }
    command.arg(web.seed());
    command
}

fn wget(web: &BenchWeb, dir: &Path) -> Command {
    wget_like("wget", web, dir)
}

fn wget2(web: &BenchWeb, dir: &Path) -> Command {
    wget_like("wget2", web, dir)
}

fn httrack(web: &BenchWeb, dir: &Path) -> Command {
    let mut command = Command::new("httrack");
    command.args([&web.seed(), "--quiet", "--sockets=16", "--max-rate=0", "--connection-per-second=0"]);
    command.args(["--disable-security-limits", "-I0", "--depth=9999", "--path"]).arg(dir);
    if web.is_named() {
        command.args(["--go-everywhere", "--proxy", &web.address]);
    }
    command
}

fn scrapy(web: &BenchWeb, dir: &Path) -> Command {
    let mut command = Command::new(root().join("target/peers/bin/python"));
    command.arg(root().join("xtask/peers/spider.py")).arg(web.seed()).current_dir(dir);
    if web.is_named() {
        command.arg(format!("http://{}", web.address));
    }
    command
}
