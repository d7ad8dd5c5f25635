//! Which words and titles begin like this?
//!
//! For a search box: the words of titles first, since they name what the collection is about, then
//! those of headings and of the text, each by the number of pages that have them.

use super::Searcher;
use crate::analyze::words;
use crate::error::Result;
use crate::schema::TextField;
use std::collections::HashMap;

/// What a page with the word in this field counts.
const FIELDS: &[(TextField, u64)] = &[(TextField::Title, 20), (TextField::Headings, 5), (TextField::Body, 1)];

impl Searcher {
    /// The words with which the last word of a text may end, best first, each with its weight and
    /// preceded by the words before it; empty if the text ends between words.
    pub fn completions(&self, text: &str, limit: usize) -> Result<Vec<(String, u64)>> {
        let cut = words(text);
        let Some(last) = cut.last().filter(|last| last.to == text.len()) else { return Ok(Vec::new()) };
        let mut counts: HashMap<String, u64> = HashMap::new();
        for (part, each) in FIELDS {
            self.each_term(part.field(), &last.text, |word, pages| {
                *counts.entry(word.to_owned()).or_default() += each * pages;
            })?;
        }
        let mut found: Vec<(String, u64)> = counts.into_iter().collect();
        found.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found.truncate(limit);
        let before = &text[..last.from];
        Ok(found.into_iter().map(|(word, weight)| (format!("{before}{word}"), weight)).collect())
    }
}
