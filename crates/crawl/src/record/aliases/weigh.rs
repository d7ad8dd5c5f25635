//! What does a fetched page say about the rules of its host?
//!
//! A page with the content of an earlier one suggests what makes their addresses one, or confirms
//! it. A page that a rule takes for another one confirms or contradicts the rule as soon as both
//! are fetched, in whatever order. Equal bytes are not always enough: relative links may lead
//! elsewhere from another address, and what they lead to would be lost, so where a rule moves the
//! base of links, these must agree under the rule, too.

use super::{
    AliasDesk, HostDesk, KnownContent, MAX_OPEN, MAX_OPEN_IN_ALL, MAX_OPEN_PER_PAGE, MAX_SEEN, MAX_SEEN_IN_ALL,
    OpenComparison, Recorder, is_document,
};
use hashbrown::HashSet;
use orb_page::{Flag, HostId, PageId, PageKind, UrlKey, Visit};
use orb_store::StoreError;
use orb_urls::alias::{HostAliases, explain};

/// Maximum links of a page that are compared.
const MAX_LINKS: usize = 2_000;

/// How two fetched pages compare that a rule takes for one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Same,
    Different,
    /// There is no telling.
    Unclear,
}

impl Recorder {
    /// Learns from a page that is about to be recorded.
    pub(in crate::record) fn weigh(&mut self, visit: &Visit) -> Result<(), StoreError> {
        // Two files with the same content are two files.
        if !self.aliases.enabled || !visit.url.starts_with("http") {
            return Ok(());
        }
        let Some(digest) = visit.digest.filter(|_| visit.length > 0 && is_document(visit.kind)) else { return Ok(()) };
        // A page that is revisited may have changed since the other was fetched.
        if visit.flag == Flag::New {
            if let Some(first) = visit.duplicate_of {
                self.learn_pair(visit, first, digest)?;
            }
            if self.aliases.hosts.contains_key(&visit.host) {
                self.hold_against_believed(visit, digest)?;
                self.hold_against_supposed(visit, digest)?;
            }
        }
        if self.aliases.hosts.contains_key(&visit.host) {
            self.settle_open(visit, digest)?;
        }
        if visit.flag == Flag::New {
            self.remember(visit);
        }
        Ok(())
    }

    /// Two addresses have equal content.
    fn learn_pair(&mut self, visit: &Visit, first: PageId, digest: [u8; 32]) -> Result<(), StoreError> {
        let other = match self.fresh_visit(first) {
            Some(other) => Some((other.host, other.url.clone())),
            None => self.project.place_of(first)?,
        };
        let Some((_, other)) = other.filter(|(host, _)| *host == visit.host) else { return Ok(()) };
        if !self.aliases.hosts.contains_key(&visit.host) && explain(&visit.url, &other).is_empty() {
            return Ok(());
        }
        let Some(desk) = self.aliases.desk_of(visit.host) else { return Ok(()) };
        for place in desk.rules.suppose(&visit.url, &other) {
            self.note(visit, (first, &other), (digest, Likeness::Same), place)?;
        }
        Ok(())
    }

    /// Two fetched pages that a rule takes for one are the same or not.
    fn note(
        &mut self,
        visit: &Visit,
        (page, url): (PageId, &str),
        (digest, mut found): ([u8; 32], Likeness),
        place: usize,
    ) -> Result<(), StoreError> {
        if found == Likeness::Same {
            found = self.compare_links(visit, page, 1 << place)?;
        }
        self.aliases.changed.insert(visit.host);
        let Some(desk) = self.aliases.hosts.get_mut(&visit.host) else { return Ok(()) };
        match found {
            Likeness::Same if desk.rules.confirm(place, (&visit.url, url), short(digest)) => {
                let rule = desk.rules.rules().get(place).map(|rule| rule.rule.to_string()).unwrap_or_default();
                tracing::info!(host = visit.host.0, rule, "aliases believed");
                self.publish(visit.host);
            }
            Likeness::Different => self.contradicted(visit.host, 1 << place),
            _ => {}
        }
        Ok(())
    }

