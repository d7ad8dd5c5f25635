//! What does a document say about itself?
//!
//! Author, dates, number of pages and size of a picture are in the document, not in the catalogue:
//! they are read from the archive when somebody asks about the page.

use crate::content::document_at;
use crate::{Collection, Result};
use orb_aside::HelperLimits;
use orb_page::{Document, PageKind};
use orb_store::{PageRow, VisitRow};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// Media types of which there is something to tell, besides documents.
const MEDIA: [&str; 3] = ["image/", "audio/", "video/"];

/// Maximum processor time for a document, and maximum time for it: somebody is waiting.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(6));

/// What a document, a picture or a recording says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DocumentProperties {
    /// Its title.
    pub title: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// When it was made, in RFC 3339, as exactly as it says.
    pub created: Option<String>,
    /// When it was last changed, likewise.
    pub modified: Option<String>,
    /// How many pages, sheets or slides it has.
    pub pages: Option<u32>,
    /// The width of a picture in pixels.
    pub width: Option<u32>,
    /// The height of a picture in pixels.
    pub height: Option<u32>,
}

impl DocumentProperties {
    /// Those of a page in its latest visit that archived it; `None` for a web page, and for what
    /// says nothing.
    pub(crate) fn of_page(collection: &Collection, page: &PageRow, visits: &[VisitRow]) -> Result<Option<Self>> {
        let is_binary = [PageKind::Binary, PageKind::Duplicate].iter().any(|kind| kind.name() == page.kind);
        let tells = |mime: &str| orb_extract::is_document_type(mime) || MEDIA.iter().any(|m| mime.starts_with(m));
        if !is_binary || !page.mime.as_deref().is_some_and(tells) {
            return Ok(None);
        }
        let Some(place) = visits.iter().find(|visit| visit.status.is_some()).and_then(VisitRow::warc) else {
            return Ok(None);
        };
        let limits = HelperLimits { cpu: PATIENCE.0, wall: PATIENCE.1, ..collection.limits()? };
        let document = document_at(collection.archive(), &place, &page.url, limits);
        Ok(document.map(Self::of).filter(|properties| *properties != Self::default()))
    }

    fn of(document: Document) -> Self {
        let Document { title, author, created, modified, page_count, pixels, .. } = document;
        let (width, height) = (pixels.map(|size| size.0), pixels.map(|size| size.1));
        Self { title, author, created, modified, pages: page_count, width, height }
    }
}
