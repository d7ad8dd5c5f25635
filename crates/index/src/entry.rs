//! What of a page goes into the index?
//!
//! An [`Entry`] owns its texts and is read where it lies: nothing of it is copied on its way into the index. Its weight counts as
//! memory until it is dropped, which the index does as soon as it has been read.

use crate::analyze::{StemLanguage, stems};
use crate::schema::{AT, BODY, CLUSTER, HEADINGS, HOST, ID, SIMHASH, TAG, TITLE, URL};
use orb_page::{HostId, Moment, PageId, PageKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tantivy::schema::Field;
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::tokenizer::PreTokenizedString;

/// The tag of every page that can be found.
pub(crate) const EVERY: &str = "all";

/// A page to be found.
#[derive(Debug, Default)]
pub struct Entry {
    /// Its number.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// When it was fetched.
    pub at: Moment,
    /// Its canonical URL.
    pub url: String,
    /// The page whose content it repeats, or itself.
    pub cluster: PageId,
    /// SimHash of its text; 0 where there is none.
    pub simhash: u64,
    /// Its media type.
    pub mime: Option<String>,
    /// Its language.
    pub lang: Option<String>,
    /// Its title.
    pub title: String,
    /// Its headings, one a line.
    pub headings: String,
    /// Its visible text.
    pub text: String,
    /// Whether it asked to be left out: it is known, and found by nothing.
    pub hidden: bool,
    /// What it takes in memory, told to whoever counts.
    pub load: Load,
}

/// Whether a page is one to be found: it was there, and it says something.
pub fn is_searchable(kind: PageKind, status: Option<u16>, has_words: bool) -> bool {
    let kept = matches!(kind, PageKind::Html | PageKind::Binary | PageKind::Duplicate);
    kept && has_words && status.is_some_and(|status| (200..300).contains(&status))
}

/// A share of the memory that entries may take, given back when it is dropped.
#[derive(Debug, Default)]
pub struct Load {
    bytes: u64,
    total: Option<Arc<AtomicU64>>,
}

impl Load {
    /// Takes so many bytes.
    pub fn take(total: &Arc<AtomicU64>, bytes: u64) -> Self {
        total.fetch_add(bytes, Ordering::Relaxed);
        Self { bytes, total: Some(Arc::clone(total)) }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if let Some(total) = &self.total {
            total.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

impl Entry {
    /// About how many bytes it takes in memory.
    pub fn weight(&self) -> u64 {
        (size_of::<Self>() + self.url.len() + self.title.len() + self.headings.len() + self.text.len()) as u64
    }
}

/// An entry made ready to be read by the index.
pub(crate) struct Prepared {
    entry: Entry,
    tags: String,
    address: String,
    /// Title, headings and text as stems, where the page's language is one to be stemmed.
    stems: Option<Box<[PreTokenizedString; 3]>>,
}

impl Prepared {
    pub(crate) fn new(entry: Entry, stem: Option<StemLanguage>) -> Self {
        let stems = stem
            .filter(|_| !entry.hidden)
            .map(|language| Box::new([&entry.title, &entry.headings, &entry.text].map(|text| stems(language, text))));
        let tags = if entry.hidden { String::new() } else { tags(&entry) };
        Self { tags, address: address(&entry.url), stems, entry }
    }

    fn words<'a>(&'a self, which: usize, text: &'a str) -> Piece<'a> {
        match &self.stems {
            Some(stems) => Piece::Stems(&stems[which]),
            None => Piece::Text(text),
        }
    }
}

/// A value of a field, where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    Number(u64),
    Moment(i64),
    Text(&'a str),
    Stems(&'a PreTokenizedString),
}

impl<'a> Value<'a> for Piece<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Number(n) => ReferenceValueLeaf::U64(n),
            Self::Moment(at) => ReferenceValueLeaf::I64(at),
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Stems(stems) => ReferenceValueLeaf::PreTokStr(Box::new(stems.clone())),
        })
    }
}

impl Document for Prepared {
    type Value<'a> = Piece<'a>;
    type FieldsValuesIter<'a> = std::iter::Take<std::array::IntoIter<(Field, Piece<'a>), 10>>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let e = &self.entry;
        let fields = [
            (ID, Piece::Number(e.page.0)),
            (HOST, Piece::Number(u64::from(e.host.0))),
            (AT, Piece::Moment(e.at.0)),
            (CLUSTER, Piece::Number(e.cluster.0)),
            (SIMHASH, Piece::Number(e.simhash)),
            (TAG, Piece::Text(&self.tags)),
            (TITLE, self.words(0, &e.title)),
            (HEADINGS, self.words(1, &e.headings)),
            (BODY, self.words(2, &e.text)),
            (URL, Piece::Text(&self.address)),
        ];
        fields.into_iter().take(if e.hidden { 5 } else { 10 })
    }
}

