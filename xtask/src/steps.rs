//! How is one step of a task run and reported?
//!
//! A step prints its name before and its duration after; a program that fails ends the task with
//! its own exit code.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A failed program, with the exit code to propagate.
#[derive(Debug)]
pub(crate) struct FailedCommand {
    what: String,
    code: u8,
}

impl std::fmt::Display for FailedCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (exit {})", self.what, self.code)
    }
}

impl std::error::Error for FailedCommand {}

/// The exit code of an error; 1 by default.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    error.downcast_ref::<FailedCommand>().map_or(1, |failed| failed.code)
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Runs the work between a line with its name and a line with its duration.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("==> {name}");
    let start = Instant::now();
    let done = work().with_context(|| format!("step failed: {name}"))?;
    println!("<== {name}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(done)
}

/// Runs a program in the workspace's root.
pub(crate) fn run(program: &str, args: &[&str]) -> Result<()> {
    run_with(program, args, &[])
}

fn run_with(program: &str, args: &[&str], environment: &[(&str, String)]) -> Result<()> {
    // What cargo told us of our own package would make build scripts run again that watch it, and
    // everything behind them be built again.
    let ours = std::env::vars_os().map(|(name, _)| name);
    let ours = ours.filter(|name| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| starts_with(name, start)));
    let mut command = Command::new(program);
    ours.for_each(|name| {
        command.env_remove(name);
    });
    let status = command
        .args(args)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    if status.success() {
        return Ok(());
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Err(FailedCommand { what: format!("{program} {}", args.join(" ")), code }.into())
}

fn starts_with(name: &OsStr, start: &str) -> bool {
    name.as_encoded_bytes().starts_with(start.as_bytes())
}

/// Runs cargo: the one that runs us, if known.
pub(crate) fn cargo(args: &[&str]) -> Result<()> {
    cargo_with(args, &[])
}

/// The same, with additional environment variables.
pub(crate) fn cargo_with(args: &[&str], environment: &[(&str, String)]) -> Result<()> {
    run_with(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), args, environment)
}

/// Whether a program can be started and succeeds; it prints nothing.
pub(crate) fn succeeds(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}
