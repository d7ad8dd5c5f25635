//! What does a page say, as far as the index needs to know?
//!
//! Tokenized from the document by the reading thread that extracted it anyway, so that all cores
//! tokenize and the index only inverts; or, for pages that were not indexed when they were fetched,
//! from the archive, read and extracted again.

use super::menus::{menus, without_menus};
use orb_index::{IndexEntry, MemoryReservation, SectionMark, TokenizedText, up_to};
use orb_page::{Document, Visit, WarcPosition};
use orb_project::IndexSettings;
use orb_store::{ArchiveReader, Worded};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The tokens of a page besides its title and URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wording {
    /// Those of the headings.
    pub headings: TokenizedText,
    /// Those of the visible text without the menus.
    pub text: TokenizedText,
    /// Those of the menus, which are not among them.
    pub menus: TokenizedText,
    /// Where the sections begin in the text.
    pub sections: Vec<SectionMark>,
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
    /// Tokenizes a document.
    pub(crate) fn of(document: &Document, noindex: bool, rules: WordingRules) -> Self {
        if noindex && rules.honour_noindex {
            return Self { hidden: true, ..Self::default() };
        }
        let mut headings = String::new();
        for heading in &document.headings {
            headings.push_str(&heading.text);
            headings.push('\n');
        }
        let headings = TokenizedText::of(up_to(&headings, rules.longest));
        let (text, menus, sections) = arranged(document, rules.longest);
        Self { headings, text, menus, sections, linked: linked(document), hidden: false }
    }

    /// Approximate memory use in bytes.
    pub(crate) fn heap_bytes(&self) -> u64 {
        let sections = self.sections.capacity() * size_of::<SectionMark>();
        self.headings.heap_bytes() + self.text.heap_bytes() + self.menus.heap_bytes() + sections as u64
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
            menus: self.menus,
            sections: self.sections,
            linked: self.linked,
            hidden: self.hidden,
            load: MemoryReservation::default(),
        };
        entry.load = MemoryReservation::take(load, entry.heap_bytes());
        entry
    }
}

/// The tokens of a document's text without its menus, those of the menus, and where its sections
/// begin.
fn arranged(document: &Document, longest: usize) -> (TokenizedText, TokenizedText, Vec<SectionMark>) {
    let offsets: Vec<usize> = document.sections.iter().map(|section| section.offset).collect();
    let menus = menus(&document.text, &document.link_texts, &offsets);
    let (parted, offsets) = match menus.is_empty() {
        true => (None, offsets),
        false => {
            let (text, menus, offsets) = without_menus(&document.text, &menus, &offsets);
            (Some((text, menus)), offsets)
        }
    };
    let (text, menus) = parted.as_ref().map_or((document.text.as_str(), ""), |(text, menus)| (text, menus));
    let (text, begins) = TokenizedText::with_positions(up_to(text, longest), &offsets);
    let lang = document.lang.as_deref();
    let named = document.sections.iter().zip(&begins);
    let sections = named.map(|(one, begin)| SectionMark::new(*begin, one.level, &one.title, lang)).collect();
    (text, TokenizedText::of(up_to(menus, longest)), sections)
}

/// How many hundredths of a document's text are anchor texts.
fn linked(document: &Document) -> u8 {
    let letters: u64 = document.link_texts.iter().map(|(from, to)| u64::from(to.saturating_sub(*from))).sum();
    u8::try_from(100 * letters / (document.text.len() as u64).max(1)).unwrap_or(100).min(100)
}

/// An index entry for a page from catalogue and archive: only its title and URL if the archive does
/// not hold it.
pub(super) fn from_archive(page: Worded, archive: &ArchiveReader, rules: WordingRules, agent: &str) -> IndexEntry {
    let wording = page.warc.as_ref().and_then(|at| read(archive, at, &page.url, agent));
    let wording = wording.map(|(document, noindex)| Wording::of(&document, noindex, rules)).unwrap_or_default();
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
        menus: wording.menus,
        sections: wording.sections,
        linked: wording.linked,
        hidden: wording.hidden,
        load: MemoryReservation::default(),
    }
}

/// The document of an archived response; empty if it cannot be read.
fn read(archive: &ArchiveReader, at: &WarcPosition, url: &str, agent: &str) -> Option<(Document, bool)> {
    let stored = archive.exchange(at).ok()?;
    let document = orb_answers::content::document(url, &stored);
    let noindex = document.robots.merge(orb_extract::x_robots(&stored.headers, agent)).noindex;
    Some((document, noindex))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_page::Heading;

    #[test]
    fn the_words_of_a_document_are_taken_up_to_a_length() {
        let headings = vec![Heading { level: 1, text: "One".into() }, Heading { level: 2, text: "Two".into() }];
        let document = || Document { text: "äöü".into(), headings: headings.clone(), ..Document::default() };
        let rules = |longest| WordingRules { longest, honour_noindex: true };
        let whole = Wording::of(&document(), false, rules(100));
        assert_eq!((whole.text, whole.headings), (TokenizedText::of("äöü"), TokenizedText::of("one two")));
        assert_eq!(Wording::of(&document(), false, rules(3)).text, TokenizedText::of("ä"));
        assert_eq!(Wording::of(&document(), true, rules(9)), Wording { hidden: true, ..Wording::default() });
        let despite = WordingRules { longest: 9, honour_noindex: false };
        assert!(!Wording::of(&document(), true, despite).hidden);
    }
}
