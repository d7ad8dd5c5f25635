//! In how many pages does a word occur, and where?

use crate::guard::guarded;
use crate::search::lag;
use crate::{AnswerError, Collection, Result, Window};
use orb_index::{Occurrence, Searcher, TextField, WordCount};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// Maximum length of a word that is quoted in an error.
const LONGEST: usize = 100;

/// What the dictionary says.
#[derive(Clone, Debug)]
pub enum Words {
    /// The words with a common prefix.
    Beginning(Vec<WordRow>),
    /// One word.
    Whole(WordPlaces),
}

/// A term of the dictionary in one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordRow {
    /// The word.
    pub word: String,
    /// The field.
    pub field: TextField,
    /// Number of pages that contain it there.
    pub documents: u64,
}

/// The occurrences of a word.
#[derive(Clone, Debug)]
pub struct WordPlaces {
    /// The word in its indexed form.
    pub word: String,
    /// Its frequencies by field.
    pub counts: Vec<WordCount>,
    /// The requested occurrences.
    pub places: Vec<WordPlace>,
}

/// One occurrence of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordPlace {
    /// The word.
    pub word: String,
    /// The field.
    pub field: TextField,
    /// The page.
    pub page: u64,
    /// Its token position in that field, from 0.
    pub position: u32,
    /// The page's URL.
    pub url: String,
    /// Number of pages that contain the word in this field.
    pub documents: Option<u64>,
}

/// The occurrences of a word, or, with a trailing `*`, the words with that prefix; and what the
/// reader should know about the index, if anything.
pub fn words(collection: &Collection, word: &str, rows: Window) -> Result<(Words, Option<String>)> {
    let (searcher, project) = (collection.searcher()?, collection.project());
    let start = word.strip_suffix('*');
    let Some(kept) = Searcher::as_kept(start.unwrap_or(word)) else {
        let named: String = word.chars().take(LONGEST).collect();
        let more = if named.len() < word.len() { "…" } else { "" };
        return Err(AnswerError::Malformed(format!("'{named}{more}' is not one word; orb search finds phrases")));
    };
    let note = lag(collection)?;
    if start.is_some() {
        let counts = guarded(project, || searcher.beginning(&kept, rows.limit, rows.offset))??;
        let row = |WordCount { word, field, documents, .. }| WordRow { word, field, documents };
        return Ok((Words::Beginning(counts.into_iter().map(row).collect()), note));
    }
    let counts = guarded(project, || searcher.count(&kept))??;
    let places = guarded(project, || searcher.occurrences(&kept, rows.limit, rows.offset))??;
    let mut urls: HashMap<u64, String> = HashMap::new();
    let mut found = Vec::with_capacity(places.len());
    for Occurrence { page, field, position } in places {
        if !urls.contains_key(&page.0)
            && let Some(row) = collection.catalogue().page(page)?
        {
            urls.insert(page.0, row.url);
        }
        let url = urls.get(&page.0).cloned().unwrap_or_default();
        let documents = counts.iter().find(|count| count.field == field).map(|count| count.documents);
        found.push(WordPlace { word: kept.clone(), field, page: page.0, position, url, documents });
    }
    Ok((Words::Whole(WordPlaces { word: kept, counts, places: found }), note))
}
