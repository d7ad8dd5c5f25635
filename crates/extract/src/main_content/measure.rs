//! What does a block look like, whatever its language?
//!
//! One pass over the characters of a block counts words, sentences, capitals, digits and symbols,
//! and how many of its words the page's title and description contain. Ideographs count twice,
//! since they say about twice as much, and each is a word.

use crate::simhash::mix;
use std::collections::HashMap;

/// Multiplier that mixes the bits of a word.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Maximum words of the title and of the description that are compared.
const MOST_WORDS: usize = 64;

/// The words of the title and of the description, each with its bit.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    words: HashMap<u64, (u64, bool)>,
    /// Number of different words in the title.
    pub(super) title: u32,
    /// Number of different words in the description.
    pub(super) description: u32,
}

impl Declarations {
    pub(super) fn new(titles: &str, descriptions: &str) -> Self {
        let mut out = Self::default();
        words(titles, |word| {
            if out.title < MOST_WORDS as u32 && !out.words.contains_key(&word) {
                out.words.insert(word, (1 << out.title, false));
                out.title += 1;
            }
        });
        words(descriptions, |word| {
            let known = out.words.entry(word).or_default();
            if !known.1 {
                known.1 = true;
                out.description += 1;
            }
        });
        out
    }
}

/// What was counted in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockMeasure {
    /// Its length in bytes.
    pub(super) bytes: usize,
    /// Its length in characters.
    pub(super) chars: usize,
    pub(super) words: usize,
    /// Characters in words.
    pub(super) letters: usize,
    pub(super) capitals: usize,
    /// Words that begin with a capital.
    pub(super) capitalised: usize,
    pub(super) digits: usize,
    pub(super) commas: usize,
    pub(super) symbols: usize,
    /// Characters that programs have and prose has not.
    pub(super) marks: usize,
    pub(super) sentences: usize,
    pub(super) ends_sentence: bool,
    pub(super) ends_colon: bool,
    pub(super) has_copyright: bool,
    /// Bytes of link text.
    pub(super) linked: usize,
    /// Words that are in the title, and different ones of them.
    pub(super) titled: usize,
    pub(super) title: u64,
    /// Words that are in the description.
    pub(super) described: usize,
    /// Its characters if it is running text; otherwise none.
    pub(super) prose: usize,
}

impl BlockMeasure {
    pub(super) fn of(text: &str, linked: usize, declared: &Declarations) -> Self {
        let mut out = Self { bytes: text.len(), linked: linked.min(text.len()), ..Self::default() };
        out.characters(text);
        words(text, |word| {
            out.words += 1;
            if let Some((bit, described)) = declared.words.get(&word) {
                out.titled += usize::from(*bit != 0);
                out.title |= bit;
                out.described += usize::from(*described);
            }
        });
        let share = out.linked * 10 / out.bytes.max(1);
        let is_prose = (out.chars >= 80 && share < 4) || (out.chars >= 40 && out.sentences >= 1 && share < 3);
        out.prose = if is_prose { out.chars } else { 0 };
        out
    }

    fn characters(&mut self, text: &str) {
        // Whether a sentence may have ended, whether it has even if no space follows, and whether
        // we are in a word.
        let (mut ended, mut full, mut inside, mut before) = (false, false, false, ' ');
        for c in text.chars() {
            self.chars += 1 + usize::from(is_ideograph(c));
            let wordly = c.is_alphanumeric();
            let capital = c.is_uppercase();
            self.letters += usize::from(wordly);
            self.capitals += usize::from(capital);
            self.capitalised += usize::from(capital && !inside);
            self.digits += usize::from(c.is_numeric());
            self.ends_colon = matches!(c, ':' | '：');
            self.marks += match c {
                '(' if inside => 2,
                ':' if before == ':' => 1,
                _ => usize::from(MARKS.contains(c)),
            };
            before = c;
            inside = wordly;
            match c {
                _ if wordly => {
                    self.sentences += usize::from(full);
                    (ended, full) = (false, false);
                }
                '.' | '!' | '?' | '।' | '؟' | '…' | '۔' => ended = true,
                '。' | '！' | '？' => (ended, full) = (true, true),
                '"' | '»' | '”' | '’' | ')' | ']' | '」' => {}
                ' ' => {
                    self.sentences += usize::from(ended);
                    (ended, full) = (false, false);
                }
                ',' | ';' | '،' | '、' | '，' => (self.commas, ended) = (self.commas + 1, false),
                _ => {
                    ended = false;
                    self.symbols += usize::from(SYMBOLS.contains(c));
                    self.has_copyright |= c == '©';
                }
            }
        }
        self.ends_sentence = ended;
        self.sentences += usize::from(ended);
    }
}

/// Symbols that separate labels rather than words.
const SYMBOLS: &str = "|»›→•·/«‹#@©®™►▶+*<>=_–-";

/// Characters of programs.
const MARKS: &str = "{}[]<>=_;&*\\$`~^";

/// Whether a character is a word of its own.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}') && c.is_alphanumeric()
}

/// The hash of every word of a text, in lower case.
pub(super) fn words(text: &str, mut each: impl FnMut(u64)) {
    let mut word = 0u64;
    for c in text.chars() {
        if !c.is_alphanumeric() || is_ideograph(c) {
            if word != 0 {
                each(std::mem::take(&mut word));
            }
            if is_ideograph(c) {
                each(mix(u64::from(u32::from(c)), SPREAD));
            }
            continue;
        }
        let low = if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) };
        word = mix(word.rotate_left(5) ^ u64::from(u32::from(low)), SPREAD) | 1;
    }
    if word != 0 {
        each(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> BlockMeasure {
        BlockMeasure::of(text, 0, &Declarations::new("The title of it", "What it is"))
    }

    #[test]
    fn sentences_end_at_their_marks_in_any_script() {
        for (text, sentences, ends) in [
            ("One. Two! Three", 2, false),
            ("\"Is it?\" she said.", 2, true),
            ("See 3.14 and e.g.this", 0, false),
            ("これは文です。これも。", 2, true),
            ("یہ جملہ ہے۔", 1, true),
            ("", 0, false),
        ] {
            let found = of(text);
            assert_eq!((found.sentences, found.ends_sentence), (sentences, ends), "{text}");
        }
    }

    #[test]
    fn words_of_the_title_are_recognised_whatever_their_case() {
        let found = of("THE TITLE, the rest: IT");
        assert_eq!((found.words, found.titled, found.title.count_ones(), found.described), (5, 4, 3, 1));
    }

    #[test]
    fn ideographs_are_words_and_count_twice() {
        let found = of("東京 Tokyo");
        assert_eq!((found.words, found.chars), (3, 10));
    }
}
