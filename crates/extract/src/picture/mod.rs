//! What does a picture say of itself?
//!
//! Its size, and what a camera or an editor wrote into it: EXIF, XMP and IPTC, the comments of PNG,
//! JPEG and GIF. The picture itself is never decoded, so that this costs no more than a look at its
//! header.

mod exif;
mod iptc;
mod size;
mod xmp;

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::prose::folded_literal;
use crate::{Extract, TypedContent};
use flate2::read::ZlibDecoder;
use memchr::memmem;
use std::io::Read;

/// Maximum length of a title or name in characters.
const MAX_FIELD: usize = 1_000;
/// How much all packed comments of a picture may unpack to.
const MAX_UNPACKED: u64 = 1 << 20;
/// Maximum number of segments or chunks.
const MAX_SEGMENTS: usize = 10_000;

/// Extracts what pictures say of themselves.
#[derive(Debug)]
pub(crate) struct PictureExtractor;

impl Extract for PictureExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime.starts_with("image/") && source.mime != "image/svg+xml"
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let mut facts = PictureFacts::default();
        let bytes = source.bytes;
        match bytes {
            [0xFF, 0xD8, ..] => jpeg(bytes, &mut facts),
            [0x89, b'P', b'N', b'G', ..] => png(bytes, &mut facts),
            [b'R', b'I', b'F', b'F', ..] => webp(bytes, &mut facts),
            [b'G', b'I', b'F', b'8', ..] => {
                gif(bytes, &mut facts);
            }
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => high_efficiency(bytes, &mut facts),
            [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => exif::read(bytes, &mut facts),
            _ => {}
        }
        xmp::read(bytes, &mut facts);
        facts.size = facts.size.or_else(|| size::of(bytes));
        facts.finish(found);
    }
}

/// What is known of a picture.
#[derive(Debug, Default)]
struct PictureFacts {
    size: Option<(u32, u32)>,
    title: Option<String>,
    description: Option<String>,
    author: Option<String>,
    copyright: Option<String>,
    created: Option<String>,
    comment: Option<String>,
    headline: Option<String>,
    keywords: Option<String>,
    /// What comments have unpacked to.
    unpacked: u64,
}

impl PictureFacts {
    fn finish(self, found: &mut Gather) {
        let fold = |text: Option<String>| text.map(|t| folded_literal(&t, MAX_FIELD)).filter(|t| !t.is_empty());
        let [title, description, author] = [self.title, self.description, self.author].map(fold);
        let others = [self.headline, self.copyright, self.comment, self.keywords].map(fold);
        let mut flow = TextFlow::new(found, 0);
        for text in [&title, &description, &author].into_iter().chain(&others).flatten() {
            flow.paragraph(text);
        }
        let doc = &mut flow.found.doc;
        let size = self.size.map(|(width, height)| format!("{width} × {height} pixels"));
        (doc.title, doc.author, doc.created, doc.pixels) = (title, author, self.created, self.size);
        doc.description = description.or(size);
        flow.finish();
    }
}

/// Sets what is not yet known, unless it is empty.
fn fill(place: &mut Option<String>, text: &str) {
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    if place.is_none() && !text.is_empty() {
        *place = Some(text.to_owned());
    }
}

/// Reads the segments before the picture of a JPEG.
fn jpeg(bytes: &[u8], facts: &mut PictureFacts) {
    let mut rest = bytes.get(2..).unwrap_or(&[]);
    for _ in 0..MAX_SEGMENTS {
        let Some(&[0xFF, kind, high, low]) = rest.first_chunk() else { return };
        if kind == 0xFF {
            rest = rest.get(1..).unwrap_or(&[]);
            continue;
        }
        let len = usize::from(u16::from_be_bytes([high, low]));
        let body = rest.get(4..len.saturating_add(2)).unwrap_or(&[]);
        match kind {
            0xE1 => {
                if let Some(tiff) = body.strip_prefix(b"Exif\0\0") {
                    exif::read(tiff, facts);
                }
            }
            0xED => {
                if let Some(blocks) = body.strip_prefix(b"Photoshop 3.0\0") {
                    iptc::read(blocks, facts);
                }
            }
            0xFE => fill(&mut facts.comment, &String::from_utf8_lossy(body)),
            // The size is in the frame, after which the picture begins.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                if let Some(&[height, h, width, w]) = body.get(1..).and_then(|b| b.first_chunk()) {
                    let [height, width] = [[height, h], [width, w]].map(u16::from_be_bytes).map(u32::from);
                    facts.size = Some((width, height));
                }
            }
            0xDA => return,
            _ => {}
        }
        rest = rest.get(len.saturating_add(2)..).unwrap_or(&[]);
    }
}

