//! What do OpenDocument texts, sheets and presentations say?
//!
//! A zip file with `content.xml`, `styles.xml` (headers, footers, master pages) and `meta.xml`, or
//! all of that in one flat XML file. All three kinds use the same elements (ODF 1.3, part 3).

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::office::{formula_link, properties};
use crate::package::{Onward, XmlNode, XmlTag, ZipPackage, decode_xml, walk_xml};
use crate::{Extract, TypedContent};
use memchr::memmem;
use std::borrow::Cow;

/// Maximum number of embedded objects that are read.
const MAX_OBJECTS: usize = 100;

/// Extracts OpenDocument.
#[derive(Debug)]
pub(crate) struct OdfExtractor;

impl Extract for OdfExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime.starts_with("application/vnd.oasis.opendocument.")
            || source.mime.starts_with("application/vnd.sun.xml.")
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        if !source.bytes.starts_with(b"PK") {
            let xml = decode_xml(source.bytes.to_vec());
            flat(&xml, found);
            return;
        }
        let mut package = ZipPackage::open(source.bytes);
        if package
            .xml("META-INF/manifest.xml")
            .is_some_and(|m| memmem::find(m.as_bytes(), b"encryption-data").is_some())
        {
            package.set_encrypted();
            package.report(found);
            return;
        }
        if let Some(xml) = package.xml("meta.xml") {
            properties(&xml, found);
        }
        let mut flow = TextFlow::new(found, source.bytes.len());
        let mut sound = true;
        for part in ["content.xml".to_owned(), "styles.xml".to_owned()].into_iter().chain(objects(&package)) {
            if let Some(xml) = package.xml(&part) {
                sound &= read(&xml, &mut flow);
            }
        }
        package.report(flow.found);
        finish(flow, sound);
    }
}

/// The contents of embedded objects, such as charts and formulas: documents in directories.
fn objects(package: &ZipPackage<'_>) -> Vec<String> {
    let names = package.entries().iter().map(|entry| entry.name.as_ref());
    names.filter(|name| name.ends_with("/content.xml")).take(MAX_OBJECTS).map(str::to_owned).collect()
}

/// Reads a document in one XML file.
fn flat(xml: &str, found: &mut Gather) {
    let end = memmem::find(xml.as_bytes(), b"</office:meta>").unwrap_or(0);
    properties(xml.get(..end).unwrap_or(""), found);
    let mut flow = TextFlow::new(found, xml.len());
    let sound = read(xml, &mut flow);
    finish(flow, sound);
}

fn finish(flow: TextFlow<'_>, sound: bool) {
    if !sound {
        flow.found.problem("xml-broken", "a part of the document is not well-formed XML");
    }
    flow.finish();
}

fn read(xml: &str, flow: &mut TextFlow<'_>) -> bool {
    let is_sheet = ["spreadsheet", "calc"].iter().any(|kind| flow.found.doc.mime.contains(kind));
    let mut reader = OdfReader { is_sheet, ..OdfReader::default() };
    flow.line();
    let sound = walk_xml(xml, |node| {
        if flow.is_full() {
            return Onward::Stop;
        }
        match node {
            XmlNode::Open(tag) => return reader.open(tag, flow),
            XmlNode::Text(text) if reader.paragraphs > 0 || reader.in_word => flow.text(text),
            XmlNode::Close(name) => reader.close(name, flow),
            XmlNode::Text(_) => {}
        }
        Onward::Read
    });
    flow.end_heading();
    flow.line();
    if reader.pages > 0 {
        flow.found.doc.page_count = Some(reader.pages);
    }
    sound
}

#[derive(Default)]
struct OdfReader {
    /// How many paragraphs enclose each other: notes and frames stand inside of others.
    paragraphs: u32,
    /// Whether characters outside of paragraphs are text: the title of a picture.
    in_word: bool,
    /// Slides or sheets.
    pages: u32,
    is_sheet: bool,
    /// What the open cell holds: some programs write it without a paragraph that shows it.
    value: Option<String>,
    /// Whether the open cell is a link by its formula.
    is_linked: bool,
}

