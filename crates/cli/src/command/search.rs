//! `orb search`: which pages answer a query.

use super::{open_reader, ranks};
use crate::args::Common;
use crate::failure::{Failure, complain};
use crate::out;
use anyhow::{Context as _, anyhow};
use clap::Args;
use orb_crawl::indexing;
use orb_index::{Answer, Hit, Marker, Request, SearchError, Searcher, Snippet};
use orb_page::{Moment, PageId};
use orb_project::Settings;
use orb_store::{ArchiveReader, CatalogueReader, PageRow, ProjectDir};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// `orb search`.
#[derive(Debug, Args)]
#[command(after_help = QUERY)]
pub(crate) struct SearchArgs {
    /// The project
    project: String,
    /// The query
    #[arg(required_unless_present = "timing")]
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
    /// Benchmark: run the queries of a file, one per line, and print how long they took
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    timing: Option<PathBuf>,
}

const QUERY: &str = "A query is a list of words, all of which must match (quote it if one begins with -), with:
  \"a phrase\"  a OR b  (a b) OR c  -without  vec* (prefix)  vectr~ (fuzzy)  * (every page)
  title:word  headings:word  body:word  inurl:word  anchor:word (anchor texts of links to the page)
  site:example.org  host:docs.example.org  lang:en  filetype:pdf
  since:2026-11  until:2026-11-15  since:7d";

/// A result with what the catalogue and the archive know of it.
struct Shown {
    place: u64,
    hit: Hit,
    page: PageRow,
    snippet: Snippet,
}

/// What a search looks into.
struct Library {
    project: ProjectDir,
    reader: CatalogueReader,
    settings: Settings,
    searcher: Searcher,
    ranks: Option<ranks::Importance>,
}

pub(crate) fn run(common: &Common, args: &SearchArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.project)?;
    let settings = Settings::kept(&project)?.unwrap_or_default();
    let (searcher, ranks) = (open(&project)?, ranks::Importance::open(&project));
    let library = Library { project, reader, settings, searcher, ranks };
    let mut stdout = out::stdout();
    if let Some(file) = &args.timing {
        timing(&mut stdout, common, &library, args, file)?;
        return Ok(stdout.flush()?);
    }
    let answer = library.ask(&args.query.join(" "), args)?;
    tell_lag(common, &library.project, &library.searcher, &library.reader)?;
    let shown = library.look_up(&answer, args)?;
    if common.json {
        let rows: Vec<Value> = shown.iter().map(|one| object(one, &answer)).collect();
        out::json(&mut stdout, &rows)?;
    } else {
        print(&mut stdout, common, &answer, &shown)?;
    }
    Ok(stdout.flush()?)
}

/// Asks every query of a file as if it had been typed, and says how long that took.
fn timing(
    stdout: &mut impl Write,
    common: &Common,
    library: &Library,
    args: &SearchArgs,
    file: &Path,
) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut took = Vec::new();
    for query in text.lines().filter(|line| !line.trim().is_empty()) {
        let began = Instant::now();
        let answer = library.ask(query, args)?;
        library.look_up(&answer, args)?;
        took.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    took.sort_unstable();
    let at =
        |share: usize| took.get((took.len() * share / 100).min(took.len().saturating_sub(1))).copied().unwrap_or(0);
    let value = json!({"queries": took.len(), "p50_us": at(50), "p90_us": at(90), "p99_us": at(99), "max_us": at(100)});
    if common.json {
        return Ok(out::json(stdout, &value)?);
    }
    let ms = |us: u64| format!("{}.{:03} ms", us / 1_000, us % 1_000);
    Ok(writeln!(
        stdout,
        "{} queries: half within {}, 99 of 100 within {}, all within {}",
        took.len(),
        ms(at(50)),
        ms(at(99)),
        ms(at(100))
    )?)
}

impl Library {
    fn ask(&self, query: &str, args: &SearchArgs) -> Result<Answer, Failure> {
        let request = Request {
            query,
            limit: usize::try_from(args.limit).unwrap_or(usize::MAX),
            offset: usize::try_from(args.offset).unwrap_or(usize::MAX),
            per_host: args.per_host.unwrap_or(self.settings.search.per_host),
            weights: &self.settings.search.weights,
            now: Moment::now(),
            explain: args.explain,
        };
        let importance = |pages: &[PageId]| self.ranks.as_ref().map(|ranks| ranks.of(pages)).unwrap_or_default();
        let known: Option<orb_index::Importance<'_>> = if self.ranks.is_some() { Some(&importance) } else { None };
        let answer = guarded(&self.project, || self.searcher.search(&request, known))?;
        answer.map_err(|e| match e {
            SearchError::Query(e) => Failure::Usage(e.to_string()),
            SearchError::Index(e) => e.into(),
        })
    }

    fn look_up(&self, answer: &Answer, args: &SearchArgs) -> Result<Vec<Shown>, Failure> {
        let mut out = Vec::new();
        for (place, hit) in (args.offset + 1..).zip(&answer.hits) {
            // A page that the catalogue lost since: the index is behind, and it is left out.
            let Some(page) = self.reader.page(hit.page)? else { continue };
            out.push(Shown { place, hit: hit.clone(), page, snippet: Snippet::default() });
        }
        if !args.no_snippets {
            self.show(&answer.marker, &mut out);
        }
        Ok(out)
    }

