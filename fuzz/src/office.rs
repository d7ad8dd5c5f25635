//! Does any document of an office suite, mail, film or picture end, within its limits?

use crate::document::read;
use orb_extract::Content;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The main part of each kind of package, and what stands beside it.
const PACKAGES: [&[(&str, &str)]; 5] = [
    &[("word/document.xml", ""), ("word/_rels/document.xml.rels", RELATIONS)],
    &[("xl/worksheets/s.xml", ""), ("xl/workbook.xml", WORKBOOK), ("xl/_rels/workbook.xml.rels", RELATIONS)],
    &[("ppt/s.xml", ""), ("ppt/presentation.xml", PRESENTATION), ("ppt/_rels/presentation.xml.rels", RELATIONS)],
    &[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", "")],
    &[("mimetype", "application/epub+zip"), ("META-INF/container.xml", CONTAINER), ("a.opf", "")],
];

const WORKBOOK: &str = "<workbook><sheets><sheet name='a' r:id='s'/></sheets></workbook>";
const PRESENTATION: &str = "<p:presentation><p:sldIdLst><p:sldId r:id='s'/></p:sldIdLst></p:presentation>";
const CONTAINER: &str = "<container><rootfile full-path='a.opf'/></container>";
const RELATIONS: &str = "<Relationships><Relationship Id='h' Type='x/hyperlink' Target='http://a.example/' TargetMode='External'/>\
    <Relationship Id='s' Type='x/slide' Target='worksheets/s.xml'/></Relationships>";

/// The beginnings of the binary formats.
const BEGINNINGS: [&[u8]; 16] = [
    b"{\\rtf1",
    b"FWS\x09\xFF\xFF\0\0",
    b"CWS\x09\xFF\xFF\0\0",
    b"ZWS\x09\xFF\xFF\0\0",
    b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
    b"\x09\x08\x10\0\0\x06\x05\0",
    b"PK\x03\x04",
    b"From a@b Mon Jan  1 00:00:00 2001\nSubject: ",
    b"Received: x\r\nFrom: a@b\r\nMIME-Version: 1.0\r\n",
    b"ID3\x03\0\0",
    b"OggS\0",
    b"fLaC",
    b"\0\0\0\x10ftypisom0000",
    b"\x1A\x45\xDF\xA3",
    b"\xFF\xD8\xFF\xE1",
    b"\x89PNG\r\n\x1A\n",
];

/// The main part of a package. Input: a byte for its kind, then the part.
pub fn package(bytes: &[u8]) {
    let Some((kind, part)) = bytes.split_first() else { return };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in PACKAGES[usize::from(*kind) % PACKAGES.len()] {
        let content = if content.is_empty() { part } else { content.as_bytes() };
        if writer.start_file(*name, stored).and_then(|()| Ok(writer.write_all(content)?)).is_err() {
            return;
        }
    }
    if let Ok(file) = writer.finish() {
        check(&file.into_inner());
    }
}

/// A file of a binary format. Input: a byte for the format, then what follows its beginning.
pub fn binary(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    check(&[BEGINNINGS[usize::from(kind & 15)], rest].concat());
}

fn check(bytes: &[u8]) {
    read(&Content { bytes, mime: Some("application/octet-stream"), charset: None, url: "http://example.org/a" });
}
