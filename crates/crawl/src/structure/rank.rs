//! How do the ranks follow the graph?
//!
//! They are computed from the graph alone and stored twice: beside it for graph queries, and as
//! tables for SQL.

use crate::error::CrawlError;
use orb_graph::{Hold, Merit, Ranking, RankingStats, WebGraph};
use orb_store::{ProjectDir, RankRow, has_rank_tables, write_rank_tables};

/// Ranks the pages and hosts of a project's graph, unless that has been done with the same
/// parameters; returns the statistics for pages and for hosts. The arcs are decompressed if they
/// fit into `memory` bytes; `on_step` is called with each step.
pub fn rank(
    project: &ProjectDir,
    ranking: &Ranking,
    memory: u64,
    on_step: &mut dyn FnMut(&'static str),
) -> Result<[RankingStats; 2], CrawlError> {
    let dir = project.graph();
    // The lock excludes concurrent rankings, and keeps the graph from being replaced meanwhile.
    let _hold = Hold::take(&dir)?;
    let graph = WebGraph::open(&dir)?;
    if has_rank_tables(&dir)
        && let Ok(Some(ranks)) = graph.ranks()
        && ranks.ranking() == ranking
        && ranks.verify().is_ok()
    {
        return Ok(ranks.accounts().map(Clone::clone));
    }
    let accounts = graph.rank(ranking, memory, on_step)?;
    on_step("writing tables");
    if let Some(ranks) = graph.ranks()? {
        write_rank_tables(&dir, ranks.pages()?.map(row), ranks.hosts()?.map(row))?;
    }
    Ok(accounts)
}

fn row((id, m): (u64, Merit)) -> RankRow {
    let Merit { pagerank, hub, authority, harmonic, indegree, outdegree, component, bowtie } = m;
    RankRow { id, pagerank, hub, authority, harmonic, indegree, outdegree, component, bowtie: bowtie.name() }
}
