//! Which page does this URL denote?
//!
//! People paste URLs as their browsers show them. A page is looked up by the URL as typed, then by
//! its canonical form, then by its identity without the session ids of its host.

use crate::{AnswerError, Collection, Result, clip};
use orb_page::PageId;
use orb_store::PageRow;
use orb_urls::session::Site;
use orb_urls::{Canonicaliser, Rules};

impl Collection {
    /// The title that the latest visit of a page found.
    pub fn title(&self, page: PageId) -> Result<Option<String>> {
        Ok(self.catalogue().title(page)?)
    }

    /// The page with this number.
    pub fn numbered(&self, page: u64) -> Result<PageRow> {
        let unknown = || AnswerError::Unknown(format!("project {} has no page {page}", self.name()));
        // Numbers beyond those of SQL are nobody's.
        let known = i64::try_from(page).ok().map(|_| self.catalogue().page(PageId(page))).transpose()?;
        known.flatten().ok_or_else(unknown)
    }

    /// The page with this URL, as typed, in canonical form, or without the session ids of its host.
    pub fn page(&self, url: &str) -> Result<PageRow> {
        if let Some(page) = self.catalogue().page_by_url(url)? {
            return Ok(page);
        }
        let canonical = Canonicaliser::new(Rules::default()).parse_seed(url);
        let canonical =
            canonical.map_err(|e| AnswerError::Malformed(format!("'{}' is not a URL: {e}", clip(url, 100))))?;
        if let Some(page) = self.catalogue().page_by_url(canonical.as_str())? {
            return Ok(page);
        }
        for rules in self.catalogue().sessions(canonical.host())? {
            let site: Site = serde_json::from_str(&rules).unwrap_or_default();
            if let Some(page) = self.catalogue().page_by_url(&site.identity(canonical.as_str()))? {
                return Ok(page);
            }
        }
        Err(AnswerError::Unknown(format!("project {} does not know {}", self.name(), canonical.as_str())))
    }
}
