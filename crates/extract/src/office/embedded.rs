//! Which files are embedded in a document?
//!
//! Pictures, films and other documents are parts of the package. Their names are written down, and
//! what they say if they are documents. A file which was dragged into a document is wrapped in a
//! compound file that has its name.

use super::OfficeReading;
use crate::nested;

/// Maximum number of embedded files that are named.
const MAX_NAMED: usize = 1_000;
/// Maximum size of an embedded file that is opened.
const MAX_OPENED: u64 = 16 << 20;

/// Writes down the names of embedded files, and the texts of documents among them.
pub(super) fn read(reading: &mut OfficeReading<'_, '_>) {
    let is_embedded = |name: &str| name.contains("/media/") || name.contains("/embeddings/");
    let entries = reading.package.entries().iter().filter(|entry| is_embedded(&entry.name));
    let names: Vec<(String, u64)> = entries.take(MAX_NAMED).map(|e| (e.name.clone().into_owned(), e.size)).collect();
    for (part, size) in names.iter().filter(|(part, _)| !part.ends_with('/')) {
        let own = part.rsplit('/').next().unwrap_or(part);
        let is_opened = part.contains("/embeddings/") && *size <= MAX_OPENED && !reading.flow.is_full();
        let bytes = if is_opened { reading.package.read(part) } else { None };
        let label = bytes.as_deref().and_then(nested::wrapped_name);
        reading.flow.paragraph(label.as_deref().unwrap_or(own));
        if let Some(bytes) = &bytes {
            nested::write_file(bytes, &mut reading.flow);
        }
    }
}
