//! What do the cells of one sheet say?
//!
//! Cells are read as they come and written as they are read: no grid is kept, so that a cell in the
//! last row costs no more than one in the first. Links stand behind the cells they belong to, and
//! are read first.

use super::OfficeReading;
use super::cells::without_escapes;
use super::relations::Relations;
use super::xlsx::Workbook;
use crate::flow::TextFlow;
use crate::package::{Onward, XmlNode, XmlTag, walk_xml};
use std::collections::HashMap;

/// Maximum length of a cell's value or formula in bytes.
const MAX_VALUE: usize = 1 << 20;
/// Maximum number of linked cells.
const MAX_LINKED: usize = 100_000;

/// Reads a sheet.
pub(super) fn read(reading: &mut OfficeReading<'_, '_>, xml: &str, relations: &Relations, workbook: &Workbook) {
    let linked = linked_cells(xml, relations);
    let mut reader = SheetReader { linked, ..SheetReader::new(workbook) };
    reading.walk(xml, |node, flow| {
        match node {
            XmlNode::Open(tag) => return reader.open(tag),
            XmlNode::Text(text) => reader.text(text),
            XmlNode::Close(name) => reader.close(name, flow),
        }
        Onward::Read
    });
    // Links of cells that are empty.
    let mut rest: Vec<(String, LinkedCell)> = reader.linked.into_iter().collect();
    rest.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    for (_, cell) in rest {
        reading.flow.link(&cell.target, &cell.display);
    }
}

struct LinkedCell {
    target: String,
    display: String,
}

/// The links of a sheet by the first cell of their ranges.
fn linked_cells(xml: &str, relations: &Relations) -> HashMap<String, LinkedCell> {
    let mut linked = HashMap::new();
    // They stand behind all cells, which need not be read for them.
    let Some(end) = xml.rfind("hyperlinks>") else { return linked };
    let before = xml.get(..end).unwrap_or("");
    let Some(from) = before.rfind("hyperlinks").and_then(|at| before.get(..at)?.rfind('<')) else { return linked };
    walk_xml(xml.get(from..).unwrap_or(""), |node| {
        if let XmlNode::Open(tag) = node
            && tag.name() == "hyperlink"
            && let Some(target) = tag.relation().and_then(|id| relations.address(&id))
            && linked.len() < MAX_LINKED
        {
            let place = tag.attr("ref").unwrap_or_default();
            let first = place.split(':').next().unwrap_or("").to_owned();
            let target = match tag.attr("location").filter(|l| !l.is_empty() && !target.contains('#')) {
                Some(location) => format!("{target}#{location}"),
                None => target.to_owned(),
            };
            linked.insert(first, LinkedCell { target, display: tag.attr("display").unwrap_or_default().into_owned() });
        }
        Onward::Read
    });
    linked
}

/// What the characters that are read belong to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum SheetPlace {
    #[default]
    Elsewhere,
    Value,
    Formula,
    Margin,
}

struct SheetReader<'w> {
    workbook: &'w Workbook,
    linked: HashMap<String, LinkedCell>,
    place: SheetPlace,
    reference: String,
    kind: String,
    style: Option<u32>,
    value: String,
    formula: String,
}

impl<'w> SheetReader<'w> {
    fn new(workbook: &'w Workbook) -> Self {
        Self {
            workbook,
            linked: HashMap::new(),
            place: SheetPlace::Elsewhere,
            reference: String::new(),
            kind: String::new(),
            style: None,
            value: String::new(),
            formula: String::new(),
        }
    }

    fn open(&mut self, tag: &XmlTag<'_>) -> Onward {
        match tag.name() {
            "c" => {
                self.value.clear();
                self.formula.clear();
                self.kind.clear();
                self.reference.clear();
                self.kind.push_str(&tag.attr("t").unwrap_or_default());
                self.style = tag.number("s");
                if !self.linked.is_empty() {
                    self.reference.push_str(&tag.attr("r").unwrap_or_default());
                }
            }
            "v" | "t" => self.place = SheetPlace::Value,
            "f" => self.place = SheetPlace::Formula,
            "oddHeader" | "oddFooter" | "evenHeader" | "evenFooter" | "firstHeader" | "firstFooter" => {
                self.value.clear();
                self.place = SheetPlace::Margin;
            }
            "rPh" | "phoneticPr" | "extLst" | "conditionalFormatting" | "dataValidations" | "mergeCells" | "cols" => {
                return Onward::Skip;
            }
            _ => {}
        }
        Onward::Read
    }

    fn text(&mut self, text: &str) {
        let into = match self.place {
            SheetPlace::Value | SheetPlace::Margin => &mut self.value,
            SheetPlace::Formula => &mut self.formula,
            SheetPlace::Elsewhere => return,
        };
        if into.len() + text.len() <= MAX_VALUE {
            into.push_str(text);
        }
    }

    fn close(&mut self, name: &str, flow: &mut TextFlow<'_>) {
        match name {
            "v" | "t" | "f" => self.place = SheetPlace::Elsewhere,
            "c" => self.cell(flow),
            "row" => flow.line(),
            _ if self.place == SheetPlace::Margin => {
                self.place = SheetPlace::Elsewhere;
                flow.paragraph(&margin(&self.value));
            }
            _ => {}
        }
    }

