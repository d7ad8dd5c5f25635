//! What is known about aliases?

use super::Project;
use crate::error::Result;
use crate::sqlite::{FailedTest, PageStanding, WithheldAlias};
use orb_page::{HostId, IdSet, PageId, RunId};

impl Project {
    /// What is known about the aliases of up to `limit` hosts, as text.
    pub fn alias_rules(&self, limit: usize) -> Result<Vec<(HostId, String)>> {
        self.catalogue().alias_rules(limit)
    }

    /// The pages that withheld addresses are aliases of.
    pub fn alias_targets(&self) -> Result<IdSet> {
        self.catalogue().alias_targets()
    }

    /// What became of a page so far; `None` if it is not committed.
    pub fn standing(&self, page: PageId) -> Result<Option<PageStanding>> {
        self.catalogue().standing(page)
    }

    /// The host and the URL of a page.
    pub fn place_of(&self, page: PageId) -> Result<Option<(HostId, String)>> {
        self.catalogue().place_of(page)
    }

    /// The URLs that a page links to now, at most `limit`.
    pub fn link_urls(&self, page: PageId, limit: u32) -> Result<Vec<String>> {
        self.catalogue().link_urls(page, limit)
    }

    /// What a withheld address is an alias of, with its rules, one bit each.
    pub fn alias_target(&self, host: HostId, page: PageId) -> Result<Option<(PageId, u64)>> {
        self.catalogue().alias_target(host, page)
    }

    /// Whether an address is to be fetched as a test of the rules that make it an alias.
    pub fn is_alias_test(&self, host: HostId, page: PageId) -> Result<bool> {
        self.catalogue().is_alias_test(host, page)
    }

    /// The withheld aliases of a page.
    pub fn withheld_for(&self, target: PageId) -> Result<Vec<WithheldAlias>> {
        self.catalogue().withheld_for(target)
    }

    /// Up to `limit` addresses of a host that any of these rules withholds.
    pub fn withheld_by(&self, host: HostId, rules: u64, limit: u32) -> Result<Vec<WithheldAlias>> {
        self.catalogue().withheld_by(host, rules, limit)
    }

    /// Up to `limit` withheld addresses of a host that are numbered above `after`.
    pub fn withheld_of(&self, host: HostId, after: PageId, limit: u32) -> Result<Vec<WithheldAlias>> {
        self.catalogue().withheld_of(host, after, limit)
    }

    /// Withheld addresses whose page turned out not to be a document, is gone, or is not to be
    /// fetched.
    pub fn withheld_in_vain(&self) -> Result<Vec<WithheldAlias>> {
        self.catalogue().withheld_in_vain()
    }

    /// Tests in which both addresses were fetched by this run and have different content; with
    /// `settled`, only if neither changed in this run.
    pub fn failed_tests(&self, run: RunId, settled: bool) -> Result<Vec<FailedTest>> {
        self.catalogue().failed_tests(run, settled)
    }

    /// Number of pages fetched from a host.
    pub fn pages_fetched(&self, host: HostId) -> Result<u64> {
        self.catalogue().pages_fetched(host)
    }
}
