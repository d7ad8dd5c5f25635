//! What does a page say, as far as the index needs to know?
//!
//! Tokenized from the document by the reading thread that extracted it anyway, so that all cores
//! tokenize and the index only inverts; or, for pages that were not indexed when they were fetched,
//! from the archive, read and extracted again.

use orb_answers::HelperLimits;
use orb_extract::PartedText;
use orb_index::{DescriptionMark, IndexEntry, MemoryReservation, SectionMark, TokenizedText, UrlHash, up_to};
use orb_page::{Document, LinkedItem, PageSection, Visit, WarcPosition};
use orb_project::IndexSettings;
use orb_store::{ArchiveReader, Worded};
use orb_urls::Canonicaliser;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The lowest level of a heading; below are terms.
const LOWEST_HEADING: u8 = 6;

/// The tokens of a page besides its title and URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wording {
    /// Those of the headings.
    pub headings: TokenizedText,
    /// Those of the page's own text.
    pub text: TokenizedText,
    /// Those of what stands around it, which are not among them.
    pub around: TokenizedText,
    /// Where the sections begin in the text.
    pub sections: Vec<SectionMark>,
    /// Which other pages it describes.
    pub described: Vec<DescriptionMark>,
    /// How many hundredths of the text are links to elsewhere.
    pub linked: u8,
    /// Whether it asks not to be indexed.
    pub hidden: bool,
}

/// What is indexed of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordingRules {
    /// Maximum bytes of text.
    pub longest: usize,
    /// Whether `noindex` is honoured.
    pub honour_noindex: bool,
}

impl From<&IndexSettings> for WordingRules {
    fn from(settings: &IndexSettings) -> Self {
        Self { longest: settings.longest(), honour_noindex: settings.honour_noindex }
    }
}

impl Wording {
    /// Tokenizes the document at a URL.
    pub(crate) fn of(document: &Document, url: &str, noindex: bool, rules: WordingRules) -> Self {
        if noindex && rules.honour_noindex {
            return Self { hidden: true, ..Self::default() };
        }
        let parted = PartedText::of(document);
        let headings = TokenizedText::of(up_to(&headings(document, &parted), rules.longest));
        let (text, sections, described) = arranged(document, url, &parted, rules.longest);
        let around = match &document.author {
            // Of a document that is no web page, whose text may well not name its author.
            Some(author) => TokenizedText::of(up_to(&format!("{}\n{author}", parted.around), rules.longest)),
            None => TokenizedText::of(up_to(&parted.around, rules.longest)),
        };
        Self { headings, text, around, sections, described, linked: linked(document), hidden: false }
    }

    /// Approximate memory use in bytes.
    pub(crate) fn heap_bytes(&self) -> u64 {
        let sections = self.sections.capacity() * size_of::<SectionMark>()
            + self.described.capacity() * size_of::<DescriptionMark>();
        self.headings.heap_bytes() + self.text.heap_bytes() + self.around.heap_bytes() + sections as u64
    }

    /// An index entry for a page that was just recorded.
    pub(super) fn of_visit(self, visit: Visit, load: &Arc<AtomicU64>) -> IndexEntry {
        let mut entry = IndexEntry {
            page: visit.page,
            host: visit.host,
            at: visit.at,
            url: visit.url,
            cluster: visit.duplicate_of.unwrap_or(visit.page),
            simhash: visit.simhash.unwrap_or(0),
            mime: visit.mime,
            lang: visit.lang,
            title: visit.title.unwrap_or_default(),
            headings: self.headings,
            text: self.text,
            around: self.around,
            sections: self.sections,
            described: self.described,
            linked: self.linked,
            hidden: self.hidden,
            load: MemoryReservation::default(),
        };
        entry.load = MemoryReservation::take(load, entry.heap_bytes());
        entry
    }
}

/// The headings of a document's own text, each on a line.
fn headings(document: &Document, parted: &PartedText<'_>) -> String {
    let mut out = String::new();
    let mut add = |title: &str| {
        out.push_str(title);
        out.push('\n');
    };
    if document.sections.is_empty() {
        document.headings.iter().for_each(|heading| add(&heading.text));
    }
    for section in document.sections.iter().filter(|section| section.level <= LOWEST_HEADING) {
        if parted.place(document, section.offset).1 {
            add(&section.title);
        }
    }
    out
}

/// The tokens of a document's own text, where its sections begin, and what it describes.
fn arranged(
    document: &Document,
    url: &str,
    parted: &PartedText<'_>,
    longest: usize,
) -> (TokenizedText, Vec<SectionMark>, Vec<DescriptionMark>) {
    let sections: Vec<(usize, bool)> =
        document.sections.iter().map(|section| parted.place(document, section.offset)).collect();
    let items = described(document, url, parted);
    let mut offsets: Vec<usize> = sections.iter().map(|(offset, _)| *offset).collect();
    offsets.extend(items.iter().flat_map(|(_, range)| [range.start, range.end]));
    offsets.sort_unstable();
    let (text, positions) = TokenizedText::with_positions(up_to(&parted.own, longest), &offsets);
    let position = |offset: usize| positions.get(offsets.partition_point(|one| *one < offset)).copied();
    let lang = document.lang.as_deref();
    let mark = |(section, (offset, is_own)): (&PageSection, &(usize, bool))| {
        let begin = position(*offset)?;
        Some(if *is_own {
            SectionMark::new(begin, section.level, &section.title, lang)
        } else {
            SectionMark::around(begin)
        })
    };
    let item = |(target, range): &(UrlHash, Range<usize>)| {
        let (begin, end) = (position(range.start)?, position(range.end)?);
        let len = u8::try_from(end.saturating_sub(begin)).unwrap_or(u8::MAX);
        Some(DescriptionMark { begin, len, target: *target })
    };
    let sections = document.sections.iter().zip(&sections).map_while(mark).collect();
    (text, sections, items.iter().filter_map(item).collect())
}

