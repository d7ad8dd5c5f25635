//! How is a text tokenized?
//!
//! Pages and queries use the same tokenizer, so anything typed as it appears on a page is found
//! there:
//!
//! - A token is a run of letters and digits, lower-cased and without accents (`Müller` is
//!   `muller`), because people seldom type them.
//! - Everything else separates tokens. `push_back`, `std::vector` and `json.load` are two adjacent
//!   tokens each: their parts are found alone, and the whole as a phrase, without extra entries in
//!   the index. One or two letters followed by `++` or `#` (`c++`, `c#`) are one token.
//! - Scripts without word separators (Chinese, Japanese, Korean, Thai and related ones) are split
//!   into overlapping bigrams, with the last character of a run alone. A query of two or more
//!   characters is a phrase of bigrams, a single character is a prefix.
//! - A token of more than [`LONGEST`] bytes is truncated.
//!
//! Tokens are stemmed only in the languages a project names (`stem`): stemming costs about as much
//! as everything else here together.

mod cut;
mod cutter;
mod fold;
mod function_words;
mod kinship;
mod script;
mod stem;

pub use cut::TokenizedText;
pub(crate) use cutter::{Cutter, LONGEST};
pub(crate) use function_words::{begins_question, is_function_word, is_light_in_question, without_contraction};
pub(crate) use kinship::{irregular_forms, other_spellings, words_for_the_same};
pub use stem::{StemLanguage, Stems};

use script::is_paired;

/// A token and its byte range in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexToken {
    pub(crate) text: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The tokens of a text, in their indexed form.
pub(crate) fn words(text: &str) -> Vec<IndexToken> {
    let mut cutter = Cutter::new(text);
    let (mut out, mut word) = (Vec::new(), String::new());
    while let Some((from, to)) = cutter.next_into(&mut word) {
        out.push(IndexToken { text: std::mem::take(&mut word), from, to });
    }
    out
}

/// At most the first `bytes` bytes of a text, cut at a character boundary.
pub fn up_to(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether a token is from a script that is split into bigrams.
pub(crate) fn is_of_pairs(word: &str) -> bool {
    word.chars().next().is_some_and(is_paired)
}

#[cfg(test)]
mod tests;
