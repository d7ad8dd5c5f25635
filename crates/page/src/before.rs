//! What is known about a page that is revisited?

use crate::{Moment, PageId, PageKind, RunId, WarcPosition};

/// What earlier runs saw of a page. It travels with the lease, so that neither the fetcher nor the
/// reader needs a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageHistory {
    /// Whether the page existed when it was last seen. A temporary failure does not change this; a
    /// response that it is gone does.
    pub there: bool,
    /// Consecutive runs in which the server said it is gone, while that is unconfirmed.
    pub misses: u32,
    /// The last version fetched, if any.
    pub latest: Option<Version>,
    /// The version last reported as new or updated, which later ones are compared with. `None` if
    /// it is the latest.
    pub reported: Option<Version>,
}

/// One version of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The run that saw it.
    pub run: RunId,
    /// When it was seen.
    pub at: Moment,
    /// Its kind.
    pub kind: PageKind,
    /// Status code.
    pub status: Option<u16>,
    /// Media type.
    pub mime: Option<String>,
    /// Character encoding.
    pub charset: Option<String>,
    /// Length of the content.
    pub length: u64,
    /// sha256 of the content.
    pub digest: Option<[u8; 32]>,
    /// SimHash of the text.
    pub simhash: Option<u64>,
    /// Title.
    pub title: Option<String>,
    /// Language.
    pub lang: Option<String>,
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`, as the server wrote it.
    pub last_modified: Option<String>,
    /// An earlier page with the same content.
    pub duplicate_of: Option<PageId>,
    /// Its position in the archive.
    pub warc: Option<WarcPosition>,
}

impl PageHistory {
    /// The version that a new one is compared with.
    pub fn base(&self) -> Option<&Version> {
        self.reported.as_ref().or(self.latest.as_ref())
    }
}
