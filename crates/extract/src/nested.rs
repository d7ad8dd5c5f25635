//! What do the documents say that are embedded in another one?
//!
//! A sheet in a letter, a report attached to a mail: each is named, and if it is a document itself,
//! read like one on its own. Its text follows its name, its links are those of the document around
//! it. How deep and how much is read is bounded for the whole document; archives stay closed.

use crate::compound::CompoundFile;
use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::legacy::{self, OutlookExtractor};
use crate::package::{u16_at, u32_at};
use crate::sniff::{EXCEL, OUTLOOK, POWERPOINT, WORD, compound_kind, is_office, sniff};
use crate::{TypedContent, dispatch};
use encoding_rs::WINDOWS_1252;
use orb_page::{Document, LinkKind};

/// How deep documents in documents are read.
const MAX_DEPTH: u8 = 3;
/// How many of them are read, and how many bytes they may have together.
const MAX_DOCUMENTS: u32 = 100;
const MAX_BYTES: usize = 32 << 20;
/// Maximum length of the name of a wrapped file in bytes.
const MAX_NAME: usize = 260;

/// Streams that hold an embedded file as it is: a package, a PDF, an OpenDocument file.
const WHOLE_FILES: [&str; 4] = ["Package", "CONTENTS", "package_stream", "EmbeddedOdf"];

/// What was spent on embedded documents so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NestedSpending {
    depth: u8,
    documents: u32,
    bytes: usize,
}

impl NestedSpending {
    /// What is spent once a document of this size is opened; `None` if it is too much.
    fn on(self, bytes: usize) -> Option<Self> {
        let next = Self { depth: self.depth + 1, documents: self.documents + 1, bytes: self.bytes + bytes };
        (next.depth <= MAX_DEPTH && next.documents <= MAX_DOCUMENTS && next.bytes <= MAX_BYTES).then_some(next)
    }
}

/// Whether files of a type are documents that are opened.
fn is_opened(mime: &str) -> bool {
    const OTHERS: [&str; 6] =
        ["application/pdf", "application/rtf", "message/rfc822", "text/html", "application/xhtml+xml", "text/plain"];
    is_office(mime) || OTHERS.contains(&mime)
}

/// Writes the text of an embedded file, if it is a document or wraps one.
pub(crate) fn write_file(bytes: &[u8], flow: &mut TextFlow<'_>) {
    let mime = sniff(bytes, None);
    if is_opened(&mime) {
        let source = TypedContent { bytes, mime: &mime, charset: None, url: "" };
        return write(&mime, bytes.len(), flow, |found| dispatch(&source, found));
    }
    if let Some(file) = CompoundFile::open(bytes) {
        write_object(&file, flow);
    }
}

/// Writes the text of an embedded object: a document in a directory of its own, or a file that is
/// wrapped in one.
pub(crate) fn write_object(object: &CompoundFile<'_>, flow: &mut TextFlow<'_>) {
    if let Some((_, file)) = wrapped(object) {
        return write_file(&file, flow);
    }
    let Some(mime) = compound_kind(&object.root_names()) else { return };
    match mime {
        WORD | EXCEL | POWERPOINT => {
            write(mime, object.size(), flow, |found| legacy::read_object(object, mime, found));
        }
        OUTLOOK => write(mime, object.size(), flow, |found| OutlookExtractor::read_object(object, found)),
        _ => {}
    }
}

/// Writes the text of the file of an object that has no directory to be in, after the name of what
/// is wrapped in it.
pub(crate) fn write_object_file(bytes: &[u8], flow: &mut TextFlow<'_>) {
    let held = native(bytes).map(|(name, file)| (Some(name), file));
    match held.or_else(|| wrapped(&CompoundFile::open(bytes)?)) {
        Some((name, file)) => {
            flow.paragraph(&name.unwrap_or_default());
            write_file(&file, flow);
        }
        None => write_file(bytes, flow),
    }
}

/// The name of an embedded object: that of the file wrapped in it, or that of its directory with an
/// ending that tells its kind.
pub(crate) fn object_name(object: &CompoundFile<'_>, directory: &str) -> String {
    if let Some((Some(name), _)) = wrapped(object) {
        return name;
    }
    let ending = match compound_kind(&object.root_names()) {
        Some(WORD) => ".doc",
        Some(EXCEL) => ".xls",
        Some(POWERPOINT) => ".ppt",
        Some(OUTLOOK) => ".msg",
        _ => "",
    };
    format!("{directory}{ending}")
}

/// The name of a file that is wrapped in a compound file, if that is all there is in it.
pub(crate) fn wrapped_name(bytes: &[u8]) -> Option<String> {
    wrapped(&CompoundFile::open(bytes)?)?.0
}

/// A file that is wrapped in an object, with its name where it has one.
fn wrapped(object: &CompoundFile<'_>) -> Option<(Option<String>, Vec<u8>)> {
    if let Some(stream) = object.stream("\u{1}Ole10Native") {
        return native(stream.get(4..)?).map(|(name, file)| (Some(name), file));
    }
    WHOLE_FILES.iter().find_map(|name| object.stream(name)).map(|file| (None, file))
}

