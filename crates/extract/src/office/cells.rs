//! What stands in the cells of a workbook: its shared strings, and its number formats.

use super::number::NumberFormat;
use crate::package::{Onward, XmlNode, walk_xml};
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
                    // How a name is pronounced.
                    "rPh" | "phoneticPr" | "rPr" => return Onward::Skip,
                    _ => {}
                },
                XmlNode::Text(text) if inside => strings.text.push_str(text),
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