    /// One of these rules was wrong.
    fn contradicted(&mut self, host: HostId, rules: u64) {
        self.withdraw(host, rules);
        self.publish(host);
    }

    /// The page was fetched although the rules take it for another one.
    fn hold_against_believed(&mut self, visit: &Visit, digest: [u8; 32]) -> Result<(), StoreError> {
        // Of several rules the least proven is withdrawn, and the others are tried again.
        loop {
            let Some(desk) = self.aliases.hosts.get(&visit.host) else { return Ok(()) };
            let Some(form) = desk.rules.normal(&visit.url) else { return Ok(()) };
            let stand_in = desk.told.stand_ins.get(&UrlKey::of(&form.url)).map(|(page, _)| *page);
            let mut other = self.content_of(&form.url)?;
            if let Some(stand_in) = stand_in.filter(|page| *page != visit.page)
                && !matches!(other, KnownContent::Document { .. })
            {
                other = self.content(stand_in)?;
            }
            match self.compare(visit, digest, other, form.rules)? {
                Likeness::Different => self.contradicted(visit.host, form.rules | other.rules()),
                Likeness::Unclear => {
                    self.wait_for(visit, digest, other, (&form.url, form.rules, None));
                    return Ok(());
                }
                Likeness::Same => return Ok(()),
            }
        }
    }

