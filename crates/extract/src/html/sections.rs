//! Where do the sections of a page begin, and what are they called?
//!
//! A section begins with a heading, or with a term of a definition list that has an `id`, and ends
//! where the next one begins. The `id` that a link can point to is the heading's own, that of an
//! element right before the heading (`<section id>`, `<div id>`, `<a name>`), or one inside it.

use super::attributes::Slots;
use super::name::{Attr, Tag};
use crate::entity::{self, ReferenceContext};
use orb_page::PageSection;

/// Maximum sections per document.
const MAX_SECTIONS: usize = 10_000;
/// Maximum length of an `id` in bytes; longer ones are no names.
const MAX_ID: usize = 200;
/// The level of a term: below every heading.
pub(super) const TERM: u8 = 7;
/// What authoring tools append to a heading as a link to itself.
const PERMALINKS: &[char] = &['¶', '#', '§', '🔗', ' ', '\u{a0}'];

/// The sections found so far.
#[derive(Debug, Default)]
pub(super) struct Sections<'a> {
    found: Vec<PageSection>,
    /// The last `id` and where in the text it was.
    last_id: Option<(&'a str, usize)>,
    /// The title that is being read: its level, its offset, its `id`.
    open: Option<(u8, usize, Option<&'a str>)>,
}

impl<'a> Sections<'a> {
    /// Notes the `id` of a start tag; `at` is the length of the text so far.
    #[inline]
    pub(super) fn named(&mut self, tag: Tag, attrs: &Slots<'a>, at: usize) {
        let name = || attrs.written(Attr::Name).filter(|_| tag == Tag::A);
        let Some(id) = attrs.written(Attr::Id).or_else(name) else { return };
        if id.is_empty() || id.len() > MAX_ID {
            return;
        }
        match &mut self.open {
            Some((_, _, own @ None)) => *own = Some(id),
            // The outermost of the elements that begin here.
            None if self.last_id.is_none_or(|(_, last)| last != at) => self.last_id = Some((id, at)),
            _ => {}
        }
        if tag == Tag::Dt {
            self.open = Some((TERM, at, Some(id)));
        }
    }

    /// A heading of this level begins.
    pub(super) fn heading(&mut self, level: u8, attrs: &Slots<'a>, at: usize) {
        let own = attrs.written(Attr::Id).filter(|id| !id.is_empty() && id.len() <= MAX_ID);
        let before = self.last_id.filter(|(_, last)| *last == at).map(|(id, _)| id);
        self.open = Some((level, at, own.or(before)));
    }

    /// Whether a term is being read.
    #[inline]
    pub(super) fn in_term(&self) -> bool {
        self.open.is_some_and(|(level, ..)| level == TERM)
    }

    /// The offset of the title that is being read.
    pub(super) fn begun(&self) -> Option<usize> {
        self.open.map(|(_, at, _)| at)
    }

    /// The title ends; `text` is the text since it began.
    pub(super) fn close(&mut self, text: &str) {
        let Some((level, offset, id)) = self.open.take() else { return };
        // What follows the name of a function is how it is called.
        let end = if level == TERM { text.find('(').unwrap_or(text.len()) } else { text.len() };
        let title = text[..end].trim_end_matches(PERMALINKS);
        if title.is_empty() || self.found.len() >= MAX_SECTIONS {
            return;
        }
        let id = id.map(|id| entity::unescape(id, ReferenceContext::Attribute).into_owned()).unwrap_or_default();
        self.found.push(PageSection { id, title: title.to_owned(), level, offset });
    }

    /// All of them that begin within a text of this length.
    pub(super) fn finish(mut self, text: usize) -> Vec<PageSection> {
        self.found.retain(|section| section.offset < text);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};

    fn sections(html: &str) -> Vec<String> {
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: None, url: "http://a/" };
        let document = extract(&content);
        let begins = |offset: usize| document.text[offset..].trim_start().chars().take(5).collect::<String>();
        let shown = |section: &orb_page::PageSection| {
            format!("{} {}#{}: {}…", section.level, section.title, section.id, begins(section.offset))
        };
        document.sections.iter().map(shown).collect()
    }

    #[test]
    fn a_heading_is_linked_to_by_an_id_before_on_or_in_it() {
        let html = "<p id=x>intro</p><section id=one><span id=two></span><h1>First one<a href=#one>¶</a></h1></section>
            text<h2 id='a&amp;b'>Second</h2>text<h3><span id=Third_one>Third</span></h3><h4>Fourth</h4>";
        assert_eq!(
            sections(html),
            ["1 First one#one: First…", "2 Second#a&b: Secon…", "3 Third#Third_one: Third…", "4 Fourth#: Fourt…"]
        );
    }

    #[test]
    fn a_term_with_an_id_is_a_section() {
        let html =
            "<dl><dt id=json.load>json.<b>load</b>(fp, *)<dd>reads<dt>no id<dd>x</dl><a name=old></a><h2>Old</h2>";
        assert_eq!(sections(html), ["7 json.load#json.load: json.…", "2 Old#old: Old…"]);
    }

    #[test]
    fn a_title_without_text_or_without_end_is_no_section() {
        assert_eq!(sections("<h1 id=a></h1><h2 id=b>¶</h2><dl><dt id=c>"), Vec::<String>::new());
        assert_eq!(sections("<h1 id=a>open"), ["1 open#a: open…"]);
    }
}
