//! What do the slides of a presentation say?
//!
//! Slide by slide in the order of the show: the texts of the shapes and tables, comments, diagrams
//! and charts, and the speaker's notes; at the end what the layouts show on every slide and page of
//! notes. Their placeholders are not text: they prompt for it.

use super::OfficeReading;
use super::relations::Relations;
use super::xlsx::read_drawing;
use crate::flow::TextFlow;
use crate::package::{Onward, XmlNode, XmlTag, walk_xml};
use std::collections::{HashMap, HashSet};

/// Maximum number of slides.
const MAX_SLIDES: usize = 20_000;
/// Maximum number of people who comment.
const MAX_AUTHORS: usize = 10_000;

/// Reads the slides of a presentation.
pub(super) fn read(reading: &mut OfficeReading<'_, '_>, name: &str, xml: &str) {
    let relations = reading.relations(name);
    let slides = slides(xml, &relations);
    reading.flow.found.doc.page_count = u32::try_from(slides.len()).ok().filter(|&n| n > 0);
    let authors = authors(reading, &relations);
    let mut layouts: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for slide in &slides {
        let relations = read_part(reading, slide, SlideKind::Slide);
        for comments in relations.parts("comments") {
            read_comments(reading, &comments, &authors);
        }
        for kind in ["diagramData", "chart"] {
            for part in relations.parts(kind) {
                reading.texts(&part);
            }
        }
        for drawing in relations.parts("drawing") {
            read_drawing(reading, &drawing);
        }
        for notes in relations.parts("notesSlide") {
            let relations = read_part(reading, &notes, SlideKind::Notes);
            layouts.extend(relations.parts("notesMaster").into_iter().filter(|m| seen.insert(m.clone())));
        }
        layouts.extend(relations.parts("slideLayout").into_iter().filter(|l| seen.insert(l.clone())));
    }
    let mut masters: Vec<String> = Vec::new();
    for layout in &layouts {
        let relations = read_part(reading, layout, SlideKind::Layout);
        masters.extend(relations.parts("slideMaster").into_iter().filter(|m| seen.insert(m.clone())));
    }
    for master in &masters {
        read_part(reading, master, SlideKind::Layout);
    }
}

/// The names of the slides' parts in the order of the show.
fn slides(xml: &str, relations: &Relations) -> Vec<String> {
    let mut slides = Vec::new();
    walk_xml(xml, |node| {
        if let XmlNode::Open(tag) = node
            && tag.name() == "sldId"
            && slides.len() < MAX_SLIDES
            && let Some(slide) = tag.relation().and_then(|id| relations.get(&id)).filter(|r| !r.external)
        {
            slides.push(slide.target.clone());
        }
        Onward::Read
    });
    if slides.is_empty() { relations.parts("slide") } else { slides }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SlideKind {
    Slide,
    Notes,
    /// A layout or master, whose placeholders are not shown.
    Layout,
}

fn read_part(reading: &mut OfficeReading<'_, '_>, part: &str, kind: SlideKind) -> Relations {
    let relations = reading.relations(part);
    let Some(xml) = reading.package.xml(part) else { return relations };
    let mut reader = SlideReader::new(&relations, kind);
    reading.flow.line();
    reading.walk(&xml, |node, flow| match node {
        XmlNode::Open(tag) => reader.open(tag, flow),
        XmlNode::Text(text) => {
            if reader.in_text && !reader.hidden {
                flow.text(text);
            }
            Onward::Read
        }
        XmlNode::Close(name) => {
            reader.close(name, flow);
            Onward::Read
        }
    });
    reading.flow.end_heading();
    reading.flow.line();
    relations
}

struct SlideReader<'r> {
    relations: &'r Relations,
    kind: SlideKind,
    in_text: bool,
    /// Whether the shape is a placeholder that shows nothing of its own.
    hidden: bool,
    /// Whether the shape is the slide's title.
    title: bool,
    /// Whether the run is a link.
    linked: bool,
}