    /// The page was fetched, and rules that are not believed yet would take it for another one.
    fn hold_against_supposed(&mut self, visit: &Visit, digest: [u8; 32]) -> Result<(), StoreError> {
        let Some(desk) = self.aliases.hosts.get(&visit.host) else { return Ok(()) };
        for (place, form) in desk.rules.supposed(&visit.url) {
            let other = self.content_of(&form)?;
            match (self.compare(visit, digest, other, 1 << place)?, other) {
                (Likeness::Unclear, _) => self.wait_for(visit, digest, other, (&form, 1 << place, Some(place))),
                (found, KnownContent::Document { page, .. }) => {
                    self.note(visit, (page, &form), (digest, found), place)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn compare(
        &self,
        visit: &Visit,
        digest: [u8; 32],
        other: KnownContent,
        rules: u64,
    ) -> Result<Likeness, StoreError> {
        match other {
            KnownContent::Document { page, .. } if page == visit.page => Ok(Likeness::Same),
            KnownContent::Document { page, digest: theirs, .. } if theirs == digest => {
                self.compare_links(visit, page, rules)
            }
            KnownContent::Document { current: true, .. } => Ok(Likeness::Different),
            _ => Ok(Likeness::Unclear),
        }
    }

    /// Whether a page with the same bytes leads to the same pages.
    fn compare_links(&self, visit: &Visit, other: PageId, rules: u64) -> Result<Likeness, StoreError> {
        let Some(desk) = self.aliases.hosts.get(&visit.host) else { return Ok(Likeness::Unclear) };
        if !desk.rules.named(rules).any(|rule| rule.rule.moves_links()) {
            return Ok(Likeness::Same);
        }
        if !self.rules.links || visit.links.len() > MAX_LINKS {
            return Ok(Likeness::Unclear);
        }
        let normal = |url: &str| normal_under(&desk.rules, rules, url);
        let ours: HashSet<UrlKey> = visit.links.iter().map(|link| normal(visit.links.url(link))).collect();
        let theirs: HashSet<UrlKey> = match self.fresh_visit(other) {
            Some(other) => other.links.iter().map(|link| normal(other.links.url(link))).collect(),
            None => {
                let most = u32::try_from(MAX_LINKS).unwrap_or(u32::MAX);
                self.project.link_urls(other, most)?.iter().map(|url| normal(url)).collect()
            }
        };
        Ok(if ours == theirs { Likeness::Same } else { Likeness::Different })
    }

    /// Remembers to compare once the other page is fetched, if it will be.
    fn wait_for(
        &mut self,
        visit: &Visit,
        digest: [u8; 32],
        other: KnownContent,
        (url, rules, place): (&str, u64, Option<usize>),
    ) {
        if !matches!(other, KnownContent::Waiting(_) | KnownContent::Unknown) {
            return;
        }
        let AliasDesk { hosts, open, .. } = &mut self.aliases;
        let desk = hosts.get_mut(&visit.host).filter(|desk| desk.open.len() < MAX_OPEN);
        let Some(desk) = desk.filter(|_| *open < MAX_OPEN_IN_ALL) else { return };
        let waiting = desk.open.entry(UrlKey::of(url)).or_default();
        if waiting.len() < MAX_OPEN_PER_PAGE {
            let url = visit.url.as_str().into();
            waiting.push(OpenComparison { page: visit.page, url, digest, rules, place });
            *open += 1;
        }
    }

    /// Makes the comparisons that waited for this page.
    fn settle_open(&mut self, visit: &Visit, digest: [u8; 32]) -> Result<(), StoreError> {
        let Some(desk) = self.aliases.hosts.get_mut(&visit.host) else { return Ok(()) };
        let Some(waiting) = desk.open.remove(&UrlKey::of(&visit.url)) else { return Ok(()) };
        self.aliases.open -= waiting.len();
        for OpenComparison { page, url, digest: theirs, rules, place } in waiting {
            let Some(desk) = self.aliases.hosts.get(&visit.host) else { break };
            match place {
                // Another rule may have taken its place.
                Some(place) if desk.rules.under(&url, place) != desk.rules.under(&visit.url, place) => {}
                Some(place) => {
                    let found = if theirs == digest { Likeness::Same } else { Likeness::Different };
                    self.note(visit, (page, &url), (digest, found), place)?;
                }
                // One of them was found to be wrong already.
                None if rules & desk.rules.withdrawn() != 0 => {}
                None if theirs != digest || self.compare_links(visit, page, rules)? == Likeness::Different => {
                    self.contradicted(visit.host, rules);
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Remembers the address of a document that is unlike all others. A rule that is believed later
    /// may make it that of another page, which need not be fetched then; one that makes it that of
    /// another such document is wrong.
    fn remember(&mut self, visit: &Visit) {
        if visit.duplicate_of.is_some() || self.aliases.seen >= MAX_SEEN_IN_ALL {
            return;
        }
        let Some(desk) = self.aliases.hosts.get_mut(&visit.host) else { return };
        if desk.seen.len() < MAX_SEEN {
            desk.seen.push((visit.url.as_str().into(), visit.page));
            self.aliases.seen += 1;
        }
    }

    /// Notes the pages of a batch that addresses are withheld for and that are no documents.
    pub(in crate::record) fn note_committed(&mut self, batch: &orb_store::Batch) {
        if !self.aliases.enabled {
            return;
        }
        self.aliases.fresh.clear();
        let visits = batch.visits.iter().map(|finished| (finished.visit.page, is_lost(&finished.visit)));
        let dropped = batch.dropped.iter().map(|dropped| (dropped.place.page, !is_document(dropped.kind)));
        for (page, lost) in visits.chain(dropped) {
            if lost && self.aliases.targets.remove(page.0) {
                self.aliases.failed.push(page);
            }
        }
    }

    /// What is known about a host, for the decision.
    pub(super) fn desk(&mut self, host: HostId) -> Option<&mut HostDesk> {
        self.aliases.hosts.get_mut(&host).map(|desk| &mut **desk)
    }
}

/// The form of a link under the believed rules and these.
fn normal_under(known: &HostAliases, rules: u64, url: &str) -> UrlKey {
    let place = rules.trailing_zeros() as usize;
    let form =
        if rules.count_ones() == 1 { Some(known.under(url, place)) } else { known.normal(url).map(|form| form.url) };
    UrlKey::of(form.as_deref().unwrap_or(url))
}

/// Whether a visit shows that a page is no document, or none any more. A known document that only
/// could not be fetched is still one.
fn is_lost(visit: &Visit) -> bool {
    !visit.is_document() && (!visit.known || visit.flag == Flag::Missing || visit.kind == PageKind::Redirect)
}

/// Enough of a digest to tell contents apart.
fn short(digest: [u8; 32]) -> u64 {
    digest.iter().take(8).fold(0, |short, byte| short << 8 | u64::from(*byte))
}
