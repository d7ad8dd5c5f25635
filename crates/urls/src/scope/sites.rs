//! Is this the registrable domain of a seed?

use crate::Address;
use std::collections::HashSet;

/// The registrable domains of the seeds.
#[derive(Debug, Default)]
pub(super) struct Sites(HashSet<Box<str>>);

impl Sites {
    pub(super) fn new(seeds: &[Address]) -> Self {
        let mut sites = Self::default();
        seeds.iter().for_each(|seed| sites.insert(seed));
        sites
    }

    pub(super) fn insert(&mut self, seed: &Address) {
        self.0.insert(seed.site().into());
    }

    pub(super) fn contains(&self, target: &Address) -> bool {
        self.0.contains(target.site())
    }
}