/// Reads the chunks of a PNG.
fn png(bytes: &[u8], facts: &mut PictureFacts) {
    let mut rest = bytes.get(8..).unwrap_or(&[]);
    for _ in 0..MAX_SEGMENTS {
        let Some(len) = rest.first_chunk().map(|b| u32::from_be_bytes(*b) as usize) else { return };
        let (name, body) = (rest.get(4..8).unwrap_or(&[]), rest.get(8..).unwrap_or(&[]));
        let body = body.get(..len).unwrap_or(body);
        match name {
            b"eXIf" => exif::read(body, facts),
            b"tEXt" | b"zTXt" | b"iTXt" => comment(name, body, facts),
            b"IEND" => return,
            _ => {}
        }
        rest = rest.get(len.saturating_add(12)..).unwrap_or(&[]);
    }
}

/// A comment with its keyword: as it is, packed, or with flags and a language in between.
fn comment(kind: &[u8], body: &[u8], facts: &mut PictureFacts) {
    let Some(end) = memchr::memchr(0, body) else { return };
    let (key, mut text) = (body.get(..end).unwrap_or(&[]), body.get(end + 1..).unwrap_or(&[]));
    let is_packed = match kind {
        b"iTXt" => {
            let is_packed = text.first() == Some(&1);
            // The flag, the method, a language, the keyword in that language.
            let Some(rest) = text.get(2..) else { return };
            let mut parts = rest.splitn(3, |&b| b == 0).skip(2);
            text = parts.next().unwrap_or(&[]);
            is_packed
        }
        b"zTXt" => {
            text = text.get(1..).unwrap_or(&[]);
            true
        }
        _ => false,
    };
    let mut unpacked = Vec::new();
    if is_packed {
        // What is damaged is read as far as possible.
        let room = MAX_UNPACKED.saturating_sub(facts.unpacked);
        let _ = ZlibDecoder::new(text).take(room).read_to_end(&mut unpacked);
        facts.unpacked += unpacked.len() as u64;
        text = &unpacked;
    }
    let text = match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.iter().map(|&b| char::from(b)).collect(),
    };
    match key {
        b"XML:com.adobe.xmp" if is_packed => xmp::read(text.as_bytes(), facts),
        b"Title" => fill(&mut facts.title, &text),
        b"Author" => fill(&mut facts.author, &text),
        b"Description" => fill(&mut facts.description, &text),
        b"Copyright" => fill(&mut facts.copyright, &text),
        b"Comment" => fill(&mut facts.comment, &text),
        b"Creation Time" => facts.created = facts.created.take().or_else(|| crate::stamp::moment(&text)),
        _ => {}
    }
}

/// Reads the chunk of a WebP that holds EXIF.
fn webp(bytes: &[u8], facts: &mut PictureFacts) {
    if let Some(at) = memmem::find(bytes, b"EXIF") {
        let body = bytes.get(at + 8..).unwrap_or(&[]);
        exif::read(body.strip_prefix(b"Exif\0\0").unwrap_or(body), facts);
    }
}

/// Reads the EXIF of HEIC and AVIF: an item that begins with where its block in the form of TIFF
/// begins, behind a name that most programs write.
fn high_efficiency(bytes: &[u8], facts: &mut PictureFacts) {
    let is_tiff = |bytes: &[u8]| bytes.starts_with(b"II*\0") || bytes.starts_with(b"MM\0*");
    let named = memmem::find_iter(bytes, b"Exif\0\0").map(|at| at + 6).take(MAX_SEGMENTS);
    // Without the name, the block stands right behind four zeros, the distance to it.
    let bare = [&b"\0\0\0\0II*\0"[..], b"\0\0\0\0MM\0*"].into_iter().filter_map(|mark| memmem::find(bytes, mark));
    let found = named.chain(bare.map(|at| at + 4)).filter_map(|at| bytes.get(at..)).find(|block| is_tiff(block));
    if let Some(block) = found {
        exif::read(block, facts);
    }
}

