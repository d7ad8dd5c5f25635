//! What has been found so far, and how much is too much?
//!
//! Every extractor collects its links and images here, so limits, trimming and order are the same
//! for all formats. A page that exceeds a limit is not refused: the rest is dropped, and a problem
//! is recorded.

use crate::nested::NestedSpending;
use crate::prose::cut;
use orb_page::{Document, Form, FormField, Heading, Image, Link, LinkKind, Problem};

/// Maximum links per document.
pub(crate) const MAX_LINKS: usize = 100_000;
/// Maximum images per document.
pub(crate) const MAX_IMAGES: usize = 50_000;
/// Maximum headings per document.
pub(crate) const MAX_HEADINGS: usize = 10_000;
/// Maximum forms per document.
pub(crate) const MAX_FORMS: usize = 10_000;
/// Maximum fields over all forms of a document.
pub(crate) const MAX_FIELDS: usize = 10_000;
/// Maximum options over all fields of a document.
pub(crate) const MAX_OPTIONS: usize = 50_000;
/// Maximum length of a link target in bytes. No server accepts longer ones.
pub(crate) const MAX_TARGET: usize = 8 << 10;
/// Spare capacity of a relative target, so that it can be resolved in place.
const ROOM: usize = 24;
/// Maximum length of an anchor text in characters.
pub(crate) const MAX_ANCHOR: usize = 500;

/// A document under construction.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// The results so far.
    pub(crate) doc: Document,
    /// Buffer for the text.
    pub(crate) room: String,
    /// Whether to note where furniture stands and which items describe links.
    pub(crate) wants_layout: bool,
    /// What was spent on documents that are embedded in it.
    pub(crate) nested: NestedSpending,
    /// Bit set of the limits that were hit.
    over: u8,
    fields: usize,
    options: usize,
}

macro_rules! bounds {
    ($($name:ident = $bit:literal => $code:literal, $what:literal;)*) => {
        $(const $name: u8 = $bit;)*
        const BOUNDS: &[(u8, &str, &str)] = &[$(($bit, $code, $what),)*];
    };
}

bounds! {
    OVER_LINKS = 1 => "too-many-links", "links beyond the first 100,000 were left out";
    OVER_IMAGES = 2 => "too-many-images", "pictures beyond the first 50,000 were left out";
    OVER_HEADINGS = 4 => "too-many-headings", "headings beyond the first 10,000 were left out";
    OVER_FORMS = 8 => "too-many-forms", "forms beyond the first 10,000 were left out";
    OVER_FIELDS = 16 => "too-many-fields", "form fields beyond the first 10,000 were left out";
    OVER_OPTIONS = 32 => "too-many-options", "options beyond the first 50,000 were left out";
    OVER_TARGET = 64 => "long-target", "link targets longer than 8 kB were left out";
}

impl Gather {
    /// An empty document of this type, with a buffer for its text.
    pub(crate) fn new(doc: Document, room: String) -> Self {
        Self { doc, room, ..Self::default() }
    }

    /// Adds a link. An empty target is ignored.
    #[inline]
    pub(crate) fn link(&mut self, kind: LinkKind, target: &str, position: usize) -> Option<&mut Link> {
        if trim(target).is_empty() { None } else { self.link_or_self(kind, target, position) }
    }

    /// Adds a link whose empty target means the page itself. `data:` URLs are ignored.
    pub(crate) fn link_or_self(&mut self, kind: LinkKind, target: &str, position: usize) -> Option<&mut Link> {
        let target = trim(target);
        if has_scheme(target, "data") {
            return None;
        }
        if target.len() > MAX_TARGET {
            self.over |= OVER_TARGET;
            return None;
        }
        if self.doc.links.len() >= MAX_LINKS {
            self.over |= OVER_LINKS;
            return None;
        }
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        let mut kept = String::with_capacity(target.len() + ROOM);
        kept.push_str(target);
        let link = Link { target: kept, kind, anchor: String::new(), rel: String::new(), position, entry: None };
        self.doc.links.push(link);
        self.doc.links.last_mut()
    }

