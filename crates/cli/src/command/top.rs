//! `orb top`: the pages or hosts that matter most.

use super::graph::{open_graph, open_ranks};
use super::open_reader;
use crate::args::{Common, Listing};
use crate::failure::Failure;
use crate::out;
use clap::{Args, ValueEnum};
use orb_graph::{By, Ranked, Ranks};
use orb_page::PageId;
use orb_store::CatalogueReader;
use serde_json::{Value, json};
use std::io::Write as _;

/// Rows shown unless more are asked for.
const SHOWN: u64 = 20;

/// `orb top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// The project
    project: String,
    /// The ranking
    #[arg(long, value_enum, default_value_t = Measure::Pagerank, value_name = "MEASURE")]
    by: Measure,
    /// Hosts instead of pages
    #[arg(long)]
    hosts: bool,
    /// Only pages that were fetched; positions are those among all
    #[arg(long, conflicts_with = "hosts")]
    fetched: bool,
    #[command(flatten)]
    listing: Listing,
}

/// What pages and hosts can be ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    /// Probability of a random surfer being there
    Pagerank,
    /// Number of pages that link to it
    Backlinks,
    /// Hub score (HITS): how much it links to authorities
    Hub,
    /// Authority score (HITS): how much hubs link to it
    Authority,
    /// Harmonic centrality: how near it is to all others
    Harmonic,
    /// Number of pages it links to
    Outdegree,
}

impl Measure {
    pub(crate) fn by(self) -> By {
        match self {
            Self::Pagerank => By::Pagerank,
            Self::Backlinks => By::Backlinks,
            Self::Hub => By::Hub,
            Self::Authority => By::Authority,
            Self::Harmonic => By::Harmonic,
            Self::Outdegree => By::Outdegree,
        }
    }
}

pub(crate) fn run(common: &Common, args: &TopArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.project)?;
    let graph = open_graph(common, &project, &reader)?;
    let ranks = open_ranks(&project, &graph)?;
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (limit, offset) = (size(args.listing.limit.unwrap_or(SHOWN)), size(args.listing.offset));
    let by = args.by.by();
    let best: Vec<(usize, Ranked)> = match (args.hosts, args.fetched) {
        (true, _) => (offset + 1..).zip(ranks.best_hosts(by, limit, offset)?).collect(),
        (false, true) => best_fetched(&ranks, &reader, by, (limit, offset))?,
        (false, false) => (offset + 1..).zip(ranks.best(by, limit, offset)?).collect(),
    };
    let mut rows = Vec::with_capacity(best.len());
    for (place, ranked) in best {
        let title = if args.hosts { None } else { reader.title(PageId(ranked.number))? };
        rows.push((place, title, ranked));
    }
    let mut stdout = out::stdout();
    if common.json {
        let rows: Vec<Value> =
            rows.iter().map(|(place, title, ranked)| object(*place, title.as_deref(), ranked)).collect();
        out::json(&mut stdout, &rows)?;
        return Ok(stdout.flush()?);
    }
    let cells = rows.iter().map(|(place, title, r)| {
        let title = out::clip(title.as_deref().unwrap_or_default(), 60);
        vec![place.to_string(), score(by, r.score), r.merit.indegree.to_string(), r.url.clone(), title]
    });
    out::table(&mut stdout, &["place", by.name(), "linked from", "url", "title"], &cells.collect::<Vec<_>>())?;
    Ok(stdout.flush()?)
}

/// The best of those that were fetched, with their places among all: looks further down until enough are found.
fn best_fetched(
    ranks: &Ranks,
    reader: &CatalogueReader,
    by: By,
    (limit, offset): (usize, usize),
) -> Result<Vec<(usize, Ranked)>, Failure> {
    let wanted = limit.saturating_add(offset);
    let mut window = wanted.saturating_mul(2).max(256);
    loop {
        let best = ranks.best(by, window, 0)?;
        let whole = best.len() < window;
        let mut fetched = Vec::new();
        for (place, ranked) in (1..).zip(best) {
            if fetched.len() < wanted && reader.page(PageId(ranked.number))?.is_some_and(|page| page.status.is_some()) {
                fetched.push((place, ranked));
            }
        }
        if whole || fetched.len() >= wanted {
            return Ok(fetched.into_iter().skip(offset).collect());
        }
        window = window.saturating_mul(4);
    }
}

fn object(place: usize, title: Option<&str>, ranked: &Ranked) -> Value {
    let mut value =
        json!({"place": place, "id": ranked.number, "url": ranked.url, "title": title, "score": ranked.score});
    if let (Value::Object(value), Ok(Value::Object(merit))) = (&mut value, serde_json::to_value(ranked.merit)) {
        value.extend(merit);
    }
    value
}

/// A score as people compare it.
pub(crate) fn score(by: By, score: f64) -> String {
    match by {
        By::Backlinks | By::Outdegree => format!("{score:.0}"),
        By::Harmonic => format!("{score:.1}"),
        By::Pagerank | By::Hub | By::Authority => format!("{score:.7}"),
    }
}
