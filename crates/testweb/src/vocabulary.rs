//! What do pages say whose words are as many as in real texts?
//!
//! Prose from a few hundred words (`prose`) is cheap for an index: every word is in its dictionary
//! after some pages. Here frequencies follow Zipf's law over 260,000 words in five languages, one
//! per page, and names and numbers never end. Most paragraphs come from a stock, so that the server
//! stays cheap beside the crawler; a few on every page are its own.

use crate::chance::{Chance, mixed};
use crate::plain::decimal;
use crate::words::{FRENCH, GERMAN, JAPANESE, RUSSIAN};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Paragraphs in the stock of the most frequent language; the others have their share.
const STOCK: usize = 16_384;
/// One paragraph in this many is written for the page alone.
const OWN: usize = 7;
/// Space that a paragraph may need.
const LONGEST: usize = 4_000;

/// A language of pages.
struct Language {
    tag: &'static str,
    /// Pages of a hundred, and words.
    share: u64,
    words: usize,
    /// Its most frequent words.
    frequent: &'static [&'static str],
    /// What other words are made of: beginnings and ends of syllables.
    onsets: &'static str,
    rimes: &'static str,
    /// What separates words.
    space: &'static str,
}

static LANGUAGES: [Language; 5] = [
    Language {
        tag: "en",
        share: 60,
        words: 120_000,
        frequent: &[
            "the", "of", "and", "to", "a", "in", "is", "it", "that", "was", "for", "on", "as", "with", "by", "at",
            "from", "this", "be", "or", "are", "an", "not", "which", "but", "they", "had", "one", "have", "all",
            "their", "there", "more", "when", "who", "what", "some", "time", "other", "into",
        ],
        onsets: "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr v w",
        rimes: "a ab ack ain all am an and ar ash at ay e ead ear ed eep el en er est et i ick id ight in ing ish ist \
                ive o od old on ong ook op or ot ound ow u ub ump un ure us ust",
        space: " ",
    },
    Language {
        tag: "de",
        share: 15,
        words: 60_000,
        frequent: GERMAN,
        onsets: "b bl br d dr f fl fr g gl gr h j k kl kr l m n pf r s sch schl schw sp st str t tr v w z zw",
        rimes: "a ach acht all and ang au aus e ech ein eit el en er ern est eu ich ie ier ig in ind isch ö ör ung u \
                uch und ü ück ür ät heit keit lich",
        space: " ",
    },
    Language {
        tag: "fr",
        share: 10,
        words: 40_000,
        frequent: FRENCH,
        onsets: "b br c ch cl d f fl g gr j l m n p pl pr qu r s t tr v",
        rimes: "a age ai ain al an ant au e eau el elle ement en ence ent er et eur é ée ère i ie ien ier in ique ir is \
                ion o oi on or ou our u ue ui ure",
        space: " ",
    },
    Language {
        tag: "ru",
        share: 10,
        words: 30_000,
        frequent: RUSSIAN,
        onsets: "б в г д ж з к л м н п р с т ф х ц ч ш пр ст тр кр сл вз",
        rimes: "а ал ам ан ать е ел ем ен ение ет и ий ил ин ить о ов ой ок ом ость от у ул ы ый я ять",
        space: " ",
    },
    Language {
        tag: "ja",
        share: 5,
        words: 10_000,
        frequent: JAPANESE,
        onsets: "か き く け こ さ し す せ そ た ち つ て と な に の は ひ ふ ま み も や ゆ よ ら り る",
        rimes: "い う ん た て り く こ し す の ま",
        space: "",
    },
];

/// The words of a language by frequency, and its paragraphs.
struct Lexicon {
    words: Vec<Box<str>>,
    stock: Vec<Box<[u8]>>,
}

static LEXICONS: LazyLock<Vec<Lexicon>> = LazyLock::new(|| LANGUAGES.iter().map(Lexicon::of).collect());

impl Lexicon {
    fn of(language: &Language) -> Self {
        let onsets: Vec<&str> = language.onsets.split_whitespace().collect();
        let rimes: Vec<&str> = language.rimes.split_whitespace().collect();
        let mut chance = Chance::of(&[language.words as u64, 41]);
        let mut seen: HashSet<Box<str>> = language.frequent.iter().map(|word| Box::from(*word)).collect();
        let mut words: Vec<Box<str>> = language.frequent.iter().map(|word| Box::from(*word)).collect();
        while words.len() < language.words {
            // Frequent words are short (Zipf's law of abbreviation).
            let syllables = 1 + chance.below(2) + usize::from(words.len() > 2_000) + chance.below(2);
            let word: String = (0..syllables).flat_map(|_| [chance.one_of(&onsets), chance.one_of(&rimes)]).collect();
            if seen.insert(word.as_str().into()) {
                words.push(word.into());
            }
        }
        let mut lexicon = Self { words, stock: Vec::new() };
        let pieces = STOCK * language.words / LANGUAGES[0].words;
        lexicon.stock = (0..pieces as u64).map(|n| lexicon.piece(language, mixed(&[n, 43]))).collect();
        lexicon
    }

    fn piece(&self, language: &Language, key: u64) -> Box<[u8]> {
        let mut out = Vec::new();
        self.paragraph(language, &mut Chance::of(&[key]), &mut out);
        out.into()
    }

    /// A word, by Zipf's law: its rank is the number of words to a uniform power.
    fn word(&self, chance: &mut Chance) -> &str {
        let rank = ((self.words.len() as f64).ln() * chance.unit()).exp() - 1.0;
        self.words.get(rank as usize).map_or("", |word| word)
    }

