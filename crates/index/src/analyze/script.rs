//! Which scripts have no word separators, and which characters are ignored inside a word?
//!
//! Ranges of Unicode blocks. Anything missing here is tokenized like other letters, and so is found
//! by whole runs only.

/// Whether a character is from a script without word separators, which is indexed as bigrams.
pub(crate) fn is_paired(c: char) -> bool {
    matches!(u32::from(c),
        // Thai and Lao, Myanmar, Khmer.
        0x0e01..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17d3
        // Kana with their marks, Bopomofo, Han, Hangul, and the half-width forms.
        | 0x3005..=0x3007 | 0x3031..=0x3035 | 0x3041..=0x30ff | 0x3105..=0x312f | 0x31a0..=0x31bf | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xff66..=0xffdc
        | 0x2_0000..=0x3_ffff)
        // The middle dot between foreign names is not a letter.
        && c != '\u{30fb}'
}

/// Whether a character neither separates words nor is a letter: combining marks, joiners, soft
/// hyphens.
pub(crate) fn is_joiner(c: char) -> bool {
    matches!(u32::from(c), 0x00ad | 0x0300..=0x036f | 0x0483..=0x0489 | 0x0591..=0x05c7 | 0x0610..=0x061a | 0x0640
        | 0x064b..=0x065f | 0x0670 | 0x093c | 0x094d | 0x09bc | 0x09cd | 0x0a3c | 0x0a4d | 0x0abc | 0x0acd | 0x0b3c | 0x0b4d
        | 0x0bcd | 0x0c4d | 0x0cbc | 0x0ccd | 0x0d4d | 0x0dca | 0x200b..=0x200d | 0x2060 | 0xfe00..=0xfe0f | 0xfeff)
}
