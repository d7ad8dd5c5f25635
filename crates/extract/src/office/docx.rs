//! What does a Word document say?
//!
//! Headers, the body, foot- and endnotes, comments, footers, charts and diagrams, in this order.
//! Text that is marked as deleted is part of the document until somebody accepts the change: it is
//! shown struck through. Of text that was moved only the new place is read. Text boxes are in the
//! file twice, for new and for old readers (`AlternateContent`): the old version is skipped.

use super::OfficeReading;
use super::fields::{formula, hyperlink};
use super::lists::ListNumbers;
use super::relations::Relations;
use super::styles::{HeadingStyles, outline};
use crate::flow::TextFlow;
use crate::package::{Onward, XmlNode, XmlTag};
use crate::{Content, extract, sniff};
use orb_page::LinkKind;

/// How deep fields may be nested.
const MAX_FIELDS: usize = 64;
/// Maximum length of a field's code in bytes.
const MAX_CODE: usize = 16 << 10;

/// Reads the main part and what belongs to it.
pub(super) fn read(reading: &mut OfficeReading<'_, '_>, name: &str, xml: &str) {
    let relations = reading.relations(name);
    let styles = relations.parts("styles").first().and_then(|part| reading.package.xml(part));
    let styles = styles.map(|xml| HeadingStyles::of(&xml)).unwrap_or_default();
    let lists = relations.parts("numbering").first().and_then(|part| reading.package.xml(part));
    let mut lists = lists.map(|xml| ListNumbers::of(&xml)).unwrap_or_default();
    for part in relations.parts("header") {
        read_part(reading, &part, (&styles, &mut lists));
    }
    read_xml(reading, xml, &relations, (&styles, &mut lists));
    for kind in ["footnotes", "endnotes", "comments", "footer", "chart", "diagramData"] {
        for part in relations.parts(kind) {
            match kind {
                "chart" | "diagramData" => reading.texts(&part),
                _ => read_part(reading, &part, (&styles, &mut lists)),
            }
        }
    }
    for part in relations.parts("aFChunk") {
        read_chunk(reading, &part);
    }
}

/// Reads a document that is one XML file. Its notes, headers and comments stand where it has them.
pub(super) fn read_flat(reading: &mut OfficeReading<'_, '_>, xml: &str, relations: &Relations) {
    let styles = HeadingStyles::of(xml);
    let mut lists = ListNumbers::of(xml);
    read_xml(reading, xml, relations, (&styles, &mut lists));
}

/// Reads a part in another format that is shown as a part of the document: a page, or an archive
/// of one.
fn read_chunk(reading: &mut OfficeReading<'_, '_>, part: &str) {
    let Some(bytes) = reading.package.read(part) else { return };
    let mime = sniff(&bytes, None);
    if !matches!(&*mime, "text/html" | "application/xhtml+xml" | "text/plain" | "message/rfc822") {
        return;
    }
    let chunk = extract(&Content { bytes: &bytes, mime: Some(&mime), charset: None, url: "" });
    reading.flow.paragraph(part.rsplit('/').next().unwrap_or(part));
    reading.flow.paragraph(&chunk.text);
    for link in chunk.links.iter().filter(|link| link.kind == LinkKind::A) {
        reading.flow.link(&link.target, &link.anchor);
    }
}

/// What paragraphs refer to by name or number.
type DocxLooks<'r> = (&'r HeadingStyles, &'r mut ListNumbers);

fn read_part(reading: &mut OfficeReading<'_, '_>, part: &str, looks: DocxLooks<'_>) {
    let relations = reading.relations(part);
    if let Some(xml) = reading.package.xml(part) {
        read_xml(reading, &xml, &relations, looks);
    }
}

fn read_xml(reading: &mut OfficeReading<'_, '_>, xml: &str, relations: &Relations, (styles, lists): DocxLooks<'_>) {
    let mut reader = WordReader {
        relations,
        styles,
        lists,
        fields: Vec::new(),
        place: DocxPlace::default(),
        level: None,
        list: None,
        ticked: None,
    };
    reading.flow.line();
    reading.walk(xml, |node, flow| match node {
        XmlNode::Open(tag) => reader.open(tag, flow),
        XmlNode::Text(text) => {
            reader.text(text, flow);
            Onward::Read
        }
        XmlNode::Close(name) => {
            reader.close(name, flow);
            Onward::Read
        }
    });
    reader.end(&mut reading.flow);
    for target in relations.embedded() {
        reading.flow.link(target, "");
    }
}

/// Whether characters are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DocxPlace {
    #[default]
    Elsewhere,
    /// In a run's text.
    Text,
    /// In a field's code.
    Code,
}

