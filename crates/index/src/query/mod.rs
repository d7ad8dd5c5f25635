//! What does somebody look for?
//!
//! ```text
//! query  = clause { [ "AND" | "OR" ] clause }          OR binds less than AND; words side by side are AND
//! clause = [ "NOT" | "-" | "+" ] ( "(" query ")" | field ":" what | what )
//! what   = word | word* (beginning) | word~ (nearly, word~1 word~2) | "a phrase"
//! field  = title headings body url inurl anchor | host site lang filetype since until
//! ```
//! Words may be code: `std::vector` and `push_back()` are phrases, not syntax. What cannot be understood is told with its place and with
//! what was probably meant; a query is never understood otherwise than it was written.

mod date;
mod lex;
mod parse;

pub(crate) use parse::parse;

use crate::schema::Part;
use std::fmt;

/// A query, understood.
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
    /// Words, in one field or in any.
    Leaf(Leaf),
    /// A property that narrows the result and does not count for its order.
    Filter(Filter),
}

/// Words to be found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) part: Option<Part>,
    pub(crate) text: String,
    pub(crate) how: How,
    /// Whether it was said that a page must have it, however common it is.
    pub(crate) required: bool,
}

/// How words are to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// As they stand.
    Exactly,
    /// In a row.
    Phrase,
    /// As the beginning of a word.
    Beginning,
    /// With at most so many letters otherwise.
    Nearly(u8),
}

/// A property of pages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    /// A tag, such as `host=a.org`.
    Tag(String),
    /// Fetched at this moment or later, in milliseconds.
    Since(i64),
    /// Fetched before this moment.
    Until(i64),
}

/// What is wrong with a query, and where.
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

/// What a field of a query stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Words(Part),
    Tag(&'static str),
    Since,
    Until,
}

/// The fields by the names they have in queries.
const FIELDS: &[(&str, Field)] = &[
    ("title", Field::Words(Part::Title)),
    ("headings", Field::Words(Part::Headings)),
    ("heading", Field::Words(Part::Headings)),
    ("body", Field::Words(Part::Body)),
    ("text", Field::Words(Part::Body)),
    ("url", Field::Words(Part::Url)),
    ("inurl", Field::Words(Part::Url)),
    ("anchor", Field::Words(Part::Anchor)),
    ("host", Field::Tag("host")),
    ("site", Field::Tag("site")),
    ("lang", Field::Tag("lang")),
    ("filetype", Field::Tag("type")),
    ("since", Field::Since),
    ("until", Field::Until),
];

#[cfg(test)]
mod tests;