impl<'r> SlideReader<'r> {
    fn new(relations: &'r Relations, kind: SlideKind) -> Self {
        Self { relations, kind, in_text: false, hidden: false, title: false, linked: false }
    }

    fn open(&mut self, tag: &XmlTag<'_>, flow: &mut TextFlow<'_>) -> Onward {
        match tag.name() {
            "t" => self.in_text = true,
            "sp" | "graphicFrame" | "pic" | "cxnSp" => {
                self.hidden = false;
                self.title = false;
            }
            "ph" => self.placeholder(tag),
            "p" if self.title && !self.hidden => flow.begin_heading(1),
            "br" => flow.line(),
            "tab" => flow.space(),
            "hlinkClick" => self.link(tag, flow),
            "cNvPr" if self.kind == SlideKind::Slide => {
                if let Some(said) = tag.attr("descr").filter(|t| !t.trim().is_empty()) {
                    flow.paragraph(&said);
                }
            }
            "Fallback" | "tabLst" => return Onward::Skip,
            _ => {}
        }
        Onward::Read
    }

    fn placeholder(&mut self, tag: &XmlTag<'_>) {
        let kind = tag.attr("type").unwrap_or_default();
        self.title = self.kind == SlideKind::Slide && matches!(&*kind, "title" | "ctrTitle");
        self.hidden = match self.kind {
            SlideKind::Slide => false,
            SlideKind::Notes => kind == "sldImg",
            SlideKind::Layout => true,
        };
    }

    /// A link of a run encloses its text, which follows; that of a shape stands alone.
    fn link(&mut self, tag: &XmlTag<'_>, flow: &mut TextFlow<'_>) {
        let Some(target) = tag.relation().and_then(|id| self.relations.address(&id)) else { return };
        flow.begin_link(target);
        self.linked = true;
    }

    fn close(&mut self, name: &str, flow: &mut TextFlow<'_>) {
        match name {
            "t" => self.in_text = false,
            "r" | "fld" | "cNvPr" if self.linked => {
                flow.end_link();
                self.linked = false;
            }
            "p" => {
                flow.end_heading();
                flow.line();
            }
            "tc" => flow.line(),
            _ => {}
        }
    }
}

/// Who comments, by their numbers: their names, and their initials, which mark what they comment
/// on.
fn authors(reading: &mut OfficeReading<'_, '_>, relations: &Relations) -> HashMap<String, String> {
    let mut authors = HashMap::new();
    let parts = ["commentAuthors", "authors"].into_iter().flat_map(|kind| relations.parts(kind));
    for xml in parts.filter_map(|part| reading.package.xml(&part)).collect::<Vec<_>>() {
        walk_xml(&xml, |node| {
            if let XmlNode::Open(tag) = node
                && matches!(tag.name(), "cmAuthor" | "author")
                && authors.len() < MAX_AUTHORS
            {
                let attr = |name: &str| tag.attr(name).unwrap_or_default().into_owned();
                authors.insert(attr("id"), format!("{} {}", attr("name"), attr("initials")));
            }
            Onward::Read
        });
    }
    authors
}

fn read_comments(reading: &mut OfficeReading<'_, '_>, part: &str, authors: &HashMap<String, String>) {
    let Some(xml) = reading.package.xml(part) else { return };
    let mut inside = false;
    reading.walk(&xml, |node, flow| {
        match node {
            XmlNode::Open(tag) if tag.name() == "cm" => {
                if let Some(author) = tag.attr("authorId").and_then(|id| authors.get(&*id)) {
                    flow.paragraph(author);
                }
            }
            XmlNode::Open(tag) => inside |= matches!(tag.name(), "text" | "t"),
            XmlNode::Text(text) if inside => flow.lines(text),
            XmlNode::Close("text" | "t") => {
                inside = false;
                flow.line();
            }
            _ => {}
        }
        Onward::Read
    });
}

