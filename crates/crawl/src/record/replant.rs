//! What happens to pages that were judged under other settings?
//!
//! A crawl may be resumed with a wider or narrower scope, another depth, other trap limits, or more
//! seeds. Then every page that was never fetched is re-evaluated: what was outside and is now in
//! scope is queued, what is queued and no longer in scope leaves the queue. Pages are processed a
//! few thousand at a time, so memory is bounded. Withheld aliases are judged, too: one that is in
//! scope stays withheld, one that is not is no alias any more but an ordinary page out of scope.

use crate::read::{ReadRules, out_of_scope};
use orb_frontier::{Order, rank};
use orb_page::{PageId, PageKind, SkipReason};
use orb_store::{Batch, DroppedPage, Project, QueuePlace, Requeued, StoreError, Unfetched};
use orb_urls::{Address, Judgement};

/// Pages per chunk.
const CHUNK: u32 = 5_000;

/// The rules by which pages are re-evaluated.
pub(crate) struct Replant {
    rules: ReadRules,
    follow_nofollow: bool,
    order: Order,
    /// Whether the trap limits have changed.
    traps: bool,
    /// Whether only pages that were too deep are judged.
    by_depth: bool,
}

impl Replant {
    /// The rules by which pages are read.
    pub(crate) fn new(rules: ReadRules, order: Order, traps: bool) -> Self {
        let follow_nofollow = rules.follow_nofollow;
        Self { rules, follow_nofollow, order, traps, by_depth: false }
    }

    /// The same for pages that were in scope and too deep, and for nothing else.
    pub(crate) fn by_depth(self) -> Self {
        Self { by_depth: true, ..self }
    }

    /// The next pages to change, and the number to continue after; `None` when all have been
    /// examined. `is_trap` says whether a page that was cut off is still a trap.
    pub(crate) fn next(
        &self,
        project: &Project,
        after: PageId,
        mut is_trap: impl FnMut(&Unfetched) -> bool,
    ) -> Result<Option<(Batch, PageId)>, StoreError> {
        let pages = project.unfetched(after, CHUNK, self.traps)?;
        let Some(last) = pages.last().map(|p| p.page) else { return Ok(None) };
        let mut batch = Batch::default();
        for page in pages {
            let trapped = page.why.and_then(SkipReason::trap).is_some();
            if self.by_depth && page.why != Some(SkipReason::Depth) {
                continue;
            }
            match (&page.why, self.why_outside(&page)) {
                (Some(_), None) if trapped && is_trap(&page) => {}
                (Some(SkipReason::Alias), None) => {}
                (Some(SkipReason::Alias), Some(_)) => {
                    batch.unaliased.push((page.host, page.page));
                    batch.requeued.push(requeued(page));
                }
                (Some(_), None) => {
                    #[expect(clippy::cast_possible_truncation, reason = "stored as it was, from an f32")]
                    let rank = rank(self.order, page.depth, page.page, page.priority as f32);
                    batch.requeued.push(Requeued { rank, ..requeued(page) });
                }
                (None, Some(why)) => {
                    let place = QueuePlace { host: page.host, rank: page.rank, page: page.page };
                    batch.dropped.push(DroppedPage { place, kind: PageKind::Outside, why });
                }
                _ => {}
            }
        }
        Ok(Some((batch, last)))
    }

    /// Why a page is not in scope, if it is not.
    fn why_outside(&self, page: &Unfetched) -> Option<SkipReason> {
        if self.by_depth {
            // It was in scope by the page that linked to it, which another worker may have.
            let (_, depth) = self.rules.of(page.step);
            return depth.is_some_and(|max| page.depth > max).then_some(SkipReason::Depth);
        }
        let Ok(address) = Address::from_canonical(&page.url) else { return Some(SkipReason::Scope) };
        let from = page.from.as_deref().and_then(|url| Address::from_canonical(url).ok());
        let (scope, depth) = self.rules.of(page.step);
        match scope.current().judge(&address, from.as_ref()) {
            Judgement::Out(why) => Some(out_of_scope(why)),
            Judgement::In if depth.is_some_and(|max| page.depth > max) => Some(SkipReason::Depth),
            Judgement::In => match page.why {
                Some(SkipReason::Nofollow) => (!self.follow_nofollow).then_some(SkipReason::Nofollow),
                // A wider scope does not change what kind of link led to the page.
                why => why.filter(|why| matches!(why, SkipReason::Form | SkipReason::Redirects)),
            },
        }
    }
}

/// The page at its place in its queue.
fn requeued(page: Unfetched) -> Requeued {
    let Unfetched { page, host, url, rank, depth, step, .. } = page;
    Requeued { page, host, url, rank, depth, step }
}
