//! What is remembered between two looks at a page, and of the noise of its host?

use bytes::Bytes;
use hashbrown::HashMap;
use orb_extract::Content;
use orb_page::{HostId, PageId};
use orb_track::noise::Noise;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of first answers that are kept while the second is on its way.
const MAX_KEPT: usize = 64 << 20;

/// One version of a page with its codings taken off.
#[derive(Clone, Debug, Default)]
pub(crate) struct First {
    /// The content.
    pub bytes: Bytes,
    /// The media type its server gave.
    pub mime: Option<String>,
    /// The character encoding its server gave.
    pub charset: Option<String>,
    /// How many answers there were before it.
    pub earlier: u8,
}

impl First {
    /// For the extractors.
    pub(crate) fn content<'a>(&'a self, url: &'a str) -> Content<'a> {
        Content { bytes: &self.bytes, mime: self.mime.as_deref(), charset: self.charset.as_deref(), url }
    }
}

/// First answers of pages that are looked at twice.
#[derive(Debug, Default)]
pub(crate) struct Looks(Mutex<(HashMap<PageId, First>, usize)>);

impl Looks {
    /// Keeps a first answer; `false` where there is no room for it.
    pub(crate) fn keep(&self, page: PageId, first: First) -> bool {
        let (kept, bytes) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *bytes + first.bytes.len() > MAX_KEPT {
            return false;
        }
        *bytes += first.bytes.len();
        kept.insert(page, first);
        true
    }

    /// The first answer of a page that is looked at for the second time.
    pub(crate) fn take(&self, page: PageId) -> Option<First> {
        let (kept, bytes) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = kept.remove(&page)?;
        *bytes -= first.bytes.len();
        Some(first)
    }
}

/// What is drawn anew for every answer, host by host.
#[derive(Debug, Default)]
pub(crate) struct Noises(Mutex<HashMap<HostId, Kept>>);

/// What is drawn anew on a host, and how much of it is kept in the catalogue.
#[derive(Debug, Default)]
struct Kept {
    noise: Arc<Noise>,
    kept: u64,
}

impl Noises {
    /// What earlier runs have learnt, as it was kept.
    pub(crate) fn recall(kept: impl IntoIterator<Item = (HostId, String)>) -> Self {
        let known =
            kept.into_iter().map(|(host, text)| (host, Kept { noise: Arc::new(Noise::from_text(&text)), kept: 0 }));
        Self(Mutex::new(known.collect()))
    }

    /// That of a host.
    pub(crate) fn of(&self, host: HostId) -> Arc<Noise> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&all.entry(host).or_default().noise)
    }

    /// What was learnt since the last time, to be kept.
    pub(crate) fn learnt(&self) -> Vec<(HostId, String)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new = Vec::new();
        for (host, known) in all.iter_mut() {
            let learnt = known.noise.learnt();
            if std::mem::replace(&mut known.kept, learnt) != learnt {
                new.push((*host, known.noise.to_text()));
            }
        }
        new
    }
}
