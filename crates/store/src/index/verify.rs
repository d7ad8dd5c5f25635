//! Does the index contain what the catalogue implies?

use super::layout::{digest_key, parse_number, parse_queue_key, queue_key};
use super::{FrontierIndex, lock};
use crate::Queues;
use crate::error::Result;
use crate::sqlite::Catalogue;
use orb_page::UrlKey;
use std::collections::BTreeMap;

impl FrontierIndex {
    /// Compares every entry with the facts, in both directions; returns the number of queued pages.
    pub(crate) fn verify(&self, catalogue: &Catalogue, mut find: impl FnMut(String)) -> Result<u64> {
        let facts = catalogue.facts();
        let spaces = self.spaces()?;
        let (mut pages, mut queued) = (0u64, 0u64);
        let mut parked = Vec::new();
        self.each_parked(|page| parked.push(page));
        let mut parked = parked.into_iter().peekable();
        let mut lengths: BTreeMap<u32, u64> = BTreeMap::new();
        facts.each_page(1, |page| {
            pages += 1;
            if parked.next_if_eq(&page.id).is_some() != page.parked {
                find(format!("{} is parked in one store and not in the other", page.url));
            }
            let seen = self.number_below(&self.shared.seen, &spaces.seen, UrlKey::of(page.url).0)?;
            if seen != Some(page.id.0) {
                find(format!("{} is page {} in the catalogue and {seen:?} in the seen set", page.url, page.id.0));
            }
            match (page.queued, self.holds(&spaces.queue, &queue_key(page.host, page.rank, page.id))?) {
                (true, false) => find(format!("{} should be queued and is not", page.url)),
                (false, true) => find(format!("{} is queued and should not be", page.url)),
                (true, true) | (false, false) => {}
            }
            if page.queued {
                queued += 1;
                *lengths.entry(page.host.0).or_default() += 1;
            }
            for (_, digest) in page.owned {
                if self.digest_first(digest)?.is_none() {
                    find(format!("the content of {} is not known by its digest", page.url));
                }
            }
            Ok(())
        })?;
        self.verify_back(catalogue, pages, &mut find)?;
        let state = lock(&self.shared.state);
        if state.hosts.each().map(|(h, p)| (h, p.count)).ne(lengths) {
            find("the lengths of the hosts' queues are not right".to_owned());
        }
        Ok(queued)
    }

    /// Checks that no entry lacks a fact.
    fn verify_back(&self, catalogue: &Catalogue, pages: u64, find: &mut impl FnMut(String)) -> Result<()> {
        let facts = catalogue.facts();
        let spaces = self.spaces()?;
        let fail = self.fail("read");
        let mut seen = lock(&self.shared.seen).fresh.len() as u64;
        for entry in spaces.seen.iter() {
            let key = entry.key().map_err(&fail)?;
            let key = (*key).try_into().map(u128::from_be_bytes).map_err(|_| self.damaged("a key cannot be read"))?;
            // Keys of an interrupted fold are in both.
            seen += u64::from(lock(&self.shared.seen).fresh.get(key).is_none());
        }
        if seen != pages || self.known() != pages {
            find(format!(
                "the seen set holds {seen} URLs, says it holds {}, and the catalogue has {pages} pages",
                self.known()
            ));
        }
        self.each_waiting(|place| {
            let (host, rank, page) = parse_queue_key(&place);
            let mut right = false;
            facts.page(page.0, |p| {
                right = p.queued && p.host == host && p.rank == rank;
                Ok(())
            })?;
            if !right {
                find(format!("a queue holds an entry the catalogue knows nothing of: {host:?} {rank} {page:?}"));
            }
            Ok(())
        })?;
        for entry in spaces.digest.iter() {
            let (key, value) = entry.into_inner().map_err(&fail)?;
            let page = parse_number(&value).unwrap_or(0);
            let mut right = false;
            facts.page(page, |p| {
                right = p.owned.iter().any(|(_, d)| digest_key(d).to_be_bytes() == *key);
                Ok(())
            })?;
            if !right {
                find(format!("a digest names page {page}, which never had that content"));
            }
        }
        facts.each_host(1, false, |host| {
            let named = self.host_id(&host.scheme, &host.name, host.port)?;
            if named != Some(host.id) || self.host(host.id)?.as_ref() != Some(host) {
                find(format!("host {} ({}) is not known as the catalogue has it", host.id.0, host.name));
            }
            Ok(())
        })?;
        Ok(())
    }
}
