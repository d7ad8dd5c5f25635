//! `orb top`: which pages or hosts matter most?

use super::{open, tell};
use crate::args::{Common, ListingArgs, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use clap::{Args, ValueEnum};
use orb_answers::{By, RankedKind};
use std::io::Write as _;

/// Default number of rows.
const SHOWN: u64 = 20;

/// `orb top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    of: ProjectArgs,
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
    listing: ListingArgs,
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

pub(crate) fn run(common: &Common, args: &TopArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.of)?;
    let field = match (args.hosts, args.fetched) {
        (true, _) => RankedKind::Hosts,
        (false, true) => RankedKind::FetchedPages,
        (false, false) => RankedKind::Pages,
    };
    let by = args.by.by();
    let top = orb_answers::top(&collection, by, field, args.listing.window(SHOWN))?;
    tell(common, top.note.as_ref());
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &top.rows)?;
        return Ok(stdout.flush()?);
    }
    let cells = top.rows.iter().map(|r| {
        let title = out::clip(r.title.as_deref().unwrap_or_default(), 60);
        vec![r.place.to_string(), score(by, r.score), r.merit.indegree.to_string(), r.url.clone(), title]
    });
    out::table(&mut stdout, &["place", by.name(), "linked from", "url", "title"], &cells.collect::<Vec<_>>())?;
    Ok(stdout.flush()?)
}

/// A score in readable units.
pub(crate) fn score(by: By, score: f64) -> String {
    match by {
        By::Backlinks | By::Outdegree => format!("{score:.0}"),
        By::Harmonic => format!("{score:.1}"),
        By::Pagerank | By::Hub | By::Authority => format!("{score:.7}"),
    }
}
