//! What does Tika say of the documents of a corpus?
//!
//! The judge of office documents, and the second one of PDFs. It comes from Maven; it reads all
//! documents in one go, which takes minutes, and its answers are kept: they are always the same.

use crate::steps::{root, run, succeeds};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The judge, as Maven names it.
const ARTIFACT: &str = "org.apache.tika:tika-app:3.2.2";
/// Where Maven puts it.
const JAR: &str = ".m2/repository/org/apache/tika/tika-app/3.2.2/tika-app-3.2.2.jar";

/// The judge, fetched if need be; `None` if that is impossible or there is no Java.
pub(crate) fn jar() -> Option<PathBuf> {
    let jar = env::home_dir().unwrap_or_default().join(JAR);
    // It carries what it depends on.
    let wanted = [&format!("-Dartifact={ARTIFACT}"), "-Dtransitive=false"];
    let get = || run("mvn", &["-q", "dependency:get", wanted[0], wanted[1]]).is_ok();
    let is_there = jar.exists() || (succeeds("mvn", &["--version"]) && get() && jar.exists());
    (is_there && succeeds("java", &["-version"])).then_some(jar)
}

/// What it says of all documents below a directory: a directory of JSON files with the same names.
/// `None` without a judge.
pub(crate) fn told(documents: &Path) -> Result<Option<PathBuf>> {
    let Some(jar) = jar() else { return Ok(None) };
    let output = root().join("target/tika");
    let mark = output.join("made-from");
    let wanted = format!("{ARTIFACT} {}", documents.canonicalize()?.display());
    if fs::read_to_string(&mark).is_ok_and(|made_from| made_from == wanted) {
        return Ok(Some(output));
    }
    let (jar, from, to) = (jar.display().to_string(), documents.display().to_string(), output.display().to_string());
    run("java", &["-jar", &jar, "-J", "-x", "-i", &from, "-o", &to])?;
    fs::write(&mark, wanted).with_context(|| format!("cannot write {}", mark.display()))?;
    Ok(Some(output))
}
