//! What stands in the cells of a workbook: its shared strings, and its number formats.

use super::number::NumberFormat;
use crate::package::{Onward, XmlNode, walk_xml};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum number of cell formats.
const MAX_FORMATS: usize = 65_536;

/// The strings that cells refer to by number.
#[derive(Debug, Default)]
pub(super) struct SharedStrings {
    text: String,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl SharedStrings {
    /// The strings in `sharedStrings.xml`.
    pub(super) fn of(xml: &str) -> Self {
        let mut strings = Self::default();
        let mut inside = false;
        walk_xml(xml, |node| {
            match node {
                XmlNode::Open(tag) => match tag.name() {
                    "t" => inside = true,
                    // How what stands before it is pronounced.
                    "rPh" => strings.text.push(' '),
                    "phoneticPr" | "rPr" => return Onward::Skip,
                    _ => {}
                },
                XmlNode::Text(text) if inside => strings.text.push_str(&without_escapes(text)),
                XmlNode::Close("t") => inside = false,
                XmlNode::Close("si") => strings.ends.push(strings.text.len()),
                _ => {}
            }
            Onward::Read
        });
        strings
    }

    /// The string of this number.
    pub(super) fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let start = match number.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start..end)
    }
}

/// A text without the escapes of characters that XML cannot hold, such as `_x000D_`
/// (ISO 29500-1, 22.9.2.19).
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    const LENGTH: usize = 7;
    let Some(first) = text.find("_x") else { return text.into() };
    let mut out = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let digits = rest.get(2..LENGTH - 1).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.filter(|_| rest.as_bytes().get(LENGTH - 1) == Some(&b'_'));
        match code.and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?)) {
            Some(c) => {
                out.push(c);
                rest = &rest[LENGTH..];
            }
            None => {
                out.push_str("_x");
                rest = &rest[2..];
            }
        }
    }
    out.push_str(rest);
    out.into()
}

/// The number formats of cell styles.
#[derive(Debug, Default)]
pub(super) struct CellFormats {
    formats: Vec<NumberFormat>,
    /// The format of each style.
    styles: Vec<usize>,
    general: NumberFormat,
}

impl CellFormats {
    /// The formats in `styles.xml`.
    pub(super) fn of(xml: &str) -> Self {
        let mut codes: HashMap<u32, String> = HashMap::new();
        let mut numbers: Vec<u32> = Vec::new();
        let mut in_cells = false;
        walk_xml(xml, |node| {
            match node {
                XmlNode::Open(tag) => match tag.name() {
                    "numFmt" if codes.len() < MAX_FORMATS => {
                        let code = tag.attr("formatCode").unwrap_or_default();
                        codes.insert(tag.number("numFmtId").unwrap_or(0), code.into_owned());
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells && numbers.len() < MAX_FORMATS => {
                        numbers.push(tag.number("numFmtId").unwrap_or(0));
                    }
                    "dxfs" => return Onward::Skip,
                    _ => {}
                },
                XmlNode::Close("cellXfs") => in_cells = false,
                _ => {}
            }
            Onward::Read
        });
        let mut formats = Self::default();
        let mut places: HashMap<u32, usize> = HashMap::new();
        for number in numbers {
            let place = *places.entry(number).or_insert_with(|| {
                let format = codes.get(&number).map_or_else(|| NumberFormat::built_in(number), |c| NumberFormat::of(c));
                formats.formats.push(format);
                formats.formats.len() - 1
            });
            formats.styles.push(place);
        }
        formats
    }

    /// The format of a style.
    pub(super) fn get(&self, style: Option<u32>) -> &NumberFormat {
        let place = style.and_then(|s| self.styles.get(s as usize));
        place.and_then(|&p| self.formats.get(p)).unwrap_or(&self.general)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_cannot_hold_are_escaped() {
        for (written, meant) in [
            ("a_x000D_b", "a\rb"),
            ("_x005F_x0041_", "_x0041_"),
            ("_x00e4_", "ä"),
            ("my_xlsx_file_x12", "my_xlsx_file_x12"),
            ("_xD800__x", "_xD800__x"),
        ] {
            assert_eq!(without_escapes(written), meant);
        }
    }
}
