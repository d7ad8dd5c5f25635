//! What is indexed of a page?
//!
//! An [`IndexEntry`] owns its tokens. Its size counts against the memory budget until it is
//! dropped, which the index does as soon as it has been processed.

use crate::analyze::{StemLanguage, TokenizedText};
use crate::described::{DescriptionMark, UrlHash};
use crate::schema::{
    AROUND, AT, BODY, CLUSTER, DESCRIBED, HEADINGS, HOST, ID, NAME, SECTIONS, SIMHASH, TAG, TITLE, URL,
};
use crate::section::{NameMark, SectionMark};
use crate::segment::{NumericFields, NumericValue, Pile, Text};
use orb_page::{HostId, Moment, PageId, PageKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The tag of every page that can be found.
pub(crate) const EVERY: &str = "all";

/// A page to index.
#[derive(Debug, Default)]
pub struct IndexEntry {
    /// Its number.
    pub page: PageId,
    /// Its host.
    pub host: HostId,
    /// When it was fetched.
    pub at: Moment,
    /// Its canonical URL.
    pub url: String,
    /// The page whose content it duplicates, or itself.
    pub cluster: PageId,
    /// SimHash of its text; 0 if it has none.
    pub simhash: u64,
    /// Its media type.
    pub mime: Option<String>,
    /// Its language.
    pub lang: Option<String>,
    /// Its title.
    pub title: String,
    /// The tokens of its headings.
    pub headings: TokenizedText,
    /// The tokens of its own text.
    pub text: TokenizedText,
    /// The tokens of what stands around it, which are not among those.
    pub around: TokenizedText,
    /// Where its sections begin in the text, in order.
    pub sections: Vec<SectionMark>,
    /// Which other pages it describes, in order.
    pub described: Vec<DescriptionMark>,
    /// How many hundredths of its text are links to elsewhere.
    pub linked: u8,
    /// Whether it asked not to be indexed: it is recorded but matches nothing.
    pub hidden: bool,
    /// Its share of the memory budget.
    pub load: MemoryReservation,
}

/// Whether a page is worth indexing: it was fetched successfully and has text.
pub fn is_searchable(kind: PageKind, status: Option<u16>, has_words: bool) -> bool {
    let kept = matches!(kind, PageKind::Html | PageKind::Binary | PageKind::Duplicate);
    kept && has_words && status.is_some_and(|status| (200..300).contains(&status))
}

/// A reservation of the entries' memory budget, released on drop.
#[derive(Debug, Default)]
pub struct MemoryReservation {
    bytes: u64,
    total: Option<Arc<AtomicU64>>,
}

impl MemoryReservation {
    /// Reserves this many bytes.
    pub fn take(total: &Arc<AtomicU64>, bytes: u64) -> Self {
        // Relaxed: the total is only compared with a limit and guards no other data.
        total.fetch_add(bytes, Ordering::Relaxed);
        Self { bytes, total: Some(Arc::clone(total)) }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if let Some(total) = &self.total {
            total.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

impl IndexEntry {
    /// Approximate memory use in bytes.
    pub fn heap_bytes(&self) -> u64 {
        (size_of::<Self>() + self.url.len() + self.title.len()) as u64
            + self.headings.heap_bytes()
            + self.text.heap_bytes()
            + self.around.heap_bytes()
            + (self.sections.capacity() * size_of::<SectionMark>()) as u64
            + (self.described.capacity() * size_of::<DescriptionMark>()) as u64
    }
}

impl IndexEntry {
    /// Adds it to a segment builder, with its tokens stemmed if its language is to be.
    pub(crate) fn pile_on(&self, pile: &mut Pile, stem: Option<StemLanguage>) -> tantivy::Result<()> {
        let mut figures = vec![
            (ID, NumericValue::Number(self.page.0)),
            (HOST, NumericValue::Number(u64::from(self.host.0))),
            (AT, NumericValue::Moment(self.at.0)),
            (CLUSTER, NumericValue::Number(self.cluster.0)),
            (SIMHASH, NumericValue::Number(self.simhash)),
        ];
        if self.hidden {
            return pile.add(self.page.0, &NumericFields(figures), std::iter::empty());
        }
        let address = address(&self.url);
        let (tags, title) = (tags(self), TokenizedText::of(&self.title));
        let (url, name) = TokenizedText::with_positions(&address, &name_in(&address));
        if let [from, to] = name.as_slice() {
            figures.push((NAME, NumericValue::Number(NameMark::new(*from, *to, self.linked).packed())));
        }
        figures.extend(self.sections.iter().map(|section| (SECTIONS, NumericValue::Number(section.packed()))));
        let described = DescriptionMark::numbers(UrlHash::of(&self.url), &self.described);
        figures.extend(described.map(|number| (DESCRIBED, NumericValue::Number(number))));
        let stemmed = stem.map(|stem| [&title, &self.headings, &self.text, &self.around].map(|cut| cut.stemmed(stem)));
        let [title, headings, text, around] = match &stemmed {
            Some([title, headings, text, around]) => [title, headings, text, around],
            None => [&title, &self.headings, &self.text, &self.around],
        };
        let words = [(TITLE, title), (HEADINGS, headings), (BODY, text), (URL, &url), (AROUND, around)];
        let texts = std::iter::once((TAG, Text::Tags(&tags)));
        pile.add(self.page.0, &NumericFields(figures), texts.chain(words.map(|(field, cut)| (field, Text::Words(cut)))))
    }
}

/// The filter terms of a page, separated by spaces: `all host=docs.a.org site=docs.a.org site=a.org
/// site=org lang=en type=html`.
fn tags(entry: &IndexEntry) -> String {
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

/// The usual file extension of a media type, if it is one people search for.
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

/// The byte range of the page's own name in its address: the last path segment without its file
/// name extension, or of a directory's index the directory.
fn name_in(address: &str) -> [usize; 2] {
    let path = &address[..address.find(['?', '#']).unwrap_or(address.len())];
    let mut end = path.trim_end_matches('/').len();
    loop {
        let begin = path[..end].rfind('/').map_or(end, |slash| slash + 1);
        let segment = &path[begin..end];
        let stem = segment.rfind('.').filter(|dot| *dot > 0 && segment.len() - dot <= 6).unwrap_or(segment.len());
        match segment[..stem].eq_ignore_ascii_case("index") && begin > 0 {
            true => end = begin - 1,
            false => return [begin, begin + stem],
        }
    }
}

/// A URL as text: without its scheme, percent-decoded where the result is text.
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

    fn entry(url: &str, mime: &str, lang: &str) -> IndexEntry {
        IndexEntry { url: url.into(), mime: Some(mime.into()), lang: Some(lang.into()), ..IndexEntry::default() }
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
    fn the_name_of_a_page_is_the_end_of_its_path() {
        let name = |address: &str| name_in(address).map(|at| address.split_at(at).0.len());
        for (address, expected) in [
            ("a.org/library/json.html", "json"),
            ("a.org/x/basic_string.html?a=/b", "basic_string"),
            ("a.org/howto/index.html", "howto"),
            ("a.org/howto/", "howto"),
            ("a.org/v1.2/os.path.html", "os.path"),
            ("a.org/.hidden", ".hidden"),
            ("a.org/a.verylongending", "a.verylongending"),
            ("a.org", ""),
            ("a.org/", ""),
            ("a.org/index.html", ""),
            ("", ""),
        ] {
            let [from, to] = name(address);
            assert_eq!(&address[from..to], expected, "{address}");
        }
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
        let entry = IndexEntry { load: MemoryReservation::take(&total, 7), ..IndexEntry::default() };
        assert_eq!(total.load(Ordering::Relaxed), 7);
        drop(entry);
        assert_eq!(total.load(Ordering::Relaxed), 0);
    }
}