    /// Adds an image.
    pub(crate) fn image(&mut self, mut image: Image) {
        if has_scheme(&image.src, "data") {
            let end = image.src.bytes().position(|b| b == b',').map_or(image.src.len(), |i| i + 1);
            image.src.truncate(end);
            cut(&mut image.src, 100);
        }
        if image.src.len() > MAX_TARGET {
            self.over |= OVER_TARGET;
        } else if self.doc.images.len() >= MAX_IMAGES {
            self.over |= OVER_IMAGES;
        } else {
            self.doc.images.push(image);
        }
    }

    /// Adds a heading.
    pub(crate) fn heading(&mut self, level: u8, text: String) {
        if text.is_empty() {
            return;
        }
        if self.doc.headings.len() >= MAX_HEADINGS {
            self.over |= OVER_HEADINGS;
        } else {
            self.doc.headings.push(Heading { level, text });
        }
    }

    /// Adds a form and returns its index.
    pub(crate) fn form(&mut self, form: Form) -> Option<usize> {
        if self.doc.forms.len() >= MAX_FORMS {
            self.over |= OVER_FORMS;
            return None;
        }
        self.doc.forms.push(form);
        Some(self.doc.forms.len() - 1)
    }

    /// Whether one more field is allowed.
    pub(crate) fn may_add_field(&mut self) -> bool {
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            self.over |= OVER_FIELDS;
        }
        self.fields <= MAX_FIELDS
    }

    /// Adds an option to a field, up to the limit.
    pub(crate) fn option(&mut self, field: &mut FormField, value: String) {
        self.options += 1;
        if self.options > MAX_OPTIONS {
            self.over |= OVER_OPTIONS;
        } else {
            field.options.push(value);
        }
    }

    /// Adds an option to a field's initial selection, up to the limit.
    pub(crate) fn chosen(&mut self, field: &mut FormField, value: &str) {
        if self.options < MAX_OPTIONS {
            field.chosen.push(value.to_owned());
        }
    }

    /// Records a problem.
    pub(crate) fn problem(&mut self, code: &str, detail: impl Into<String>) {
        self.doc.problems.push(Problem::new(code, detail));
    }

    /// Returns the document, with the limits hit among its problems.
    pub(crate) fn finish(mut self) -> Document {
        for &(bit, code, detail) in BOUNDS {
            if self.over & bit != 0 {
                self.doc.problems.push(Problem::new(code, detail));
            }
        }
        self.doc
    }
}

/// Trims white space and control characters from a target.
#[inline]
pub(crate) fn trim(target: &str) -> &str {
    target.trim_matches(|c| c <= ' ')
}

/// Whether a target has this scheme.
#[inline]
pub(crate) fn has_scheme(target: &str, scheme: &str) -> bool {
    let target = target.as_bytes();
    target.get(scheme.len()) == Some(&b':')
        && target.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_beyond_the_bound_are_left_out_and_said_so() {
        let mut gather = Gather::default();
        for _ in 0..=MAX_LINKS {
            gather.link(LinkKind::A, "x", 0);
        }
        let doc = gather.finish();
        assert_eq!(doc.links.len(), MAX_LINKS);
        assert_eq!(doc.problems[0].code, "too-many-links");
    }

    #[test]
    fn targets_are_trimmed_and_must_be_targets() {
        let mut gather = Gather::default();
        gather.link(LinkKind::A, " \n", 0);
        gather.link(LinkKind::A, "DATA:text/html,x", 0);
        gather.link(LinkKind::A, &"x".repeat(MAX_TARGET + 1), 0);
        gather.link(LinkKind::A, "\u{1} a b\n", 7);
        gather.link_or_self(LinkKind::A, "", 9);
        let doc = gather.finish();
        let found: Vec<_> = doc.links.iter().map(|l| (l.target.as_str(), l.position)).collect();
        assert_eq!(found, [("a b", 7), ("", 9)]);
        assert_eq!(doc.problems[0].code, "long-target");
    }

    #[test]
    fn a_picture_in_its_own_source_is_known_by_its_type() {
        let mut gather = Gather::default();
        gather.image(Image { src: "data:image/png;base64,AAAA".into(), ..Image::default() });
        assert_eq!(gather.doc.images[0].src, "data:image/png;base64,");
    }
}
