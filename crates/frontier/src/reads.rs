//! What must be read from the store, and by whom?
//!
//! The frontier lives behind a mutex that every fetching task takes twice per page, so it does no
//! I/O. When it needs something from the store it says so ([`StoreRead`], from
//! [`Frontier::next`](crate::Frontier::next)) and continues with other hosts. The driver reads on a
//! thread that may block ([`StoreRead::answer`]) and passes the answer back
//! ([`Frontier::answered`](crate::Frontier::answered)). Several reads are outstanding at a time, so
//! a store behind a network costs latency but no throughput, and the next part of a queue is
//! prefetched before the last one is used up.
//!
//! An answer describes the store as it was when it was read. A page committed between the read and
//! the answer would look queued, and be granted twice: so pages that leave their queues while a
//! refill is outstanding are remembered until it is answered.

use hashbrown::HashMap;
use orb_page::{HostId, PageId};
use orb_store::{HostRecord, Queued, Queues};
use std::collections::{BTreeSet, VecDeque};

/// Maximum outstanding reads.
const AT_ONCE: usize = 32;

/// Something the frontier needs from the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreRead {
    /// The next pages of a host's queue.
    Refill(Refill),
    /// What is known of a host.
    Load(HostId),
    /// The next hosts with queued pages.
    Walk(HostScan),
}

/// The next pages of a host's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refill {
    /// The host.
    pub host: HostId,
    /// Strictly after this one.
    pub after: Option<(u64, PageId)>,
    /// Maximum number of pages.
    pub limit: usize,
    /// Distinguishes answers to this request from those to an older one about the same host.
    pub(crate) ticket: u64,
}

/// The next hosts with queued pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostScan {
    /// Numbered above this one.
    pub after: HostId,
    /// Maximum number of hosts.
    pub limit: usize,
}

/// The store's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreAnswer {
    /// The pages a refill found.
    Refilled(Refill, Vec<Queued>),
    /// A host's record, if there is one.
    Loaded(HostId, Option<HostRecord>),
    /// The hosts found, and the last one examined; `None` if there are no more.
    Walked(Vec<HostRecord>, Option<HostId>),
}

impl StoreRead {
    /// Reads the store. May block: do not call it on a thread that drives sockets, nor while the
    /// frontier is locked.
    pub fn answer<Q: Queues>(&self, queues: &Q) -> Result<StoreAnswer, Q::Error> {
        Ok(match self {
            Self::Refill(refill) => {
                let pages = queues.peek(refill.host, refill.after, refill.limit)?;
                StoreAnswer::Refilled(refill.clone(), pages)
            }
            Self::Load(host) => StoreAnswer::Loaded(*host, queues.host(*host)?),
            Self::Walk(walk) => {
                let (mut hosts, mut at) = (Vec::new(), walk.after);
                for _ in 0..walk.limit {
                    let Some(host) = queues.next_host(at)? else { return Ok(StoreAnswer::Walked(hosts, None)) };
                    hosts.extend(queues.host(host)?);
                    at = host;
                }
                StoreAnswer::Walked(hosts, Some(at))
            }
        })
    }
}

/// Pending and outstanding reads.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    wanted: VecDeque<StoreRead>,
    out: usize,
    tickets: u64,
    /// Outstanding refills.
    refills: BTreeSet<u64>,
    /// Pages that left their queues while refills were outstanding, with the last ticket issued by
    /// then.
    left: HashMap<PageId, u64>,
    /// The same in the order in which they left.
    leaving: VecDeque<(u64, PageId)>,
}

impl Reads {
    /// Requests the next pages of a host; returns the ticket of its answer.
    pub(crate) fn refill(&mut self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> u64 {
        self.tickets += 1;
        let ticket = self.tickets;
        self.refills.insert(ticket);
        self.want(StoreRead::Refill(Refill { host, after, limit, ticket }));
        ticket
    }

    /// Requests something else.
    pub(crate) fn want(&mut self, read: StoreRead) {
        self.wanted.push_back(read);
    }

    /// The next read to make, if one is pending and not too many are outstanding.
    pub(crate) fn hand_out(&mut self) -> Option<StoreRead> {
        let read = if self.out < AT_ONCE { self.wanted.pop_front() } else { None };
        self.out += usize::from(read.is_some());
        read
    }

    /// Number of outstanding reads.
    pub(crate) fn out(&self) -> usize {
        self.out
    }

    /// A read was answered.
    pub(crate) fn answered(&mut self) {
        self.out = self.out.saturating_sub(1);
    }

    /// A refill was answered and applied.
    pub(crate) fn close(&mut self, ticket: u64) {
        self.refills.remove(&ticket);
        let oldest = self.refills.first().copied().unwrap_or(u64::MAX);
        while let Some(&(stamp, page)) = self.leaving.front().filter(|(stamp, _)| *stamp < oldest) {
            self.leaving.pop_front();
            // Unless it left once more since.
            if self.left.get(&page) == Some(&stamp) {
                self.left.remove(&page);
            }
        }
    }

    /// Pages have left their queues.
    pub(crate) fn note_left(&mut self, pages: &[PageId]) {
        if !self.refills.is_empty() {
            self.left.extend(pages.iter().map(|page| (*page, self.tickets)));
            self.leaving.extend(pages.iter().map(|page| (self.tickets, *page)));
        }
    }

    /// Whether a page left its queue after this refill was requested.
    pub(crate) fn has_left(&self, page: PageId, ticket: u64) -> bool {
        self.left.get(&page).is_some_and(|stamp| *stamp >= ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_left_are_remembered_as_long_as_a_refill_may_still_name_them() {
        let mut reads = Reads::default();
        reads.note_left(&[PageId(1)]);
        assert!(!reads.has_left(PageId(1), 0), "nobody asked");
        let first = reads.refill(HostId(1), None, 9);
        reads.note_left(&[PageId(2)]);
        let second = reads.refill(HostId(2), None, 9);
        assert!(reads.has_left(PageId(2), first) && !reads.has_left(PageId(2), second));
        reads.note_left(&[PageId(3), PageId(2)]);
        reads.close(first);
        assert!(reads.has_left(PageId(2), second) && reads.has_left(PageId(3), second), "left again since");
        reads.close(second);
        assert!(reads.left.is_empty() && reads.leaving.is_empty());
    }

    #[test]
    fn a_bounded_number_of_reads_is_out_at_a_time() {
        let mut reads = Reads::default();
        (0..99).for_each(|host| reads.want(StoreRead::Load(HostId(host))));
        assert_eq!(std::iter::from_fn(|| reads.hand_out()).count(), AT_ONCE);
        reads.answered();
        assert_eq!(reads.hand_out(), Some(StoreRead::Load(HostId(32))));
        assert_eq!(reads.hand_out(), None);
    }
}
