//! Where are other people's archive tools installed?
//!
//! In a Python environment under `target/`, built from `tests/judges/requirements.txt` and rebuilt
//! only when that file or the Python version changes.

use crate::steps::{root, run};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Ensures that the environment `target/<name>` has what the requirements file (relative to the
/// root) lists.
pub(crate) fn ensure(name: &str, requirements: &str) -> Result<()> {
    let home = root().join("target").join(name);
    let wanted = stamp(&root().join(requirements))?;
    let stamp = home.join("made-from");
    if std::fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == wanted) {
        return Ok(());
    }
    let home = home.to_str().context("the path of the workspace is not UTF-8")?;
    run("python3", &["-m", "venv", "--clear", home])?;
    let python = format!("{home}/bin/python");
    run(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements])?;
    std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// What an environment is built from: the requirements and the Python version.
fn stamp(requirements: &Path) -> Result<String> {
    let text =
        std::fs::read_to_string(requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    let python = Command::new("python3").arg("--version").output().context("cannot start python3")?;
    if !python.status.success() {
        bail!("python3 --version failed");
    }
    Ok(format!("{}\n{text}", String::from_utf8_lossy(&python.stdout).trim()))
}
