//! What was noted on a page?
//!
//! Comments of readers (ISO 32000-2, 12.5.6), which are seen when somebody points at them, and what
//! was filled into a form that has no picture of it.

use super::strings;
use hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};

/// How many annotations of a page are read.
const MAX_NOTES: usize = 10_000;
/// How many fields a field may be part of.
const MAX_DEPTH: usize = 16;
/// Annotations with a comment.
const COMMENTED: [&[u8]; 14] = [
    b"Text",
    b"FreeText",
    b"Line",
    b"Square",
    b"Circle",
    b"Polygon",
    b"PolyLine",
    b"Highlight",
    b"Underline",
    b"Squiggly",
    b"StrikeOut",
    b"Caret",
    b"Stamp",
    b"Ink",
];

/// The notes of a page, each on a line of its own.
pub(super) fn write(page: &Dict<'_>, out: &mut String) {
    let Some(annotations) = page.get::<Array<'_>>(b"Annots") else { return };
    for annotation in annotations.iter::<Dict<'_>>().take(MAX_NOTES) {
        if annotation.get::<u32>(b"F").unwrap_or(0) & super::NOT_SHOWN != 0 {
            continue;
        }
        let Some(kind) = annotation.get::<Name<'_>>(b"Subtype") else { continue };
        let is_drawn = annotation.contains_key(b"AP");
        let note = match kind.as_ref() {
            b"FreeText" | b"Widget" if is_drawn => None,
            b"Widget" => filled(annotation),
            kind if COMMENTED.contains(&kind) => annotation.get::<PdfString<'_>>(b"Contents").map(|text| text.to_vec()),
            _ => None,
        };
        if let Some(note) = note.and_then(|note| strings::line(&note)) {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&note);
            out.push('\n');
        }
    }
}

/// The text in a field of a form, which may stand at the field that it is a part of.
fn filled(field: Dict<'_>) -> Option<Vec<u8>> {
    let mut next = Some(field);
    for _ in 0..MAX_DEPTH {
        let field = next.take()?;
        match field.get::<Object<'_>>(b"V") {
            Some(Object::String(text)) => return Some(text.to_vec()),
            Some(_) => return None,
            None => next = field.get::<Dict<'_>>(b"Parent"),
        }
    }
    None
}
