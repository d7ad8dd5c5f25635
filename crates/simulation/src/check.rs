//! Is everything there, once?

use crate::world::SimWorld;
use orb_page::PageId;
use std::collections::{BTreeMap, BTreeSet};

impl SimWorld {
    /// What is wrong with the collection now that the run is over. That nothing was recorded twice
    /// was seen when it happened.
    pub(crate) fn judge(&self) -> Result<(), String> {
        let visited: BTreeMap<u32, PageId> = self
            .store
            .pages
            .iter()
            .filter(|(_, page)| page.visited.is_some())
            .map(|(id, page)| (page.url, *id))
            .collect();
        for page in self.store.pages.values() {
            if page.visited.is_some_and(|object| !self.objects.contains(&object)) {
                return Err(format!("page {} names an object that was not stored", page.url));
            }
        }
        if let Some(most) = self.plan.budget.filter(|most| visited.len() as u64 > *most) {
            return Err(format!("{} pages are fetched with a budget of {most}", visited.len()));
        }
        if self.store.spent {
            return Ok(());
        }
        let reachable = self.web.reachable();
        if let Some(lost) = reachable.iter().find(|page| !visited.contains_key(page)) {
            return Err(format!("page {lost} is lost: {} of {} are there", visited.len(), reachable.len()));
        }
        let number = |url: &u32| visited.get(url).copied().unwrap_or(PageId(0));
        let links = reachable.iter().flat_map(|from| self.web.links(*from).iter().map(move |to| (from, to)));
        let links: BTreeSet<(PageId, PageId)> = links.map(|(from, to)| (number(from), number(to))).collect();
        if links != self.store.links {
            return Err(format!("{} links are there, and the web has {}", self.store.links.len(), links.len()));
        }
        if self.store.letters() > 0 {
            return Err(format!("the run is over, and {} letters wait", self.store.letters()));
        }
        self.judge_contents()
    }

    /// Of the pages with the same content one is the first, and the others repeat it.
    fn judge_contents(&self) -> Result<(), String> {
        let mut firsts: BTreeMap<[u8; 32], Vec<u32>> = BTreeMap::new();
        for page in self.store.pages.values().filter(|page| page.duplicate_of.is_none()) {
            firsts.entry(self.web.digest(page.url)).or_default().push(page.url);
        }
        match firsts.values().find(|pages| pages.len() > 1) {
            Some(pages) => Err(format!("pages {pages:?} have the same content, and none is said to repeat another")),
            None => Ok(()),
        }
    }
}