/// A field: its code, and whether its result is a link.
#[derive(Default)]
struct WordField {
    code: String,
    linked: bool,
    /// Whether its result has begun.
    shown: bool,
}

struct WordReader<'r> {
    relations: &'r Relations,
    styles: &'r HeadingStyles,
    lists: &'r mut ListNumbers,
    fields: Vec<WordField>,
    place: DocxPlace,
    /// The level of the paragraph, until its text begins.
    level: Option<u8>,
    /// The list that the paragraph belongs to, and its level.
    list: Option<(u32, u32)>,
    /// Whether the box of a form that is being read is ticked.
    ticked: Option<bool>,
}

impl WordReader<'_> {
    fn open(&mut self, tag: &XmlTag<'_>, flow: &mut TextFlow<'_>) -> Onward {
        match tag.name() {
            "t" | "delText" => self.place = DocxPlace::Text,
            "instrText" => self.place = DocxPlace::Code,
            "p" => (self.level, self.list) = (None, None),
            "pStyle" => {
                let style = tag.attr("val").unwrap_or_default();
                self.level = self.styles.level(&style);
                self.list = self.styles.list(&style);
                self.begin_heading(flow);
            }
            "ilvl" => self.list = Some((self.list.map_or(0, |list| list.0), tag.number("val").unwrap_or(0))),
            "numId" => self.list = Some((tag.number("val").unwrap_or(0), self.list.map_or(0, |list| list.1))),
            "outlineLvl" => {
                self.level = outline(tag.number("val")).filter(|_| self.level.is_none());
                self.begin_heading(flow);
            }
            // Small letters above others say how these are pronounced.
            "tab" | "ptab" | "rt" | "rubyBase" => flow.space(),
            "br" | "cr" => flow.line(),
            "noBreakHyphen" => flow.text("-"),
            "sym" => symbol(tag, flow),
            "hyperlink" | "fldSimple" => {
                let target = match tag.name() {
                    "hyperlink" => self.address(tag),
                    _ => tag.attr("instr").and_then(|code| hyperlink(&code)),
                };
                flow.begin_link(target.as_deref().unwrap_or(""));
            }
            "hlinkClick" => {
                if let Some(target) = self.address(tag) {
                    flow.link(&target, "");
                }
            }
            "fldChar" => self.field(tag, flow),
            // Who says something about the text.
            "comment" => flow.paragraph(&tag.attr("author").unwrap_or_default()),
            "annotation" if tag.is("type", "Word.Comment") => {
                flow.paragraph(&tag.attr("author").unwrap_or_default());
            }
            "hlink" => flow.begin_link(&old_address(tag)),
            "docPr" | "cNvPr" => {
                for name in ["title", "descr"] {
                    if let Some(said) = tag.attr(name).filter(|t| !t.trim().is_empty()) {
                        flow.space();
                        flow.text(&said);
                        flow.space();
                    }
                }
            }
            "checkBox" => self.ticked = Some(false),
            // The first is what a box says before anybody has touched it.
            "default" | "checked" if self.ticked.is_some() => {
                self.ticked = Some(!tag.attr("val").is_some_and(|v| v == "0" || v == "false"));
            }
            // Tab stops, earlier properties, text that was moved away, and what only old readers
            // show.
            "tabs" | "pPrChange" | "rPrChange" | "delInstrText" | "moveFrom" | "Fallback" | "fallback" => {
                return Onward::Skip;
            }
            // What else stands in a document that is one file.
            "styles" | "fonts" | "lists" | "numbering" | "binData" | "binaryData" => return Onward::Skip,
            _ => {}
        }
        Onward::Read
    }

    fn begin_heading(&mut self, flow: &mut TextFlow<'_>) {
        if let Some(level) = self.level {
            flow.begin_heading(level);
        }
    }

    fn address(&self, tag: &XmlTag<'_>) -> Option<String> {
        let target = self.relations.address(&tag.relation()?)?;
        Some(match tag.attr("anchor").filter(|a| !a.is_empty() && !target.contains('#')) {
            Some(place) => format!("{target}#{place}"),
            None => target.to_owned(),
        })
    }

    fn text(&mut self, text: &str, flow: &mut TextFlow<'_>) {
        match self.place {
            DocxPlace::Text => flow.text(text),
            DocxPlace::Code => {
                if let Some(field) = self.fields.last_mut().filter(|f| f.code.len() + text.len() <= MAX_CODE) {
                    field.code.push_str(text);
                }
            }
            DocxPlace::Elsewhere => {}
        }
    }

    fn close(&mut self, name: &str, flow: &mut TextFlow<'_>) {
        match name {
            "t" | "delText" | "instrText" => self.place = DocxPlace::Elsewhere,
            "checkBox" => {
                if let Some(ticked) = self.ticked.take() {
                    flow.text(if ticked { "[X]" } else { "[ ]" });
                }
            }
            "p" => {
                flow.end_heading();
                flow.line();
            }
            "pPr" => {
                if let Some((list, level)) = self.list.take() {
                    flow.text(&self.lists.next(list, level));
                    flow.space();
                }
            }
            "hyperlink" | "fldSimple" | "hlink" => flow.end_link(),
            "rt" | "rubyBase" => flow.space(),
            _ => {}
        }
    }

    /// A field has a beginning, its code, a separator, its result, and an end.
    fn field(&mut self, tag: &XmlTag<'_>, flow: &mut TextFlow<'_>) {
        match tag.attr("fldCharType").as_deref() {
            Some("begin") if self.fields.len() < MAX_FIELDS => self.fields.push(WordField::default()),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut().filter(|f| !f.shown) {
                    field.shown = true;
                    if let Some(target) = hyperlink(&field.code) {
                        field.linked = true;
                        flow.begin_link(&target);
                    }
                }
            }
            Some("end") => match self.fields.pop() {
                Some(field) if field.linked => flow.end_link(),
                Some(field) => flow.text(&formula(&field.code).unwrap_or_default()),
                None => {}
            },
            _ => {}
        }
    }

    /// Ends what a part has left open.
    fn end(&mut self, flow: &mut TextFlow<'_>) {
        for field in self.fields.drain(..) {
            if field.linked {
                flow.end_link();
            }
        }
        flow.end_heading();
        flow.line();
    }
}

