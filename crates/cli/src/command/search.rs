//! `orb search`: which pages answer a query?

use super::{index, tell};
use crate::args::{Common, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use clap::Args;
use orb_answers::{Collection, Completion, Correction, Query, SearchAnswer, SearchHit};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// `orb search`.
#[derive(Debug, Args)]
#[command(after_help = QUERY)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// The query
    #[arg(required_unless_present_any = ["timing", "complete"])]
    query: Vec<String>,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    limit: u64,
    /// Number of results to skip
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    offset: u64,
    /// Maximum number of results per host, 0 for no limit [default: as in the project]
    #[arg(long, value_name = "N")]
    per_host: Option<usize>,
    /// Show how each score is composed
    #[arg(long)]
    explain: bool,
    /// Show no snippets
    #[arg(long)]
    no_snippets: bool,
    /// Show how the last word of a text may end instead, for a search box
    #[arg(long, value_name = "TEXT", conflicts_with = "query")]
    complete: Option<String>,
    /// Benchmark: run the queries of a file, one per line, and print how long they took
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    timing: Option<PathBuf>,
}

const QUERY: &str =
    "A query is a list of words, most of which must match, the rare ones first (quote it if one begins with -), with:
  \"a phrase\"  +required  a OR b  (a b) OR c  -without  vec* (prefix)  vectr~ (fuzzy)  * (every page)
  title:word  headings:word  body:word  inurl:word  anchor:word (anchor texts of links to the page)
  site:example.org  host:docs.example.org  lang:en  filetype:pdf
  since:2026-11  until:2026-11-15  since:7d";

impl SearchArgs {
    fn query<'a>(&self, text: &'a str) -> Query<'a> {
        let Self { limit, offset, per_host, explain, .. } = *self;
        Query { text, limit, offset, per_host, explain, snippets: !self.no_snippets }
    }
}

pub(crate) fn run(common: &Common, args: &SearchArgs) -> Result<(), CommandFailure> {
    let collection = index::open_searchable(common, &args.of)?;
    let mut stdout = out::stdout();
    if let Some(text) = &args.complete {
        completions(&mut stdout, common, &orb_answers::complete(&collection, text, args.limit)?)?;
        return Ok(stdout.flush()?);
    }
    if let Some(file) = &args.timing {
        timing(&mut stdout, common, &collection, args, file)?;
        return Ok(stdout.flush()?);
    }
    let answer = orb_answers::search(&collection, &args.query(&args.query.join(" ")))?;
    tell(common, answer.note.as_ref());
    if common.json {
        out::json(&mut stdout, &answer.hits)?;
    } else {
        print(&mut stdout, common, &answer)?;
    }
    Ok(stdout.flush()?)
}

fn completions(stdout: &mut impl Write, common: &Common, found: &[Completion]) -> io::Result<()> {
    if common.json {
        return out::json(stdout, &found);
    }
    found.iter().try_for_each(|one| writeln!(stdout, "{}", one.text))
}

/// Runs every query of a file as if it had been typed, and prints how long that took.
fn timing(
    stdout: &mut impl Write,
    common: &Common,
    collection: &Collection,
    args: &SearchArgs,
    file: &Path,
) -> Result<(), CommandFailure> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let queries = text.lines().filter(|line| !line.trim().is_empty()).map(|line| args.query(line));
    let took = orb_answers::time_queries(collection, queries)?;
    if common.json {
        return Ok(out::json(stdout, &took)?);
    }
    let ms = |us: u64| format!("{}.{:03} ms", us / 1_000, us % 1_000);
    Ok(writeln!(
        stdout,
        "{} queries: half within {}, 99 of 100 within {}, all within {}",
        took.queries,
        ms(took.p50_us),
        ms(took.p99_us),
        ms(took.max_us)
    )?)
}

fn print(stdout: &mut impl Write, common: &Common, answer: &SearchAnswer) -> io::Result<()> {
    if !common.quiet {
        let which = if answer.relaxed { "no page has all the words; with some of them: " } else { "" };
        writeln!(stdout, "{which}{} pages", out::grouped(answer.total))?;
        corrected(stdout, &answer.corrections)?;
    }
    for hit in &answer.hits {
        let title = hit.title.as_deref().unwrap_or("(no title)");
        let section = hit.section.as_ref().map(|section| format!(" › {}", section.title)).unwrap_or_default();
        writeln!(stdout, "\n{:>3}. {}", hit.rank, out::clip(&format!("{title}{section}"), 140))?;
        writeln!(stdout, "     {}", hit.section.as_ref().map_or(&hit.url, |section| &section.url))?;
        if !hit.snippet.is_empty() {
            writeln!(stdout, "     {}", marked(hit))?;
        }
        if !hit.alike.is_empty() {
            writeln!(stdout, "     and {} that say the same", out::grouped(hit.alike.len() as u64))?;
        }
        explain(stdout, hit)?;
    }
    Ok(())
}

/// Says which words were replaced, and how to insist on them.
fn corrected(stdout: &mut impl Write, corrections: &[Correction]) -> io::Result<()> {
    corrections.iter().try_for_each(|one| {
        writeln!(stdout, "searched for {} instead of {}; +{} insists", one.used, one.typed, one.typed)
    })
}

/// A snippet with its highlights: `*so*`.
fn marked(hit: &SearchHit) -> String {
    let mut out = String::new();
    let mut marks = hit.marks.iter().peekable();
    for (at, c) in hit.snippet.chars().enumerate() {
        if marks.peek().is_some_and(|(from, _)| *from == at) {
            out.push('*');
        }
        out.push(c);
        if marks.next_if(|(_, to)| *to == at + 1).is_some() {
            out.push('*');
        }
    }
    out
}

fn explain(stdout: &mut impl Write, hit: &SearchHit) -> io::Result<()> {
    let Some(told) = &hit.explain else { return Ok(()) };
    let factor = if told.text > 0.0 { hit.score / told.text } else { hit.score };
    let importance = told.importance;
    writeln!(stdout, "     {:.3} = text {:.3} × {factor:.3} (importance {importance:.3})", hit.score, told.text)?;
    for share in &told.shares {
        let words = if share.words.is_empty() { String::new() } else { format!("{} in ", share.words) };
        writeln!(stdout, "       {:>8.3}  {words}{}", share.score, share.field)?;
    }
    Ok(())
}