    fn paragraph(&self, language: &Language, chance: &mut Chance, out: &mut Vec<u8>) {
        if chance.below(6) == 0 {
            out.extend_from_slice(b"<h2>");
            self.phrase(language, chance, out);
            out.extend_from_slice(b"</h2>\n");
        }
        out.extend_from_slice(b"<p>");
        for n in 0..2 + chance.below(6) {
            if n > 0 {
                out.push(b' ');
            }
            self.sentence(language, chance, out);
        }
        out.extend_from_slice(b"</p>\n");
    }

    /// A few words, the first with a capital.
    fn phrase(&self, language: &Language, chance: &mut Chance, out: &mut Vec<u8>) {
        for n in 0..2 + chance.below(5) {
            let word = self.word(chance);
            match n {
                0 => capital(word, out),
                _ => {
                    out.extend_from_slice(language.space.as_bytes());
                    out.extend_from_slice(word.as_bytes());
                }
            }
        }
    }

    fn sentence(&self, language: &Language, chance: &mut Chance, out: &mut Vec<u8>) {
        let words = 5 + chance.below(16);
        for n in 0..words {
            if n > 0 {
                out.extend_from_slice(if chance.below(9) == 0 { b", " } else { language.space.as_bytes() });
            }
            match chance.below(100) {
                0 | 1 => self.name(chance, out),
                2 => number(chance, out),
                3 if n > 0 => {
                    out.extend_from_slice(self.word(chance).as_bytes());
                    out.push(b'_');
                    out.extend_from_slice(self.word(chance).as_bytes());
                }
                _ if n == 0 => capital(self.word(chance), out),
                _ => out.extend_from_slice(self.word(chance).as_bytes()),
            }
        }
        out.push(b'.');
    }

    /// A name, of which there is no end: two rare words in one.
    fn name(&self, chance: &mut Chance, out: &mut Vec<u8>) {
        let mut rare = || self.words.get(chance.below(self.words.len())).map_or("", |word| word);
        capital(rare(), out);
        out.extend_from_slice(rare().as_bytes());
    }
}

fn capital(word: &str, out: &mut Vec<u8>) {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    out.extend_from_slice(first.as_bytes());
    out.extend_from_slice(letters.as_str().as_bytes());
}

/// A year, a small number, a large one or a price.
fn number(chance: &mut Chance, out: &mut Vec<u8>) {
    match chance.below(4) {
        0 => decimal(1_800 + chance.below(230) as u64, out),
        1 => decimal(chance.below(100) as u64, out),
        2 => decimal(chance.below(10_000_000) as u64, out),
        _ => {
            decimal(chance.below(1_000) as u64, out);
            out.push(b'.');
            decimal(10 + chance.below(90) as u64, out);
        }
    }
}

fn language_of(key: u64) -> usize {
    let mut at = mixed(&[key, 47]) % 100;
    let below = |language: &Language| match at.checked_sub(language.share) {
        Some(rest) => {
            at = rest;
            false
        }
        None => true,
    };
    LANGUAGES.iter().position(below).unwrap_or(0)
}

/// Makes the words, which takes a second, before the first page needs them.
pub(crate) fn prepare() {
    LazyLock::force(&LEXICONS);
}

/// The language tag of the page with this key.
pub(crate) fn tag(key: u64) -> &'static str {
    LANGUAGES[language_of(key)].tag
}

/// Appends the title of the page with this key.
pub(crate) fn title(key: u64, out: &mut Vec<u8>) {
    let language = language_of(key);
    LEXICONS[language].phrase(&LANGUAGES[language], &mut Chance::of(&[key, 53]), out);
}

/// Appends paragraphs of at most this many bytes.
pub(crate) fn fill(key: u64, mut chance: Chance, mut room: usize, out: &mut Vec<u8>) {
    let (language, lexicon) = (&LANGUAGES[language_of(key)], &LEXICONS[language_of(key)]);
    while room > LONGEST {
        let before = out.len();
        if chance.below(OWN) == 0 {
            lexicon.paragraph(language, &mut chance, out);
        } else {
            let at = chance.below(lexicon.stock.len());
            out.extend(lexicon.stock.get(at).into_iter().flat_map(|piece| piece.iter().copied()));
        }
        room = room.saturating_sub(out.len() - before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn text(pages: u64) -> String {
        let mut out = Vec::new();
        for key in 0..pages {
            fill(key, Chance::of(&[key]), 20_000, &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn words_are_as_frequent_as_in_real_texts() {
        let text = text(400);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *counts.entry(word).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let once = counts.values().filter(|count| **count == 1).count();
        let mut sorted: Vec<usize> = counts.values().copied().collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        assert!(counts.len() > 60_000, "{} distinct words", counts.len());
        // A third or more are met once, and a hundred words are a quarter of the text.
        assert!(once * 3 > counts.len(), "{once} of {}", counts.len());
        assert!(sorted[..100].iter().sum::<usize>() * 4 > all, "{:?}", &sorted[..10]);
    }

    #[test]
    fn new_words_never_end_and_no_paragraph_is_longer_than_its_room() {
        let distinct = |pages| text(pages).split(' ').map(str::to_owned).collect::<HashSet<_>>().len();
        assert!(distinct(400) > distinct(200) * 5 / 4);
        let longest = LEXICONS.iter().flat_map(|lexicon| &lexicon.stock).map(|piece| piece.len()).max();
        assert!(longest < Some(LONGEST), "{longest:?}");
    }

    #[test]
    fn most_pages_are_english_and_all_languages_are_there() {
        let count = |wanted: &str| (0..1_000).filter(|key| tag(*key) == wanted).count();
        assert!((500..700).contains(&count("en")));
        assert!(["de", "fr", "ru", "ja"].iter().all(|tag| count(tag) > 20));
    }
}