/// Where a link of Word 2003 leads; nowhere if it is to a place in the document.
fn old_address(tag: &XmlTag<'_>) -> String {
    let target = tag.attr("dest").unwrap_or_default();
    match tag.attr("bookmark").filter(|place| !target.is_empty() && !place.is_empty()) {
        Some(place) => format!("{target}#{place}"),
        None => target.into_owned(),
    }
}

/// Adds a character given by its code, unless only a symbol font knows it.
fn symbol(tag: &XmlTag<'_>, flow: &mut TextFlow<'_>) {
    let code = tag.attr("char").and_then(|hex| u32::from_str_radix(&hex, 16).ok());
    if let Some(c) = code.and_then(char::from_u32).filter(|c| !('\u{E000}'..='\u{F8FF}').contains(c)) {
        flow.text(c.encode_utf8(&mut [0; 4]));
    }
}

#[cfg(test)]
mod tests {
    use crate::package::tests::zipped;
    use crate::{Content, extract};
    use orb_page::Document;

    const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

    fn read(parts: &[(&str, &str)]) -> Document {
        let root =
            "<Relationships><Relationship Id='r' Type='x/officeDocument' Target='word/document.xml'/></Relationships>";
        let mut all = vec![("[Content_Types].xml", &b"<Types/>"[..]), ("_rels/.rels", root.as_bytes())];
        all.extend(parts.iter().map(|(name, xml)| (*name, xml.as_bytes())));
        let bytes = zipped(&all);
        extract(&Content { bytes: &bytes, mime: Some("application/zip"), charset: None, url: "http://a.example/x" })
    }

    fn links(doc: &Document) -> Vec<(&str, &str)> {
        doc.links.iter().map(|l| (l.target.as_str(), l.anchor.as_str())).collect()
    }

