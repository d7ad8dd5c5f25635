//! Zip files and the documents in them that are out to harm their reader.

use crate::HostileFile;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc, FlushCompress};
use std::io::Write as _;

const ZIP: &str = "application/zip";
const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const SHEET: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// An entry of a zip file: its name, its packed content, and what is claimed of it.
struct Packed {
    name: String,
    content: Vec<u8>,
    size: u32,
    /// 1 if it is encrypted.
    flags: u16,
}

impl Packed {
    fn of(name: &str, content: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        let size = u32::try_from(content.len()).unwrap();
        Self { name: name.to_owned(), content: encoder.finish().unwrap(), size, flags: 0 }
    }

    /// The part of a header that its two copies share.
    fn head(&self) -> Vec<u8> {
        let mut head = vec![20, 0];
        head.extend(self.flags.to_le_bytes());
        head.extend([8, 0, 0, 0, 0, 0]);
        head.extend(Crc::new().sum().to_le_bytes());
        head.extend(u32::try_from(self.content.len()).unwrap().to_le_bytes());
        head.extend(self.size.to_le_bytes());
        head.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        head.extend([0, 0]);
        head
    }

    /// Its entry in the directory, given where its content is.
    fn entry(&self, offset: usize) -> Vec<u8> {
        let mut entry = b"PK\x01\x02\x14\0".to_vec();
        entry.extend(self.head());
        entry.extend([0; 10]);
        entry.extend(u32::try_from(offset).unwrap().to_le_bytes());
        entry.extend(self.name.as_bytes());
        entry
    }
}

/// A zip file of these entries.
fn zip(entries: &[Packed]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        directory.extend(entry.entry(out.len()));
        out.extend(b"PK\x03\x04");
        out.extend(entry.head());
        out.extend(entry.name.as_bytes());
        out.extend(&entry.content);
    }
    closed(out, &directory, entries.len())
}

/// A zip file with its directory, and the record at its end.
fn closed(mut out: Vec<u8>, directory: &[u8], count: usize) -> Vec<u8> {
    let start = u32::try_from(out.len()).unwrap();
    let count = u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes();
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].concat());
    out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// Ten gigabytes of zeros: one packed megabyte over and over.
fn zeros() -> Packed {
    let megabyte = vec![0; 1 << 20];
    let mut encoder = flate2::Compress::new(Compression::best(), false);
    let mut first = Vec::with_capacity(8 << 10);
    encoder.compress_vec(&megabyte, &mut first, FlushCompress::Sync).unwrap();
    let mut again = Vec::with_capacity(8 << 10);
    encoder.compress_vec(&megabyte, &mut again, FlushCompress::Sync).unwrap();
    let mut content = first;
    (1..10 << 10).for_each(|_| content.extend(&again));
    content.extend([3, 0]);
    Packed { name: "word/document.xml".to_owned(), content, size: u32::MAX - 1, flags: 0 }
}

/// A text with this XML.
fn text(xml: &str) -> Vec<u8> {
    zip(&[Packed::of("[Content_Types].xml", b"<Types/>"), Packed::of("word/document.xml", xml.as_bytes())])
}

/// A sheet with these cells.
fn sheet(cells: &str) -> Vec<u8> {
    let relations = "<Relationships><Relationship Id='a' Type='x/worksheet' Target='s.xml'/>\
        <Relationship Id='b' Type='x/sharedStrings' Target='t.xml'/></Relationships>";
    let xml = format!("<worksheet><sheetData>{cells}</sheetData></worksheet>");
    zip(&[
        Packed::of("[Content_Types].xml", b"<Types/>"),
        Packed::of("xl/workbook.xml", b"<workbook><sheets><sheet name='S' r:id='a'/></sheets></workbook>"),
        Packed::of("xl/_rels/workbook.xml.rels", relations.as_bytes()),
        Packed::of("xl/t.xml", b"<sst><si><t>zero</t></si></sst>"),
        Packed::of("xl/s.xml", xml.as_bytes()),
    ])
}

