//! How are pages, hosts, runs and URLs identified in few bytes?

use serde::{Deserialize, Serialize};

/// A page's number: dense, assigned at discovery from 1 upwards, never reused in its project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageId(pub u64);

/// A host's number: one for each scheme, name and port, dense from 1 upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostId(pub u32);

/// A run's number in its project, from 1 upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId(pub u32);

/// The 128-bit hash of a canonical URL, which the seen test compares.
///
/// At 10^9 URLs the probability of any collision is about 10^-21.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(pub u128);

impl UrlKey {
    /// The key of a canonical URL.
    pub fn of(canonical: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(canonical.as_bytes()))
    }
}
