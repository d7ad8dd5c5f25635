//! Which pages or hosts matter most?

use crate::graph::{dated, ranked};
use crate::{Collection, Result, Window};
use orb_graph::{By, Merit, Ranked, Ranks};
use orb_page::PageId;
use orb_store::CatalogueReader;
use schemars::JsonSchema;
use serde::Serialize;

/// Who is ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankedKind {
    /// All pages.
    Pages,
    /// Fetched pages, with their positions among all.
    FetchedPages,
    /// Hosts.
    Hosts,
}

/// The top entries of a ranking.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Top {
    /// The entries, best first.
    pub rows: Vec<TopRow>,
    /// What the reader should know about the graph, if anything.
    pub note: Option<String>,
}

/// A page or host with its position.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TopRow {
    /// Its position, from 1.
    pub place: usize,
    /// Its number in the catalogue.
    pub id: u64,
    /// Its URL; of a host, scheme and name.
    pub url: String,
    /// A page's title.
    pub title: Option<String>,
    /// Its score in the requested ranking.
    pub score: f64,
    /// All its scores.
    #[serde(flatten)]
    pub merit: Merit,
}

/// The top entries of a ranking.
pub fn top(collection: &Collection, by: By, field: RankedKind, rows: Window) -> Result<Top> {
    let (_, note) = dated(collection)?;
    let (ranks, reader) = (ranked(collection)?, collection.catalogue());
    let (limit, offset) = rows.sizes();
    // In this order: a place is counted only for a row that is there.
    let placed = |rows: Vec<Ranked>| rows.into_iter().zip(offset.saturating_add(1)..).map(|(row, place)| (place, row));
    let best: Vec<(usize, Ranked)> = match field {
        RankedKind::Hosts => placed(ranks.best_hosts(by, limit, offset)?).collect(),
        RankedKind::FetchedPages => best_fetched(ranks, reader, by, (limit, offset))?,
        RankedKind::Pages => placed(ranks.best(by, limit, offset)?).collect(),
    };
    let mut found = Vec::with_capacity(best.len());
    for (place, Ranked { number: id, url, score, merit }) in best {
        let title = if field == RankedKind::Hosts { None } else { reader.title(PageId(id))? };
        found.push(TopRow { place, id, url, title, score, merit });
    }
    Ok(Top { rows: found, note })
}

/// The top fetched pages, with their positions among all: searches further down until there are
/// enough.
fn best_fetched(
    ranks: &Ranks,
    reader: &CatalogueReader,
    by: By,
    (limit, offset): (usize, usize),
) -> Result<Vec<(usize, Ranked)>> {
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
