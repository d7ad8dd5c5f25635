//! What is in scope when a seed turns out to have moved?
//!
//! `http://example.org/` that redirects to `https://www.example.org/` would end every crawl of
//! scope `host` at its first page. So the redirect target of a seed counts as a seed, too. The
//! catalogue holds the redirect, so a resumed run knows it again. Rules may change during a run,
//! too.

use orb_urls::scope::Action;
use orb_urls::{Address, Scope, ScopeError, ScopeRule, ScopeSpec};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The current scope, which redirecting seeds may extend while pages are read.
pub(crate) struct SharedScope {
    scope: RwLock<Scope>,
    first: Option<Address>,
}

impl SharedScope {
    /// The scope around these seeds.
    pub(crate) fn new(spec: &ScopeSpec, seeds: &[Address]) -> Result<Self, ScopeError> {
        Ok(Self { scope: RwLock::new(Scope::new(spec, seeds)?), first: seeds.first().cloned() })
    }

    /// The scope around addresses that are not seeds themselves.
    pub(crate) fn around(spec: &ScopeSpec, area: &[Address]) -> Result<Self, ScopeError> {
        let mut scope = Scope::new(spec, &[])?;
        area.iter().for_each(|address| scope.add_area(address));
        Ok(Self { scope: RwLock::new(scope), first: area.first().cloned() })
    }

    /// The current scope; it cannot be extended while this guard is held.
    pub(crate) fn current(&self) -> RwLockReadGuard<'_, Scope> {
        self.scope.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of the seeds.
    pub(crate) fn a_seed(&self) -> Option<&Address> {
        self.first.as_ref()
    }

    /// Whether this canonical URL is a seed, given or redirected to.
    pub(crate) fn is_seed(&self, url: &str) -> bool {
        Address::from_canonical(url).is_ok_and(|address| self.current().is_seed(&address))
    }

    /// Replaces the rules.
    pub(crate) fn set_rules(&self, rules: &[ScopeRule], default: Option<Action>) -> Result<(), ScopeError> {
        self.scope.write().unwrap_or_else(PoisonError::into_inner).set_rules(rules, default)
    }

    /// Extends the area by what lies around an address.
    pub(crate) fn widen(&self, around: &Address) {
        self.scope.write().unwrap_or_else(PoisonError::into_inner).add_area(around);
    }

    /// Adds an address to the seeds.
    pub(crate) fn add(&self, seed: &Address) {
        if !self.current().is_seed(seed) {
            self.scope.write().unwrap_or_else(PoisonError::into_inner).add_seed(seed);
        }
    }

    /// Records that a seed redirects: its target is a seed as well.
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
