//! What do the sheets of an Excel workbook say?
//!
//! Each sheet under its name: its rows as lines, headers and footers, comments, the texts of its
//! drawings and charts. Numbers are shown as their formats say; formulas are not shown, their
//! results are.

use super::OfficeReading;
use super::cells::{CellFormats, SharedStrings};
use super::number::DateSystem;
use super::relations::Relations;
use super::sheet;
use crate::package::{Onward, XmlNode, walk_xml};

/// Maximum number of sheets.
const MAX_SHEETS: usize = 10_000;

/// What the cells of all sheets refer to.
#[derive(Default)]
pub(super) struct Workbook {
    pub(super) strings: SharedStrings,
    pub(super) formats: CellFormats,
    pub(super) system: DateSystem,
}

/// Reads the workbook and its sheets.
pub(super) fn read(reading: &mut OfficeReading<'_, '_>, name: &str, xml: &str) {
    let relations = reading.relations(name);
    let mut part = |kind: &str| relations.parts(kind).first().and_then(|part| reading.package.xml(part));
    let mut workbook = Workbook {
        strings: part("sharedStrings").map(|xml| SharedStrings::of(&xml)).unwrap_or_default(),
        formats: part("styles").map(|xml| CellFormats::of(&xml)).unwrap_or_default(),
        system: DateSystem::From1900,
    };
    let sheets = sheets(xml, &mut workbook);
    reading.flow.found.doc.page_count = u32::try_from(sheets.len()).ok().filter(|&n| n > 0);
    for (title, id) in sheets {
        reading.flow.heading(1, &title);
        if let Some(target) = relations.get(&id).filter(|r| !r.external).map(|r| r.target.clone()) {
            read_sheet(reading, &target, &workbook);
        }
    }
}

/// The names of the sheets and the ids of their parts.
fn sheets(xml: &str, workbook: &mut Workbook) -> Vec<(String, String)> {
    let mut sheets = Vec::new();
    walk_xml(xml, |node| {
        if let XmlNode::Open(tag) = node {
            match tag.name() {
                "workbookPr" if tag.attr("date1904").is_some_and(|v| v == "1" || v == "true") => {
                    workbook.system = DateSystem::From1904;
                }
                "sheet" if sheets.len() < MAX_SHEETS => {
                    let id = tag.relation().unwrap_or_default().into_owned();
                    sheets.push((tag.attr("name").unwrap_or_default().into_owned(), id));
                }
                _ => {}
            }
        }
        Onward::Read
    });
    sheets
}

fn read_sheet(reading: &mut OfficeReading<'_, '_>, part: &str, workbook: &Workbook) {
    let relations = reading.relations(part);
    if let Some(xml) = reading.package.xml(part) {
        sheet::read(reading, &xml, &relations, workbook);
    }
    for comments in relations.parts("comments") {
        read_comments(reading, &comments);
    }
    for threads in relations.parts("threadedComment") {
        read_threads(reading, &threads);
    }
    for drawing in relations.parts("drawing") {
        read_drawing(reading, &drawing);
    }
}

fn read_comments(reading: &mut OfficeReading<'_, '_>, part: &str) {
    let Some(xml) = reading.package.xml(part) else { return };
    let mut inside = "";
    let mut authors: Vec<String> = Vec::new();
    reading.walk(&xml, |node, flow| {
        match node {
            XmlNode::Open(tag) => {
                inside = match tag.name() {
                    "t" => "t",
                    "author" => {
                        authors.push(String::new());
                        "author"
                    }
                    "comment" => {
                        let author = tag.number("authorId").and_then(|number| authors.get(number as usize));
                        flow.paragraph(author.map_or("", String::as_str));
                        ""
                    }
                    _ => "",
                };
            }
            XmlNode::Text(text) => match (inside, authors.last_mut()) {
                ("t", _) => flow.lines(text),
                ("author", Some(author)) => author.push_str(text),
                _ => {}
            },
            XmlNode::Close(name) => {
                inside = "";
                if name == "comment" {
                    flow.line();
                }
            }
        }
        Onward::Read
    });
}

/// Reads conversations about cells, as newer versions have them.
fn read_threads(reading: &mut OfficeReading<'_, '_>, part: &str) {
    let Some(xml) = reading.package.xml(part) else { return };
    let mut inside = false;
    reading.walk(&xml, |node, flow| {
        match node {
            XmlNode::Open(tag) => inside = tag.name() == "text",
            XmlNode::Text(text) if inside => flow.paragraph(text),
            XmlNode::Text(_) => {}
            XmlNode::Close(_) => inside = false,
        }
        Onward::Read
    });
}

/// Reads a drawing: the texts of its shapes, their links, and its charts.
pub(super) fn read_drawing(reading: &mut OfficeReading<'_, '_>, part: &str) {
    let relations = reading.relations(part);
    reading.texts(part);
    if let Some(xml) = reading.package.xml(part) {
        links(reading, &xml, &relations);
    }
    for kind in ["chart", "diagramData"] {
        for part in relations.parts(kind) {
            reading.texts(&part);
        }
    }
}

fn links(reading: &mut OfficeReading<'_, '_>, xml: &str, relations: &Relations) {
    reading.walk(xml, |node, flow| {
        if let XmlNode::Open(tag) = node
            && tag.name() == "hlinkClick"
            && let Some(target) = tag.relation().and_then(|id| relations.address(&id))
        {
            flow.link(target, &tag.attr("tooltip").unwrap_or_default());
        }
        Onward::Read
    });
    for target in relations.embedded() {
        reading.flow.link(target, "");
    }
}