/// One content under many names.
fn overlapping(count: usize, name: impl Fn(usize) -> String) -> Vec<u8> {
    let mut packed = Packed::of("x", &vec![0; 1 << 20]);
    let mut out = b"PK\x03\x04".to_vec();
    out.extend(packed.head());
    out.extend(b"x");
    out.extend(&packed.content);
    let mut directory = Vec::new();
    for number in 0..count {
        packed.name = name(number);
        directory.extend(packed.entry(0));
    }
    closed(out, &directory, count)
}

/// A text that has itself as an embedded document: the entry claims the file from its beginning.
fn quine() -> Vec<u8> {
    let inner = text("<w:document><w:p><w:r><w:t>again</w:t></w:r></w:p></w:document>");
    let mut all = inner;
    for _ in 0..40 {
        let embedded = Packed::of("word/embeddings/self.docx", &all);
        let document =
            Packed::of("word/document.xml", b"<w:document><w:p><w:r><w:t>again</w:t></w:r></w:p></w:document>");
        all = zip(&[Packed::of("[Content_Types].xml", b"<Types/>"), document, embedded]);
    }
    all
}

/// The same document embedded in it a thousand times, each of which is a bomb of its own.
fn crowd() -> Vec<u8> {
    let bomb = text(&format!("<w:document>{}</w:document>", " ".repeat(16 << 20)));
    let mut entries =
        vec![Packed::of("[Content_Types].xml", b"<Types/>"), Packed::of("word/document.xml", b"<w:document/>")];
    entries.extend((0..1_000).map(|n| Packed::of(&format!("word/embeddings/{n}.docx"), &bomb)));
    zip(&entries)
}

pub(super) fn files() -> Vec<HostileFile> {
    let paragraph = |inside: &str| format!("<w:document><w:p><w:r><w:t>{inside}</w:t></w:r></w:p></w:document>");
    let entities: String =
        (1..40).map(|n| format!("<!ENTITY l{n} '{}'>", format!("&l{};", n - 1).repeat(10))).collect();
    let entities = format!("<!DOCTYPE x [<!ENTITY l0 'ha'>{entities}]>{}", paragraph("&l39;"));
    let mut encrypted = Packed::of("word/document.xml", paragraph("secret").as_bytes());
    encrypted.flags = 1;
    let mut lying = Packed::of("word/document.xml", paragraph("short").as_bytes());
    lying.size = u32::MAX - 1;
    let types = || Packed::of("[Content_Types].xml", b"<Types/>");
    let up = ["../../../../etc/passwd", "/etc/passwd", "..\\..\\x", "a/../../b"];
    let last = "<row r='1048576'><c r='XFD1048576'><v>7</v></c></row>";
    vec![
        ("sound.docx", WORD, text(&paragraph("sound"))),
        ("zeros.docx", WORD, zip(&[types(), zeros()])),
        ("zeros.zip", ZIP, zip(&[zeros()])),
        ("overlapping.zip", ZIP, overlapping(30_000, |_| "one.xml".to_owned())),
        ("entries.zip", ZIP, overlapping(65_535, |n| format!("a/{n}.xml"))),
        ("quine.docx", WORD, quine()),
        ("crowd.docx", WORD, crowd()),
        ("upwards.zip", ZIP, zip(&up.map(|name| Packed::of(name, b"x")))),
        ("lying.docx", WORD, zip(&[types(), lying])),
        ("encrypted.docx", WORD, zip(&[types(), encrypted])),
        ("entities.docx", WORD, text(&entities)),
        ("nested.docx", WORD, text(&format!("<w:document>{}", "<w:p>".repeat(100_000)))),
        ("attributes.docx", WORD, text(&format!("<w:document><w:p {}/></w:document>", "a='b' ".repeat(1_000_000)))),
        ("attribute.docx", WORD, text(&format!("<w:document><w:p a='{}'/></w:document>", "x".repeat(50 << 20)))),
        ("last-cell.xlsx", SHEET, sheet(last)),
        (
            "strings.xlsx",
            SHEET,
            sheet("<row><c t='s'><v>4294967295</v></c><c t='s'><v>-1</v></c><c t='s'><v>9</v></c></row>"),
        ),
    ]
}
