//! Where do the sections of a page begin, in tokens?
//!
//! One number per section is a column of the index: the position of its first token, its level, and
//! how long its title is, in tokens and in those that are neither function words nor numbers
//! (`2.3.`). The words of a title are the first of the section's own text, so its name needs no
//! postings of its own. What a section is called and linked to is read from the archive when it is
//! shown.

use crate::analyze::{TokenizedText, is_function_word};

/// Maximum significant length of a title in tokens.
const LONGEST_TITLE: usize = 127;

/// A section of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionMark {
    /// The position of its first token in the text.
    pub begin: u32,
    /// The level of its heading, 1 to 6, or 7 for a term; 0 if it is not part of the page's own
    /// text.
    pub level: u8,
    /// Number of tokens in its title.
    pub title: u8,
    /// Number of those that say something.
    pub telling: u8,
}

impl SectionMark {
    /// The section that begins at a position with this title.
    pub fn new(begin: u32, level: u8, title: &str, lang: Option<&str>) -> Self {
        let cut = TokenizedText::of(title);
        let tells = |word: &&str| !is_function_word(word, lang) && !word.bytes().all(|byte| byte.is_ascii_digit());
        let telling = cut.words().take(LONGEST_TITLE).filter(tells).count();
        let short = |n: usize| u8::try_from(n.min(LONGEST_TITLE)).unwrap_or(u8::MAX);
        Self { begin, level, title: short(cut.len()), telling: short(telling) }
    }

    /// A section that stands around the page's own text: it answers nothing, but it is counted.
    pub fn around(begin: u32) -> Self {
        Self { begin, ..Self::default() }
    }

    /// Whether it is part of the page's own text.
    pub(crate) fn is_own(self) -> bool {
        self.level > 0
    }

    /// As one number.
    pub(crate) fn packed(self) -> u64 {
        u64::from(self.begin) << 24 | u64::from(self.level) << 16 | u64::from(self.title) << 8 | u64::from(self.telling)
    }

    /// From that number.
    pub(crate) fn unpacked(packed: u64) -> Self {
        let [telling, title, level, ..] = packed.to_le_bytes();
        Self { begin: u32::try_from(packed >> 24).unwrap_or(u32::MAX), level, title, telling }
    }

    /// The positions of its title.
    pub(crate) fn title_range(self) -> std::ops::Range<u32> {
        self.begin..self.begin.saturating_add(u32::from(self.title))
    }
}

/// Which tokens of a page's URL are its name, and how much of its text is links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameMark {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// In hundredths.
    pub(crate) linked: u8,
}

impl NameMark {
    /// The end of longer URLs is not known.
    const MOST: u32 = 0xffff;

    pub(crate) fn new(from: u32, to: u32, linked: u8) -> Self {
        Self { from: from.min(Self::MOST), to: to.min(Self::MOST), linked: linked.min(100) }
    }

    /// As one number.
    pub(crate) fn packed(self) -> u64 {
        u64::from(self.from) << 24 | u64::from(self.to) << 8 | u64::from(self.linked)
    }

    /// From that number.
    pub(crate) fn unpacked(packed: u64) -> Self {
        let of = |shift: u32| u32::try_from(packed >> shift & u64::from(Self::MOST)).unwrap_or(0);
        let [linked, ..] = packed.to_le_bytes();
        Self { from: of(24), to: of(8), linked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_survives_being_packed() {
        let mark = SectionMark::new(123_456, 2, "2.1. The quick brown fox of the hill", Some("en"));
        assert_eq!((mark.title, mark.telling), (9, 4));
        assert_eq!(SectionMark::unpacked(mark.packed()), mark);
        let name = NameMark::new(3, 5, 25);
        assert_eq!(NameMark::unpacked(name.packed()), name);
        let long = SectionMark::new(u32::MAX, 7, &"word ".repeat(1_000), None);
        assert_eq!((long.title, long.telling), (127, 127));
        assert_eq!(SectionMark::unpacked(long.packed()), long);
    }
}
