//! What is stored of a page?
//!
//! Posting lists of its tokens by field, with documents and positions; its tags (host, site,
//! language, type), for filtering; and columns with what every match needs: the page's number, its
//! host, when it was fetched, what it duplicates, where its sections begin, which words of its URL
//! are its name, and which other pages it describes. Nothing is stored for display: titles are in
//! the catalogue, texts in the archive.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

/// Increment when older indexes must be rebuilt.
pub(crate) const FORMAT: u32 = 3;

/// Name of the tokenizer for texts and tags. The engine itself tokenizes nothing. Changing the name
/// rebuilds the index.
const WORDS: &str = "orb-words-1";
const TAGS: &str = "orb-tags";

/// A text field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextField {
    /// `<title>`.
    Title,
    /// `<h1>` to `<h6>`.
    Headings,
    /// Its own text, without what stands around it.
    Body,
    /// The URL.
    Url,
    /// The anchor texts of links that point to it.
    Anchor,
    /// What stands around its own text: menus, footers and the like.
    Around,
}

impl TextField {
    /// All of them, in display order.
    pub const ALL: &'static [Self] = &[Self::Title, Self::Headings, Self::Body, Self::Url, Self::Anchor, Self::Around];

    /// Those that come from the page itself and are about it.
    pub(crate) const OWN: &'static [Self] = &[Self::Title, Self::Headings, Self::Body, Self::Url];

    /// Its name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Headings => "headings",
            Self::Body => "body",
            Self::Url => "url",
            Self::Anchor => "anchor",
            Self::Around => "around",
        }
    }

    /// Its field in the index it belongs to.
    pub(crate) fn field(self) -> Field {
        match self {
            Self::Title => TITLE,
            Self::Headings => HEADINGS,
            Self::Body => BODY,
            Self::Url => URL,
            Self::Anchor => ANCHOR,
            Self::Around => AROUND,
        }
    }
}

pub(crate) const ID: Field = Field::from_field_id(0);
pub(crate) const HOST: Field = Field::from_field_id(1);
pub(crate) const AT: Field = Field::from_field_id(2);
pub(crate) const CLUSTER: Field = Field::from_field_id(3);
pub(crate) const SIMHASH: Field = Field::from_field_id(4);
pub(crate) const TAG: Field = Field::from_field_id(5);
pub(crate) const TITLE: Field = Field::from_field_id(6);
pub(crate) const HEADINGS: Field = Field::from_field_id(7);
pub(crate) const BODY: Field = Field::from_field_id(8);
pub(crate) const URL: Field = Field::from_field_id(9);
pub(crate) const SECTIONS: Field = Field::from_field_id(10);
pub(crate) const NAME: Field = Field::from_field_id(11);
pub(crate) const AROUND: Field = Field::from_field_id(12);
pub(crate) const DESCRIBED: Field = Field::from_field_id(13);

/// In the anchor index.
pub(crate) const ANCHOR: Field = Field::from_field_id(1);
pub(crate) const SOURCES: Field = Field::from_field_id(2);

/// The columns by name.
pub(crate) mod column {
    pub(crate) const ID: &str = "id";
    pub(crate) const HOST: &str = "host";
    pub(crate) const AT: &str = "at";
    pub(crate) const CLUSTER: &str = "cluster";
    pub(crate) const SIMHASH: &str = "simhash";
    pub(crate) const SOURCES: &str = "sources";
    pub(crate) const SECTIONS: &str = "sections";
    pub(crate) const NAME: &str = "name";
    pub(crate) const DESCRIBED: &str = "described";
}

/// The schema of the page index.
pub(crate) fn pages() -> Schema {
    let mut schema = Schema::builder();
    schema.add_u64_field(column::ID, NumericOptions::from(INDEXED) | FAST);
    schema.add_u64_field(column::HOST, FAST);
    schema.add_i64_field(column::AT, FAST);
    schema.add_u64_field(column::CLUSTER, FAST);
    schema.add_u64_field(column::SIMHASH, FAST);
    let tags = TextFieldIndexing::default().set_tokenizer(TAGS).set_fieldnorms(false);
    let tags = tags.set_index_option(IndexRecordOption::Basic);
    schema.add_text_field("tag", TextOptions::default().set_indexing_options(tags));
    for part in TextField::OWN {
        schema.add_text_field(part.name(), words());
    }
    schema.add_u64_field(column::SECTIONS, FAST);
    schema.add_u64_field(column::NAME, FAST);
    schema.add_text_field(TextField::Around.name(), words());
    schema.add_u64_field(column::DESCRIBED, FAST);
    schema.build()
}

/// The schema of the anchor index.
pub(crate) fn anchors() -> Schema {
    let mut schema = Schema::builder();
    schema.add_u64_field(column::ID, FAST);
    schema.add_text_field(TextField::Anchor.name(), words());
    schema.add_u64_field(column::SOURCES, FAST);
    schema.build()
}

fn words() -> TextOptions {
    let indexing = TextFieldIndexing::default().set_tokenizer(WORDS);
    TextOptions::default().set_indexing_options(indexing.set_index_option(IndexRecordOption::WithFreqsAndPositions))
}
