//! How does a collection stand, on one page?

use crate::{Collection, CrawlStats, ListedRun, ReportWish, Result, RunReport, Window, report, runs, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// Runs whose changes are compared with each other.
const TREND: u64 = 30;

/// How a collection stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Overview {
    /// The account of its last run.
    pub account: RunReport,
    /// What it contains.
    pub stats: CrawlStats,
    /// Its last runs, latest first.
    pub runs: Vec<ListedRun>,
}

/// The account of the last run, what the collection contains, and how its last runs went.
pub fn overview(collection: &Collection) -> Result<Overview> {
    Ok(Overview {
        account: report(collection, &ReportWish::default(), |report| report.account.clone())?,
        stats: stats(collection)?,
        runs: runs(collection, None, Window { limit: TREND, offset: 0 })?,
    })
}
