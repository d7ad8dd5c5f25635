//! `orb graph neighbours`: what is near a page?

use crate::args::{Common, ListingArgs, PageArgs};
use crate::command::{open, tell};
use crate::failure::CommandFailure;
use crate::out;
use clap::{Args, ValueEnum};
use orb_answers::{Direction, Reach};
use std::io::Write as _;

/// Default number of pages shown.
const SHOWN: u64 = 100;

/// `orb graph neighbours`.
#[derive(Debug, Args)]
pub(crate) struct NeighbourArgs {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    around: AroundArgs,
    #[command(flatten)]
    listing: ListingArgs,
}

/// The extent of a neighbourhood.
#[derive(Debug, Args)]
pub(crate) struct AroundArgs {
    /// Maximum number of links to follow
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(super) hops: u32,
    /// Direction to follow them
    #[arg(long, value_enum, default_value_t = DirectionArg::Both, value_name = "WAY")]
    pub(super) direction: DirectionArg,
}

/// The direction in which links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionArg {
    /// Incoming links
    In,
    /// Outgoing links
    Out,
    /// Both
    Both,
}

impl AroundArgs {
    pub(super) fn reach(&self, limit: usize) -> Reach {
        Reach { hops: self.hops, direction: self.direction(), limit }
    }

    fn direction(&self) -> Direction {
        match self.direction {
            DirectionArg::In => Direction::In,
            DirectionArg::Out => Direction::Out,
            DirectionArg::Both => Direction::Both,
        }
    }
}

pub(super) fn run(common: &Common, args: &NeighbourArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.page.of)?;
    let reach = (args.around.hops, args.around.direction());
    let near = orb_answers::neighbours(&collection, &args.page.url, reach, args.listing.window(SHOWN))?;
    tell(common, near.note.as_ref());
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &near.rows)?;
        return Ok(stdout.flush()?);
    }
    let cells = near.rows.into_iter().map(|row| {
        let score = row.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.7}"));
        vec![row.hops.to_string(), score, row.url, out::clip(row.title.as_deref().unwrap_or_default(), 60)]
    });
    out::table(&mut stdout, &["hops", "pagerank", "url", "title"], &cells.collect::<Vec<_>>())?;
    Ok(stdout.flush()?)
}