/// By what results are narrowed, parted by spaces: `all host=docs.a.org site=docs.a.org site=a.org site=org lang=en type=html`.
fn tags(entry: &Entry) -> String {
    use std::fmt::Write as _;
    let host = host_of(&entry.url).to_ascii_lowercase();
    let mut tags = format!("{EVERY} host={host}");
    let mut rest = Some(host.as_str());
    while let Some(site) = rest {
        let _ = write!(tags, " site={site}");
        rest = if site.starts_with('[') { None } else { site.split_once('.').map(|(_, rest)| rest) };
    }
    if let Some(lang) = entry.lang.as_deref().map(str::to_ascii_lowercase) {
        let lang = lang.replace('_', "-");
        let mut rest = Some(lang.as_str());
        while let Some(lang) = rest.filter(|lang| !lang.contains(' ')) {
            let _ = write!(tags, " lang={lang}");
            rest = lang.rsplit_once('-').map(|(first, _)| first);
        }
    }
    if let Some(mime) = entry.mime.as_deref().filter(|mime| !mime.contains(' ')) {
        let _ = write!(tags, " type={mime}");
    }
    let path = entry.url.split(['?', '#']).next().unwrap_or_default();
    let name = path.splitn(4, '/').nth(3).and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let ending = ending.filter(|e| e.len() <= 8 && e.bytes().all(|b| b.is_ascii_alphanumeric()) && !e.is_empty());
    let kind = kind_of(entry.mime.as_deref());
    for ending in ending.iter().map(String::as_str).chain(kind.filter(|kind| Some(*kind) != ending.as_deref())) {
        let _ = write!(tags, " type={ending}");
    }
    tags
}

/// The usual ending of a media type, where it is one that people ask for.
fn kind_of(mime: Option<&str>) -> Option<&'static str> {
    Some(match mime? {
        "text/html" | "application/xhtml+xml" => "html",
        "text/plain" => "txt",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/rss+xml" | "application/atom+xml" => "feed",
        mime if mime.ends_with("xml") => "xml",
        _ => return None,
    })
}

/// The host in a canonical URL, without its port.
pub(crate) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    match authority.find(']') {
        Some(close) => &authority[..=close],
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// A URL as words: without its scheme, escapes taken off where they are text.
fn address(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    if !rest.contains('%') {
        return rest.to_owned();
    }
    let (bytes, mut out, mut at) = (rest.as_bytes(), Vec::with_capacity(rest.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = (*byte == b'%').then(|| rest.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(url: &str, mime: &str, lang: &str) -> Entry {
        Entry { url: url.into(), mime: Some(mime.into()), lang: Some(lang.into()), ..Entry::default() }
    }

    #[test]
    fn tags_say_where_a_page_is_and_what() {
        assert_eq!(
            tags(&entry("https://docs.Python.org:81/3/a.HTML?x=1.png", "text/html", "en-US")),
            "all host=docs.python.org site=docs.python.org site=python.org site=org lang=en-us lang=en type=text/html type=html"
        );
        assert_eq!(
            tags(&entry("http://[::1]:8/feed", "application/rss+xml", "")),
            "all host=[::1] site=[::1] lang= type=application/rss+xml type=feed"
        );
        assert_eq!(host_of("http://u:p@a.b:8/x@y"), "a.b");
    }

    #[test]
    fn an_address_is_read_without_its_escapes() {
        assert_eq!(address("http://a.b/caf%C3%A9%2f%zz%"), "a.b/café/%zz%");
        assert_eq!(address("http://a.b/x_y"), "a.b/x_y");
    }

    #[test]
    fn only_what_was_there_and_says_something_is_searchable() {
        assert!(is_searchable(PageKind::Html, Some(200), true));
        assert!(is_searchable(PageKind::Duplicate, Some(200), true));
        assert!(!is_searchable(PageKind::HttpError, Some(404), true));
        assert!(!is_searchable(PageKind::Html, Some(200), false));
        assert!(!is_searchable(PageKind::Redirect, Some(301), true));
    }

    #[test]
    fn memory_is_given_back_with_the_entry() {
        let total = Arc::new(AtomicU64::new(0));
        let entry = Entry { load: Load::take(&total, 7), ..Entry::default() };
        assert_eq!(total.load(Ordering::Relaxed), 7);
        drop(entry);
        assert_eq!(total.load(Ordering::Relaxed), 0);
    }
}