/// The name and content of a file that was dragged into a document ([MS-OLEDS] 2.3.6), behind its
/// size: a mark, its name, its path, eight bytes, another path with its length, its length, itself.
fn native(stream: &[u8]) -> Option<(String, Vec<u8>)> {
    let rest = stream.get(2..).filter(|_| u16_at(stream, 0) == Some(2))?;
    let (name, rest) = terminated(rest).filter(|(name, _)| (1..=MAX_NAME).contains(&name.len()))?;
    let name = WINDOWS_1252.decode_without_bom_handling(name).0.into_owned();
    let content = || {
        let rest = terminated(rest)?.1.get(4..)?;
        let rest = rest.get(4 + u32_at(rest, 0)? as usize..)?;
        let content = rest.get(4..)?;
        Some(content.get(..u32_at(rest, 0)? as usize).unwrap_or(content))
    };
    Some((name, content().unwrap_or_default().to_vec()))
}

/// The bytes up to a zero, and those behind it.
fn terminated(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(0, bytes)?;
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
}

/// Reads a document with a limit of its own, and adds what it says.
fn write(mime: &str, size: usize, flow: &mut TextFlow<'_>, read: impl FnOnce(&mut Gather)) {
    let before = flow.found.nested;
    let Some(spending) = before.on(size).filter(|_| !flow.is_full()) else { return };
    let mut found = Gather::new(Document { mime: mime.to_owned(), ..Document::default() }, String::new());
    found.nested = spending;
    read(&mut found);
    flow.found.nested = NestedSpending { depth: before.depth, ..found.nested };
    let document = found.finish();
    flow.paragraph(&document.text);
    for link in document.links.iter().filter(|link| matches!(link.kind, LinkKind::A | LinkKind::Document)) {
        flow.link(&link.target, &link.anchor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compound::tests::compound;
    use crate::package::tests::zipped;
    use crate::{Content, extract};

    /// What wraps a file that was dragged into a document.
    fn dragged(name: &[u8], content: &[u8]) -> Vec<u8> {
        let mut stream = vec![9, 0, 0, 0, 2, 0];
        stream.extend([name, b"\0C:\\x\0", &[0, 0, 3, 0], &[2, 0, 0, 0], b"y\0"].concat());
        stream.extend(u32::try_from(content.len()).expect("small").to_le_bytes());
        stream.extend(content);
        compound(&[("\u{1}Ole10Native", &stream)])
    }

    fn letter(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut all: Vec<(&str, &[u8])> = vec![
            ("[Content_Types].xml", b"<Types/>"),
            ("word/document.xml", b"<w:document><w:p><w:r><w:t>outer</w:t></w:r></w:p></w:document>"),
        ];
        all.extend(parts);
        zipped(&all)
    }

    fn read(bytes: &[u8]) -> Document {
        extract(&Content { bytes, mime: None, charset: None, url: "" })
    }

    #[test]
    fn a_wrapped_file_has_a_name() {
        assert_eq!(wrapped_name(&dragged(b"report.pdf", b"x")).as_deref(), Some("report.pdf"));
        assert_eq!(wrapped_name(&dragged(b"", b"x")), None);
        assert_eq!(wrapped_name(b"no compound file"), None);
    }

    #[test]
    fn embedded_documents_are_read_where_they_are_named() {
        let page = dragged(b"page.html", b"<html><p>see <a href='http://a.example/'>there</a>");
        let rich = compound(&[("CONTENTS", b"{\\rtf1 inside}")]);
        let inner = letter(&[]);
        let doc = read(&letter(&[
            ("word/embeddings/a.bin", &page),
            ("word/embeddings/b.bin", &rich),
            ("word/embeddings/c.docx", &inner),
            ("word/media/d.png", b"\x89PNG\r\n\x1A\n"),
        ]));
        assert_eq!(doc.text, "outer\npage.html\nsee there\nb.bin\ninside\nc.docx\nouter\nd.png");
        let links: Vec<_> = doc.links.iter().map(|l| (l.target.as_str(), l.anchor.as_str())).collect();
        assert_eq!(links, [("http://a.example/", "there")]);
    }

    #[test]
    fn documents_in_documents_without_end_are_read_to_a_bound() {
        let mut deep = letter(&[]);
        for _ in 0..9 {
            deep = letter(&[("word/embeddings/a.docx", &deep)]);
        }
        assert_eq!(read(&deep).text.matches("outer").count(), 1 + usize::from(MAX_DEPTH));
        let inner = letter(&[]);
        let names: Vec<String> = (0..300).map(|n| format!("word/embeddings/{n}.docx")).collect();
        let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &inner[..])).collect();
        let doc = read(&letter(&parts));
        assert_eq!(doc.text.matches("outer").count(), 1 + MAX_DOCUMENTS as usize);
        assert!(doc.text.contains("299.docx"), "the others are named");
    }
}
