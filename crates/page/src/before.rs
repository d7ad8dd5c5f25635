//! What is known of a page that is visited again?

use crate::{Moment, PageId, PageKind, RunId, WarcPosition};

/// What earlier runs saw of a page. It travels with the lease, so that whoever asks and whoever reads the answer need no store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Whether a document was there when the page was last seen: a passing failure changes nothing, an answer that it is gone does.
    pub there: bool,
    /// The runs in a row that were told it is gone, while that is not confirmed.
    pub misses: u32,
    /// What the last visit that got it saw, where there was one.
    pub latest: Option<Version>,
    /// The version that was last reported as new or updated: what later ones are held against. `None` where it is the latest.
    pub reported: Option<Version>,
}

/// One version of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The run that saw it.
    pub run: RunId,
    /// When.
    pub at: Moment,
    /// What it was.
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
    /// Where the archive holds it.
    pub warc: Option<WarcPosition>,
}

impl Before {
    /// The version that a new one is held against.
    pub fn base(&self) -> Option<&Version> {
        self.reported.as_ref().or(self.latest.as_ref())
    }
}
