//! Which kind of document is inside a container?
//!
//! Zip files and compound files look alike from the outside, and servers name them by the ending of
//! the file, if at all. A zip file says what it is by an entry `mimetype`, by its content types or
//! by its names; a compound file by the streams in its root directory.

use crate::compound::CompoundFile;
use crate::package::ZipPackage;
use memchr::memmem;
use std::borrow::Cow;

pub(crate) const WORD: &str = "application/msword";
pub(crate) const EXCEL: &str = "application/vnd.ms-excel";
pub(crate) const POWERPOINT: &str = "application/vnd.ms-powerpoint";
pub(crate) const OUTLOOK: &str = "application/vnd.ms-outlook";
/// A compound file of any other kind.
pub(crate) const COMPOUND: &str = "application/x-ole-storage";
/// An encrypted document of Office, which is a compound file with a zip file inside: which kind of
/// document it is cannot be told. There is no registered type; this is what `file` says.
pub(crate) const PROTECTED: &str = "application/encrypted";

/// A sheet and a text of Office 2003 in a single XML file.
pub(crate) const SPREADSHEET_XML: &str = "application/vnd.ms-spreadsheetml";
pub(crate) const WORD_XML: &str = "application/vnd.ms-wordml";
/// A text of Office 2007 in a single XML file, instead of a zip file of several.
pub(crate) const WORD_PARTS_XML: &str = "application/vnd.ms-word2006ml";

/// How far into an XML file its media type may stand: behind all namespaces.
const FLAT: usize = 16 << 10;

/// Part of the content type of a document's main part, and the type of the document.
const MAIN_PARTS: &[(&str, &str)] = &[
    ("wordprocessingml.document.main", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("wordprocessingml.template.main", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"),
    ("spreadsheetml.sheet.main", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("spreadsheetml.template.main", "application/vnd.openxmlformats-officedocument.spreadsheetml.template"),
    ("presentationml.presentation.main", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("presentationml.slideshow.main", "application/vnd.openxmlformats-officedocument.presentationml.slideshow"),
    ("presentationml.template.main", "application/vnd.openxmlformats-officedocument.presentationml.template"),
    ("ms-word.document.macroenabled.main", "application/vnd.ms-word.document.macroenabled.12"),
    ("ms-word.template.macroenabledtemplate.main", "application/vnd.ms-word.template.macroenabled.12"),
    ("ms-excel.sheet.binary.macroenabled.main", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
    ("ms-excel.sheet.macroenabled.main", "application/vnd.ms-excel.sheet.macroenabled.12"),
    ("ms-excel.template.macroenabled.main", "application/vnd.ms-excel.template.macroenabled.12"),
    ("ms-excel.addin.macroenabled.main", "application/vnd.ms-excel.addin.macroenabled.12"),
    ("ms-powerpoint.presentation.macroenabled.main", "application/vnd.ms-powerpoint.presentation.macroenabled.12"),
    ("ms-powerpoint.slideshow.macroenabled.main", "application/vnd.ms-powerpoint.slideshow.macroenabled.12"),
    ("ms-powerpoint.template.macroenabled.main", "application/vnd.ms-powerpoint.template.macroenabled.12"),
    ("ms-powerpoint.addin.macroenabled.main", "application/vnd.ms-powerpoint.addin.macroenabled.12"),
    ("visio.drawing.main", "application/vnd.ms-visio.drawing"),
    ("visio.template.main", "application/vnd.ms-visio.template"),
    ("visio.stencil.main", "application/vnd.ms-visio.stencil"),
    ("visio.drawing.macroenabled.main", "application/vnd.ms-visio.drawing.macroenabled.12"),
    ("visio.template.macroenabled.main", "application/vnd.ms-visio.template.macroenabled.12"),
    ("visio.stencil.macroenabled.main", "application/vnd.ms-visio.stencil.macroenabled.12"),
    ("ms-package.xps-fixeddocumentsequence", "application/vnd.ms-xpsdocument"),
];

/// A name that only one kind of zip file has, and that kind.
const TELLING_NAMES: &[(&str, &str)] = &[
    ("word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("META-INF/container.xml", "application/epub+zip"),
    ("AndroidManifest.xml", "application/vnd.android.package-archive"),
    ("META-INF/MANIFEST.MF", "application/java-archive"),
];

/// The root element of documents of Office in a single XML file, something that stands before it or
/// in it, such as its namespace, and their type.
const FLAT_ROOTS: &[(&str, &str, &str)] = &[
    ("Workbook", "urn:schemas-microsoft-com:office:spreadsheet", SPREADSHEET_XML),
    ("wordDocument", "http://schemas.microsoft.com/office/word/2003/wordml", WORD_XML),
    ("package", "progid=\"Word.Document\"", WORD_PARTS_XML),
];

/// Whether a type is one of documents of an office suite.
pub(crate) fn is_office(mime: &str) -> bool {
    mime == WORD
        || ["vnd.ms-", "vnd.openxmlformats-officedocument.", "vnd.oasis.opendocument.", "vnd.sun.xml."]
            .iter()
            .any(|family| mime.strip_prefix("application/").is_some_and(|m| m.starts_with(family)))
}

/// The type of what is in a container, or the type so far.
pub(super) fn refine<'a>(bytes: &[u8], start: &[u8], mime: Cow<'a, str>) -> Cow<'a, str> {
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x07\x08PK\x03\x04") {
        return zipped(bytes).unwrap_or(mime);
    }
    if start.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
        let kind = compound(bytes);
        return if kind == COMPOUND && is_office(&mime) { mime } else { kind.into() };
    }
    match &*mime {
        "application/xml" | "text/xml" => flat(bytes).map_or(mime, |kind| kind.to_owned().into()),
        "video/webm" if memmem::find(start, b"webm").is_none() => "video/x-matroska".into(),
        _ => mime,
    }
}

fn zipped(bytes: &[u8]) -> Option<Cow<'static, str>> {
    let mut package = ZipPackage::open(bytes);
    if let Some(said) = package.read("mimetype").and_then(|m| media_type(&m)) {
        return Some(said.into());
    }
    if let Some(types) = package.xml("[Content_Types].xml") {
        let types = types.to_ascii_lowercase();
        if let Some((_, mime)) = MAIN_PARTS.iter().find(|(part, _)| types.contains(part)) {
            return Some((*mime).into());
        }
    }
    if let Some(manifest) = package.xml("META-INF/manifest.xml")
        && let Some(at) = manifest.find("application/vnd.oasis.opendocument.")
    {
        let said = manifest.get(at..)?.split('"').next()?;
        return media_type(said.as_bytes()).map(Into::into);
    }
    if package.entries().iter().any(|e| e.name.ends_with(".kml")) {
        return Some("application/vnd.google-earth.kmz".into());
    }
    TELLING_NAMES.iter().find(|(name, _)| package.has(name)).map(|(_, mime)| (*mime).into())
}

/// A media type as an entry says it; `None` if that is none.
fn media_type(said: &[u8]) -> Option<String> {
    let said = std::str::from_utf8(said).ok()?.trim().to_ascii_lowercase();
    let is_type = said.starts_with("application/")
        && said.len() < 100
        && said.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'+' | b'-' | b'_'));
    is_type.then_some(said)
}