    fn cell(&mut self, flow: &mut TextFlow<'_>) {
        let cell = if self.linked.is_empty() { None } else { self.linked.remove(&self.reference) };
        let target = cell.map(|c| c.target).or_else(|| formula_link(&self.formula));
        if let Some(target) = &target {
            flow.begin_link(target);
        }
        match self.kind.as_str() {
            "s" => {
                let number = self.value.trim().parse().unwrap_or(usize::MAX);
                if let Some(text) = self.workbook.strings.get(number) {
                    flow.lines(text);
                }
            }
            "b" => flow.text(if self.value.trim() == "1" { "TRUE" } else { "FALSE" }),
            "" | "n" => match self.value.trim().parse::<f64>() {
                Ok(number) => {
                    let format = self.workbook.formats.get(self.style);
                    flow.text(&format.show(number, self.workbook.system));
                }
                Err(_) => flow.text(&self.value),
            },
            _ => flow.lines(&without_escapes(&self.value)),
        }
        if target.is_some() {
            flow.end_link();
        }
        flow.space();
    }
}

/// The address in `HYPERLINK("http://…", …)`.
pub(crate) fn formula_link(formula: &str) -> Option<String> {
    let at = formula.find("HYPERLINK(")?;
    let quoted = formula.get(at + "HYPERLINK(".len()..)?.trim_start().strip_prefix('"')?;
    let target = quoted.split('"').next()?;
    Some(target.to_owned()).filter(|t| !t.is_empty() && !t.starts_with('#'))
}

/// A header or footer without its codes for fonts and places: `&L&"Arial"&12Left&RPage &P`.
pub(crate) fn margin(code: &str) -> String {
    let mut out = String::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '&' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('&') => out.push('&'),
            Some('L' | 'C' | 'R') => out.push('\n'),
            Some('"') => chars.by_ref().take_while(|&c| c != '"').for_each(drop),
            Some('K') => chars.by_ref().take(6).for_each(drop),
            Some(digit) if digit.is_ascii_digit() => while chars.next_if(char::is_ascii_digit).is_some() {},
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::tests::zipped;
    use crate::{Content, extract};

    #[test]
    fn a_workbook_is_read_row_by_row() {
        let bytes = zipped(&[
            ("[Content_Types].xml", b"<Types/>"),
            ("_rels/.rels", b"<Relationships><Relationship Id='r' Type='x/officeDocument' Target='xl/workbook.xml'/></Relationships>"),
            ("xl/workbook.xml", b"<workbook><sheets><sheet name='Sums' sheetId='1' r:id='a'/><sheet name='None' sheetId='2' r:id='zz'/></sheets></workbook>"),
            ("xl/_rels/workbook.xml.rels", b"<Relationships><Relationship Id='a' Type='x/worksheet' Target='worksheets/s.xml'/><Relationship Id='b' Type='x/sharedStrings' Target='ss.xml'/><Relationship Id='c' Type='x/styles' Target='st.xml'/></Relationships>"),
            ("xl/ss.xml", b"<sst><si><t>zero</t></si><si><r><t>on</t></r><r><t xml:space='preserve'>e &amp; </t></r><rPh><t>wan</t></rPh></si></sst>"),
            ("xl/st.xml", b"<styleSheet><numFmts><numFmt numFmtId='164' formatCode='yyyy\\-mm\\-dd'/></numFmts><cellStyleXfs><xf numFmtId='9'/></cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='164'/></cellXfs></styleSheet>"),
            ("xl/worksheets/s.xml", b"<worksheet><sheetData><row><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>1</v></c><c r='XFD1' s='1'><v>39448</v></c></row><row><c r='A2'><f>1+1</f><v>2</v></c><c t='b'><v>1</v></c><c t='inlineStr'><is><t>in</t></is></c><c t='s'><v>4294967295</v></c><c t='str'><f>HYPERLINK(\"http://f.example/\",\"x\")</f><v>x</v></c></row><row><c r='XFD1048576' t='e'><v>#REF!</v></c></row></sheetData><hyperlinks><hyperlink ref='B1:C1' r:id='h'/><hyperlink ref='Z9' r:id='h' display='shown'/></hyperlinks><headerFooter><oddHeader>&amp;L&amp;\"Arial\"&amp;12Left &amp;&amp; more&amp;RPage &amp;P</oddHeader></headerFooter></worksheet>"),
            ("xl/worksheets/_rels/s.xml.rels", b"<Relationships><Relationship Id='h' Type='x/hyperlink' Target='http://a.example/' TargetMode='External'/></Relationships>"),
        ]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.mime, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
        assert_eq!(doc.text, "Sums\nzero one & wan 2008-01-01\n2 TRUE in x\n#REF!\nLeft & more\nPage\nNone");
        let links: Vec<_> = doc.links.iter().map(|l| (l.target.as_str(), l.anchor.as_str())).collect();
        let expected = [("http://a.example/", "one & wan"), ("http://f.example/", "x"), ("http://a.example/", "shown")];
        assert_eq!(links, expected);
        assert_eq!(doc.page_count, Some(2));
    }

    #[test]
    fn a_formula_leads_where_its_text_says() {
        assert_eq!(formula_link("IF(A1,HYPERLINK( \"http://a.example/\",B1),0)").as_deref(), Some("http://a.example/"));
        assert_eq!(formula_link("HYPERLINK(A1)"), None);
        assert_eq!(formula_link("HYPERLINK(\"#Sheet2!A1\")"), None);
    }
}
