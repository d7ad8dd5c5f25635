//! What does somebody search for?
//!
//! ```text
//! query  = clause { [ "AND" | "OR" ] clause }          OR binds less; adjacent words: AND
//! clause = [ "NOT" | "-" | "+" ] ( "(" query ")" | field ":" what | what )
//! what   = word | word* (prefix) | word~ (fuzzy, word~1 word~2) | "a phrase"
//! field  = title headings body url inurl anchor | host site lang filetype since until
//! ```
//! Words may be code: `std::vector`, `print(a, b)` and `--amend` are no syntax, nor is a colon that
//! nothing or a number follows (`TypeError: …`, `localhost:80`). Syntax errors carry their position
//! and a suggestion; a query is never silently reinterpreted.

mod date;
mod lex;
mod parse;

pub(crate) use parse::parse;

use crate::schema::TextField;
use std::fmt;

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// All of these.
    And(Vec<Node>),
    /// Any of these.
    Or(Vec<Node>),
    /// Not this.
    Not(Box<Node>),
    /// Every page.
    All,
    /// Terms in one field or in any.
    Leaf(Leaf),
    /// A filter: restricts the results without affecting their order.
    Filter(Filter),
}

/// Terms to search for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) part: Option<TextField>,
    pub(crate) text: String,
    pub(crate) how: How,
    /// Whether the user marked it as required, however common it is.
    pub(crate) required: bool,
}

/// How terms are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Exactly.
    Exactly,
    /// As a phrase.
    Phrase,
    /// As a prefix.
    Beginning,
    /// Fuzzily, within this edit distance.
    Nearly(u8),
}

/// A filter on a property of pages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    /// A tag, such as `host=a.org`.
    Tag(String),
    /// Fetched at this moment or later, in milliseconds.
    Since(i64),
    /// Fetched before this moment.
    Until(i64),
}

/// A syntax error and its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct QueryError {
    /// The character, counted from 1.
    pub at: usize,
    /// What is wrong there, and what would be right.
    pub what: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the query, at character {}: {}", self.at, self.what)
    }
}

/// What a field name in a query denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryField {
    Words(TextField),
    Tag(&'static str),
    Since,
    Until,
}

/// The field names in queries.
const FIELDS: &[(&str, QueryField)] = &[
    ("title", QueryField::Words(TextField::Title)),
    ("headings", QueryField::Words(TextField::Headings)),
    ("heading", QueryField::Words(TextField::Headings)),
    ("body", QueryField::Words(TextField::Body)),
    ("text", QueryField::Words(TextField::Body)),
    ("url", QueryField::Words(TextField::Url)),
    ("inurl", QueryField::Words(TextField::Url)),
    ("anchor", QueryField::Words(TextField::Anchor)),
    ("host", QueryField::Tag("host")),
    ("site", QueryField::Tag("site")),
    ("lang", QueryField::Tag("lang")),
    ("filetype", QueryField::Tag("type")),
    ("since", QueryField::Since),
    ("until", QueryField::Until),
];

#[cfg(test)]
mod tests;
