//! How is the text of a document written down while it is read?
//!
//! Word processors, sheets, slides and mail all come to the same: paragraphs on lines of their own,
//! links that enclose some of the text, headings that begin sections. A reader of such a format
//! tells this [`TextFlow`] what begins and ends; text, anchors, headings and sections are kept in
//! step here. Addresses that merely stand in the text are found at the end.

use crate::gather::{Gather, MAX_ANCHOR, MAX_HEADINGS};
use crate::prose::{DOCUMENT_CAP, Prose, folded_literal};
use crate::text::urls;
use orb_page::{LinkKind, PageSection};
use std::collections::HashSet;

/// How many links may enclose each other.
const MAX_OPEN: usize = 32;
/// Maximum length of a heading in characters.
const MAX_HEADING: usize = 1_000;

/// A text under construction, with its links and headings.
#[derive(Debug)]
pub(crate) struct TextFlow<'g> {
    /// What has been found so far.
    pub(crate) found: &'g mut Gather,
    prose: Prose,
    /// The links that enclose what comes next: their numbers, and where they begin.
    open: Vec<(Option<usize>, usize)>,
    heading: Option<(u8, usize)>,
}

impl<'g> TextFlow<'g> {
    /// An empty text, with capacity for about `len` bytes.
    pub(crate) fn new(found: &'g mut Gather, len: usize) -> Self {
        let room = std::mem::take(&mut found.room);
        Self { prose: Prose::of_document(room, len), found, open: Vec::new(), heading: None }
    }

    /// A text that goes on behind that of the document, on a line of its own.
    pub(crate) fn behind(found: &'g mut Gather) -> Self {
        let text = std::mem::take(&mut found.doc.text);
        Self { prose: Prose::behind(text), found, open: Vec::new(), heading: None }
    }

    /// Adds characters.
    pub(crate) fn text(&mut self, text: &str) {
        self.prose.literal(text);
    }

    /// Adds characters and keeps their newlines.
    pub(crate) fn lines(&mut self, text: &str) {
        self.prose.lines(text);
    }

    /// Starts a new line before the next word.
    pub(crate) fn line(&mut self) {
        self.prose.line();
    }

    /// Starts a new word.
    pub(crate) fn space(&mut self) {
        self.prose.space();
    }

    /// Adds a text on a line of its own.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.prose.line();
        self.prose.lines(text);
        self.prose.line();
    }

    /// Whether there is room for more text.
    pub(crate) fn is_full(&self) -> bool {
        self.prose.truncated
    }

    /// Begins a link; one without a target encloses text all the same.
    pub(crate) fn begin_link(&mut self, target: &str) {
        if self.open.len() >= MAX_OPEN {
            return;
        }
        let at = self.prose.len();
        let before = self.found.doc.links.len();
        let added = self.found.link(LinkKind::Document, target, at).is_some();
        self.open.push((added.then_some(before), at));
    }

    /// Ends the innermost link. What has been written since is its anchor.
    pub(crate) fn end_link(&mut self) {
        let Some((number, start)) = self.open.pop() else { return };
        let Some(link) = number.and_then(|n| self.found.doc.links.get_mut(n)) else { return };
        if link.anchor.is_empty() {
            link.anchor = self.prose.since(start, MAX_ANCHOR);
        }
        let (start, end) = self.span(start);
        if start < end {
            self.found.doc.link_texts.push((start, end));
        }
    }

    /// Adds a link that encloses no text.
    pub(crate) fn link(&mut self, target: &str, anchor: &str) {
        let at = self.prose.len();
        if let Some(link) = self.found.link(LinkKind::Document, target, at) {
            link.anchor = folded_literal(anchor, MAX_ANCHOR);
        }
    }

    /// Begins a heading of level 1 to 6.
    pub(crate) fn begin_heading(&mut self, level: u8) {
        self.prose.line();
        self.heading = Some((level.clamp(1, 6), self.prose.len()));
    }

    /// Ends the heading.
    pub(crate) fn end_heading(&mut self) {
        let Some((level, start)) = self.heading.take() else { return };
        let title = self.prose.since(start, MAX_HEADING);
        if title.is_empty() {
            return;
        }
        let (offset, _) = self.span(start);
        if self.found.doc.sections.len() < MAX_HEADINGS {
            let offset = offset as usize;
            self.found.doc.sections.push(PageSection { id: String::new(), title: title.clone(), level, offset });
        }
        self.found.heading(level, title);
        self.prose.line();
    }

    /// Adds a heading with its text.
    pub(crate) fn heading(&mut self, level: u8, text: &str) {
        self.begin_heading(level);
        self.text(text);
        self.end_heading();
    }

    /// Where the words written since `start` begin and end.
    fn span(&self, start: usize) -> (u32, u32) {
        let text = self.prose.text();
        let written = text.get(start..).unwrap_or("");
        let blank = written.len() - written.trim_ascii_start().len();
        let fit = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (fit(start + blank), fit(text.len()))
    }

    /// Hands the text over to the document, and finds the addresses that stand in it.
    pub(crate) fn finish(mut self) {
        while !self.open.is_empty() {
            self.end_link();
        }
        self.end_heading();
        if self.prose.truncated || self.prose.len() > DOCUMENT_CAP {
            self.found.problem("text-truncated", "the text beyond the first 4 MB was left out");
        }
        let doc = &mut self.found.doc;
        doc.text = self.prose.finish();
        let end = u32::try_from(doc.text.len()).unwrap_or(u32::MAX);
        doc.link_texts.retain(|&(start, _)| start < end);
        doc.link_texts.sort_unstable();
        doc.sections.retain(|s| s.offset < end as usize);
        self.found.addresses_in_text();
    }
}