fn compound(bytes: &[u8]) -> &'static str {
    let names = CompoundFile::open(bytes).map(|file| file.root_names()).unwrap_or_default();
    compound_kind(&names).unwrap_or_else(|| by_scan(bytes))
}

/// The type of a compound file by the names in its root directory.
pub(crate) fn compound_kind(names: &[String]) -> Option<&'static str> {
    let has = |name: &str| names.iter().any(|s| s.eq_ignore_ascii_case(name));
    Some(match () {
        () if has("EncryptedPackage") => PROTECTED,
        () if has("WordDocument") => WORD,
        () if has("Workbook") || has("Book") => EXCEL,
        () if has("PowerPoint Document") || has("PP97_DUALSTORAGE") => POWERPOINT,
        () if has("__properties_version1.0") || has("__nameid_version1.0") => OUTLOOK,
        () if has("VisioDocument") => "application/vnd.visio",
        () if has("Quill") => "application/x-mspublisher",
        () if has("CONTENTS") && has("SPELLING") => "application/vnd.ms-works",
        () => return None,
    })
}

/// The type of a damaged compound file, by the names that are left in it.
fn by_scan(bytes: &[u8]) -> &'static str {
    let named = [("WordDocument", WORD), ("PowerPoint Document", POWERPOINT), ("Workbook", EXCEL), ("Book", EXCEL)];
    let holds = |name: &str| {
        let mut wide: Vec<u8> = vec![0, 0];
        wide.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
        wide.extend([0, 0]);
        memmem::find(bytes, wide.get(2..).unwrap_or(&wide)).is_some()
    };
    named.iter().find(|(name, _)| holds(name)).map_or(COMPOUND, |(_, mime)| mime)
}

/// The type of an office document in a single XML file.
fn flat(bytes: &[u8]) -> Option<&str> {
    let start = bytes.get(..FLAT).unwrap_or(bytes);
    let root = super::root(start)?;
    if let Some((_, _, mime)) = FLAT_ROOTS.iter().find(|(name, space, _)| {
        root.rsplit(|&b| b == b':').next() == Some(name.as_bytes()) && memmem::find(start, space.as_bytes()).is_some()
    }) {
        return Some(mime);
    }
    if root != b"office:document" {
        return None;
    }
    let at = memmem::find(start, b"office:mimetype=")? + b"office:mimetype=".len() + 1;
    let said = start.get(at..)?.split(|b| matches!(b, b'"' | b'\'')).next()?;
    let said = std::str::from_utf8(said).ok()?;
    said.starts_with("application/vnd.oasis.opendocument.").then_some(said)
}
