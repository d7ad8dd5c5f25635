//! What belongs to the collection, when a seed turns out to have moved?
//!
//! `http://example.org/` that answers "see https://www.example.org/" would end every crawl of scope `host` at its first page. So the
//! place a seed redirects to counts as a seed, too. The catalogue holds the redirect, so that a resumed run knows it again.

use orb_urls::{Address, Scope, ScopeError, ScopeSpec};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The scope in force, which seeds that redirect may widen while pages are read.
pub(crate) struct SharedScope {
    scope: RwLock<Scope>,
    first: Option<Address>,
}

impl SharedScope {
    /// The scope around these seeds.
    pub(crate) fn new(spec: &ScopeSpec, seeds: &[Address]) -> Result<Self, ScopeError> {
        Ok(Self { scope: RwLock::new(Scope::new(spec, seeds)?), first: seeds.first().cloned() })
    }

    /// The scope around addresses that are no seeds themselves.
    pub(crate) fn around(spec: &ScopeSpec, area: &[Address]) -> Result<Self, ScopeError> {
        let mut scope = Scope::new(spec, &[])?;
        area.iter().for_each(|address| scope.add_area(address));
        Ok(Self { scope: RwLock::new(scope), first: area.first().cloned() })
    }

    /// The scope as it is now; nobody can widen it as long as this is held.
    pub(crate) fn current(&self) -> RwLockReadGuard<'_, Scope> {
        self.scope.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of the seeds.
    pub(crate) fn a_seed(&self) -> Option<&Address> {
        self.first.as_ref()
    }

    /// Whether this canonical URL is a seed, given or moved to.
    pub(crate) fn is_seed(&self, url: &str) -> bool {
        Address::from_canonical(url).is_ok_and(|address| self.current().is_seed(&address))
    }

    /// Widens the area by what lies around an address.
    pub(crate) fn widen(&self, around: &Address) {
        self.scope.write().unwrap_or_else(PoisonError::into_inner).add_area(around);
    }

    /// Counts an address as a seed, too.
    pub(crate) fn add(&self, seed: &Address) {
        if !self.current().is_seed(seed) {
            self.scope.write().unwrap_or_else(PoisonError::into_inner).add_seed(seed);
        }
    }

    /// Takes note that a seed redirects: where it leads is a seed as well.
    pub(crate) fn seed_moved(&self, from: &Address, to: &Address) {
        let news = {
            let scope = self.current();
            scope.is_seed(from) && !scope.is_seed(to)
        };
        if news {
            self.scope.write().unwrap_or_else(PoisonError::into_inner).add_seed(to);
        }
    }
}
