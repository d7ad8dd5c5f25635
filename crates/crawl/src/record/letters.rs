//! How do links travel between machines?
//!
//! A link whose target's shard is held elsewhere is a letter, committed with its page. Its worker
//! there turns it into a page and a link, in the commit that deletes it: so it happens
//! once, whatever fails. Scope was judged where the page was read; robots.txt and traps are judged
//! here, where the host lives. The same way a page's digest asks whether another shard has the same
//! content.

use super::admit::LinkSight;
use super::{Recorder, Revisited};
use crate::shared::SharedState;
use crate::watch::progress::Pause;
use crate::worker::Team;
use orb_page::{Discovered, DiscoveredLink, HostId, LinkKind, PageId, PageKind, UrlKey, Verdict, Visit};
use orb_store::{
    Admission, DigestLetter, FoundLetter, KnownPage, Letter, LetterBundle, NearerLetter, SameLetter, ShardId,
    SharedSeed, StoreError, ToldLink, shard_of,
};
use orb_urls::Address;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// The host of a page that another machine has: none of ours has this number.
const ELSEWHERE: HostId = HostId(u32::MAX);

impl Recorder {
    /// The number of every link's target that is ours; a letter for each of the others.
    pub(super) fn number_shared(&mut self, visit: &Visit) -> Result<Vec<PageId>, StoreError> {
        let from = self.project.shard_of(host_in(&visit.url)).map(|shard| (visit.page, shard));
        let homes: Vec<Option<ShardId>> = visit.links.iter().map(|link| self.away(visit.links.url(link))).collect();
        let own = visit.links.iter().zip(&homes).filter(|(_, home)| home.is_none());
        let keys: Vec<UrlKey> = own.map(|(link, _)| link.key).collect();
        let mut admissions = self.admit_patiently(&keys)?.into_iter();
        let mut out = Vec::with_capacity(homes.len());
        for (found, home) in visit.links.iter().zip(homes) {
            self.note_moved(visit, found);
            let Some(home) = home else {
                let Some(admission) = admissions.next() else { continue };
                match admission {
                    Admission::New(page) => self.discover(page, visit, found)?,
                    Admission::Known(page) | Admission::Pending(page) => self.meet_again(page, visit, found)?,
                }
                out.push(admission.page());
                continue;
            };
            let letter = self.letter(visit, found, from);
            self.pending.batch.letters.push((home, Letter::Found(letter)));
            out.push(PageId(0));
        }
        Ok(out)
    }

    /// The shard of a URL that is held elsewhere.
    fn away(&self, url: &str) -> Option<ShardId> {
        let host = host_in(url);
        if self.project.owns(host) { None } else { self.project.shard_of(host) }
    }

    fn letter(&self, visit: &Visit, found: &DiscoveredLink, from: Option<(PageId, ShardId)>) -> FoundLetter {
        let redirect = found.kind == LinkKind::Redirect;
        FoundLetter {
            from,
            at: visit.at,
            by: Arc::clone(&visit.by),
            step: visit.step,
            depth: self.depth_of(visit, found),
            redirects: if redirect { visit.redirects.saturating_add(1) } else { 0 },
            url: visit.links.url(found).to_owned(),
            asked: found.asked.clone(),
            kind: found.kind,
            anchor: visit.links.anchor(found).to_owned(),
            rel: found.rel.clone(),
            count: found.count,
            priority: found.priority,
            verdict: found.verdict,
            row: self.rules.links || redirect,
        }
    }

    /// A seed that redirects: its target is a seed on every machine.
    fn note_moved(&mut self, visit: &Visit, found: &DiscoveredLink) {
        let url = visit.links.url(found);
        if found.kind == LinkKind::Redirect && self.shared.scope.is_seed(&visit.url) && self.shared.scope.is_seed(url) {
            let from = Some(visit.url.to_string());
            self.pending.batch.moved_seeds.push(SharedSeed { no: 0, url: url.to_owned(), step: visit.step, from });
        }
    }

    /// A seed or a sitemap whose shard is held elsewhere.
    pub(super) fn write_root(&mut self, address: &Address, from: Option<PageId>, step: Option<u32>) {
        let Some(home) = self.project.shard_of(address.host()) else { return };
        let root = FoundLetter::root(address.as_str(), step, self.clock.now(), &self.rules.by);
        let letter = FoundLetter { from: from.map(|page| (page, home)), kind: LinkKind::Sitemap, ..root };
        self.pending.batch.letters.push((home, Letter::Found(letter)));
    }