impl OdfReader {
    fn begin_cell(&mut self, tag: &XmlTag<'_>, flow: &mut TextFlow<'_>) {
        flow.space();
        let value = ["string-value", "date-value", "time-value", "boolean-value", "value"];
        self.value = value.into_iter().find_map(|name| tag.attr(name)).map(Cow::into_owned);
        let target = tag.attr("formula").and_then(|formula| formula_link(&formula));
        self.is_linked = target.is_some();
        if let Some(target) = target {
            flow.begin_link(&target);
        }
    }

    fn end_cell(&mut self, flow: &mut TextFlow<'_>) {
        if let Some(value) = self.value.take() {
            flow.lines(&value);
            flow.space();
        }
        if std::mem::take(&mut self.is_linked) {
            flow.end_link();
        }
    }

    fn open(&mut self, tag: &XmlTag<'_>, flow: &mut TextFlow<'_>) -> Onward {
        match tag.name() {
            "p" | "h" => {
                if tag.name() == "h" {
                    flow.begin_heading(tag.number("outline-level").and_then(|l| u8::try_from(l).ok()).unwrap_or(1));
                } else if self.paragraphs > 0 {
                    flow.line();
                }
                self.paragraphs += 1;
                self.value = None;
            }
            "a" => {
                let target = tag.attr("href").unwrap_or_default();
                // Places in the document itself.
                let inside = target.starts_with('#') || target.starts_with("../#");
                flow.begin_link(if inside { "" } else { &target });
            }
            "table-cell" => self.begin_cell(tag, flow),
            "s" | "tab" | "covered-table-cell" => flow.space(),
            "line-break" => flow.line(),
            "table" if self.is_sheet && self.paragraphs == 0 => {
                self.pages += 1;
                flow.heading(1, &tag.attr("name").unwrap_or_default());
            }
            "page" if tag.qualified() == "draw:page" => self.pages += 1,
            "title" | "desc" if tag.qualified().starts_with("svg:") => self.word(flow),
            "creator" => self.word(flow),
            "event-listener" => {
                // What a click on a shape leads to.
                let target = tag.attr("href").unwrap_or_default();
                if !target.starts_with('#') {
                    flow.link(&target, "");
                }
            }
            "image" | "object" | "plugin" | "floating-frame" => {
                let target = tag.attr("href").unwrap_or_default();
                if target.starts_with("http") {
                    flow.link(&target, "");
                }
            }
            "date" if tag.qualified() == "dc:date" => return Onward::Skip,
            // What was deleted, declarations, scripts, and what is written elsewhere.
            "tracked-changes"
            | "sequence-decls"
            | "scripts"
            | "settings"
            | "font-face-decls"
            | "meta"
            | "automatic-styles"
            | "binary-data"
            | "database-ranges"
            | "content-validations"
            | "named-expressions"
            | "dde-links"
            | "page-number" => return Onward::Skip,
            _ => {}
        }
        Onward::Read
    }

    /// Begins characters that are text outside of paragraphs.
    fn word(&mut self, flow: &mut TextFlow<'_>) {
        self.in_word = true;
        flow.space();
    }

