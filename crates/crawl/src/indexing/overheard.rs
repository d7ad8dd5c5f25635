//! Which anchor texts can be collected while the crawl runs?
//!
//! A crawl that starts a project records every link there is, so anchor texts need not be read from
//! the catalogue at its end: they are collected batch by batch, as long as they fit into
//! [`MEMORY`]. The links of a page count as in the catalogue, one for each target and kind, in its
//! order. If a page is visited twice, the result is discarded, and the catalogue is read.

use super::heard::Texts;
use orb_index::MemoryReservation;
use orb_page::{Flag, IdSet, LinkKind, Links, PageId};
use orb_store::{FinishedVisit, LinkAnchor};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Maximum bytes of texts and page entries.
const MEMORY: usize = 64 << 20;

/// The links of a recorded page, with the numbers of their targets.
pub(super) struct Linked {
    page: PageId,
    flag: Flag,
    links: Links,
    targets: Vec<PageId>,
    /// Its share of the queue's memory budget.
    _load: MemoryReservation,
}

/// What was collected so far.
#[derive(Default)]
pub(super) struct Overheard {
    /// Indexed by page number.
    texts: Texts,
    visited: IdSet,
    /// The last batch.
    mark: Option<String>,
    order: Vec<(PageId, u8, u32)>,
}

impl Linked {
    /// Takes the links of a visit, which count against the queue's memory budget.
    pub(super) fn take(finished: &mut FinishedVisit, load: &Arc<AtomicU64>) -> Self {
        let FinishedVisit { visit, targets, .. } = finished;
        let load = MemoryReservation::take(load, visit.links.size() as u64);
        let (links, targets) = (std::mem::take(&mut visit.links), std::mem::take(targets));
        Self { page: visit.page, flag: visit.flag, links, targets, _load: load }
    }
}

impl Overheard {
    /// Processes a batch; returns whether to continue.
    pub(super) fn hear(&mut self, mut batch: Vec<Linked>, mark: &str) -> bool {
        batch.sort_unstable_by_key(|linked| linked.page);
        self.mark = Some(mark.to_owned());
        batch.iter().all(|linked| self.hear_page(linked)) && self.texts.size() <= MEMORY
    }

    fn hear_page(&mut self, linked: &Linked) -> bool {
        // A failed visit leaves the links unchanged.
        if linked.flag == Flag::Error {
            return true;
        }
        if !self.visited.insert(linked.page.0) {
            return false;
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let spoken = (0u32..)
            .zip(linked.links.iter().zip(&linked.targets))
            .filter(|(_, (link, _))| LinkKind::SPOKEN.contains(&link.kind));
        order.extend(spoken.map(|(i, (link, dst))| (*dst, link.kind.code(), i)));
        order.sort_unstable();
        for same in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (dst, _, first) = same[0];
            let anchor = linked.links.anchor(&linked.links[first as usize]);
            if anchor.is_empty() {
                continue;
            }
            let count = same.iter().fold(0u32, |sum, (_, _, i)| sum.saturating_add(linked.links[*i as usize].count));
            let Ok(place) = usize::try_from(dst.0) else { return false };
            self.texts.reach(place + 1);
            self.texts.hear(place, &LinkAnchor { dst, src: linked.page, anchor, count: u64::from(count) });
        }
        self.order = order;
        true
    }

