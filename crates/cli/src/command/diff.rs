//! `orb diff`: what differs between two versions of a page?

use super::export::place::Unfinished;
use super::open;
use crate::args::{Common, PageArgs};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use orb_answers::{DIFF_STYLE, DiffBy, DiffWish, PageDiff, escaped};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// `orb diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    page: PageArgs,
    /// The version of run N [default: the last one that differs from the other]
    #[arg(long, value_name = "N")]
    from: Option<u32>,
    /// The version of run N [default: the latest]
    #[arg(long, value_name = "N")]
    to: Option<u32>,
    /// What to compare
    #[arg(long, value_enum, default_value_t = DiffView::Text, value_name = "WHAT")]
    by: DiffView,
    /// Context lines around each difference
    #[arg(long, value_name = "N", default_value_t = 3)]
    context: usize,
    /// Write a page with both versions side by side; '-' for standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "html")]
    force: bool,
}

/// What is compared of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffView {
    /// The visible text
    Text,
    /// The visible text of the main content
    Main,
    /// The source
    Source,
}

impl DiffView {
    const fn by(self) -> DiffBy {
        match self {
            Self::Text => DiffBy::Text,
            Self::Main => DiffBy::Main,
            Self::Source => DiffBy::Source,
        }
    }
}

pub(crate) fn run(common: &Common, args: &DiffArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.page.of)?;
    let DiffArgs { from, to, context, .. } = *args;
    let wish = DiffWish { url: &args.page.url, from, to, by: args.by.by(), context };
    orb_answers::diff(&collection, wish, |diff| match &args.html {
        Some(path) => write_page(path, args.force, &side_by_side(diff, context)),
        None => print(common, diff, context),
    })?
}

fn print(common: &Common, diff: &PageDiff<'_>, context: usize) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, diff)?;
    } else if let Some(same) = diff.same() {
        writeln!(stdout, "{same}")?;
    } else {
        let PageDiff { url, from, to, .. } = diff;
        writeln!(stdout, "--- {url} run {} {}", from.run, from.at)?;
        writeln!(stdout, "+++ {url} run {} {}", to.run, to.at)?;
        stdout.write_all(diff.unified(context).as_bytes())?;
    }
    Ok(stdout.flush()?)
}

/// A standalone page with both versions.
fn side_by_side(diff: &PageDiff<'_>, context: usize) -> String {
    let (url, old, new) = (escaped(diff.url), &diff.from, &diff.to);
    let body = match diff.same() {
        Some(same) => format!("<p>{}</p>\n", escaped(&same)),
        None => diff.side_by_side(context),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{url}</title>\n\
        <style>:root{{color-scheme:light dark}}body{{margin:1em;font-family:sans-serif}}h1{{font-size:1.1em}}{DIFF_STYLE}</style>\n\
        </head>\n<body>\n<main>\n<h1>{url}</h1>\n<p>Run {} ({}) on the left, run {} ({}) on the right.</p>\n{body}</main>\n</body>\n</html>\n",
        old.run, old.at, new.run, new.at
    )
}

fn write_page(path: &Path, force: bool, page: &str) -> Result<(), CommandFailure> {
    if path == Path::new("-") {
        let mut stdout = out::stdout();
        stdout.write_all(page.as_bytes())?;
        return Ok(stdout.flush()?);
    }
    let mut file = Unfinished::begin(path, force)?;
    file.file().write_all(page.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    file.keep()
}