    /// Letters to our shards: each delivery becomes part of one batch, which deletes it.
    pub(super) fn take_letters(&mut self, deliveries: Vec<LetterBundle>) -> Result<(), StoreError> {
        if self.shared.team.as_ref().is_some_and(Team::is_resting) {
            // The driver has nothing to do until they are committed.
            self.pending.urgent.get_or_insert_with(Instant::now);
        }
        let held = self.project.held();
        for LetterBundle { id, letters, .. } in deliveries {
            if !held.contains(&id.to) {
                // Its shard was given away meanwhile: the worker that has it now reads it.
                if let Some(team) = &self.shared.team {
                    team.settle(vec![id]);
                }
                continue;
            }
            for letter in letters {
                match letter {
                    Letter::Found(found) => self.take_found(found)?,
                    Letter::Digest(digest) => self.take_digest(&digest)?,
                    Letter::Same(SameLetter { page, of }) => self.pending.batch.duplicates.push((page, of)),
                    Letter::Nearer(NearerLetter { page, depth }) => self.come_nearer(page, depth),
                }
                self.pending.rows += 1;
            }
            self.pending.batch.read.push(id);
        }
        Ok(())
    }

    fn take_found(&mut self, letter: FoundLetter) -> Result<(), StoreError> {
        let (src, shard) = match letter.from {
            Some(from) if from.0 != PageId(0) => from,
            root => {
                let address = self.address(&letter.url)?;
                return self.discover_root(&address, root.map(|(page, _)| page), letter.step);
            }
        };
        let key = UrlKey::of(&letter.url);
        let Some(admission) = self.admit_patiently(&[key])?.into_iter().next() else { return Ok(()) };
        match admission {
            Admission::New(page) => self.admit_found(page, key, src, &letter)?,
            Admission::Known(page) | Admission::Pending(page) => {
                if letter.verdict == Verdict::Follow && self.parked.remove(page.0) {
                    let FoundLetter { depth, priority, step, at, .. } = letter;
                    let asked = letter.asked.as_deref();
                    self.bring_in(page, &LinkSight { url: &letter.url, asked, depth, priority, step, at })?;
                } else if letter.kind == LinkKind::Sitemap && self.rules.noises.is_some() {
                    self.look_if_newer(page, &letter.anchor, letter.verdict)?;
                }
            }
        }
        if letter.row {
            let FoundLetter { kind, anchor, rel, count, .. } = letter;
            self.pending.batch.told.push(ToldLink { src, shard, dst: admission.page(), kind, anchor, rel, count });
        }
        Ok(())
    }

    fn admit_found(&mut self, page: PageId, key: UrlKey, src: PageId, letter: &FoundLetter) -> Result<(), StoreError> {
        let blank = Discovered {
            page,
            url: letter.url.clone(),
            key,
            host: HostId(0),
            kind: PageKind::Frontier,
            why: None,
            depth: letter.depth,
            redirects: letter.redirects,
            priority: letter.priority,
            rank: 0,
            at: letter.at,
            by: Arc::clone(&letter.by),
            step: letter.step,
            asked: letter.asked.clone(),
            from: Some(src),
        };
        self.admit(blank, letter.verdict)
    }

    /// Asks the worker that keeps this digest whether another shard has the same content. Where
    /// that is us, it is written down: the shard may move, and this page not.
    pub(super) fn ask_elsewhere(&mut self, digest: &[u8; 32], visit: &Visit) {
        let Some(team) = &self.shared.team else { return };
        let home = ShardId::of_digest(digest, team.shards());
        if self.project.held().contains(&home) {
            self.pending.batch.digests.push((*digest, visit.page));
            return;
        }
        if let Some(shard) = self.project.shard_of(host_in(&visit.url)) {
            let letter = DigestLetter { digest: *digest, page: visit.page, shard };
            self.pending.batch.letters.push((home, Letter::Digest(letter)));
        }
    }

    fn take_digest(&mut self, letter: &DigestLetter) -> Result<(), StoreError> {
        let first = match self.pending.digests.get(&letter.digest) {
            Some((page, _)) => Some(*page),
            None => self.project.digest_first(&letter.digest)?,
        };
        match first {
            // We have known it longer than the shard that keeps it.
            Some(of) if of == letter.page => self.pending.batch.digests.push((letter.digest, of)),
            Some(of) if self.project.held().contains(&letter.shard) => {
                self.pending.batch.duplicates.push((letter.page, of));
            }
            Some(of) => {
                let same = SameLetter { page: letter.page, of };
                self.pending.batch.letters.push((letter.shard, Letter::Same(same)));
            }
            None => {
                self.pending.digests.insert(letter.digest, (letter.page, ELSEWHERE));
                self.pending.batch.digests.push((letter.digest, letter.page));
            }
        }
        Ok(())
    }

    /// A page is nearer to the seeds than it seemed: what was too deep is judged again once all
    /// that are nearer are committed.
    fn come_nearer(&mut self, page: PageId, depth: u32) {
        self.pending.batch.nearer.push((page, depth));
        self.judge_depths();
    }

