//! What do we make of one thing, without crawling and without a collection?
//!
//! One file per thing. The bytes are the caller's: nothing here reads a file or a socket. Only the
//! forms of a page can also be asked of the archive.

mod document;
mod forms;
mod robots;
mod sessions;
mod url;

pub use document::{InspectedDocument, InspectedImage, InspectedLink, inspect_document};
pub use forms::{PageForms, archived_forms, inspect_forms};
pub use robots::{RobotsVerdict, inspect_robots};
pub use sessions::{FoundSessionId, SessionReport, UrlIdentity, inspect_sessions};
pub use url::{InspectedUrl, UrlSessionId, inspect_urls};

use crate::{AnswerError, Result};
use orb_urls::{Address, Canonicaliser};

/// The URL that others are resolved against.
fn base(canonical: &Canonicaliser, base: &str) -> Result<Address> {
    canonical.parse_seed(base).map_err(|e| AnswerError::Malformed(format!("--base '{base}': {e}")))
}
