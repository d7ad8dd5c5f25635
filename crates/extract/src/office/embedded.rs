//! Which files are embedded in a document?
//!
//! Pictures, films and other documents are parts of the package. As of an archive, their names are
//! read and nothing is opened, except that a file which was dragged into a document is wrapped in a
//! compound file: its name is in there ([MS-OLEDS] 2.3.6).

use super::OfficeReading;
use crate::compound::CompoundFile;
use crate::package::u16_at;
use encoding_rs::WINDOWS_1252;

/// Maximum number of embedded files that are named.
const MAX_NAMED: usize = 1_000;
/// Maximum size of a wrapped file that is looked into for its name.
const MAX_WRAPPED: u64 = 4 << 20;

/// Writes down the names of embedded files.
pub(super) fn read(reading: &mut OfficeReading<'_, '_>) {
    let is_embedded = |name: &str| name.contains("/media/") || name.contains("/embeddings/");
    let entries = reading.package.entries().iter().filter(|entry| is_embedded(&entry.name));
    let names: Vec<(String, u64)> = entries.take(MAX_NAMED).map(|e| (e.name.clone().into_owned(), e.size)).collect();
    for (part, size) in names {
        let wrapped = if part.ends_with(".bin") && size <= MAX_WRAPPED { reading.package.read(&part) } else { None };
        let own = part.rsplit('/').next().unwrap_or(&part);
        match wrapped.as_deref().and_then(label) {
            Some(label) => reading.flow.paragraph(&label),
            None => reading.flow.paragraph(own),
        }
    }
}

/// The name of a wrapped file.
fn label(bytes: &[u8]) -> Option<String> {
    let stream = CompoundFile::open(bytes)?.stream("\u{1}Ole10Native")?;
    // Its size, a mark, its name up to a zero.
    let rest = stream.get(6..).filter(|_| u16_at(&stream, 4) == Some(2))?;
    let name = rest.split(|&b| b == 0).next().filter(|name| (1..=260).contains(&name.len()))?;
    Some(WINDOWS_1252.decode_without_bom_handling(name).0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compound::tests::compound;

    #[test]
    fn a_wrapped_file_has_a_name() {
        let wrapped = |label: &[u8]| {
            let mut stream = vec![9, 0, 0, 0, 2, 0];
            stream.extend_from_slice(label);
            compound(&[("\u{1}Ole10Native", &stream)])
        };
        assert_eq!(label(&wrapped(b"report.pdf\0C:\\x\0")).as_deref(), Some("report.pdf"));
        assert_eq!(label(&wrapped(b"\0")), None);
        assert_eq!(label(b"no compound file"), None);
    }
}
