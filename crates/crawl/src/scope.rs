//! What belongs to the collection, when a seed turns out to have moved?
//!
//! `http://example.org/` that answers "see https://www.example.org/" would end every crawl of scope `host` at its first page. So the
//! place a seed redirects to counts as a seed, too. The catalogue marks it as one, so that a resumed run knows it again.

use orb_urls::{Address, Scope, ScopeError, ScopeSpec};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The scope in force, which seeds that redirect may widen while pages are read.
pub(crate) struct SharedScope {
    spec: ScopeSpec,
    seeds: Mutex<Vec<Address>>,
    current: RwLock<Arc<Scope>>,
}

impl SharedScope {
    /// The scope around these seeds.
    pub(crate) fn new(spec: ScopeSpec, seeds: Vec<Address>) -> Result<Self, ScopeError> {
        let scope = Scope::new(&spec, &seeds)?;
        Ok(Self { spec, seeds: Mutex::new(seeds), current: RwLock::new(Arc::new(scope)) })
    }

    /// The scope as it is now.
    pub(crate) fn current(&self) -> Arc<Scope> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// One of the seeds.
    pub(crate) fn a_seed(&self) -> Option<Address> {
        self.seeds.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    /// Whether this is a seed, given or moved to.
    pub(crate) fn is_seed(&self, url: &str) -> bool {
        self.seeds.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|s| s.as_str() == url)
    }

    /// Takes note that a seed redirects: where it leads is a seed as well.
    pub(crate) fn seed_moved(&self, from: &Address, to: &Address) {
        let mut seeds = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        if !seeds.contains(from) || seeds.contains(to) {
            return;
        }
        seeds.push(to.clone());
        if let Ok(scope) = Scope::new(&self.spec, &seeds) {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(scope);
        }
    }
}
