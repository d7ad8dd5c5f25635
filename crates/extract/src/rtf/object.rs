//! What is embedded in a rich text?
//!
//! An object stands in the text as hexadecimal digits: a header that names its kind, then a file
//! ([MS-OLEDS] 2.2.5). It is most often a compound file.

use crate::flow::TextFlow;
use crate::nested;
use crate::package::u32_at;

/// The format of objects that hold what they show; others are links to files elsewhere.
const EMBEDDED: u32 = 2;

/// The bytes of an object. There are no more of them than the text has.
#[derive(Debug, Default)]
pub(super) struct RtfObject {
    bytes: Vec<u8>,
    half: Option<u8>,
}

impl RtfObject {
    /// Adds a hexadecimal digit; anything else is passed over.
    pub(super) fn digit(&mut self, digit: u8) {
        let Some(value) = char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok()) else { return };
        match self.half.take() {
            Some(high) => self.bytes.push(high << 4 | value),
            None => self.half = Some(value),
        }
    }

    /// Adds bytes that stand in the text as they are.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes what the object says, if it is a document or wraps one.
    pub(super) fn write(&self, flow: &mut TextFlow<'_>) {
        if let Some(file) = self.file() {
            nested::write_object_file(file, flow);
        }
    }

    /// The file behind the header: versions, and the names of kind, place and item.
    fn file(&self) -> Option<&[u8]> {
        let bytes = self.bytes.as_slice();
        if u32_at(bytes, 4)? != EMBEDDED {
            return None;
        }
        let mut rest = bytes.get(8..)?;
        for _ in 0..3 {
            rest = rest.get(4..)?.get(u32_at(rest, 0)? as usize..)?;
        }
        let file = rest.get(4..)?;
        Some(file.get(..u32_at(rest, 0)? as usize).unwrap_or(file))
    }
}