    /// The pages among these that are linked to, as of this mark: the texts with their counts, and
    /// the number of linking pages.
    pub(super) fn each<'a>(
        &'a self,
        pages: &'a [PageId],
        mark: &str,
    ) -> Option<impl Iterator<Item = (PageId, impl Iterator<Item = (&'a str, u64)>, u64)>> {
        let heard = |page: &PageId| {
            let (texts, sources) = self.texts.of_page(usize::try_from(page.0).ok()?)?;
            Some((*page, texts, sources))
        };
        (self.mark.as_deref() == Some(mark)).then(|| pages.iter().filter_map(heard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexing::heard::Heard;
    use crate::indexing::mark_of;
    use orb_page::{Discovered, HostId, Moment, PageKind, RunKind, UrlKey, Visit};
    use orb_store::{Batch, CatalogueReader, Home, NewHost, StoreError};
    use std::sync::atomic::Ordering::Relaxed;

    const PAGES: u64 = 60;
    const KINDS: [LinkKind; 3] = [LinkKind::Img, LinkKind::Area, LinkKind::A];

    fn url(page: u64) -> String {
        format!("http://a/{page}")
    }

    /// All pages, discovered at once.
    fn found(run: orb_page::RunId) -> Batch {
        let at = Moment(1);
        let host = NewHost { id: HostId(1), scheme: "http".into(), name: "a".into(), port: 80, at };
        let discovered = (1..=PAGES).map(|n| Discovered {
            page: PageId(n),
            key: UrlKey::of(&url(n)),
            url: url(n),
            host: HostId(1),
            kind: PageKind::Frontier,
            why: None,
            depth: 0,
            redirects: 0,
            priority: 0.5,
            rank: n,
            at,
            by: "t".into(),
            step: None,
            asked: None,
            from: None,
        });
        Batch { run, hosts: vec![host], discovered: discovered.collect(), ..Batch::default() }
    }

    /// A visit with links of all kinds, several to one target, some to itself, some without text.
    fn visit(page: u64, flag: Flag) -> (Visit, Vec<PageId>) {
        let (mut links, mut targets) = (Links::default(), Vec::new());
        for n in 0..if flag == Flag::Error { 0 } else { 30 } {
            let chance = (page * 31 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let dst = if chance.is_multiple_of(11) { page } else { 1 + chance % 7 * 8 };
            let words = ["", "here", "there", "é"][(chance / 100 % 4) as usize];
            links.push(&url(dst), UrlKey::of(&url(dst)), KINDS[(chance % 3) as usize], words).count = 1 + n as u32 % 3;
            targets.push(PageId(dst));
        }
        let blank = Visit::blank(PageId(page), HostId(1), url(page), Moment(2), "t".into());
        (Visit { flag, kind: PageKind::Html, status: Some(200), links, ..blank }, targets)
    }

    /// A page, its texts with their counts, and the number of linking pages.
    type Told = (u64, Vec<(String, u64)>, u64);

    fn told<'a>(heard: impl Iterator<Item = (PageId, impl Iterator<Item = (&'a str, u64)>, u64)>) -> Vec<Told> {
        heard.map(|(page, texts, from)| (page.0, texts.map(|(text, n)| (text.to_owned(), n)).collect(), from)).collect()
    }

    #[test]
    fn what_was_overheard_is_what_the_catalogue_says_unless_a_page_is_visited_twice() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let mut project = orb_store::Project::open(&dir).unwrap();
        let run = project.begin_run(RunKind::Crawl, "").unwrap();
        project.commit(&mut found(run)).unwrap();
        let mut overheard = Overheard::default();
        let mut commit = |visits: &[(u64, Flag)], overheard: &mut Overheard| {
            let visits = visits.iter().map(|(page, flag)| visit(*page, *flag));
            let visits = visits.map(|(visit, targets)| FinishedVisit::unarchived(visit, targets)).collect();
            let mut batch = Batch { run, visits, ..Batch::default() };
            project.commit(&mut batch).unwrap();
            let (number, nonce) = project.last_batch();
            let load = Arc::new(AtomicU64::new(0));
            let links = batch.visits.iter_mut().map(|finished| Linked::take(finished, &load)).collect();
            assert!(load.load(Relaxed) > 0 || batch.visits.iter().all(|v| v.visit.flag == Flag::Error));
            let is_heard = overheard.hear(links, &crate::indexing::mark(number, nonce));
            assert_eq!(load.load(Relaxed), 0, "what was heard waits no longer");
            is_heard
        };
        assert!(commit(&[(9, Flag::New), (3, Flag::New), (4, Flag::Error)], &mut overheard));
        assert!(commit(&[(4, Flag::Missing), (9, Flag::Error)], &mut overheard));
        assert!(commit(&(20..50).rev().map(|page| (page, Flag::New)).collect::<Vec<_>>(), &mut overheard));
        let pages: Vec<PageId> = (1..=PAGES).filter(|n| n % 3 != 0).map(PageId).collect();
        let reader = CatalogueReader::open(&dir).unwrap();
        let mut heard = Heard::of(&pages, 1 << 20);
        let hear = |said: LinkAnchor<'_>| -> Result<(), StoreError> {
            heard.hear(&said);
            Ok(())
        };
        reader.each_said(PageId(1), PageId(PAGES + 1), hear).unwrap();
        let mark = mark_of(&reader.extent().unwrap());
        let (live, read) = (told(overheard.each(&pages, &mark).unwrap()), told(heard.each()));
        assert!(read.len() > 3 && read.iter().any(|(_, texts, _)| texts.len() == 3), "{read:?}");
        assert_eq!(live, read);
        assert!(overheard.each(&pages, "1-0").is_none());
        assert!(!commit(&[(9, Flag::New)], &mut overheard));
    }
}