    #[test]
    fn a_document_is_read_with_everything_that_belongs_to_it() {
        let doc = read(&[
            (
                "word/document.xml",
                "<w:document><w:body><w:p><w:pPr><w:pStyle w:val='H1'/><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>The </w:t></w:r><w:r><w:t>title</w:t></w:r></w:p>\
                <w:p><w:r><w:t xml:space='preserve'>See </w:t></w:r><w:hyperlink r:id='r1' w:anchor='x'><w:r><w:t>here</w:t></w:r></w:hyperlink><w:r><w:tab/><w:t>now.</w:t></w:r></w:p>\
                <w:p><w:pPr><w:pStyle w:val='L'/><w:numPr><w:ilvl w:val='0'/></w:numPr></w:pPr><w:r><w:t>first</w:t></w:r></w:p>\
                <w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='4'/></w:numPr></w:pPr><w:r><w:t>second</w:t></w:r></w:p>\
                <w:p><w:r><w:fldChar w:fldCharType='begin'/><w:instrText> HYPERLINK </w:instrText><w:instrText>\"http://b.example/\"</w:instrText><w:fldChar w:fldCharType='separate'/><w:t>field</w:t><w:fldChar w:fldCharType='end'/></w:r></w:p>\
                <w:tbl><w:tr><w:tc><w:p><w:r><w:t>one</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>two &amp; three</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
                <w:p><w:del><w:r><w:delText>struck</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>away</w:t></w:r></w:moveFrom></w:p>\
                <w:p><w:fldChar w:fldCharType='begin'><w:ffData><w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox></w:ffData></w:fldChar><w:r><w:t xml:space='preserve'> ticked</w:t></w:r></w:p>\
                <mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:body></w:document>",
            ),
            (
                "word/_rels/document.xml.rels",
                "<Relationships><Relationship Id='r1' Type='x/hyperlink' Target='http://a.example/' TargetMode='External'/>\
                <Relationship Id='r2' Type='x/styles' Target='styles.xml'/><Relationship Id='r6' Type='x/numbering' Target='numbering.xml'/><Relationship Id='r3' Type='x/footnotes' Target='footnotes.xml'/>\
                <Relationship Id='r4' Type='x/header' Target='/word/header1.xml'/><Relationship Id='r5' Type='x/image' Target='http://c.example/i.png' TargetMode='External'/></Relationships>",
            ),
            (
                "word/styles.xml",
                "<w:styles><w:style w:styleId='H1'><w:name w:val='Überschrift'/><w:basedOn w:val='B'/></w:style><w:style w:styleId='B'><w:name w:val='heading 2'/></w:style><w:style w:styleId='L'><w:pPr><w:numPr><w:numId w:val='4'/></w:numPr></w:pPr></w:style></w:styles>",
            ),
            (
                "word/numbering.xml",
                "<w:numbering><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='upperLetter'/><w:lvlText w:val='%1)'/></w:lvl></w:abstractNum><w:num w:numId='4'><w:abstractNumId w:val='0'/></w:num></w:numbering>",
            ),
            (
                "word/footnotes.xml",
                "<w:footnotes><w:footnote><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote></w:footnotes>",
            ),
            ("word/header1.xml", "<w:hdr><w:p><w:r><w:t>on top</w:t></w:r></w:p></w:hdr>"),
            (
                "docProps/core.xml",
                "<c:coreProperties><dc:title>A &amp; B</dc:title><dc:creator>Ann</dc:creator><dcterms:created>2020-01-02T03:04:05Z</dcterms:created><dcterms:modified>2021-01-02T03:04:05Z</dcterms:modified></c:coreProperties>",
            ),
            ("docProps/app.xml", "<Properties><Pages>3</Pages></Properties>"),
        ]);
        assert_eq!(doc.mime, DOCX);
        assert_eq!(
            doc.text,
            "on top\nThe title\nSee here now.\nA) first\nB) second\nfield\none\ntwo & three\nstruck\n[X] ticked\nboxed\na note"
        );
        assert_eq!(
            links(&doc),
            [("http://a.example/#x", "here"), ("http://b.example/", "field"), ("http://c.example/i.png", "")]
        );
        assert_eq!((doc.headings[0].level, doc.headings[0].text.as_str()), (2, "The title"));
        assert_eq!(doc.sections[0].offset, 7);
        assert_eq!(
            (doc.title.as_deref(), doc.author.as_deref(), doc.page_count),
            (Some("A & B"), Some("Ann"), Some(3))
        );
        assert_eq!(doc.created.as_deref(), Some("2020-01-02T03:04:05Z"));
        assert_eq!(doc.modified.as_deref(), Some("2021-01-02T03:04:05Z"));
        assert!(doc.problems.is_empty(), "{:?}", doc.problems);
    }

    #[test]
    fn comments_have_authors_and_formulas_stand_in_their_codes() {
        let doc = read(&[
            (
                "word/document.xml",
                "<w:document><w:p><w:r><w:fldChar w:fldCharType='begin'/><w:instrText>EQ \\o\\ad(\\s\\up 9(ruby),base)</w:instrText><w:fldChar w:fldCharType='end'/></w:r></w:p></w:document>",
            ),
            (
                "word/_rels/document.xml.rels",
                "<Relationships><Relationship Id='r' Type='x/comments' Target='comments.xml'/></Relationships>",
            ),
            (
                "word/comments.xml",
                "<w:comments><w:comment w:id='0' w:author='Ann Example'><w:p><w:r><w:t>Really?</w:t></w:r></w:p></w:comment></w:comments>",
            ),
        ]);
        assert_eq!(doc.text, "ruby base\nAnn Example\nReally?");
    }

    #[test]
    fn what_is_broken_is_read_up_to_there_and_said() {
        let doc = read(&[("word/document.xml", "<w:document><w:p><w:r><w:t>so far</w:t></w:r></w:p><w:p></w:p <")]);
        assert_eq!((doc.text.as_str(), doc.problems[0].code.as_str()), ("so far", "xml-broken"));
    }
}
