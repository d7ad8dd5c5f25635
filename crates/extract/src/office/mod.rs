//! What do documents of Word, Excel and PowerPoint say since 2007?
//!
//! Office Open XML (ECMA-376): a zip file of XML parts, which name each other by relationships. The
//! main part is found by its relationship, not by its name; its root element tells which of the
//! three it is. The parts are read one after another in reading order, none of them as a tree.

mod calendar;
mod cells;
mod docx;
mod embedded;
mod fields;
mod flat;
mod lists;
mod number;
mod pptx;
mod properties;
mod relations;
mod sheet;
mod styles;
mod xlsx;

pub(crate) use fields::{formula, hyperlink};
pub(crate) use flat::FlatWordExtractor;
pub(crate) use number::{DateSystem, NumberFormat};
pub(crate) use properties::properties;
pub(crate) use sheet::{formula_link, margin};
pub(crate) use styles::heading_by_name;

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::package::{Onward, XmlNode, ZipPackage, walk_xml};
use crate::{Extract, TypedContent};
use relations::Relations;

/// Extracts Office Open XML.
#[derive(Debug)]
pub(crate) struct OfficeExtractor;

impl Extract for OfficeExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        let of_office = source.mime.starts_with("application/vnd.openxmlformats-officedocument.")
            || source.mime.starts_with("application/vnd.ms-");
        of_office && source.bytes.starts_with(b"PK")
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let mut package = ZipPackage::open(source.bytes);
        properties::read(&mut package, found);
        let mut flow = TextFlow::new(found, source.bytes.len());
        if let Some(main) = main_part(&mut package) {
            let mut reading = OfficeReading { package, flow, sound: true };
            match main.kind {
                OfficeKind::Text => docx::read(&mut reading, &main.name, &main.xml),
                OfficeKind::Sheets => xlsx::read(&mut reading, &main.name, &main.xml),
                OfficeKind::Slides => pptx::read(&mut reading, &main.name, &main.xml),
            }
            embedded::read(&mut reading);
            if !reading.sound {
                reading.flow.found.problem("xml-broken", "a part of the document is not well-formed XML");
            }
            (package, flow) = (reading.package, reading.flow);
        }
        package.report(flow.found);
        flow.finish();
    }
}

/// A package on the way to its text.
pub(crate) struct OfficeReading<'a, 'g> {
    package: ZipPackage<'a>,
    flow: TextFlow<'g>,
    /// Whether all XML was well-formed.
    sound: bool,
}

impl OfficeReading<'_, '_> {
    /// The relationships of a part.
    fn relations(&mut self, part: &str) -> Relations {
        Relations::of(&mut self.package, part)
    }

    /// Reads an XML part, with the flow and the package at hand.
    fn walk(&mut self, xml: &str, mut visit: impl FnMut(XmlNode<'_>, &mut TextFlow<'_>) -> Onward) {
        let flow = &mut self.flow;
        self.sound &= walk_xml(xml, |node| if flow.is_full() { Onward::Stop } else { visit(node, flow) });
    }

    /// Adds the plain texts of a part that belongs to another: a chart, a diagram.
    fn texts(&mut self, part: &str) {
        let Some(xml) = self.package.xml(part) else { return };
        let mut inside = false;
        self.flow.line();
        self.walk(&xml, |node, flow| {
            match node {
                XmlNode::Open(tag) => match tag.name() {
                    "t" | "v" => inside = true,
                    // Formats and formulas say nothing.
                    "f" | "formatCode" | "Fallback" => return Onward::Skip,
                    _ => {}
                },
                XmlNode::Close("t") => inside = false,
                XmlNode::Close("v") => {
                    inside = false;
                    flow.line();
                }
                XmlNode::Close("p") => flow.line(),
                XmlNode::Text(text) if inside => flow.text(text),
                _ => {}
            }
            Onward::Read
        });
        self.flow.line();
    }
}

enum OfficeKind {
    Text,
    Sheets,
    Slides,
}

struct MainPart {
    name: String,
    xml: String,
    kind: OfficeKind,
}

/// The part with which a document begins.
fn main_part(package: &mut ZipPackage<'_>) -> Option<MainPart> {
    let named = Relations::of(package, "").of_type("officeDocument").next().map(|r| r.target.clone());
    let usual = ["word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"].map(str::to_owned);
    named.into_iter().chain(usual).find_map(|name| {
        let xml = package.xml(&name)?;
        let kind = kind(&xml)?;
        Some(MainPart { name, xml, kind })
    })
}

fn kind(xml: &str) -> Option<OfficeKind> {
    let mut kind = None;
    walk_xml(xml, |node| {
        if let XmlNode::Open(tag) = node {
            kind = match tag.name() {
                "document" => Some(OfficeKind::Text),
                "workbook" => Some(OfficeKind::Sheets),
                "presentation" => Some(OfficeKind::Slides),
                _ => None,
            };
            return Onward::Stop;
        }
        Onward::Read
    });
    kind
}
