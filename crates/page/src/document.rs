//! What does a page say?

use crate::Link;
use serde::{Deserialize, Serialize};

/// What an extractor read from a page. Extraction never fails: it lists the problems it met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The media type it was parsed as, in lower case, without parameters.
    pub mime: String,
    /// The character encoding it was decoded from (WHATWG name), if it is text.
    pub charset: Option<String>,
    /// `<title>`, with white space collapsed.
    pub title: Option<String>,
    /// `<meta name=description>`.
    pub description: Option<String>,
    /// The language it declares, or the detected one.
    pub lang: Option<String>,
    /// Who wrote it, as a document that is no web page says in its properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When such a document was made, in RFC 3339, as exactly as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When it was last changed, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// How many pages, sheets or slides it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_count: Option<u32>,
    /// Width and height of a picture, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
    /// `<link rel=canonical>`, as written.
    pub canonical: Option<String>,
    /// `<base href>`, as written.
    pub base: Option<String>,
    /// Its robots directives.
    pub robots: RobotsMeta,
    /// Every link in document order.
    pub links: Vec<Link>,
    /// Every image in document order.
    pub images: Vec<Image>,
    /// Headings in document order.
    pub headings: Vec<Heading>,
    /// Where its sections begin in the text, in document order. Derived from the page whenever it
    /// is read, so never written down.
    #[serde(skip)]
    pub sections: Vec<PageSection>,
    /// Where the anchor texts of its links stand in the text, in bytes, in order. Never written
    /// down, either.
    #[serde(skip)]
    pub link_texts: Vec<(u32, u32)>,
    /// Where in the text the markup has navigation, footers and the like, in bytes, disjoint and in
    /// order. Never written down, either.
    #[serde(skip)]
    pub furniture: Vec<(u32, u32)>,
    /// Items of lists and tables that say what a link leads to, in document order. Never written
    /// down, either.
    #[serde(skip)]
    pub items: Vec<LinkedItem>,
    /// Forms in document order.
    pub forms: Vec<Form>,
    /// The visible text, blocks separated by newlines, white space collapsed within.
    pub text: String,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
}

/// The directives of `<meta name=robots>` or `X-Robots-Tag`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsMeta {
    /// Keep it out of the index.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
    /// Do not show a stored copy.
    pub noarchive: bool,
}

impl RobotsMeta {
    /// The stricter of two sets of directives.
    pub fn merge(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
        }
    }
}

/// An image on a page, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// `src`, not yet resolved.
    pub src: String,
    /// `alt`; `None` if the element has none. An empty one says that the image is decoration.
    pub alt: Option<String>,
    /// `width` in pixels.
    pub width: Option<u32>,
    /// `height` in pixels.
    pub height: Option<u32>,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its text, with white space collapsed.
    pub text: String,
}

/// A part of a page with a name: a heading, or a term with its definition, and what follows up to
/// the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageSection {
    /// The element's `id`, for `page#id`; empty if it has none.
    pub id: String,
    /// The heading or the term, with white space collapsed.
    pub title: String,
    /// 1 to 6 as of a heading, 7 for a term.
    pub level: u8,
    /// Where its title begins in the page's text, in bytes.
    pub offset: usize,
}

/// An item of a list or a table that begins with a link and says what it leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkedItem {
    /// The number of the link among those of the page.
    pub link: u32,
    /// Where it begins in the page's text, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// A form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// `action`, not yet resolved; empty means the page itself.
    pub action: String,
    /// `get` or `post`.
    pub method: String,
    /// `enctype`.
    pub enctype: String,
    /// `accept-charset`, the encodings it may be submitted in; empty means the page's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub charsets: String,
    /// `id`.
    pub id: String,
    /// `name`.
    pub name: String,
    /// Its fields in document order.
    pub fields: Vec<FormField>,
}

/// A field of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormField {
    /// Its name; fields without one are listed too.
    pub name: String,
    /// What it is.
    pub kind: FieldKind,
    /// Its initial value.
    pub value: String,
    /// Whether a check box, radio button or option is initially selected.
    pub checked: bool,
    /// The values of a `<select>`.
    pub options: Vec<String>,
    /// The initially selected ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Whether several may be selected.
    #[serde(default, skip_serializing_if = "is_false")]
    pub multiple: bool,
    /// Whether it is disabled, directly or by a `<fieldset>` around it: a browser does not submit
    /// it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub disabled: bool,
    /// What a button overrides in its form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sends: Option<Box<Sends>>,
}

/// What a field is: the `type` of an `<input>` or `<button>`, or the name of another element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FieldKind {
    /// Not shown.
    Hidden,
    /// Text that is not shown as it is typed.
    Password,
    /// Ticked or not.
    Checkbox,
    /// One of several of the same name.
    Radio,
    /// A `<select>`.
    Select,
    /// A file, which is never sent.
    File,
    /// A button that submits the form.
    Submit,
    /// The same, with a picture.
    Image,
    /// A button for scripts.
    Button,
    /// A button that restores the initial values.
    Reset,
    /// Anything else, filled in as text: `text`, `textarea`, `search`, `email`, ….
    Text(String),
}

impl FieldKind {
    const NAMED: [Self; 10] = [
        Self::Hidden,
        Self::Password,
        Self::Checkbox,
        Self::Radio,
        Self::Select,
        Self::File,
        Self::Submit,
        Self::Image,
        Self::Button,
        Self::Reset,
    ];

    /// Its name in HTML.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Hidden => "hidden",
            Self::Password => "password",
            Self::Checkbox => "checkbox",
            Self::Radio => "radio",
            Self::Select => "select",
            Self::File => "file",
            Self::Submit => "submit",
            Self::Image => "image",
            Self::Button => "button",
            Self::Reset => "reset",
            Self::Text(name) => name,
        }
    }
}

impl Default for FieldKind {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<String> for FieldKind {
    fn from(name: String) -> Self {
        Self::NAMED.into_iter().find(|kind| kind.as_str() == name).unwrap_or(Self::Text(name))
    }
}

impl From<FieldKind> for String {
    fn from(kind: FieldKind) -> Self {
        kind.as_str().to_owned()
    }
}

/// What a button overrides in its form: `formaction`, `formmethod`, `formenctype`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sends {
    /// The action, not yet resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// `get` or `post`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The encoding type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enctype: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Something wrong with a page, recorded as a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A short stable name, such as `charset-replaced` or `truncated`.
    pub code: String,
    /// One line for people.
    pub detail: String,
}

impl Problem {
    /// A problem with its stable name and its line for people.
    pub fn new(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { code: code.into(), detail: detail.into() }
    }
}
