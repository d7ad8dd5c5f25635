//! What are the words of a text?
//!
//! Pages and queries are cut by the same rules, so that whatever was typed as it stands on a page is found there:
//!
//! - A word is a run of letters and digits, in lower case, accents taken off (`Müller` is `muller`): who searches seldom types them.
//! - Everything else parts words. `push_back`, `std::vector` and `json.load` are two words each, next to each other: their parts are found
//!   alone, and the whole as a phrase, without a word more in the index. A letter or two with `++` or `#` behind (`c++`, `c#`) is one word.
//! - Scripts that do not part words (Chinese, Japanese, Korean, Thai and their neighbours) are cut into overlapping pairs of characters, the
//!   last character of a run alone: a query of two characters or more is a phrase of pairs, one of a single character a beginning.
//! - A word of more than [`LONGEST`] bytes is known by its beginning.
//!
//! Words are stemmed only in the languages a project names (`stem`): it costs about as much again as everything else here.

mod cut;
mod cutter;
mod fold;
mod script;
mod stem;

pub use cut::Cut;
pub(crate) use cutter::{Cutter, LONGEST};
pub use stem::{StemLanguage, Stems};

use script::is_paired;

/// A word of a text and where it stands there, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The words of a text, as they are looked for.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut cutter = Cutter::new(text);
    let (mut out, mut word) = (Vec::new(), String::new());
    while let Some((from, to)) = cutter.next_into(&mut word) {
        out.push(Word { text: std::mem::take(&mut word), from, to });
    }
    out
}

/// The beginning of a text, of so many bytes at most, cut between characters.
pub fn up_to(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether a word is of a script that is cut into pairs.
pub(crate) fn is_of_pairs(word: &str) -> bool {
    word.chars().next().is_some_and(is_paired)
}

#[cfg(test)]
mod tests;
