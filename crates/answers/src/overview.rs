//! How does a collection stand, on one page?

use crate::{Collection, CrawlStats, ListedRun, ReportWish, Result, RunReport, Window, counted_stats, report, runs};
use schemars::JsonSchema;
use serde::Serialize;

/// Runs whose changes are compared with each other.
const TREND: u64 = 30;

/// How a collection stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Overview {
    /// The account of its last run.
    pub account: RunReport,
    /// What it contains; `None` if that was not counted yet.
    pub stats: Option<CrawlStats>,
    /// When that was counted, if something was recorded since.
    pub counted_at: Option<String>,
    /// Its last runs, latest first.
    pub runs: Vec<ListedRun>,
}

/// The account of the last run, what the collection contains as it was last counted, and how its
/// last runs went.
pub fn overview(collection: &Collection) -> Result<Overview> {
    let counted = counted_stats(collection)?;
    let counted_at = counted.as_ref().filter(|(_, age)| !age.is_current).map(|(_, age)| age.at.to_string());
    Ok(Overview {
        account: report(collection, &ReportWish::default(), |report| report.account.clone())?,
        stats: counted.map(|(stats, _)| stats),
        counted_at,
        runs: runs(collection, None, Window { limit: TREND, offset: 0 })?,
    })
}
