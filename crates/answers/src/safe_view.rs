//! How does an archived page look, without anything that acts?
//!
//! Its text, tables and pictures, rewritten by `orb_extract::inert`. Links lead to pages of the
//! collection, wherever the caller keeps them; small pictures that are archived become part of the
//! page, since nothing is loaded from where it is shown.

use crate::content::{content, decoded, document, source};
use crate::{AnswerError, Collection, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orb_extract::{AddressUse, inert};
use orb_page::PageId;
use orb_store::PageRow;
use orb_urls::{Address, Canonicaliser, Rules};
use std::collections::HashMap;

/// Pictures that browsers only show.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

/// Maximum bytes of one picture, and of all.
const PICTURE: u64 = 1 << 18;
const ALL_PICTURES: usize = 4 << 20;

/// Maximum number of different addresses that are looked up.
const LOOKED_UP: usize = 5_000;

/// Maximum length of a page that is shown.
const LONGEST: usize = 8 << 20;

/// A page as it was captured, without anything that acts.
#[derive(Clone, Debug)]
pub struct SafeView {
    /// The page's URL.
    pub url: String,
    /// The run that saw it.
    pub run: u32,
    /// A whole document: only elements that arrange text, tables and pictures, with no address but
    /// the caller's and pictures that are part of it.
    pub document: String,
}

/// The view of a page as a run saw it, by default the latest. `address` says where a page of the
/// collection is to be found.
pub fn safe_view(
    collection: &Collection,
    id: u64,
    run: Option<u32>,
    address: impl Fn(&PageRow) -> String,
) -> Result<SafeView> {
    let page = collection.numbered(id)?;
    let version = content(collection, &page.url, run)?;
    let stored = version.exchange()?;
    let bytes = decoded(&stored)?;
    if bytes.len() > LONGEST {
        return Err(AnswerError::Refused(format!("{} is too long to be shown; download it", page.url)));
    }
    let html = source(&page.url, &stored, &bytes);
    let base = document(&page.url, &stored, collection.limits()?).base;
    let mut archived = ArchivedAddresses::of(collection, &page.url, base.as_deref())?;
    let body = inert(&html, |what, href| match what {
        AddressUse::Link => archived.page(href).map(|page| address(&page)),
        AddressUse::Picture => archived.picture(href),
    });
    let document = format!(
        "<!doctype html>\n<html><head><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <title>{id}</title></head>\n<body>{body}</body></html>\n"
    );
    Ok(SafeView { url: page.url, run: version.run, document })
}

/// What the addresses in a page denote.
struct ArchivedAddresses<'a> {
    collection: &'a Collection,
    canonical: Canonicaliser,
    base: Address,
    known: HashMap<String, Option<PageRow>>,
    room: usize,
}

impl<'a> ArchivedAddresses<'a> {
    fn of(collection: &'a Collection, url: &str, base: Option<&str>) -> Result<Self> {
        let canonical = Canonicaliser::new(Rules::default());
        let own = canonical.parse_seed(url).map_err(|e| AnswerError::Failed(e.to_string().into()))?;
        let base = canonical.canonical_base(&own, base).into_owned();
        Ok(Self { collection, canonical, base, known: HashMap::new(), room: ALL_PICTURES })
    }

    /// The page of the collection that an address denotes.
    fn page(&mut self, href: &str) -> Option<PageRow> {
        let url = self.canonical.resolve(&self.base, href).ok()?.into_string();
        if let Some(known) = self.known.get(&url) {
            return known.clone();
        }
        if self.known.len() >= LOOKED_UP {
            return None;
        }
        let found = self.collection.catalogue().page_by_url(&url).ok().flatten();
        self.known.insert(url, found.clone());
        found
    }

    /// A picture as an address that contains it; `None` if it is not archived, too large or not one
    /// that browsers only show.
    fn picture(&mut self, href: &str) -> Option<String> {
        let mut page = self.page(href)?;
        if let Some(same) = page.duplicate_of {
            page = self.collection.catalogue().page(PageId(same)).ok()??;
        }
        let mime = PICTURES.iter().find(|mime| page.mime.as_deref() == Some(**mime))?;
        page.length.filter(|length| *length <= PICTURE)?;
        let version = content(self.collection, &page.url, None).ok()?;
        let bytes = decoded(&version.exchange().ok()?).ok()?;
        self.room = self.room.checked_sub(bytes.len())?;
        Some(format!("data:{mime};base64,{}", STANDARD.encode(&bytes)))
    }
}
