//! Which numbers do candidates get?
//!
//! The recorder asks here, before it records a batch, for the page and host of every link. A
//! committed page has its number; one that was asked for since the last commit has a provisional
//! number, which the next commit makes permanent; any other gets the next number. The caller puts
//! new pages into its batch in the order in which they were numbered; new hosts are added to the
//! batch automatically.

use super::numbers::IdAllocator;
use super::{Project, Truth};
use crate::error::Result;
use crate::index::name_key;
use crate::{Batch, NewHost};
use orb_page::{HostId, Moment, PageId, UrlKey};
use orb_urls::Origin;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The number of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is recorded.
    Known(PageId),
    /// It got its number since the last commit.
    Pending(PageId),
    /// It has just got its number, and the next commit must record it.
    New(PageId),
}

impl Admission {
    /// The number, however it was come by.
    pub fn page(self) -> PageId {
        match self {
            Self::Known(page) | Self::Pending(page) | Self::New(page) => page,
        }
    }
}

/// What was given a number since the last commit.
pub(super) struct Admitted {
    numbers: IdAllocator,
    pages: HashMap<u128, PageId, BuildHasherDefault<KeyHasher>>,
    hosts: HashMap<u128, HostId, BuildHasherDefault<KeyHasher>>,
    new_hosts: Vec<NewHost>,
}

/// Keys are hashes already.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxhash_rust::xxh3::xxh3_64(bytes);
    }

    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

impl Admitted {
    pub(super) fn new(numbers: IdAllocator) -> Self {
        Self { numbers, pages: HashMap::default(), hosts: HashMap::default(), new_hosts: Vec::new() }
    }

    /// Gives a batch the hosts that its pages name.
    pub(super) fn complete(&mut self, batch: &mut Batch) {
        batch.hosts.append(&mut self.new_hosts);
    }

    /// Everything that was given out is recorded; the next numbers are these.
    pub(super) fn settle(&mut self, numbers: IdAllocator) {
        self.numbers = numbers;
        self.clear();
    }

    /// Everything that was given out is recorded.
    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.hosts.clear();
    }
}

impl Project {
    /// Gives every candidate its number, in order. What is [`Admission::New`] is to be put into the
    /// next batch, in that order.
    pub fn admit(&mut self, keys: &[UrlKey], out: &mut Vec<Admission>) -> Result<()> {
        let known = self.index.seen(keys)?;
        let Self { admitted: Admitted { numbers, pages, .. }, truth, .. } = self;
        let mut drawn = match truth {
            Truth::Here(_) => None,
            Truth::There(there) => {
                // All that may be needed first: what has got a number must not be forgotten.
                there.writer.refill(keys.len() as u64)?;
                Some(&mut there.writer)
            }
        };
        let mut next = || drawn.as_mut().and_then(|writer| writer.next_page()).unwrap_or_else(|| numbers.page());
        out.extend(keys.iter().zip(known).map(|(key, known)| match known {
            Some(page) => Admission::Known(page),
            None => match pages.entry(key.0) {
                std::collections::hash_map::Entry::Occupied(pending) => Admission::Pending(*pending.get()),
                std::collections::hash_map::Entry::Vacant(fresh) => Admission::New(*fresh.insert(next())),
            },
        }));
        Ok(())
    }

    /// The number of a host; one that is met for the first time gets the next, and is recorded with
    /// the next batch.
    pub fn admit_host(&mut self, origin: &Origin, now: impl FnOnce() -> Moment) -> Result<HostId> {
        let key = name_key(origin.scheme, &origin.host, origin.port);
        if let Some(host) = self.admitted.hosts.get(&key) {
            return Ok(*host);
        }
        if let Some(host) = self.index.host_at(key)? {
            return Ok(host);
        }
        let id = match &mut self.truth {
            Truth::Here(_) => self.admitted.numbers.host(),
            Truth::There(there) => there.writer.next_host()?,
        };
        let (scheme, name) = (origin.scheme.to_owned(), origin.host.clone());
        self.admitted.new_hosts.push(NewHost { id, scheme, name, port: origin.port, at: now() });
        self.admitted.hosts.insert(key, id);
        Ok(id)
    }
}
