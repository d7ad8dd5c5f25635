//! What has a run done so far?
//!
//! The counters of a run, as the catalogue keeps them: stored at every commit, so that a resumed
//! run continues counting and any reader sees how far it has come.

use orb_page::{Flag, PageKind, SkipReason, Trap, Visit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run has done so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunCounters {
    /// Pages fetched, of every kind.
    pub pages: u64,
    /// HTML pages with original content.
    pub html: u64,
    /// Anything else.
    pub binary: u64,
    /// Pages with the same content as an earlier one.
    pub duplicates: u64,
    /// Addresses not fetched because they are aliases of known pages.
    #[serde(skip_serializing_if = "is_zero")]
    pub aliases: u64,
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
    #[schemars(with = "BTreeMap<String, u64>")]
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
    pub flags: FlagTally,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Visits by flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlagTally {
    /// New documents.
    #[serde(rename = "NEW")]
    pub new: u64,
    /// Unchanged documents.
    #[serde(rename = "SAM")]
    pub same: u64,
    /// Updated documents.
    #[serde(rename = "UPD")]
    pub updated: u64,
    /// Documents that are gone.
    #[serde(rename = "MIS")]
    pub missing: u64,
    /// Documents that could not be fetched.
    #[serde(rename = "ERR")]
    pub error: u64,
}

impl RunCounters {
    /// The counters that were stored with a run; those that cannot be read begin at nothing.
    pub fn of(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

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

    /// A visit that was counted as a redirect does not count after all; this was its flag.
    pub fn withdraw_redirect(&mut self, flag: Flag, tracks: bool) {
        let counter = match flag {
            Flag::New if !tracks => Some(&mut self.flags.new),
            Flag::Updated => Some(&mut self.flags.updated),
            Flag::Error if tracks => Some(&mut self.absent),
            _ => None,
        };
        let counters = [&mut self.pages, &mut self.redirects, &mut self.links].into_iter().chain(counter);
        counters.for_each(|counter| *counter = counter.saturating_sub(1));
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
