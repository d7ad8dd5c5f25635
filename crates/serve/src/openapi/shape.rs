//! What goes into a route, and what comes out?
//!
//! What a row says of its query is also what is wanted of it: the gate refuses a request whose
//! query is not as described before its handler sees it.

use crate::fields::FormFields;
use crate::problem::ProblemDetails;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

/// Makes the schema of a type.
pub(super) type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// A field of a query.
#[derive(Clone, Copy)]
pub(crate) struct AskedField {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    form: FieldForm,
    pub(super) is_needed: bool,
}

/// How a field is written.
#[derive(Clone, Copy)]
enum FieldForm {
    Text,
    /// As a regular expression says; its handler looks.
    Like(&'static str),
    /// One of these names.
    OneOf(fn() -> Vec<&'static str>),
    Number,
    Flag,
}

impl AskedField {
    /// A text.
    pub(crate) const fn text(name: &'static str, about: &'static str) -> Self {
        Self { name, about, form: FieldForm::Text, is_needed: false }
    }

    /// A text that matches a regular expression.
    pub(crate) const fn like(name: &'static str, pattern: &'static str, about: &'static str) -> Self {
        Self { name, about, form: FieldForm::Like(pattern), is_needed: false }
    }

    /// One of a few names.
    pub(crate) const fn one_of(name: &'static str, choices: fn() -> Vec<&'static str>, about: &'static str) -> Self {
        Self { name, about, form: FieldForm::OneOf(choices), is_needed: false }
    }

    /// A whole number.
    pub(crate) const fn number(name: &'static str, about: &'static str) -> Self {
        Self { name, about, form: FieldForm::Number, is_needed: false }
    }

    /// Yes or no.
    pub(crate) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self { name, about, form: FieldForm::Flag, is_needed: false }
    }

    /// The same, which must be there.
    pub(crate) const fn needed(mut self) -> Self {
        self.is_needed = true;
        self
    }

    /// Its schema.
    pub(super) fn schema(&self) -> Value {
        match self.form {
            // Blanks around a value do not count.
            FieldForm::Text if self.is_needed => json!({"type": "string", "pattern": r"\S"}),
            FieldForm::Text => json!({"type": "string"}),
            FieldForm::Like(pattern) => json!({"type": "string", "pattern": pattern}),
            FieldForm::OneOf(choices) => json!({"type": "string", "enum": choices()}),
            FieldForm::Number => json!({"type": "integer", "minimum": 0, "maximum": u32::MAX}),
            FieldForm::Flag => json!({"type": "boolean"}),
        }
    }

    /// Refuses a query in which it is not as described. What a text may say is its handler's
    /// business.
    fn examine(&self, query: &FormFields) -> Result<(), ProblemDetails> {
        if self.is_needed {
            query.needed(self.name)?;
        }
        if matches!(self.form, FieldForm::Text) {
            return Ok(());
        }
        let is_right = |text: &str| match self.form {
            FieldForm::Number => text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u32>().is_ok(),
            FieldForm::Flag => matches!(text, "true" | "false" | "1" | "0"),
            FieldForm::OneOf(choices) => choices().iter().any(|choice| choice.eq_ignore_ascii_case(text)),
            FieldForm::Text | FieldForm::Like(_) => !text.is_empty(),
        };
        match query.every(self.name).find(|text| !is_right(text)) {
            None => Ok(()),
            Some(text) => {
                let text: String = text.chars().take(100).collect();
                Err(ProblemDetails::malformed(format!("{} cannot be '{text}': {}", self.name, self.about)))
            }
        }
    }
}

/// The field that says how many rows of a list are wanted.
const LIMIT: AskedField = AskedField::number("limit", "Rows at most: 100 without a wish, never more than 1,000");

/// What `next` is in most lists.
const CURSOR: &str = "^[0-9]{1,15}$";

/// Header fields of a request that mean something to its route, and what.
pub(crate) type AskedHeaders = &'static [(&'static str, &'static str)];

/// By which a client that has a version already, or wants a part, says so; and what it gets then.
pub(crate) const PARTS: AskedHeaders = &[
    ("Range", "A part, such as bytes=0-1023; answered with 206, or 416 if there is no such part"),
    ("If-Range", "The entity tag of the version whose part is wanted"),
];
pub(crate) const VERSIONS: AskedHeaders = &[
    ("If-None-Match", "The entity tag of a version that is there already: answered with 304 if it is this one"),
    PARTS[0],
    PARTS[1],
];
pub(crate) const PART: (u16, &str) = (206, "The part that was asked for");
pub(crate) const UNCHANGED: (u16, &str) = (304, "It is the version that is there already");

/// What goes into a route, and what comes out.
#[derive(Clone, Copy)]
pub(crate) struct RouteShape {
    query: &'static [AskedField],
    /// What `after` is in a list that is read part by part.
    cursor: Option<&'static str>,
    pub(super) takes: Option<SchemaFn>,
    pub(super) gives: Option<SchemaFn>,
    pub(super) media: &'static [&'static str],
    pub(super) status: u16,
    pub(super) headers: AskedHeaders,
    /// Other statuses of answers that are no failures.
    pub(super) also: &'static [(u16, &'static str)],
}

impl RouteShape {
    /// A route without a body in its response.
    pub(crate) const NOTHING: Self =
        Self { query: &[], cursor: None, takes: None, gives: None, media: &[], status: 204, headers: &[], also: &[] };

    /// A route that answers with this type as JSON.
    pub(crate) const fn gives<T: JsonSchema>() -> Self {
        Self { gives: Some(SchemaGenerator::subschema_for::<T>), status: 200, ..Self::NOTHING }
    }

    /// A route that answers with these media types, of which nothing more is said.
    pub(crate) const fn streams(media: &'static [&'static str]) -> Self {
        Self { media, status: 200, ..Self::NOTHING }
    }

    /// The same with these media types besides JSON.
    pub(crate) const fn or(mut self, media: &'static [&'static str]) -> Self {
        self.media = media;
        self
    }

    /// The same with these fields in the query.
    pub(crate) const fn query(mut self, query: &'static [AskedField]) -> Self {
        self.query = query;
        self
    }

    /// The same, read part by part.
    pub(crate) const fn paged(self) -> Self {
        self.paged_by(CURSOR)
    }

    /// The same, read part by part, where `next` matches a regular expression.
    pub(crate) const fn paged_by(mut self, cursor: &'static str) -> Self {
        self.cursor = Some(cursor);
        self
    }

    /// All fields of the query.
    pub(super) fn fields(&self) -> impl Iterator<Item = AskedField> {
        let after = |cursor| AskedField::like("after", cursor, "Where the part begins: `next` of the part before");
        let paged = self.cursor.into_iter().flat_map(move |cursor| [LIMIT, after(cursor)]);
        self.query.iter().copied().chain(paged)
    }

    /// Refuses a query that is not as described.
    pub(crate) fn examine(&self, query: &FormFields) -> Result<(), ProblemDetails> {
        self.fields().try_for_each(|field| field.examine(query))
    }

    /// The same with this type as the JSON that is sent.
    pub(crate) const fn takes<T: JsonSchema>(mut self) -> Self {
        self.takes = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// The same with these header fields in the request, and these other answers.
    pub(crate) const fn hears(mut self, headers: AskedHeaders, also: &'static [(u16, &'static str)]) -> Self {
        (self.headers, self.also) = (headers, also);
        self
    }

    /// The same with this status.
    pub(crate) const fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}
