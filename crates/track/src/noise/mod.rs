//! What differs between two responses although nothing has changed?
//!
//! Advertisements, tokens, counters, clocks, shuffled teasers: a server generates them for every
//! response, and a plain text comparison would report every page as changed. Nobody has to describe
//! them. Fetching a page twice in a row reveals them ([`evidence`]), and what was seen on several
//! pages of a host is assumed for all of them ([`Noise`]), so most pages need no second request.
//! The differences between an old and a new version that remain ([`explain`]) were written by
//! somebody.
//!
//! A difference is noise only if it lies where the two responses differ, is no larger than what
//! they showed, and nothing that they share is missing from the old version.

mod counter;
mod evidence;
mod explain;
mod memory;
mod page;
mod template;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use evidence::likeness;
pub(crate) use explain::Difference;
pub(crate) use words::{ClassedWord, words};

use counter::is_counter;
use evidence::Evidence;
use explain::{Explained, MOST_FINDINGS, explain};
use memory::Memory;
use orb_page::Block;
use page::{PreparedBlock, lines};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// One in this many pages explained by memory alone is fetched twice anyway, to verify that memory
/// still holds.
const PROVED: u64 = 32;
/// Up to this many bytes of text, two responses may have nothing in common.
const SHORT: usize = 200;
/// Minimum word similarity of two responses of one page.
const STRANGE: f64 = 0.3;

/// What is known to be dynamic on the pages of one host: learnt during comparison, shared between
/// threads, stored as text.
#[derive(Debug, Default)]
pub struct Noise {
    memory: Mutex<(u64, Arc<Memory>)>,
}

impl Noise {
    /// An empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restores it from text; empty if unreadable, since it can be learnt again.
    pub fn from_text(text: &str) -> Self {
        let memory: Memory = serde_json::from_str(text).unwrap_or_default();
        Self { memory: Mutex::new((0, Arc::new(memory))) }
    }

    /// Serialises it as text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&*self.known()).unwrap_or_default()
    }

    /// Whether so little is known that a page should be fetched twice for the benefit of the
    /// others: two responses may agree by chance on dynamic content, and then only other pages
    /// reveal it.
    pub fn is_young(&self) -> bool {
        self.known().is_young()
    }

    /// How often something was learnt since it was loaded, and so whether it must be saved again.
    pub fn learnt(&self) -> u64 {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Merges what another one knows about the same host.
    pub fn merge(&self, other: &Self) {
        let theirs = other.known();
        self.change(|memory| memory.merge(&theirs));
    }

    /// A copy whose learning does not affect the original.
    pub(crate) fn apart(&self) -> Self {
        Self { memory: Mutex::new((0, self.known())) }
    }

    fn known(&self) -> Arc<Memory> {
        Arc::clone(&self.memory.lock().unwrap_or_else(PoisonError::into_inner).1)
    }

    fn change(&self, with: impl FnOnce(&mut Memory)) {
        let mut held = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        with(Arc::make_mut(&mut held.1));
        held.0 += 1;
    }
}

/// Whether two responses have so little in common that they can hardly be of the same page. Short
/// ones always pass.
fn is_strange(one: &[PreparedBlock<'_>], other: &[PreparedBlock<'_>]) -> bool {
    let length = |lines: &[PreparedBlock<'_>]| lines.iter().map(|l| l.block.text.len()).sum::<usize>();
    let longer = length(one).max(length(other));
    let theirs: HashSet<u64> = other.iter().map(|l| l.hash).collect();
    let shared: usize = one.iter().filter(|l| theirs.contains(&l.hash)).map(|l| l.block.text.len()).sum();
    if longer < SHORT || shared * 4 > longer {
        return false;
    }
    let words = |lines: &[PreparedBlock<'_>]| {
        lines.iter().flat_map(|l| l.words().iter().map(|w| xxh3_64(w.text.as_bytes()))).collect::<Vec<_>>()
    };
    likeness(&words(one), &words(other)) < STRANGE
}

/// The remaining differences between two versions of a page.
pub(crate) enum RemainingChanges<'a> {
    /// Nothing.
    Nothing,
    /// These.
    Changes(Vec<Difference<'a>>),
    /// Only these, which lie around the main content. Some may be noise.
    Around(Vec<Difference<'a>>),
    /// Possibly some: a second response would tell.
    Unclear,
}

impl RemainingChanges<'_> {
    /// The same with counters taken for what lies around the main content, wherever they stand.
    pub(crate) fn without_counters(self) -> Self {
        let Self::Changes(all) = self else { return self };
        // Beyond the limit nothing is known.
        if all.len() >= MOST_FINDINGS {
            return Self::Changes(all);
        }
        let is_counter =
            |d: &Difference<'_>| matches!((d.old, d.new), (Some(old), Some(new)) if is_counter(d.place, old, new));
        let (counters, edits): (Vec<_>, Vec<_>) = all.into_iter().partition(is_counter);
        if edits.is_empty() { Self::Around(counters) } else { Self::Changes(edits) }
    }
}

/// Removes noise from the differences between two versions, using a second response if there is
/// one, and learns from it.
pub(crate) fn judge<'a>(
    url: &str,
    old: &'a [Block],
    new: &'a [Block],
    again: Option<&'a [Block]>,
    noise: &Noise,
) -> RemainingChanges<'a> {
    let (old, new) = (lines(old), lines(new));
    if old.iter().map(|l| l.hash).eq(new.iter().map(|l| l.hash)) {
        return RemainingChanges::Nothing;
    }
    let page = xxh3_64(url.as_bytes());
    let Some(again) = again else {
        let explained = explain(&old, &new, None, &noise.known());
        let proof = explained.by_memory && page.is_multiple_of(PROVED);
        // Whether it is noise or not, what lies around needs no second response.
        let is_clear = explained.findings.is_empty() && !proof;
        return if is_clear { explained.remaining() } else { RemainingChanges::Unclear };
    };
    let again = lines(again);
    let strange = is_strange(&new, &again);
    let evidence = Evidence::of(&new, &again);
    if !strange {
        noise.change(|memory| memory.learn(page, &new, &evidence));
    }
    // An error page instead of a second response says nothing about the first.
    let evidence = (!strange || is_strange(&old, &new)).then_some(&evidence);
    explain(&old, &new, evidence, &noise.known()).remaining()
}

impl<'a> Explained<'a> {
    /// What it comes to.
    fn remaining(self) -> RemainingChanges<'a> {
        match (self.findings.is_empty(), self.around.is_empty()) {
            (false, _) => RemainingChanges::Changes(self.findings),
            (true, false) => RemainingChanges::Around(self.around),
            (true, true) => RemainingChanges::Nothing,
        }
    }
}

/// Learns from two back-to-back responses of a page.
pub(crate) fn learn(url: &str, one: &[Block], other: &[Block], noise: &Noise) {
    let (one, other) = (lines(one), lines(other));
    if is_strange(&one, &other) {
        return;
    }
    let evidence = Evidence::of(&one, &other);
    noise.change(|memory| memory.learn(xxh3_64(url.as_bytes()), &one, &evidence));
}
