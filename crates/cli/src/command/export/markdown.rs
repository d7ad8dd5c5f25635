//! How are HTML pages exported as Markdown, one file each, with front matter?
//!
//! A page's file is `host/number-words.md`: the number makes it unique and the words are from its
//! URL. A new directory gets its name when it is complete; an existing one receives the files one
//! by one, each atomically.

use super::place::Unfinished;
use super::{ExportJob, ExportedFile};
use crate::failure::{CommandFailure, complain};
use crate::out;
use anyhow::{Context as _, anyhow};
use orb_answers::ContentExtent;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// Where the files go.
enum Shelf {
    /// To standard output, one after another.
    Stdout,
    /// Into an existing directory.
    There(PathBuf),
    /// Into one that gets its name at the end.
    New(TempDir, PathBuf),
}

pub(super) fn run(job: &mut ExportJob<'_>) -> Result<Vec<ExportedFile>, CommandFailure> {
    let shelf = shelf(job)?;
    let extent = if job.args.whole { ContentExtent::Whole } else { ContentExtent::Main };
    let (since, watch) = (job.args.since, &mut job.account.watch("pages"));
    let exported = job.exporter.markdown((since, extent), |file, text| shelf.put(file, text), watch);
    let counts = super::place::tell(exported, shelf.path())?;
    if counts.unreadable > 0 {
        complain(&format!("the content of {} pages could not be read and is left out", counts.unreadable));
    }
    let path = shelf.path().display().to_string();
    shelf.keep()?;
    Ok(vec![ExportedFile { path, count: counts.written, of: "pages" }])
}

fn shelf(job: &ExportJob<'_>) -> Result<Shelf, CommandFailure> {
    let path = job.args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-markdown", job.collection.name())));
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
        return Err(anyhow!("{} already exists and is not a directory", path.display()).into());
    }
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = Builder::new().prefix(".orb-").suffix(".part").tempdir_in(parent);
    let made = made.with_context(|| format!("cannot write to {}", parent.display()))?;
    Ok(Shelf::New(made, path))
}

impl Shelf {
    /// The path for the user.
    fn path(&self) -> &Path {
        match self {
            Self::Stdout => Path::new("-"),
            Self::There(path) | Self::New(_, path) => path,
        }
    }

    fn put(&self, file: &Path, text: &str) -> io::Result<()> {
        let dir = match self {
            Self::Stdout => {
                let mut stdout = out::content();
                stdout.write_all(text.as_bytes())?;
                return stdout.flush();
            }
            Self::There(dir) => dir,
            Self::New(made, _) => made.path(),
        };
        let path = dir.join(file);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        if matches!(self, Self::New(..)) {
            return fs::write(path, text);
        }
        let mut file = Unfinished::begin(&path, true).map_err(|_| io::Error::other("the file cannot be made"))?;
        file.file().write_all(text.as_bytes())?;
        file.keep().map_err(|_| io::Error::other("the file cannot be kept"))
    }

    /// Keeps everything.
    fn keep(self) -> Result<(), CommandFailure> {
        if let Self::New(made, path) = self {
            let cannot = || format!("cannot write {}", path.display());
            fs::set_permissions(made.path(), usual_permissions()?).with_context(cannot)?;
            fs::rename(made.path(), &path).with_context(cannot)?;
            let _ = made.keep();
        }
        Ok(())
    }
}

/// The default permissions of a directory: a temporary one is private to its creator.
fn usual_permissions() -> Result<fs::Permissions, CommandFailure> {
    let probe = tempfile::tempdir().context("cannot make a temporary directory")?;
    let plain = probe.path().join("plain");
    fs::create_dir(&plain).context("cannot make a temporary directory")?;
    Ok(fs::metadata(&plain).context("cannot look at a temporary directory")?.permissions())
}
