//! What do links say about the pages they point to?
//!
//! Gathered link by link, in the order of source pages. A page has about forty links, so nothing
//! here allocates per link. Texts lie back to back and are chained by target page ([`Texts`]). If
//! they would exceed the memory limit, half of the pages are left to another pass ([`Heard`]).

use orb_index::up_to;
use orb_page::PageId;
use orb_store::LinkAnchor;

/// Maximum distinct texts per page, and maximum bytes of one.
const TEXTS: usize = 64;
const LONGEST: usize = 200;

/// The end of a chain.
const END: u32 = u32::MAX;

/// The anchor texts of some pages, out of many.
pub(super) struct Heard<'a> {
    pages: &'a [PageId],
    places: PagePositions,
    /// As many pages as memory allows.
    texts: Texts,
    memory: usize,
}

/// The anchor texts of consecutive pages.
#[derive(Default)]
pub(super) struct Texts {
    heads: Vec<TextChain>,
    notes: Vec<TextNote>,
    letters: String,
}

/// A page: its last text, and the number of linking pages.
#[derive(Clone, Copy)]
struct TextChain {
    newest: u32,
    sources: u32,
    last: PageId,
}

/// A text: its range, its count, and the previous text of the page.
#[derive(Clone, Copy)]
struct TextNote {
    begin: u32,
    len: u32,
    count: u64,
    before: u32,
}

impl TextChain {
    const SILENT: Self = Self { newest: END, sources: 0, last: PageId(u64::MAX) };
}

impl Texts {
    /// Grows to at least this many pages.
    pub(super) fn reach(&mut self, pages: usize) {
        if self.heads.len() < pages {
            self.heads.resize(pages.next_power_of_two(), TextChain::SILENT);
        }
    }

    /// Memory use in bytes.
    pub(super) fn size(&self) -> usize {
        self.heads.len() * size_of::<TextChain>() + self.notes.len() * size_of::<TextNote>() + self.letters.len()
    }

    /// Records the text of one link to the page at this index; ignored beyond the last.
    pub(super) fn hear(&mut self, place: usize, said: &LinkAnchor<'_>) {
        let head = self.heads.get_mut(place);
        let Some(head) = head.filter(|_| said.src != said.dst) else { return };
        if head.last != said.src {
            (head.last, head.sources) = (said.src, head.sources.saturating_add(1));
        }
        let text = up_to(said.anchor, LONGEST);
        let (mut at, mut texts) = (head.newest, 0);
        while let Some(note) = self.notes.get_mut(at as usize) {
            if note.of(&self.letters) == text {
                note.count += said.count;
                return;
            }
            (at, texts) = (note.before, texts + 1);
        }
        if texts >= TEXTS {
            return;
        }
        let before = std::mem::replace(&mut head.newest, self.notes.len() as u32);
        self.notes.push(TextNote {
            begin: self.letters.len() as u32,
            len: text.len() as u32,
            count: said.count,
            before,
        });
        self.letters.push_str(text);
    }

    /// The texts of the page at an index with their counts, and the number of linking pages; `None`
    /// if there are none.
    pub(super) fn of_page(&self, place: usize) -> Option<(impl Iterator<Item = (&str, u64)>, u64)> {
        let head = self.heads.get(place).filter(|head| head.sources > 0)?;
        let texts = chain(&self.notes, head.newest).map(|note| (note.of(&self.letters), note.count));
        Some((texts, u64::from(head.sources)))
    }

    /// Drops the second half of the pages.
    fn leave_half(&mut self) {
        self.heads.truncate(self.heads.len().div_ceil(2));
        let (notes, letters) = (std::mem::take(&mut self.notes), std::mem::take(&mut self.letters));
        for head in &mut self.heads {
            let mut kept: Vec<&TextNote> = chain(&notes, head.newest).collect();
            head.newest = END;
            while let Some(note) = kept.pop() {
                let before = std::mem::replace(&mut head.newest, self.notes.len() as u32);
                self.notes.push(TextNote { begin: self.letters.len() as u32, before, ..*note });
                self.letters.push_str(note.of(&letters));
            }
        }
    }
}

impl<'a> Heard<'a> {
    /// Collects for these pages, which are sorted, within this much memory.
    pub(super) fn of(pages: &'a [PageId], memory: usize) -> Self {
        let texts = Texts { heads: vec![TextChain::SILENT; pages.len()], ..Texts::default() };
        Self { pages, places: PagePositions::of(pages), texts, memory }
    }

    /// For how many pages, from the first, the result is complete.
    pub(super) fn len(&self) -> usize {
        self.texts.heads.len()
    }

    /// Records the text of one link.
    pub(super) fn hear(&mut self, said: &LinkAnchor<'_>) {
        let Some(place) = self.places.of_page(said.dst) else { return };
        self.texts.hear(place, said);
        while self.texts.letters.len() + self.texts.notes.len() * size_of::<TextNote>() > self.memory && self.len() > 1
        {
            self.texts.leave_half();
        }
    }

