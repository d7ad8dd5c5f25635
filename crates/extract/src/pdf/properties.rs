//! What does a PDF say of itself?
//!
//! Title, author and dates from its information dictionary, its language from the catalogue.

use super::strings;
use hayro_syntax::Pdf;
use hayro_syntax::object::{DateTime, Dict};
use orb_page::Document;

/// Notes the properties of a document.
pub(super) fn read(pdf: &Pdf, catalog: Option<&Dict<'_>>, doc: &mut Document) {
    let told = pdf.metadata();
    doc.title = told.title.as_deref().and_then(strings::line);
    doc.author = told.author.as_deref().and_then(strings::line);
    doc.description = told.subject.as_deref().and_then(strings::line);
    doc.created = told.creation_date.as_ref().map(moment);
    doc.modified = told.modification_date.as_ref().map(moment);
    let lang = catalog.and_then(|catalog| catalog.get::<hayro_syntax::object::String<'_>>(b"Lang"));
    doc.lang = lang.and_then(|lang| strings::line(&lang)).filter(|lang| is_language(lang));
}

/// Whether a text looks like a language tag.
fn is_language(text: &str) -> bool {
    let first = text.split('-').next().unwrap_or("");
    (2..=3).contains(&first.len()) && text.len() <= 35 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// A date in RFC 3339.
fn moment(at: &DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour: hours, utc_offset_minute: minutes } = *at;
    let zone = match (hours, minutes) {
        (0, 0) => "Z".to_owned(),
        _ => format!("{}{:02}:{minutes:02}", if hours < 0 { '-' } else { '+' }, hours.unsigned_abs()),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
}
