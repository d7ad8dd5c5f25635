//! HTML pages as Markdown, a file each, with what is known of them at its head.
//!
//! A page's file is `host/number-words.md`: the number makes it unique and the words are from its URL. A directory that was not there
//! gets its name when it is whole; one that is there takes the files one by one, each whole.

use super::place::Unfinished;
use super::{Job, Written};
use crate::command::content::{decoded, markdown};
use crate::failure::{Failure, complain};
use crate::out;
use anyhow::{Context as _, anyhow};
use orb_page::RunId;
use orb_store::{ArchiveReader, PageRow, StoreError};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// The longest words in a file's name.
const WORDS: usize = 60;

/// Where the files go.
enum Shelf {
    /// One after the other.
    Stdout,
    /// Into a directory that is there.
    There(PathBuf),
    /// Into one that gets its name at the end.
    New(TempDir, PathBuf),
}

pub(super) fn run(job: &mut Job<'_>) -> Result<Vec<Written>, Failure> {
    let shelf = shelf(job)?;
    if let Some(run) = job.args.since
        && job.reader.run(RunId(run))?.is_none()
    {
        return Err(anyhow!("project {} has no run {run}", job.project.name).into());
    }
    let archive = ArchiveReader::open(&job.project.archive());
    let (mut written, mut unreadable) = (0, 0u64);
    let (reader, account) = (job.reader, &mut job.account);
    let exported = reader.each_html(job.args.since.map(RunId), |page| {
        if account.note("pages", written).is_break() {
            return Err(StoreError::Stopped);
        }
        match told(&archive, &page) {
            Some(text) => shelf.put(&page, &text).map_err(StoreError::Output)?,
            None => {
                unreadable += 1;
                return Ok(());
            }
        }
        written += 1;
        Ok(())
    });
    super::place::tell(exported, shelf.path())?;
    if unreadable > 0 {
        complain(&format!("the content of {unreadable} pages could not be read and is left out"));
    }
    let path = shelf.path().display().to_string();
    shelf.keep()?;
    Ok(vec![Written { path, count: written, of: "pages" }])
}

fn shelf(job: &Job<'_>) -> Result<Shelf, Failure> {
    let path = job.args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-markdown", job.project.name)));
    if path == Path::new("-") {
        return Ok(Shelf::Stdout);
    }
    if let Ok(mut entries) = fs::read_dir(&path) {
        if entries.next().is_some() && !job.args.force {
            let why = "is there already and not empty; --force writes into it";
            return Err(anyhow!("{} {why}", path.display()).into());
        }
        return Ok(Shelf::There(path));
    }
    if path.exists() {
        return Err(anyhow!("{} is there already and no directory", path.display()).into());
    }
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = Builder::new().prefix(".orb-").suffix(".part").tempdir_in(parent);
    let made = made.with_context(|| format!("cannot write to {}", parent.display()))?;
    Ok(Shelf::New(made, path))
}

impl Shelf {
    /// Where the user finds it.
    fn path(&self) -> &Path {
        match self {
            Self::Stdout => Path::new("-"),
            Self::There(path) | Self::New(_, path) => path,
        }
    }

    fn put(&self, page: &PageRow, text: &str) -> io::Result<()> {
        let dir = match self {
            Self::Stdout => {
                let mut stdout = out::content();
                stdout.write_all(text.as_bytes())?;
                return stdout.flush();
            }
            Self::There(dir) => dir,
            Self::New(made, _) => made.path(),
        };
        let path = dir.join(name(page));
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        if matches!(self, Self::New(..)) {
            return fs::write(path, text);
        }
        let mut file = Unfinished::begin(&path, true).map_err(|_| io::Error::other("the file cannot be made"))?;
        file.file().write_all(text.as_bytes())?;
        file.keep().map_err(|_| io::Error::other("the file cannot be kept"))
    }

    /// Everything is there.
    fn keep(self) -> Result<(), Failure> {
        if let Self::New(made, path) = self {
            let cannot = || format!("cannot write {}", path.display());
            fs::set_permissions(made.path(), usual_permissions()?).with_context(cannot)?;
            fs::rename(made.path(), &path).with_context(cannot)?;
            let _ = made.keep();
        }
        Ok(())
    }
}

/// Those of a directory made without further ado: a temporary one is for its maker alone.
fn usual_permissions() -> Result<fs::Permissions, Failure> {
    let probe = tempfile::tempdir().context("cannot make a temporary directory")?;
    let plain = probe.path().join("plain");
    fs::create_dir(&plain).context("cannot make a temporary directory")?;
    Ok(fs::metadata(&plain).context("cannot look at a temporary directory")?.permissions())
}

/// The page with its head; nothing where the archive does not give its content.
fn told(archive: &ArchiveReader, page: &PageRow) -> Option<String> {
    let stored = archive.exchange(&page.warc()?).ok()?;
    let content = decoded(&stored).ok()?;
    let mut text = "---\n".to_owned();
    let facts = [
        ("url", Some(page.url.as_str())),
        ("title", page.title.as_deref()),
        ("lang", page.lang.as_deref()),
        ("fetched", page.fetched_at.as_deref()),
        ("last_modified", page.last_modified.as_deref()),
        ("digest", page.digest.as_deref()),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            // A JSON string is a YAML string.
            let _ = writeln!(text, "{name}: {}", serde_json::Value::from(value));
        }
    }
    text.push_str("---\n\n");
    text.push_str(markdown(&page.url, &stored, &content).trim());
    text.push('\n');
    Some(text)
}

/// A page's file below the directory.
fn name(page: &PageRow) -> PathBuf {
    let rest = page.url.split_once("://").map_or(page.url.as_str(), |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' }).collect();
    let host = if host.trim_matches('.').is_empty() { "_".to_owned() } else { host };
    let mut words = String::new();
    for c in path.chars() {
        match c.is_ascii_alphanumeric() {
            true => words.push(c.to_ascii_lowercase()),
            false if !words.is_empty() && !words.ends_with('-') => words.push('-'),
            false => {}
        }
        if words.len() >= WORDS {
            break;
        }
    }
    let words = words.trim_end_matches('-');
    let file = if words.is_empty() { format!("{}.md", page.id) } else { format!("{}-{words}.md", page.id) };
    Path::new(&host).join(file)
}
