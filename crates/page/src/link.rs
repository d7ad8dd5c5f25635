//! Where does a page point, and with which element?

use crate::Moment;
use crate::kind::names;
use serde::{Deserialize, Serialize};

names! {
    /// The element or context of a link.
    LinkKind {
        /// `<a href>`.
        A = 0 => "a",
        /// `<area href>`.
        Area = 1 => "area",
        /// `<img src|srcset>`, `<input type=image>`, `<picture>`, `background` attributes, icons.
        Img = 2 => "img",
        /// `<script src>`.
        Script = 3 => "script",
        /// `<link rel=stylesheet>`, `@import` and `url()` in CSS.
        Css = 4 => "css",
        /// `<frame>`, `<iframe>`.
        Frame = 5 => "frame",
        /// `<form action>`, `formaction`.
        Form = 6 => "form",
        /// An HTTP response with `Location`.
        Redirect = 7 => "redirect",
        /// `<link rel=canonical>`.
        Canonical = 8 => "canonical",
        /// An entry of a sitemap or sitemap index.
        Sitemap = 9 => "sitemap",
        /// `<meta http-equiv=refresh>`.
        Refresh = 10 => "refresh",
        /// Any other `<link>`: alternate, next, prev, manifest.
        Link = 11 => "link",
        /// `<audio>`, `<video>`, `<source>`, `<track>`, posters.
        Media = 12 => "media",
        /// `<object>`, `<embed>`, `<applet>`.
        Object = 13 => "object",
        /// `cite` and `longdesc` attributes.
        Cite = 14 => "cite",
        /// `onclick` and other inline event handlers.
        Handler = 15 => "onclick",
        /// A URL in the text of a script.
        ScriptText = 16 => "js",
        /// The HTTP `Link` header.
        Header = 17 => "header",
        /// A URL in plain text.
        Text = 18 => "text",
        /// An entry of a feed.
        Feed = 19 => "feed",
        /// An attribute or element of other XML.
        Xml = 20 => "xml",
        /// An entry of a directory listing.
        Entry = 21 => "entry",
        /// A link in a document that is no web page: an annotation, a field, a relationship.
        Document = 22 => "document",
    }
}

impl LinkKind {
    /// The kinds whose anchor text people see.
    pub const SPOKEN: [Self; 3] = [Self::A, Self::Area, Self::Document];

    /// Whether a browser loads the target to render the page.
    pub const fn is_embedded(self) -> bool {
        matches!(self, Self::Img | Self::Script | Self::Css | Self::Frame | Self::Media | Self::Object)
    }
}

/// A link as the page wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The target as written: character references expanded, white space trimmed, not yet resolved.
    pub target: String,
    /// Its kind.
    pub kind: LinkKind,
    /// Its anchor text, `alt` or `title`, with white space collapsed; may be empty.
    pub anchor: String,
    /// Its `rel` in lower case, tokens separated by single spaces; may be empty.
    pub rel: String,
    /// Its byte offset in the decoded text.
    pub position: u32,
    /// What a directory listing says of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Box<EntryFacts>>,
}

/// What a directory listing says of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryFacts {
    /// Its length in bytes.
    pub size: Option<u64>,
    /// When it was last changed.
    pub modified: Option<Moment>,
}

impl Link {
    /// Whether `rel` contains this token.
    pub fn has_rel(&self, token: &str) -> bool {
        self.rel.split(' ').any(|t| t == token)
    }
}
