//! What is extracted from a document?

use super::base;
use crate::Result;
use orb_aside::HelperLimits;
use orb_extract::{Content, MainContent, PageFacts};
use orb_page::{Document, Form, Headers, Heading, Image, Link, LinkKind, Problem, RobotsMeta};
use orb_urls::{Address, Canonicaliser, Rules};
use schemars::JsonSchema;
use serde::Serialize;

/// A document, with every URL resolved.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InspectedDocument {
    /// The media type it was parsed as.
    pub mime: String,
    /// The character encoding it was decoded from, if it is text.
    pub charset: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its language.
    pub lang: Option<String>,
    /// The URL that it calls canonical.
    pub canonical: Option<String>,
    /// The URL that its links are resolved against.
    pub base: String,
    /// Its robots directives.
    #[schemars(with = "serde_json::Value")]
    pub robots: RobotsMeta,
    /// Every link in document order.
    pub links: Vec<InspectedLink>,
    /// Every image in document order.
    pub images: Vec<InspectedImage>,
    /// Headings in document order.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub headings: Vec<Heading>,
    /// Forms in document order.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub forms: Vec<Form>,
    /// The visible text.
    pub text: String,
    /// The text of its main content, one block a line; all of it if it cannot be told from the
    /// rest.
    pub main: String,
    /// Who wrote it, several separated by commas.
    pub author: Option<String>,
    /// When it was published, in ISO 8601.
    pub published: Option<String>,
    /// When it was last changed, in ISO 8601.
    pub modified: Option<String>,
    /// When a document that is no web page was made, in RFC 3339.
    pub created: Option<String>,
    /// How many pages, sheets or slides it has.
    pub page_count: Option<u32>,
    /// The same.
    pub pages: Option<u32>,
    /// The width of a picture in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The height of a picture in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// The site it belongs to.
    pub site_name: Option<String>,
    /// What was wrong with it.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub problems: Vec<Problem>,
    /// Its own URL.
    pub url: String,
    /// The fingerprint of its text, in hexadecimal; `None` if it has none.
    pub simhash: Option<String>,
}

/// A link with its canonical target beside what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InspectedLink {
    /// The canonical URL it leads to.
    pub url: Option<String>,
    /// Its target as written.
    pub target: String,
    /// Its kind.
    #[schemars(with = "String")]
    pub kind: LinkKind,
    /// Its anchor text.
    pub anchor: String,
    /// Its `rel`.
    pub rel: String,
    /// Its byte offset in the decoded text.
    pub position: u32,
    /// Why it leads nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// An image with its canonical URL beside what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InspectedImage {
    /// The image as written.
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub image: Image,
    /// Its canonical URL.
    pub url: Option<String>,
}

/// What is extracted from the document at a URL; `mime` is the media type the server sent, with its
/// charset if any.
pub fn inspect_document(bytes: &[u8], url: &str, mime: Option<&str>) -> Result<InspectedDocument> {
    let canonical = Canonicaliser::new(Rules::default());
    let own = base(&canonical, url)?;
    let headers: Headers = mime.map(|m| ("Content-Type", m)).into_iter().collect();
    let (mime, charset) = (headers.mime(), headers.charset());
    let content = Content { bytes, mime: mime.as_deref(), charset: charset.as_deref(), url: own.as_str() };
    let document = orb_aside::extract(&content, HelperLimits::default());
    let main = match document.mime.as_str() {
        "text/html" => Some(MainContent::of(&orb_extract::text_of(&content), false)),
        "application/xhtml+xml" => Some(MainContent::of(&orb_extract::text_of(&content), true)),
        _ => None,
    };
    let mut inspected = resolved(&canonical, &own, document);
    if let Some(main) = main {
        inspected.main = main.main_text();
        let PageFacts { author, published, modified, site_name, .. } = main.facts;
        (inspected.author, inspected.published) = (author, published);
        (inspected.modified, inspected.site_name) = (modified, site_name);
    }
    Ok(inspected)
}

fn resolved(canonical: &Canonicaliser, own: &Address, document: Document) -> InspectedDocument {
    let base = canonical.canonical_base(own, document.base.as_deref());
    let resolve = |href: &str| canonical.resolve(&base, href).map(Address::into_string);
    let link = |link: Link| {
        let (url, refused) = match resolve(&link.target) {
            Ok(url) => (Some(url), None),
            Err(refused) => (None, Some(refused.to_string())),
        };
        let Link { target, kind, anchor, rel, position, .. } = link;
        InspectedLink { url, target, kind, anchor, rel, position, refused }
    };
    let image = |image: Image| InspectedImage { url: resolve(&image.src).ok(), image };
    let simhash = (!document.text.is_empty()).then(|| format!("{:016x}", orb_extract::simhash(&document.text)));
    InspectedDocument {
        mime: document.mime,
        charset: document.charset,
        title: document.title,
        description: document.description,
        lang: document.lang,
        canonical: document.canonical.and_then(|url| resolve(&url).ok()),
        robots: document.robots,
        links: document.links.into_iter().map(link).collect(),
        images: document.images.into_iter().map(image).collect(),
        headings: document.headings,
        forms: document.forms,
        main: document.text.clone(),
        author: document.author,
        published: document.created.clone(),
        modified: document.modified,
        created: document.created,
        page_count: document.page_count,
        pages: document.page_count,
        width: document.pixels.map(|(width, _)| width),
        height: document.pixels.map(|(_, height)| height),
        site_name: None,
        text: document.text,
        problems: document.problems,
        url: own.as_str().to_owned(),
        simhash,
        base: base.as_str().to_owned(),
    }
}
