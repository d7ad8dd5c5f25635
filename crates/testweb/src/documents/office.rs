//! What is in a document of Office?
//!
//! The parts that ECMA-376 requires, and no more: content types, the relations that lead to the
//! main part, the main part itself, and the properties.

use super::package::zipped;
use super::{DocumentText, xml};

const NAMESPACES: &str = "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MAIN: &str = "application/vnd.openxmlformats-officedocument";

/// A part of a document.
type Part = (&'static str, String);

/// A list of relations: number, kind and target of each.
fn relations(list: &[(u32, &str, &str)]) -> String {
    let relation = |(id, kind, target): &(u32, &str, &str)| {
        let mode = if target.contains("://") { " TargetMode=\"External\"" } else { "" };
        let target = xml(target);
        format!("<Relationship Id=\"rId{id}\" Type=\"{RELATIONS}/{kind}\" Target=\"{target}\"{mode}/>")
    };
    let list: String = list.iter().map(relation).collect();
    format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{list}</Relationships>"
    )
}

/// A document with this main part and others.
fn document(text: &DocumentText<'_>, (main, kind): (&str, &str), parts: &[Part]) -> Vec<u8> {
    let core = format!(
        "<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\"><dc:title>{}</dc:title>\
         <dc:creator>{}</dc:creator><dcterms:created>2026-11-16T06:00:00Z</dcterms:created>\
         <dcterms:modified>{}</dcterms:modified></cp:coreProperties>",
        xml(text.title),
        xml(text.author),
        text.saved
    );
    let types = format!(
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/{main}\" ContentType=\"{MAIN}.{kind}.main+xml\"/></Types>"
    );
    let roots = relations(&[(1, "officeDocument", main), (2, "metadata/core-properties", "docProps/core.xml")]);
    let fixed = [("[Content_Types].xml", types), ("_rels/.rels", roots), ("docProps/core.xml", core)];
    let all = fixed.iter().chain(parts);
    let entries: Vec<_> =
        all.map(|(name, text)| (*name, format!("<?xml version=\"1.0\"?>{text}").into_bytes())).collect();
    zipped(&entries)
}

pub(super) fn docx(text: &DocumentText<'_>) -> Vec<u8> {
    let paragraph = |text: &&str| format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", xml(text));
    let paragraphs: String = text.paragraphs.iter().map(paragraph).collect();
    let body = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" {NAMESPACES}><w:body>{paragraphs}\
         <w:p><w:hyperlink r:id=\"rId1\"><w:r><w:t>more</w:t></w:r></w:hyperlink></w:p></w:body></w:document>"
    );
    let links = relations(&[(1, "hyperlink", text.link)]);
    let parts = [("word/document.xml", body), ("word/_rels/document.xml.rels", links)];
    document(text, ("word/document.xml", "wordprocessingml.document"), &parts)
}

pub(super) fn xlsx(text: &DocumentText<'_>) -> Vec<u8> {
    let space = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
    let row = |(n, text): (usize, &&str)| {
        let n = n + 1;
        format!("<row r=\"{n}\"><c r=\"A{n}\" t=\"inlineStr\"><is><t>{}</t></is></c></row>", xml(text))
    };
    let rows: String = text.paragraphs.iter().enumerate().map(row).collect();
    let sheet = format!(
        "<worksheet {space} {NAMESPACES}><sheetData>{rows}</sheetData>\
         <hyperlinks><hyperlink ref=\"A1\" r:id=\"rId1\"/></hyperlinks></worksheet>"
    );
    let book = format!(
        "<workbook {space} {NAMESPACES}><sheets><sheet name=\"Sheet\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    let parts = [
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", relations(&[(1, "worksheet", "worksheets/sheet1.xml")])),
        ("xl/worksheets/sheet1.xml", sheet),
        ("xl/worksheets/_rels/sheet1.xml.rels", relations(&[(1, "hyperlink", text.link)])),
    ];
    document(text, ("xl/workbook.xml", "spreadsheetml.sheet"), &parts)
}

pub(super) fn pptx(text: &DocumentText<'_>) -> Vec<u8> {
    let spaces = format!(
        "xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" \
         xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" {NAMESPACES}"
    );
    let paragraph = |text: &&str| format!("<a:p><a:r><a:t>{}</a:t></a:r></a:p>", xml(text));
    let paragraphs: String = text.paragraphs.iter().map(paragraph).collect();
    let slide = format!(
        "<p:sld {spaces}><p:cSld><p:spTree><p:sp><p:txBody>{paragraphs}<a:p><a:r><a:rPr><a:hlinkClick r:id=\"rId1\"/></a:rPr>\
         <a:t>more</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    );
    let show = format!(
        "<p:presentation {spaces}><p:sldIdLst><p:sldId id=\"256\" r:id=\"rId1\"/></p:sldIdLst></p:presentation>"
    );
    let parts = [
        ("ppt/presentation.xml", show),
        ("ppt/_rels/presentation.xml.rels", relations(&[(1, "slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", slide),
        ("ppt/slides/_rels/slide1.xml.rels", relations(&[(1, "hyperlink", text.link)])),
    ];
    document(text, ("ppt/presentation.xml", "presentationml.presentation"), &parts)
}