    /// Finds the piece of every text that is shown. Reading a page again is most of a search's work: all processors take part.
    fn show(&self, marker: &Marker, shown: &mut [Shown]) {
        let archive = ArchiveReader::open(&self.project.archive());
        let one = |shown: &mut Shown| {
            let text = shown.page.warc().and_then(|at| indexing::text_of(&archive, &at, &shown.page.url));
            shown.snippet = text.map(|text| marker.snippet(&text)).unwrap_or_default();
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut shares = shown.chunks_mut(shown.len().div_ceil(threads).max(1));
        let own = shares.next();
        std::thread::scope(|scope| {
            for share in shares {
                scope.spawn(move || share.iter_mut().for_each(one));
            }
            own.into_iter().flatten().for_each(one);
        });
    }
}

/// The index of a project; where there is none, how to get one.
pub(crate) fn open(project: &ProjectDir) -> Result<Searcher, Failure> {
    guarded(project, || Searcher::open(&project.text_index()))?.map_err(|e| {
        let name = &project.name;
        let help = match e.is_unfit() {
            true => anyhow!("{e}; orb index rebuild {name} makes one from the archive"),
            false => e.into(),
        };
        Failure::Failed(help)
    })
}

/// Does something with the index's files. The engine trusts them: where damage makes it fail, that is told in one line.
pub(crate) fn guarded<T>(project: &ProjectDir, what: impl FnOnce() -> T) -> Result<T, Failure> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(what));
    std::panic::set_hook(hook);
    done.map_err(|_| {
        let (dir, name) = (project.text_index(), &project.name);
        Failure::Failed(anyhow!("the text index {} is damaged; orb index rebuild {name} makes it anew", dir.display()))
    })
}

/// A line where the index lacks something.
pub(crate) fn tell_lag(
    common: &Common,
    project: &ProjectDir,
    searcher: &Searcher,
    reader: &CatalogueReader,
) -> Result<(), Failure> {
    if !common.quiet && searcher.mark() != Some(indexing::mark_of(&reader.extent()?).as_str()) {
        complain(&format!(
            "note: the text index lags behind what was collected; orb index update {} ends that",
            project.name
        ));
    }
    Ok(())
}

fn object(one: &Shown, answer: &Answer) -> Value {
    let Shown { place, hit, page, snippet } = one;
    let round = |x: f64| (x * 1e4).round() / 1e4;
    let mut object = json!({"rank": place, "total": answer.total, "relaxed": answer.relaxed, "page": page.id, "url": page.url,
        "title": page.title, "score": round(hit.score), "snippet": snippet.text, "marks": snippet.marks, "lang": page.lang,
        "mime": page.mime, "fetched_at": page.fetched_at, "alike": hit.alike});
    if !hit.shares.is_empty() {
        let share = |(words, part, score): &(String, orb_index::Part, f64)| json!({"words": words, "field": part, "score": round(*score)});
        object["explain"] = json!({"text": round(hit.text), "importance": round(hit.importance),
            "shares": hit.shares.iter().map(share).collect::<Vec<_>>()});
    }
    object
}

fn print(stdout: &mut impl Write, common: &Common, answer: &Answer, shown: &[Shown]) -> io::Result<()> {
    if !common.quiet {
        let which = if answer.relaxed { "no page has all the words; with some of them: " } else { "" };
        writeln!(stdout, "{which}{} pages", out::grouped(answer.total))?;
    }
    for one in shown {
        let title = one.page.title.as_deref().unwrap_or("(no title)");
        writeln!(stdout, "\n{:>3}. {}", one.place, out::clip(title, 100))?;
        writeln!(stdout, "     {}", one.page.url)?;
        if !one.snippet.text.is_empty() {
            writeln!(stdout, "     {}", marked(&one.snippet))?;
        }
        if !one.hit.alike.is_empty() {
            writeln!(stdout, "     and {} that say the same", out::grouped(one.hit.alike.len() as u64))?;
        }
        if !one.hit.shares.is_empty() {
            explain(stdout, &one.hit)?;
        }
    }
    Ok(())
}

/// A snippet with its marks: `*so*`.
fn marked(snippet: &Snippet) -> String {
    let mut out = String::new();
    let mut marks = snippet.marks.iter().peekable();
    for (at, c) in snippet.text.chars().enumerate() {
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

fn explain(stdout: &mut impl Write, hit: &Hit) -> io::Result<()> {
    let factor = if hit.text > 0.0 { hit.score / hit.text } else { hit.score };
    writeln!(stdout, "     {:.3} = text {:.3} × {factor:.3} (importance {:.3})", hit.score, hit.text, hit.importance)?;
    for (words, part, score) in &hit.shares {
        writeln!(stdout, "       {:>8.3}  {} in {}", score, words, part.name())?;
    }
    Ok(())
}
