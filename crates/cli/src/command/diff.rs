//! `orb diff`: what differs between two versions of a page?

use super::export::place::Unfinished;
use super::open;
use crate::args::{Common, PageArgs};
use crate::failure::Failure;
use crate::out;
use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use orb_answers::content::{decoded, viewed};
use orb_page::{PageId, RunId};
use orb_store::{ArchiveReader, CatalogueReader, StoredExchange, VisitRow};
use orb_track::compare::{Part, Views as _};
use orb_track::diff::html::{STYLE, escaped, table};
use orb_track::diff::unified::unified;
use orb_track::diff::{Diff, Row};
use serde_json::{Value, json};
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
    #[arg(long, value_enum, default_value_t = Shown::Text, value_name = "WHAT")]
    by: Shown,
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
enum Shown {
    /// The visible text
    Text,
    /// The visible text of the main content
    Main,
    /// The source
    Source,
}

/// A version of a page.
struct Version<'a> {
    visit: &'a VisitRow,
    lines: Vec<String>,
}

pub(crate) fn run(common: &Common, args: &DiffArgs) -> Result<(), Failure> {
    let collection = open(common, &args.page.project)?;
    let reader = collection.catalogue();
    let page = collection.page(&args.page.url)?;
    let visits = reader.visits(PageId(page.id))?;
    let (old, new) = chosen(reader, args, &page.url, &visits)?;
    let archive = collection.archive();
    let version = |visit| -> Result<Version<'_>, Failure> {
        let stored = whole(archive, &visits, visit, &page.url)?;
        Ok(Version { visit, lines: lines(&page.url, &stored, args.by)? })
    };
    let (old, new) = (version(old)?, version(new)?);
    let before: Vec<&str> = old.lines.iter().map(String::as_str).collect();
    let now: Vec<&str> = new.lines.iter().map(String::as_str).collect();
    let diff = Diff::of(&before, &now);
    match &args.html {
        Some(path) => write_page(path, args.force, &side_by_side(&page.url, args, (&old, &new), &diff)),
        None => print(common, args, &page.url, (&old, &new), &diff),
    }
}

/// The requested versions.
fn chosen<'a>(
    reader: &CatalogueReader,
    args: &DiffArgs,
    url: &str,
    visits: &'a [VisitRow],
) -> Result<(&'a VisitRow, &'a VisitRow), Failure> {
    let is_document = |v: &&VisitRow| v.digest.is_some() && matches!(v.kind.as_str(), "HTML" | "BINARY" | "DUPLICATE");
    let versions: Vec<&VisitRow> = visits.iter().filter(is_document).collect();
    if args.from.is_some() && args.from == args.to {
        return Err(Failure::Usage("--from and --to name the same run; give two".to_owned()));
    }
    let of_run = |run: u32| -> Result<&'a VisitRow, Failure> {
        if reader.run(RunId(run))?.is_none() {
            return Err(anyhow!("project {} has no run {run}", args.page.project).into());
        }
        let first = || versions.last().map_or_else(String::new, |v| format!("; its first is of run {}", v.run));
        let found = versions.iter().find(|v| v.run <= run).copied();
        found.with_context(|| format!("run {run} had no version of {url}{}", first())).map_err(Failure::from)
    };
    let latest = versions.first().with_context(|| format!("there is no version of {url}: no run got it"))?;
    let to = args.to.map_or(Ok(*latest), of_run)?;
    let from = match args.from {
        Some(run) => of_run(run)?,
        None => {
            let earlier = versions.iter().find(|v| v.run < to.run && v.digest != to.digest).copied();
            earlier.with_context(|| match versions.last() {
                Some(first) if first.run < to.run => {
                    format!("{url} has only one version: runs {} to {} saw the same bytes", first.run, to.run)
                }
                _ => format!("{url} has only one version, of run {}; orb track looks for others", to.run),
            })?
        }
    };
    Ok((from, to))
}

