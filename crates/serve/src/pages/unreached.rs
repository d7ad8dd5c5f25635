//! Why has a run found nothing at all?
//!
//! An address with a slip in it, a server that is down: then every figure of a run is 0, and what
//! people want to know is which address was asked and what it said.

use orb_answers::{AnswerError, Collection, PageFilter, PageRow, RunReport, pages};
use orb_page::PageKind;

/// Pages that are named.
const NAMED: u64 = 3;

/// A page that could not be fetched.
pub(super) struct UnreachedPage {
    pub(super) id: u64,
    pub(super) url: String,
    pub(super) why: String,
}

impl UnreachedPage {
    fn of(page: PageRow) -> Self {
        let status = || page.status.map(|status| format!("the server answered {status}"));
        let why = page.problem.clone().or_else(status).or_else(|| page.why.clone());
        Self { id: page.id, url: page.url, why: why.unwrap_or(page.kind) }
    }
}

/// The first pages that could not be fetched, if a run of this account has found nothing and never
/// anything was known.
pub(super) fn unreached(collection: &Collection, account: &RunReport) -> Result<Vec<UnreachedPage>, AnswerError> {
    let flags = &account.flags;
    let found = account.known + flags.new + flags.same + flags.updated + flags.missing + flags.error;
    if found > 0 || account.state.is_running() {
        return Ok(Vec::new());
    }
    let failed = PageFilter { kinds: PageKind::FAILED.to_vec(), ..PageFilter::default() };
    let found = pages(collection, &failed, 0, NAMED)?;
    Ok(found.pages.into_iter().map(UnreachedPage::of).collect())
}