#[cfg(test)]
mod tests {
    use crate::package::tests::zipped;
    use crate::{Content, extract};

    #[test]
    fn slides_are_read_in_the_order_of_the_show_with_their_notes() {
        let slide = |title: &str, body: &str| {
            format!(
                "<p:sld><p:sp><p:nvSpPr><p:cNvPr id='1' name='x'/><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>\
                <p:sp><p:txBody><a:p>{body}</a:p></p:txBody></p:sp></p:sld>"
            )
        };
        let first = slide(
            "One",
            "<a:r><a:rPr><a:hlinkClick r:id='h'/></a:rPr><a:t>linked</a:t></a:r><a:r><a:t> &amp; not</a:t></a:r>",
        );
        let second = slide("Two", "<a:r><a:t>b</a:t></a:r><a:br/><a:r><a:t>c</a:t></a:r>");
        let bytes = zipped(&[
            ("[Content_Types].xml", b"<Types/>"),
            ("_rels/.rels", b"<Relationships><Relationship Id='r' Type='x/officeDocument' Target='ppt/presentation.xml'/></Relationships>"),
            ("ppt/presentation.xml", b"<p:presentation><p:sldIdLst><p:sldId id='256' r:id='s2'/><p:sldId id='257' r:id='s1'/></p:sldIdLst></p:presentation>"),
            ("ppt/_rels/presentation.xml.rels", b"<Relationships><Relationship Id='s1' Type='x/slide' Target='slides/1.xml'/><Relationship Id='s2' Type='x/slide' Target='slides/2.xml'/><Relationship Id='a' Type='x/commentAuthors' Target='who.xml'/></Relationships>"),
            ("ppt/who.xml", b"<p:cmAuthorLst><p:cmAuthor id='3' name='Ann Example' initials='AE'/></p:cmAuthorLst>"),
            ("ppt/c.xml", b"<p:cmLst><p:cm authorId='3'><p:pos x='1'/><p:text>Really?</p:text></p:cm></p:cmLst>"),
            ("ppt/media/film.mp4", b"x"),
            ("ppt/slides/1.xml", second.as_bytes()),
            ("ppt/slides/2.xml", first.as_bytes()),
            ("ppt/slides/_rels/2.xml.rels", b"<Relationships><Relationship Id='h' Type='x/hyperlink' Target='http://a.example/' TargetMode='External'/><Relationship Id='c' Type='x/comments' Target='../c.xml'/><Relationship Id='n' Type='x/notesSlide' Target='../notes/n.xml'/><Relationship Id='l' Type='x/slideLayout' Target='../layout.xml'/></Relationships>"),
            ("ppt/notes/n.xml", b"<p:notes><p:sp><p:ph type='sldNum'/><a:p><a:fld><a:t>7</a:t></a:fld></a:p></p:sp><p:sp><p:ph type='body'/><a:p><a:r><a:t>say this</a:t></a:r></a:p></p:sp></p:notes>"),
            ("ppt/layout.xml", b"<p:sldLayout><p:sp><p:ph type='title'/><a:p><a:r><a:t>Click to edit</a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:t>Company</a:t></a:r></a:p></p:sp></p:sldLayout>"),
        ]);
        let doc =
            extract(&Content { bytes: &bytes, mime: Some("application/vnd.ms-powerpoint"), charset: None, url: "" });
        assert_eq!(doc.mime, "application/vnd.openxmlformats-officedocument.presentationml.presentation");
        assert_eq!(doc.text, "One\nlinked & not\nAnn Example AE\nReally?\n7\nsay this\nTwo\nb\nc\nCompany\nfilm.mp4");
        assert_eq!((doc.links[0].target.as_str(), doc.links[0].anchor.as_str()), ("http://a.example/", "linked"));
        let headings: Vec<_> = doc.headings.iter().map(|h| h.text.as_str()).collect();
        assert_eq!((headings, doc.page_count), (vec!["One", "Two"], Some(2)));
    }
}