/// The archived response of a version; if that is only a revisit record, the visit that saw the
/// same bytes is looked up.
fn whole(
    archive: &ArchiveReader,
    visits: &[VisitRow],
    wanted: &VisitRow,
    url: &str,
) -> Result<StoredExchange, Failure> {
    let same = visits.iter().filter(|v| v.digest == wanted.digest && v.run != wanted.run);
    let mut referred = false;
    for place in std::iter::once(wanted).chain(same).filter_map(VisitRow::warc) {
        let stored = archive.exchange(&place)?;
        let is_reference = stored.fields.iter().any(|(k, v)| k.eq_ignore_ascii_case("WARC-Type") && v == "revisit");
        if !is_reference {
            return Ok(stored);
        }
        referred = true;
    }
    let why = if referred { "is kept under another address alone" } else { "was not archived" };
    Err(anyhow!("the content of {url} in run {} {why}", wanted.run).into())
}

/// A version line by line.
fn lines(url: &str, stored: &StoredExchange, by: Shown) -> Result<Vec<String>, Failure> {
    let content = decoded(stored)?;
    viewed(url, stored, &content, |views| {
        if !views.is_text() {
            let mime = views.mime();
            return Err(
                anyhow!("{url} is {mime}, which has no lines to compare; orb cat --run N gives its bytes").into()
            );
        }
        Ok(match by {
            Shown::Source => views.source().lines().map(str::to_owned).collect(),
            _ => {
                let passage = views.passage(&Part { main: by == Shown::Main, ..Part::default() });
                passage.blocks.into_iter().map(|block| block.text).collect()
            }
        })
    })
}

fn print(
    common: &Common,
    args: &DiffArgs,
    url: &str,
    (old, new): (&Version<'_>, &Version<'_>),
    diff: &Diff<'_>,
) -> Result<(), Failure> {
    let mut stdout = out::stdout();
    if common.json {
        let side = |v: &VisitRow| json!({"run": v.run, "at": v.at, "digest": v.digest, "length": v.length});
        let rows: Vec<Value> = diff.groups(args.context).concat().iter().map(|row: &Row<'_>| json!(row)).collect();
        let value = json!({"url": url, "by": name(args.by), "from": side(old.visit), "to": side(new.visit),
            "counts": diff.counts(), "rows": rows});
        out::json(&mut stdout, &value)?;
    } else if diff.is_empty() {
        writeln!(stdout, "{}", nothing(args.by, old.visit, new.visit))?;
    } else {
        writeln!(stdout, "--- {url} run {} {}", old.visit.run, old.visit.at)?;
        writeln!(stdout, "+++ {url} run {} {}", new.visit.run, new.visit.at)?;
        stdout.write_all(unified(diff, args.context).as_bytes())?;
    }
    Ok(stdout.flush()?)
}

fn name(by: Shown) -> &'static str {
    match by {
        Shown::Text => "text",
        Shown::Main => "main",
        Shown::Source => "source",
    }
}

/// The message if there is nothing to show.
fn nothing(by: Shown, old: &VisitRow, new: &VisitRow) -> String {
    let (from, to) = (old.run, new.run);
    if old.digest == new.digest {
        return format!("runs {from} and {to} saw the same bytes");
    }
    match by {
        Shown::Source => format!("the sources of runs {from} and {to} have the same lines"),
        Shown::Text | Shown::Main => {
            format!("runs {from} and {to} saw the same {} in other markup; --by source shows it", name(by))
        }
    }
}

/// A standalone page with both versions.
fn side_by_side(url: &str, args: &DiffArgs, (old, new): (&Version<'_>, &Version<'_>), diff: &Diff<'_>) -> String {
    let (url, old, new) = (escaped(url), old.visit, new.visit);
    let body = match diff.is_empty() {
        true => format!("<p>{}</p>\n", escaped(&nothing(args.by, old, new))),
        false => table(diff, args.context),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{url}</title>\n\
        <style>:root{{color-scheme:light dark}}body{{margin:1em;font-family:sans-serif}}h1{{font-size:1.1em}}{STYLE}</style>\n\
        </head>\n<body>\n<main>\n<h1>{url}</h1>\n<p>Run {} ({}) on the left, run {} ({}) on the right.</p>\n{body}</main>\n</body>\n</html>\n",
        old.run, old.at, new.run, new.at
    )
}

fn write_page(path: &Path, force: bool, page: &str) -> Result<(), Failure> {
    if path == Path::new("-") {
        let mut stdout = out::stdout();
        stdout.write_all(page.as_bytes())?;
        return Ok(stdout.flush()?);
    }
    let mut file = Unfinished::begin(path, force)?;
    file.file().write_all(page.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    file.keep()
}
