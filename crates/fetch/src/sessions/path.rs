//! What is asked of a server that has files in directories?
//!
//! A path that ends in a slash is a directory, any other is a file. What the listing of its
//! directory says of a file may settle it without a transfer.

use super::SessionCall;
use crate::FetchConfig;
use crate::listed::{Entry, EntryStamp, Listed, Listen};
use crate::names::{answer, bare, mime_of, stamped};
use orb_page::{Body, Failure, Purpose, Response, Truncation, Version};

/// A file or directory being asked for.
pub(crate) struct PathCall<'a> {
    pub(crate) call: SessionCall<'a>,
    /// The bytes of its path.
    pub(crate) path: Vec<u8>,
    /// The version that is known, unless another is wanted in any case.
    pub(crate) latest: Option<&'a Version>,
    /// The listing that others wait for, if this is a directory.
    pub(crate) pending: Option<Listen<'a>>,
    listed: &'a Listed,
}

impl<'a> PathCall<'a> {
    pub(crate) fn new(call: SessionCall<'a>, path: Vec<u8>, listed: &'a Listed) -> Self {
        let latest = call.latest();
        let mut asked = Self { call, path, latest, pending: None, listed };
        // Tasks that ask for an entry wait for it from here on.
        asked.pending = asked.is_directory().then(|| listed.begin(&asked.call.lease.url));
        asked
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.path.is_empty() || self.path.ends_with(b"/")
    }

    /// A file that its directory lists as it was: nothing is asked.
    pub(crate) async fn recalled(&self, protocol: &'static str) -> Result<Option<Response>, Failure> {
        let Some(latest) = self.latest.filter(|_| !self.is_directory()) else { return Ok(None) };
        match self.listed.look_patiently(&self.call.lease.url).await {
            Entry::Listed(Some(stamp)) if stamp.is_of(latest) => unchanged(&stamp, protocol).map(Some),
            _ => Ok(None),
        }
    }

    /// The answer about a file that need not be transferred: it is as it was, or is not wanted.
    pub(crate) fn settled(
        &self,
        stamp: Option<&EntryStamp>,
        config: &FetchConfig,
        protocol: &'static str,
    ) -> Result<Option<Response>, Failure> {
        if let (Some(latest), Some(stamp)) = (self.latest, stamp)
            && stamp.is_of(latest)
        {
            return unchanged(stamp, protocol).map(Some);
        }
        let Some(why) = self.unwanted(stamp, config) else { return Ok(None) };
        let response = stamped(answer(200, self.mime(), Body::empty(), protocol)?, stamp);
        Ok(Some(Response { truncated: Some(why), ..response }))
    }

    /// What the name of the file says it is.
    pub(crate) fn mime(&self) -> &'static str {
        mime_of(self.call.address.path())
    }

    /// Why the file is not fetched, if it is not.
    fn unwanted(&self, stamp: Option<&EntryStamp>, config: &FetchConfig) -> Option<Truncation> {
        let mime = self.mime();
        if self.call.lease.purpose == Purpose::Page && !mime.ends_with("/unknown") && !config.accepts(mime) {
            return Some(Truncation::Unwanted);
        }
        let most = config.max_size_of(Some(mime));
        stamp.and_then(|stamp| stamp.size).is_some_and(|size| size > most).then_some(Truncation::Length)
    }
}

fn unchanged(stamp: &EntryStamp, protocol: &'static str) -> Result<Response, Failure> {
    Ok(stamped(bare(304, protocol)?, Some(stamp)))
}
