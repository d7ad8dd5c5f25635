//! `orb graph neighbours`: what lies around a page.

use super::open_graph;
use crate::args::{Common, Listing, PageArgs};
use crate::command::{find_page, open_reader};
use crate::failure::Failure;
use crate::out;
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use orb_graph::{Direction, Reach};
use orb_page::PageId;
use serde_json::{Value, json};
use std::io::Write as _;

/// Pages shown unless more are asked for.
const SHOWN: u64 = 100;

/// `orb graph neighbours`.
#[derive(Debug, Args)]
pub(crate) struct NeighbourArgs {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    around: AroundArgs,
    #[command(flatten)]
    listing: Listing,
}

/// How far to look around a page.
#[derive(Debug, Args)]
pub(crate) struct AroundArgs {
    /// Maximum number of links to follow
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(super) hops: u32,
    /// Direction to follow them
    #[arg(long, value_enum, default_value_t = Way::Both, value_name = "WAY")]
    pub(super) direction: Way,
}

/// Which way links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Incoming links
    In,
    /// Outgoing links
    Out,
    /// Both
    Both,
}

impl AroundArgs {
    pub(super) fn reach(&self, limit: usize) -> Reach {
        let direction = match self.direction {
            Way::In => Direction::In,
            Way::Out => Direction::Out,
            Way::Both => Direction::Both,
        };
        Reach { hops: self.hops, direction, limit }
    }
}

pub(super) fn run(common: &Common, args: &NeighbourArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.page.project)?;
    let page = find_page(&reader, &args.page.project, &args.page.url)?;
    let graph = open_graph(common, &project, &reader)?;
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (limit, offset) = (size(args.listing.limit.unwrap_or(SHOWN)), size(args.listing.offset));
    let around = graph.around(PageId(page.id), &args.around.reach(limit.saturating_add(offset).saturating_add(1)))?;
    if around.is_empty() {
        let name = &project.name;
        return Err(anyhow!("{} was found after the graph was built; orb graph build {name}", page.url).into());
    }
    let ranks = graph.ranks()?;
    let mut rows: Vec<(u32, String, Option<f64>, Option<String>)> = Vec::new();
    for near in around.into_iter().skip(1).skip(offset) {
        let score = match &ranks {
            Some(ranks) => ranks.of(near.page)?.map(|merit| merit.pagerank),
            None => None,
        };
        rows.push((near.hops, near.url, score, reader.title(near.page)?));
    }
    let mut stdout = out::stdout();
    if common.json {
        let object = |(hops, url, score, title): &(_, _, _, _)| json!({"url": url, "title": title, "hops": hops, "score": score});
        out::json(&mut stdout, &rows.iter().map(object).collect::<Vec<Value>>())?;
        return Ok(stdout.flush()?);
    }
    let cells = rows.into_iter().map(|(hops, url, score, title)| {
        let score = score.map_or_else(|| "-".to_owned(), |score| format!("{score:.7}"));
        vec![hops.to_string(), score, url, out::clip(title.as_deref().unwrap_or_default(), 60)]
    });
    out::table(&mut stdout, &["hops", "pagerank", "url", "title"], &cells.collect::<Vec<_>>())?;
    Ok(stdout.flush()?)
}
