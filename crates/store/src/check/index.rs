//! Is the frontier index what the catalogue implies?

use super::CheckReport;
use crate::error::Result;
use crate::home::ProjectDir;
use crate::index::{FrontierIndex, IndexDefect, IndexFreshness};
use crate::sqlite::Catalogue;

pub(super) fn check(project: &ProjectDir, catalogue: &Catalogue, report: &mut CheckReport) -> Result<()> {
    let index = match FrontierIndex::look(&project.frontier(), catalogue)? {
        IndexFreshness::Current(index) => index,
        IndexFreshness::Behind(batches) => {
            report
                .notes
                .push(format!("the frontier index is behind by {batches} batches and catches up at the next start"));
            return Ok(());
        }
        IndexFreshness::Unfit(reason) => {
            let what = format!("the frontier index cannot be used ({reason}) and is rebuilt at the next start");
            // What a crash leaves is not damage; an unreadable index is.
            if reason == IndexDefect::Damaged {
                report.find("frontier", what);
            } else {
                report.notes.push(what);
            }
            return Ok(());
        }
    };
    report.counts.queued = index.verify(catalogue, |what| report.find("frontier", what))?;
    index.shut()
}