impl Gather {
    /// Adds the addresses that stand in the document's text and are no links yet.
    pub(crate) fn addresses_in_text(&mut self) {
        let text = std::mem::take(&mut self.doc.text);
        let mut known: HashSet<String> = self.doc.links.iter().map(|l| l.target.clone()).collect();
        urls(&text, |target, at| {
            if !known.contains(target) && self.link(LinkKind::Text, target, at).is_some() {
                known.insert(target.to_owned());
            }
        });
        self.doc.text = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_headings_enclose_what_is_written_between() {
        let mut found = Gather::default();
        let mut flow = TextFlow::new(&mut found, 0);
        flow.heading(2, "First\tpart");
        flow.text("See");
        flow.space();
        flow.begin_link("http://a.example/");
        flow.text(" the other ");
        flow.text("page");
        flow.end_link();
        flow.text(", http://b.example/x or http://a.example/.");
        flow.link("c", " on  top ");
        flow.finish();
        let doc = found.finish();
        assert_eq!(doc.text, "First part\nSee the other page, http://b.example/x or http://a.example/.");
        let links: Vec<_> = doc.links.iter().map(|l| (l.kind.name(), l.target.as_str(), l.anchor.as_str())).collect();
        let expected = [
            ("document", "http://a.example/", "the other page"),
            ("document", "c", "on top"),
            ("text", "http://b.example/x", ""),
        ];
        assert_eq!(links, expected);
        assert_eq!(doc.link_texts, [(15, 29)]);
        assert_eq!((doc.headings[0].level, doc.headings[0].text.as_str()), (2, "First part"));
        assert_eq!((doc.sections[0].title.as_str(), doc.sections[0].offset), ("First part", 0));
    }

    #[test]
    fn a_text_is_cut_at_four_megabytes() {
        let mut found = Gather::default();
        let mut flow = TextFlow::new(&mut found, 0);
        for _ in 0..50 {
            flow.paragraph(&"é".repeat(50_000));
        }
        assert!(flow.is_full());
        flow.heading(1, "after");
        flow.finish();
        let doc = found.finish();
        assert!(doc.text.len() <= DOCUMENT_CAP && doc.text.len() > DOCUMENT_CAP - 8);
        assert_eq!(doc.problems[0].code, "text-truncated");
    }
}