/// Reads the comments of a GIF, which stand between its pictures.
fn gif(bytes: &[u8], facts: &mut PictureFacts) -> Option<()> {
    let table = |packed: u8| if packed & 0x80 == 0 { 0 } else { 3 << ((packed & 7) + 1) };
    let mut rest = bytes.get(13 + table(*bytes.get(10)?)..)?;
    for _ in 0..MAX_SEGMENTS {
        let head = match rest {
            [0x21, 0xFE, ..] => {
                let (comment, after) = blocks(rest.get(2..)?)?;
                fill(&mut facts.comment, &String::from_utf8_lossy(&comment));
                rest = after;
                continue;
            }
            [0x21, ..] => 2,
            [0x2C, ..] => 11 + table(*rest.get(9)?),
            _ => return Some(()),
        };
        rest = blocks(rest.get(head..)?)?.1;
    }
    Some(())
}

/// The content of blocks of up to 255 bytes each, and what follows them.
fn blocks(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut content = Vec::new();
    loop {
        let (&length, after) = rest.split_first()?;
        if length == 0 {
            return Some((content, after));
        }
        let (block, after) = after.split_at_checked(usize::from(length))?;
        if content.len() < MAX_FIELD * 4 {
            content.extend_from_slice(block);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(bytes: &[u8]) -> Document {
        extract(&Content { bytes, mime: Some("image/x"), charset: None, url: "" })
    }

    /// A block of EXIF with these texts.
    fn tiff(tags: &[(u16, &str)]) -> Vec<u8> {
        let mut out = b"II*\0\x08\0\0\0".to_vec();
        out.extend(u16::try_from(tags.len()).expect("few").to_le_bytes());
        let mut at = 8 + 2 + tags.len() * 12 + 4;
        for (tag, text) in tags {
            out.extend(tag.to_le_bytes());
            out.extend(2u16.to_le_bytes());
            out.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
            out.extend(u32::try_from(at).expect("small").to_le_bytes());
            at += text.len();
        }
        // The next directory is this one again.
        out.extend(8u32.to_le_bytes());
        out.extend(tags.iter().flat_map(|(_, text)| text.bytes()));
        out
    }

    #[test]
    fn a_photograph_says_who_took_it_and_when() {
        let exif =
            tiff(&[(0x010E, "A tree"), (0x0132, "2009:03:05 10:20:30"), (0x013B, "Ann B."), (0x8298, "(c) Ann")]);
        let segment = [&b"Exif\0\0"[..], &exif].concat();
        let mut jpeg = vec![0xFF, 0xD8, 0xFF, 0xE1];
        jpeg.extend(u16::try_from(segment.len() + 2).expect("short").to_be_bytes());
        jpeg.extend(&segment);
        jpeg.extend([0xFF, 0xC0, 0, 9, 8, 0, 32, 0, 64, 1, 0, 0xFF, 0xDA]);
        let doc = read(&jpeg);
        assert_eq!((doc.mime.as_str(), doc.text.as_str()), ("image/jpeg", "A tree\nAnn B.\n(c) Ann"));
        assert_eq!((doc.author.as_deref(), doc.created.as_deref()), (Some("Ann B."), Some("2009-03-05T10:20:30")));
        assert_eq!(doc.description.as_deref(), Some("A tree"));
    }

    #[test]
    fn newsrooms_and_editors_are_heard() {
        let datasets: Vec<u8> = [
            (5, "A title"),
            (80, "Ann"),
            (80, "Bob"),
            (120, "What \u{e4}"),
            (25, "one"),
            (25, "two"),
            (55, "20180102"),
        ]
        .into_iter()
        .flat_map(|(number, text)| {
            [&[0x1C, 2, number, 0, u8::try_from(text.len()).expect("short")][..], text.as_bytes()].concat()
        })
        .collect();
        let length = u32::try_from(datasets.len()).expect("short").to_be_bytes();
        let segment = [&b"Photoshop 3.0\08BIM\x04\x04\0\0"[..], &length, &datasets].concat();
        let mut jpeg = vec![0xFF, 0xD8, 0xFF, 0xED];
        jpeg.extend(u16::try_from(segment.len() + 2).expect("short").to_be_bytes());
        jpeg.extend(&segment);
        let doc = read(&jpeg);
        assert_eq!((doc.title.as_deref(), doc.author.as_deref()), (Some("A title"), Some("Ann, Bob")));
        assert_eq!(
            (doc.created.as_deref(), doc.text.as_str()),
            (Some("2018-01-02"), "A title\nWhat ä\nAnn, Bob\none, two")
        );

        let comment = |kind: &[u8; 4], body: &[u8]| {
            let length = u32::try_from(body.len()).expect("short").to_be_bytes();
            [
                &b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\x02\x80\0\0\x01\xE0\x08\0\0\0\0...."[..],
                &length,
                kind,
                body,
                b"....",
            ]
            .concat()
        };
        // "packed", deflated without compression.
        let packed = b"x\x01\x01\x06\0\xF9\xFFpacked\x08\x86\x02\x69";
        let doc = read(&comment(b"zTXt", &[&b"Description\0\0"[..], packed].concat()));
        assert_eq!(doc.description.as_deref(), Some("packed"));
        let doc = read(&comment(b"iTXt", &[&b"Title\0\x01\0en\0Titel\0"[..], packed].concat()));
        assert_eq!(doc.title.as_deref(), Some("packed"));

        let doc = read(b"GIF89a\x40\x01\xF0\0\0\0\0!\xFF\x02ab\x01c\0!\xFE\x05hello\x06 world\0;");
        assert_eq!(doc.text, "hello world");
        let exif = tiff(&[(0x0132, "2009:03:05 10:20:30\0"), (0x9286, "ASCII\0\0\0said so")]);
        let doc = read(&[&b"\0\0\0\x18ftypavif0000....\0\0\0\x06Exif\0\0"[..], &exif].concat());
        assert_eq!((doc.created.as_deref(), doc.text.as_str()), (Some("2009-03-05T10:20:30"), "said so"));
    }

    #[test]
    fn sizes_are_read_from_headers() {
        let png =
            b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\x02\x80\0\0\x01\xE0\x08\0\0\0\0....\0\0\0\x0BtEXtTitle\0A pic....";
        let doc = read(png);
        assert_eq!((doc.description.as_deref(), doc.title.as_deref()), (Some("640 × 480 pixels"), Some("A pic")));
        for (bytes, size) in [
            (&b"GIF89a\x40\x01\xF0\0"[..], "320 × 240"),
            (b"BM0000000000000000\x05\0\0\0\x07\0\0\0", "5 × 7"),
            (b"RIFF0000WEBPVP8X\x0A\0\0\0\0\0\0\0\x0F\0\0\x1F\0\0", "16 × 32"),
            (b"RIFF0000WEBPVP8 \x0A\0\0\0\0\0\0\x9D\x01\x2A\x10\0\x20\0", "16 × 32"),
            (b"\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14ftypjp2 \0\0\0\0jp2 \0\0\0\x2Djp2h\0\0\0\x16ihdr\0\0\0\x50\0\0\0\x78", "120 × 80"),
            (b"\0\0\0\x18ftypheic0000\0\0\0\x14ispe\0\0\0\0\0\0\x01\0\0\0\0\x80", "256 × 128"),
        ] {
            assert_eq!(read(bytes).description, Some(format!("{size} pixels")), "{bytes:?}");
        }
    }

    #[test]
    fn xmp_says_more_than_exif() {
        let xmp = "....<x:xmpmeta><rdf:RDF><rdf:Description xmp:CreateDate='2010-01-02T03:04:05+01:00'><dc:title><rdf:Alt><rdf:li xml:lang='x'>T &amp; U</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq><rdf:li>A</rdf:li><rdf:li>B</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>....";
        let doc = read(&[b"GIF89a\x40\x01\xF0\0", xmp.as_bytes()].concat());
        assert_eq!((doc.title.as_deref(), doc.author.as_deref()), (Some("T & U"), Some("A, B")));
        assert_eq!(doc.created.as_deref(), Some("2010-01-02T03:04:05+01:00"));
    }

    #[test]
    fn directories_that_lead_to_themselves_end() {
        let mut looped = tiff(&[(0x8769, ""), (0x010E, "x")]);
        looped[18..22].copy_from_slice(&8u32.to_le_bytes());
        read(&looped);
        read(&[&[0xFF, 0xD8][..], &[0xFF; 100_000]].concat());
        read(&[&b"\x89PNG\r\n\x1A\n"[..], &[0; 100_000]].concat());
    }
}
