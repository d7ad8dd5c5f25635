//! Which number comes next?
//!
//! Pages and hosts are numbered in the order in which they are first seen. Numbers are given out
//! ahead of the commit that records them, singly or in blocks; those of a batch that was never
//! recorded are given out again.

use orb_page::{HostId, PageId};
use std::ops::Range;

/// Gives out the numbers of pages and hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdAllocator {
    next_page: u64,
    next_host: u32,
}

impl IdAllocator {
    /// Continues with these.
    pub(crate) fn from(page: PageId, host: HostId) -> Self {
        Self { next_page: page.0, next_host: host.0 }
    }

    /// The next number of a page.
    pub(crate) fn page(&mut self) -> PageId {
        PageId(self.pages(1).start)
    }

    /// The next `count` page numbers.
    pub(crate) fn pages(&mut self, count: u64) -> Range<u64> {
        let first = self.next_page;
        self.next_page += count;
        first..self.next_page
    }

    /// The next number of a host.
    pub(crate) fn host(&mut self) -> HostId {
        let host = HostId(self.next_host);
        self.next_host += 1;
        host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_given_twice() {
        let mut numbers = IdAllocator::from(PageId(7), HostId(3));
        assert_eq!((numbers.page(), numbers.pages(3), numbers.page()), (PageId(7), 8..11, PageId(11)));
        assert_eq!((numbers.host(), numbers.host()), (HostId(3), HostId(4)));
    }
}