    /// The pages with links to them: the texts with their counts, and the number of linking pages.
    pub(super) fn each(&self) -> impl Iterator<Item = (PageId, impl Iterator<Item = (&str, u64)>, u64)> {
        let heard =
            |(place, page): (usize, &PageId)| self.texts.of_page(place).map(|(texts, from)| (*page, texts, from));
        self.pages.iter().enumerate().filter_map(heard)
    }
}

/// The texts of a page, newest first.
fn chain(notes: &[TextNote], newest: u32) -> impl Iterator<Item = &TextNote> {
    let note = |at: u32| notes.get(at as usize);
    std::iter::successors(note(newest), move |one| note(one.before))
}

impl TextNote {
    fn of<'a>(&self, letters: &'a str) -> &'a str {
        &letters[self.begin as usize..(self.begin + self.len) as usize]
    }
}

/// Maps page numbers to indices in a list: a bit set with rank (prefix counts per word).
struct PagePositions {
    first: u64,
    bits: Vec<u64>,
    before: Vec<u32>,
}

impl PagePositions {
    fn of(pages: &[PageId]) -> Self {
        let (first, last) = (pages.first().map_or(0, |page| page.0), pages.last().map_or(0, |page| page.0));
        let mut bits = vec![0u64; usize::try_from((last - first) / 64 + 1).unwrap_or(0)];
        for page in pages {
            bits[((page.0 - first) / 64) as usize] |= 1 << ((page.0 - first) % 64);
        }
        let mut set = 0;
        let before = |word: &u64| {
            set += word.count_ones();
            set - word.count_ones()
        };
        let before = bits.iter().map(before).collect();
        Self { first, bits, before }
    }

    fn of_page(&self, page: PageId) -> Option<usize> {
        let at = page.0.checked_sub(self.first)?;
        let word = usize::try_from(at / 64).ok()?;
        let (bits, bit) = (*self.bits.get(word)?, 1u64 << (at % 64));
        (bits & bit != 0).then(|| (self.before[word] + (bits & (bit - 1)).count_ones()) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(src: u64, dst: u64, anchor: &str) -> LinkAnchor<'_> {
        LinkAnchor { dst: PageId(dst), src: PageId(src), anchor, count: 1 }
    }

    /// A page, its texts with their counts, and the number of linking pages.
    type Told = (u64, Vec<(String, u64)>, u64);

    fn told(heard: &Heard<'_>) -> Vec<Told> {
        let texts = |texts: &mut dyn Iterator<Item = (&str, u64)>| {
            let mut texts: Vec<(String, u64)> = texts.map(|(text, count)| (text.to_owned(), count)).collect();
            texts.sort();
            texts
        };
        heard.each().map(|(page, mut said, sources)| (page.0, texts(&mut said), sources)).collect()
    }

    #[test]
    fn texts_are_counted_by_page_and_pages_by_source() {
        let pages = [3, 4, 900].map(PageId);
        let mut heard = Heard::of(&pages, 10_000);
        for (src, dst, text) in
            [(1, 4, "a"), (1, 4, "b"), (2, 4, "a"), (4, 4, "me"), (2, 5, "x"), (2, 900, "z"), (9, 2, "y")]
        {
            heard.hear(&said(src, dst, text));
        }
        let a_and_b = vec![("a".to_owned(), 2), ("b".to_owned(), 1)];
        assert_eq!(told(&heard), [(4, a_and_b, 2), (900, vec![("z".to_owned(), 1)], 1)]);
        assert_eq!(heard.len(), 3);
    }

    #[test]
    fn what_memory_does_not_hold_is_left_to_another_pass() {
        let pages: Vec<PageId> = (0..100).map(PageId).collect();
        let links: Vec<(u64, u64, String)> =
            (0..3_000).map(|n| (200 + n / 10, n * 7 % 100, format!("text {}", n % 13))).collect();
        let gather = |memory: usize| {
            let (mut out, mut rest, mut passes) = (Vec::new(), pages.as_slice(), 0);
            while !rest.is_empty() {
                let mut heard = Heard::of(rest, memory);
                links.iter().for_each(|(src, dst, text)| heard.hear(&said(*src, *dst, text)));
                out.extend(told(&heard));
                rest = &rest[heard.len()..];
                passes += 1;
            }
            (out, passes)
        };
        let (whole, passes) = gather(1 << 20);
        assert_eq!((whole.len(), passes), (100, 1));
        let (in_parts, passes) = gather(10_000);
        assert!(passes > 3, "{passes}");
        assert_eq!(in_parts, whole);
    }

    #[test]
    fn a_page_keeps_so_many_texts_and_the_beginning_of_a_long_one() {
        let pages = [PageId(1)];
        let mut heard = Heard::of(&pages, 1_000_000);
        heard.hear(&said(2, 1, &"é".repeat(1_000)));
        (0..100).for_each(|n| heard.hear(&said(n + 3, 1, &format!("text {n}"))));
        let (_, texts, sources) = told(&heard).remove(0);
        assert_eq!((texts.len(), sources), (TEXTS, 101));
        assert!(texts.iter().any(|(text, _)| text.len() == LONGEST));
    }
}
