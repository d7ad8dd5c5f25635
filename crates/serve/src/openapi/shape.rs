//! What goes into a route, and what comes out?

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// Makes the schema of a type.
pub(super) type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// A field of a query.
#[derive(Clone, Copy)]
pub(crate) struct AskedField {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: &'static str,
    pub(super) is_needed: bool,
}

impl AskedField {
    /// A text.
    pub(crate) const fn text(name: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: "string", is_needed: false }
    }

    /// A whole number.
    pub(crate) const fn number(name: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: "integer", is_needed: false }
    }

    /// Yes or no.
    pub(crate) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: "boolean", is_needed: false }
    }

    /// The same, which must be there.
    pub(crate) const fn needed(mut self) -> Self {
        self.is_needed = true;
        self
    }
}

/// The fields of a list that is read part by part.
pub(crate) const PAGED: &[AskedField] = &[
    AskedField::number("limit", "Rows at most: 100 without a wish, never more than 1,000"),
    AskedField::text("after", "Where the part begins: `next` of the part before"),
];

/// What goes into a route, and what comes out.
#[derive(Clone, Copy)]
pub(crate) struct RouteShape {
    pub(super) query: &'static [AskedField],
    pub(super) is_paged: bool,
    pub(super) takes: Option<SchemaFn>,
    pub(super) gives: Option<SchemaFn>,
    pub(super) media: &'static [&'static str],
    pub(super) status: u16,
}

impl RouteShape {
    /// A route without a body in its response.
    pub(crate) const NOTHING: Self =
        Self { query: &[], is_paged: false, takes: None, gives: None, media: &[], status: 204 };

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
    pub(crate) const fn paged(mut self) -> Self {
        self.is_paged = true;
        self
    }

    /// The same with this type as the JSON that is sent.
    pub(crate) const fn takes<T: JsonSchema>(mut self) -> Self {
        self.takes = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// The same with this status.
    pub(crate) const fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}
