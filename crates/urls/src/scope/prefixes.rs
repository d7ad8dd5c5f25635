//! Does this start with one of those prefixes?
//!
//! In a sorted list where no member is a prefix of another, any text has one candidate: the last
//! member that does not sort after it. So a look-up is a binary search, not a scan.

use crate::Address;
use std::collections::HashMap;

/// Prefixes, none of which is a prefix of another.
#[derive(Debug, Default)]
pub(super) struct PrefixSet(Vec<String>);

impl PrefixSet {
    pub(super) fn new(mut prefixes: Vec<String>) -> Self {
        prefixes.sort_unstable();
        prefixes.dedup_by(|later, kept| later.starts_with(kept.as_str()));
        Self(prefixes)
    }

    pub(super) fn insert(&mut self, prefix: &str) {
        if !self.contains(prefix) {
            self.0.retain(|longer| !longer.starts_with(prefix));
            let place = self.0.partition_point(|p| p.as_str() < prefix);
            self.0.insert(place, prefix.to_owned());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        let after = self.0.partition_point(|p| p.as_str() <= text);
        after > 0 && text.starts_with(self.0[after - 1].as_str())
    }
}

/// The directories of the seeds by host. As for hosts, `http` and `https` are one, and 0 is the
/// default port.
#[derive(Debug, Default)]
pub(super) struct Directories(HashMap<Box<str>, Vec<(u16, PrefixSet)>>);

impl Directories {
    pub(super) fn new(seeds: &[Address]) -> Self {
        let mut gathered: HashMap<(&str, u16), Vec<String>> = HashMap::new();
        for seed in seeds {
            let place = (seed.host(), seed.unusual_port().unwrap_or(0));
            gathered.entry(place).or_default().push(directory(seed).to_owned());
        }
        let mut directories = Self::default();
        for ((host, port), paths) in gathered {
            directories.0.entry(host.into()).or_default().push((port, PrefixSet::new(paths)));
        }
        directories
    }

    pub(super) fn insert(&mut self, seed: &Address) {
        let port = seed.unusual_port().unwrap_or(0);
        let servers = self.0.entry(seed.host().into()).or_default();
        match servers.iter_mut().find(|(known, _)| *known == port) {
            Some((_, paths)) => paths.insert(directory(seed)),
            None => servers.push((port, PrefixSet::new(vec![directory(seed).to_owned()]))),
        }
    }

    pub(super) fn contains(&self, target: &Address) -> bool {
        let port = target.unusual_port().unwrap_or(0);
        self.0
            .get(target.host())
            .is_some_and(|servers| servers.iter().any(|(known, paths)| *known == port && paths.contains(target.path())))
    }
}

/// The path up to its last slash.
fn directory(seed: &Address) -> &str {
    let path = seed.path();
    &path[..path.rfind('/').map_or(path.len(), |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_set_answers_like_a_walk_over_the_list(
            prefixes in prop::collection::vec("[ab/]{0,4}", 0..8), more in "[ab/]{0,4}", text in "[ab/]{0,6}",
        ) {
            let mut set = PrefixSet::new(prefixes.clone());
            prop_assert_eq!(set.contains(&text), prefixes.iter().any(|p| text.starts_with(p.as_str())));
            set.insert(&more);
            prop_assert_eq!(set.contains(&text), prefixes.iter().chain([&more]).any(|p| text.starts_with(p.as_str())));
        }
    }
}
