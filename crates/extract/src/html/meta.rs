//! What does a page say about itself?

use super::attributes::Slots;
use super::elements::language_tag;
use super::name::Attr;
use super::reader::HtmlReader;
use crate::directives;
use crate::prose::folded;
use orb_page::LinkKind;

/// Maximum length of a description in characters.
const MAX_DESCRIPTION: usize = 2_000;
/// The names that address robots in general or us.
const OUR_NAMES: [&str; 3] = ["robots", "orbweaver", "orb"];

impl<'a> HtmlReader<'a, '_> {
    /// Handles a `<meta>`.
    pub(super) fn meta(&mut self, at: usize, attrs: &Slots<'a>) {
        let Some(content) = attrs.get(Attr::Content) else { return };
        if attrs.has(Attr::HttpEquiv) {
            self.pragma(at, &attrs.lower(Attr::HttpEquiv), &content);
        }
        let name = attrs.lower(Attr::Name);
        if self.nested {
            return;
        }
        if OUR_NAMES.contains(&name.as_str()) {
            let robots = &mut self.found.doc.robots;
            *robots = robots.merge(directives::robots(&content));
        } else if name == "description" && self.found.doc.description.is_none() {
            let written = attrs.written(Attr::Content).unwrap_or("");
            self.found.doc.description = Some(folded(written, MAX_DESCRIPTION)).filter(|d| !d.is_empty());
        }
    }

    fn pragma(&mut self, at: usize, name: &str, content: &str) {
        match name {
            "refresh" => {
                if let Some(target) = directives::refresh(content) {
                    self.found.link(LinkKind::Refresh, target, at);
                }
            }
            "content-language" if self.found.doc.lang.is_none() && !self.nested => {
                self.found.doc.lang = language_tag(content);
            }
            _ => {}
        }
    }
}
