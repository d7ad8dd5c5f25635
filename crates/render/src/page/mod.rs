//! What becomes of a page in the browser?

mod notes;
mod tab;

pub(crate) use tab::draw;

use crate::{FetchedPart, PartCounts, RenderError};
use bytes::Bytes;
use orb_page::{Headers, LinkKind, Problem};
use url::Url;

/// A page to render: the bytes that were fetched.
#[derive(Clone, Debug)]
pub struct PageJob {
    /// The URL that was requested.
    pub url: Url,
    /// The status of the response.
    pub status: u16,
    /// Its header fields.
    pub headers: Headers,
    /// Its body without transfer coding, with content coding.
    pub body: Bytes,
}

/// What came of rendering a page, and what it took.
#[derive(Debug)]
pub struct Rendering {
    /// The page, or why there is none.
    pub drawn: Result<DrawnPage, RenderError>,
    /// The parts that were fetched over the network.
    pub parts: Vec<FetchedPart>,
    /// How many parts there were.
    pub counts: PartCounts,
    /// What was odd about the page.
    pub problems: Vec<Problem>,
}

/// A page as its scripts have made it.
#[derive(Clone, Debug, Default)]
pub struct DrawnPage {
    /// The document as HTML.
    pub html: String,
    /// Addresses that the page went to or asked for, besides those in the document.
    pub links: Vec<UsedLink>,
    /// A picture of it.
    pub screenshot: Option<Bytes>,
    /// What it was made of.
    pub resources: Vec<SeenResource>,
}

/// Something that a page was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenResource {
    /// Its URL.
    pub url: String,
    /// How it was answered; 0 if it was not.
    pub status: u16,
    /// Its media type.
    pub mime: Option<String>,
    /// What the page wanted it for, as the browser calls it: `script`, `stylesheet`, `fetch`.
    pub kind: String,
}

/// An address that a page used while it was rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedLink {
    /// The address, absolute.
    pub url: String,
    /// What it was used for: asked for by a script, or gone to.
    pub kind: LinkKind,
}