/// The items of a page's own text that describe other pages, with what they describe.
fn described(document: &Document, url: &str, parted: &PartedText<'_>) -> Vec<(UrlHash, Range<usize>)> {
    if document.items.is_empty() {
        return Vec::new();
    }
    // Session ids and unusual URL rules only make a description lead nowhere.
    let canonical = Canonicaliser::default();
    let Ok(own) = canonical.parse(url) else { return Vec::new() };
    let base = document.base.as_deref().and_then(|base| canonical.resolve(&own, base).ok());
    let base = base.as_ref().unwrap_or(&own);
    let target = |item: &LinkedItem| {
        let link = document.links.get(item.link as usize)?;
        let target = canonical.resolve(base, &link.target).ok()?;
        let (start, is_own) = parted.place(document, item.start as usize);
        let end = start + item.end.saturating_sub(item.start) as usize;
        let is_told = is_own && target != own && end <= parted.own.len();
        is_told.then(|| (UrlHash::of(target.as_str()), start..end))
    };
    document.items.iter().filter_map(target).collect()
}

/// How many hundredths of a document's text are anchor texts.
fn linked(document: &Document) -> u8 {
    let letters: u64 = document.link_texts.iter().map(|(from, to)| u64::from(to.saturating_sub(*from))).sum();
    u8::try_from(100 * letters / (document.text.len() as u64).max(1)).unwrap_or(100).min(100)
}

/// From where archived pages are read, and how.
#[derive(Clone, Copy)]
pub(super) struct ArchiveSource<'a> {
    /// The archive.
    pub(super) archive: &'a ArchiveReader,
    /// Our name, to which directives of a page may be addressed.
    pub(super) agent: &'a str,
    /// What a process that reads documents may use.
    pub(super) limits: HelperLimits,
}

/// An index entry for a page from catalogue and archive: only its title and URL if the archive does
/// not hold it.
pub(super) fn from_archive(page: Worded, source: ArchiveSource<'_>, rules: WordingRules) -> IndexEntry {
    let wording = page.warc.as_ref().and_then(|at| read(source, at, &page.url));
    let wording =
        wording.map(|(document, noindex)| Wording::of(&document, &page.url, noindex, rules)).unwrap_or_default();
    IndexEntry {
        page: page.page,
        host: page.host,
        at: page.at,
        cluster: page.duplicate_of.unwrap_or(page.page),
        simhash: page.simhash.unwrap_or(0),
        url: page.url,
        mime: page.mime,
        lang: page.lang,
        title: page.title.unwrap_or_default(),
        headings: wording.headings,
        text: wording.text,
        around: wording.around,
        sections: wording.sections,
        described: wording.described,
        linked: wording.linked,
        hidden: wording.hidden,
        load: MemoryReservation::default(),
    }
}

/// The document of an archived response; empty if it cannot be read.
fn read(source: ArchiveSource<'_>, at: &WarcPosition, url: &str) -> Option<(Document, bool)> {
    let stored = source.archive.exchange(at).ok()?;
    let document = orb_answers::content::document(url, &stored, source.limits);
    let noindex = document.robots.merge(orb_extract::x_robots(&stored.headers, source.agent)).noindex;
    Some((document, noindex))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_extract::{Content, extract};
    use orb_page::Heading;

    const URL: &str = "http://a.org/math/index.html";

    #[test]
    fn the_words_of_a_document_are_taken_up_to_a_length() {
        let headings = vec![Heading { level: 1, text: "One".into() }, Heading { level: 2, text: "Two".into() }];
        let document = || Document { text: "äöü".into(), headings: headings.clone(), ..Document::default() };
        let rules = |longest| WordingRules { longest, honour_noindex: true };
        let whole = Wording::of(&document(), URL, false, rules(100));
        assert_eq!((whole.text, whole.headings), (TokenizedText::of("äöü"), TokenizedText::of("one two")));
        assert_eq!(Wording::of(&document(), URL, false, rules(3)).text, TokenizedText::of("ä"));
        assert_eq!(Wording::of(&document(), URL, true, rules(9)), Wording { hidden: true, ..Wording::default() });
        let despite = WordingRules { longest: 9, honour_noindex: false };
        assert!(!Wording::of(&document(), URL, true, despite).hidden);
    }

    #[test]
    fn what_stands_around_is_apart_and_items_describe_what_they_link_to() {
        let html = "<nav>Home of all</nav><h1>Functions</h1><ul><li><a href=sqrt.html#top>sqrt</a> computes the
            square root<li><a href=''>This</a> is about the page itself</ul><footer><h2>Imprint</h2>Somebody</footer>";
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: None, url: URL };
        let wording =
            Wording::of(&extract(&content), URL, false, WordingRules { longest: 1_000, honour_noindex: true });
        assert_eq!(wording.headings, TokenizedText::of("functions"));
        let own = "functions sqrt computes the square root this is about the page itself";
        assert_eq!((&wording.text, &wording.around), (&own.into(), &"home of all imprint somebody".into()));
        assert_eq!(wording.sections[1..], [SectionMark::around(12)]);
        let target = UrlHash::of("http://a.org/math/sqrt.html");
        assert_eq!(wording.described, [DescriptionMark { begin: 1, len: 5, target }]);
    }
}
