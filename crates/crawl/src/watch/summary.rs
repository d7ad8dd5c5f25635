//! How did the run go, in numbers?

use crate::indexing::IndexAccount;
use orb_page::{Flag, PageKind, RunId, RunKind, RunState, SkipReason, Trap, Visit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run has done so far: stored with the run at every commit, so that a resumed run continues
/// counting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Pages fetched, of every kind.
    pub pages: u64,
    /// HTML pages with original content.
    pub html: u64,
    /// Anything else.
    pub binary: u64,
    /// Pages with the same content as an earlier one.
    pub duplicates: u64,
    /// Responses that point elsewhere.
    pub redirects: u64,
    /// Pages not fetched because of robots.txt.
    pub disallowed: u64,
    /// Pages that could not be fetched, or only with an error.
    pub errors: u64,
    /// Hosts of which a page was fetched.
    pub hosts: u64,
    /// Links recorded, one for each source, target and kind.
    pub links: u64,
    /// Images recorded.
    pub images: u64,
    /// Bytes of bodies as transferred.
    pub bytes: u64,
    /// Pages discovered.
    pub discovered: u64,
    /// Pages still queued.
    pub frontier: u64,
    /// Pages cut off as part of a trap.
    pub traps: BTreeMap<Trap, u64>,
    /// Seconds of work, over all resumptions.
    pub seconds: f64,
    /// Previously known documents that the run is to visit.
    #[serde(skip_serializing_if = "is_zero")]
    pub known: u64,
    /// Pages requested again that had no document before and have none now.
    #[serde(skip_serializing_if = "is_zero")]
    pub absent: u64,
    /// Visits by flag.
    pub flags: Flags,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Visits by flag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names are the flags")]
pub struct Flags {
    #[serde(rename = "NEW")]
    pub new: u64,
    #[serde(rename = "SAM")]
    pub same: u64,
    #[serde(rename = "UPD")]
    pub updated: u64,
    #[serde(rename = "MIS")]
    pub missing: u64,
    #[serde(rename = "ERR")]
    pub error: u64,
}

impl Counters {
    /// As stored with the run.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Counts a visit that is about to be recorded.
    ///
    /// In a run that revisits pages, flags are those of documents: `known = SAM + UPD + MIS + ERR`
    /// when all are visited.
    pub fn count(&mut self, visit: &Visit, tracks: bool) {
        self.pages += u64::from(visit.status.is_some());
        self.bytes += visit.transferred;
        self.images += visit.images.len() as u64;
        self.count_kind(visit.kind);
        if tracks && !(visit.known || visit.flag == Flag::New && visit.is_document()) {
            self.absent += u64::from(visit.flag == Flag::Error);
            return;
        }
        match visit.flag {
            Flag::New => self.flags.new += 1,
            Flag::Same => self.flags.same += 1,
            Flag::Updated => self.flags.updated += 1,
            Flag::Missing => self.flags.missing += 1,
            Flag::Error => self.flags.error += 1,
        }
    }

    /// Counts a page that is not fetched for this reason, if it is a trap.
    pub fn count_trap(&mut self, why: SkipReason) {
        if let Some(trap) = why.trap() {
            *self.traps.entry(trap).or_default() += 1;
        }
    }

    /// A page that was cut off is fetched after all.
    pub fn forgive_trap(&mut self, trap: Trap) {
        if let Some(count) = self.traps.get_mut(&trap) {
            *count = count.saturating_sub(1);
        }
    }

    /// Counts a page that ended as this kind.
    pub fn count_kind(&mut self, kind: PageKind) {
        match kind {
            PageKind::Html => self.html += 1,
            PageKind::Binary => self.binary += 1,
            PageKind::Duplicate => self.duplicates += 1,
            PageKind::Redirect => self.redirects += 1,
            PageKind::Disallowed => self.disallowed += 1,
            PageKind::DomainError | PageKind::Timeout | PageKind::BrowserError | PageKind::HttpError => {
                self.errors += 1;
            }
            PageKind::Frontier | PageKind::Outside | PageKind::Listing => {}
        }
    }
}

/// The object that `--json` ends with.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The project.
    pub project: String,
    /// The run.
    pub run: u32,
    /// `crawl` or `track`.
    pub kind: &'static str,
    /// How it ended.
    pub state: RunState,
    /// Its counters.
    #[serde(flatten)]
    pub counters: Counters,
    /// Pages per second, over the run's working time.
    pub pages_per_second: f64,
    /// Why pages remain in the queue, if any do: reason, hosts, an example.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// The state of the text index, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexAccount>,
}

impl Summary {
    /// The summary of a run that has ended.
    pub fn new(project: String, run: RunId, kind: RunKind, state: RunState, counters: Counters) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let pages_per_second = if counters.seconds > 0.0 { counters.pages as f64 / counters.seconds } else { 0.0 };
        Self {
            project,
            run: run.0,
            kind: kind.name(),
            state,
            counters,
            pages_per_second,
            waiting: Vec::new(),
            index: None,
        }
    }
}