    fn close(&mut self, name: &str, flow: &mut TextFlow<'_>) {
        match name {
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                flow.end_heading();
                // The cells of a row of a sheet stand on one line.
                if self.is_sheet { flow.space() } else { flow.line() }
            }
            "a" => flow.end_link(),
            "table-cell" => self.end_cell(flow),
            "title" | "desc" | "creator" if self.in_word => {
                self.in_word = false;
                flow.line();
            }
            "table-row" | "note" | "annotation" => flow.line(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::package::tests::zipped;
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(bytes: &[u8]) -> Document {
        extract(&Content { bytes, mime: Some("application/octet-stream"), charset: None, url: "" })
    }

    #[test]
    fn a_text_is_read_with_its_notes_and_margins() {
        let content = "<office:document-content><office:automatic-styles><x>no</x></office:automatic-styles><office:body><office:text>\
            <text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>\
            <text:h text:outline-level='2'>Head</text:h><text:p>One<text:s text:c='3'/>two <text:a xlink:href='http://a.example/?x&amp;y'>link</text:a><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>noted</text:p></text:note-body></text:note></text:p>\
            <text:p><text:a xlink:href='#place'>inside</text:a><text:line-break/>next</text:p></office:text></office:body></office:document-content>";
        let styles = "<office:document-styles><office:master-styles><style:footer><text:p>page foot</text:p></style:footer></office:master-styles></office:document-styles>";
        let meta = "<office:document-meta><office:meta><dc:title>T</dc:title><dc:creator>last</dc:creator><meta:initial-creator>first</meta:initial-creator><meta:creation-date>2020-01-02T03:04:05.5</meta:creation-date><meta:document-statistic meta:page-count='4'/></office:meta></office:document-meta>";
        let doc = read(&zipped(&[
            ("mimetype", b"application/vnd.oasis.opendocument.text"),
            ("content.xml", content.as_bytes()),
            ("styles.xml", styles.as_bytes()),
            ("meta.xml", meta.as_bytes()),
        ]));
        assert_eq!(doc.mime, "application/vnd.oasis.opendocument.text");
        assert_eq!(doc.text, "Head\nOne two link1\nnoted\ninside\nnext\npage foot");
        assert_eq!(
            (doc.links.len(), doc.links[0].target.as_str(), doc.links[0].anchor.as_str()),
            (1, "http://a.example/?x&y", "link")
        );
        assert_eq!((doc.title.as_deref(), doc.author.as_deref(), doc.page_count), (Some("T"), Some("first"), Some(4)));
        assert_eq!((doc.created.as_deref(), doc.headings[0].level), (Some("2020-01-02T03:04:05"), 2));
    }

    #[test]
    fn a_flat_sheet_is_read_row_by_row() {
        let doc = read(
            b"<?xml version='1.0'?><office:document xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' office:mimetype='application/vnd.oasis.opendocument.spreadsheet'>\
            <office:meta><dc:title>S</dc:title></office:meta><office:body><table:table table:name='First'><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>\
            <table:table-cell table:number-columns-repeated='16384'><text:p>b</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row></table:table></office:body></office:document>",
        );
        assert_eq!(doc.mime, "application/vnd.oasis.opendocument.spreadsheet");
        assert_eq!((doc.text.as_str(), doc.title.as_deref(), doc.page_count), ("First\na b\nc", Some("S"), Some(1)));
    }

    #[test]
    fn an_encrypted_text_says_so() {
        let doc = read(&zipped(&[
            ("mimetype", b"application/vnd.oasis.opendocument.text"),
            ("META-INF/manifest.xml", b"<m><manifest:encryption-data/></m>"),
            ("content.xml", b"\0\x01garbage"),
        ]));
        assert_eq!((doc.problems[0].code.as_str(), doc.text.as_str()), ("encrypted", ""));
    }

    #[test]
    fn cells_without_a_paragraph_and_shapes_that_lead_somewhere_are_read() {
        let content = "<office:document-content><office:body><office:spreadsheet><table:table table:name='T'><table:table-row>\
            <table:table-cell office:value-type='float' office:value='12.5'/><table:table-cell office:value-type='float' office:value='0.5'><text:p>50 %</text:p></table:table-cell>\
            <table:table-cell table:formula='of:=HYPERLINK(&quot;http://f.example/&quot;;&quot;x&quot;)'><text:p>shown</text:p></table:table-cell></table:table-row></table:table>\
            <draw:frame><office:event-listeners><presentation:event-listener xlink:href='http://e.example/'/></office:event-listeners></draw:frame></office:spreadsheet></office:body></office:document-content>";
        let doc = read(&zipped(&[
            ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
            ("content.xml", content.as_bytes()),
        ]));
        let links: Vec<_> = doc.links.iter().map(|l| (l.target.as_str(), l.anchor.as_str())).collect();
        assert_eq!(links, [("http://f.example/", "shown"), ("http://e.example/", "")]);
        assert_eq!(doc.text, "T\n12.5 50 % shown");
    }
}