    /// Loads shards that were taken over: what waits there is ours from now on.
    pub(super) fn adopt(&mut self, shards: &[ShardId]) -> Result<(), StoreError> {
        self.commit_all()?;
        patiently(&self.shared, || self.project.adopt(shards))?;
        let fetched = self.project.hosts_fetched(self.rules.run)?;
        for host in fetched {
            self.hosts_fetched.insert(u64::from(host.0));
        }
        let parked = &mut self.parked;
        self.project.each_parked(|page| {
            parked.insert(page.0);
        });
        let counts = self.project.trap_counts(super::MAX_TRAP_COUNTS)?;
        if let Some(team) = &self.shared.team {
            let mut frontier = self.shared.frontier();
            frontier.recall_traps(counts);
            frontier.keep_only(team.own_test(self.project.held()), self.clock.now());
            frontier.look_around(self.clock.now());
            drop(frontier);
        }
        self.plant_adopted(shards)?;
        if let Some(team) = &self.shared.team {
            team.next_epoch();
            team.adopted();
            self.shared.wake.notify_one();
        }
        Ok(())
    }

    /// In a run that revisits pages, puts those of shards that were taken over back into their
    /// queues, as far as that has not been done. Until it is, these shards are not idle.
    fn plant_adopted(&mut self, shards: &[ShardId]) -> Result<(), StoreError> {
        let Some(revisited) = self.rules.revisited else { return Ok(()) };
        let chosen = match revisited {
            Revisited::All | Revisited::Seeds => None,
            Revisited::Chosen => Some(patiently(&self.shared, || self.project.chosen(shards))?),
        };
        // What was taken over before has been looked at, and would be counted again.
        let (adopted, all) = (shards.iter().collect::<HashSet<_>>(), self.shared.team.as_ref().map_or(1, Team::shards));
        let is_chosen = |known: &KnownPage| {
            let is_seed = known.page.depth == 0;
            let is_wanted = match &chosen {
                _ if revisited == Revisited::Seeds => is_seed && !known.there,
                Some(pages) => is_seed || pages.binary_search(&known.page.page).is_ok(),
                None => true,
            };
            is_wanted && adopted.contains(&shard_of(host_in(&known.page.url), all))
        };
        let read = self.rules.read.clone();
        self.plant_known(&read, &mut { is_chosen })
    }

    /// Gives shards away, after everything of theirs is committed.
    pub(super) fn give(&mut self, shards: Vec<ShardId>) -> Result<(), StoreError> {
        self.commit_all()?;
        self.pending.since = Some(Instant::now());
        self.pending.batch.gifts = shards;
        self.commit()?;
        if let Some(team) = &self.shared.team {
            team.given();
        }
        Ok(())
    }

    /// Records that our shards have nothing left, if nothing has come in since the driver said so.
    pub(super) fn rest(&mut self, epoch: u64, short: bool) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let Some(team) = &shared.team else { return Ok(()) };
        if team.epoch() == epoch && shared.pipeline.is_empty() {
            self.commit_all()?;
        }
        let moving = team.moving();
        let settled = self.pending.is_empty() && self.reevaluation.is_none() && shared.pipeline.is_empty();
        if *moving || team.epoch() != epoch || !settled {
            team.unrest();
            return Ok(());
        }
        self.pending.since = Some(Instant::now());
        self.pending.batch.idle = Some(self.rules.run);
        self.pending.batch.short = short;
        self.commit()
    }

    /// How many pages of the budget the next batch spends.
    pub(super) fn spent(&self) -> u64 {
        let finished: Vec<PageId> = self.pending.batch.finished.iter().map(|place| place.page).collect();
        self.shared.frontier().granted_of(&finished)
    }

    /// Numbers for these candidates, as soon as the store answers.
    fn admit_patiently(&mut self, keys: &[UrlKey]) -> Result<Vec<Admission>, StoreError> {
        let mut out = Vec::with_capacity(keys.len());
        patiently(&self.shared, || {
            out.clear();
            self.project.admit(keys, &mut out)
        })?;
        Ok(out)
    }
}

/// Tries again while the stores do not answer, until the user asks to stop.
pub(super) fn patiently<T>(
    shared: &SharedState,
    mut what: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    loop {
        match what() {
            Err(error) => match Pause::after(&error) {
                Some(pause) if shared.wait_for_room(pause) => {}
                _ => return Err(error),
            },
            done => {
                if shared.team.is_some() {
                    shared.progress.pause(None);
                }
                return done;
            }
        }
    }
}

/// The host in a canonical URL, without brackets.
fn host_in(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match authority.strip_prefix('[') {
        Some(literal) => literal.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_url_is_found_without_parsing_it() {
        for (url, host) in [
            ("http://a.example/x", "a.example"),
            ("https://a.example:8443?q", "a.example"),
            ("ftp://me@a.example/", "a.example"),
            ("http://[2001:db8::1]:81/", "2001:db8::1"),
            ("http://127.0.0.1:81/", "127.0.0.1"),
        ] {
            assert_eq!(host_in(url), host);
            assert_eq!(
                Address::from_canonical(url).map(|a| a.host().trim_matches(['[', ']']).to_owned()).ok(),
                Some(host.to_owned())
            );
        }
    }
}
