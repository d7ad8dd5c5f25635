//! What does a Flash film say, and where does it lead?
//!
//! SWF 19: a packed stream of tags. Texts are in text fields, addresses in the actions of buttons
//! and frames, and among the constants of scripts. Drawings are not read.

mod actions;
mod unpack;

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::mail::write_page;
use crate::office::properties;
use crate::package::{u16_at, u32_at};
use crate::text::urls;
use crate::{Extract, TypedContent};
use orb_page::LinkKind;

/// How deep films in films are read.
const MAX_DEPTH: usize = 8;
/// Maximum number of tags.
const MAX_TAGS: usize = 1_000_000;

/// Extracts Flash films.
#[derive(Debug)]
pub(crate) struct FlashExtractor;

impl Extract for FlashExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        matches!(source.mime, "application/x-shockwave-flash" | "application/vnd.adobe.flash.movie")
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let mut flow = TextFlow::new(found, 0);
        let body = unpack::body(source.bytes, flow.found);
        if let Some(tags) = rectangle(&body).and_then(|len| body.get(len + 4..)) {
            let mut left = MAX_TAGS;
            read(tags, &mut flow, &mut left, 0);
        }
        flow.finish();
    }
}

/// The length of a rectangle, whose numbers have as many bits as its first five say.
fn rectangle(bytes: &[u8]) -> Option<usize> {
    let bits = usize::from(*bytes.first()? >> 3);
    Some((5 + bits * 4).div_ceil(8))
}

/// Reads the tags of a film, or of a sprite in one.
fn read(mut tags: &[u8], flow: &mut TextFlow<'_>, left: &mut usize, depth: usize) {
    while let Some(head) = u16_at(tags, 0).filter(|_| *left > 0 && !flow.is_full()) {
        *left -= 1;
        let (code, short) = (head >> 6, usize::from(head & 0x3F));
        let (start, len) = match short {
            0x3F => (6, u32_at(tags, 2).unwrap_or(0) as usize),
            len => (2, len),
        };
        let rest = tags.get(start..).unwrap_or(&[]);
        let (body, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        if code == 0 {
            return;
        }
        tag(code, body, flow, (left, depth));
        tags = after;
    }
}

fn tag(code: u16, body: &[u8], flow: &mut TextFlow<'_>, (left, depth): (&mut usize, usize)) {
    match code {
        12 => actions::read(body, flow),
        59 => actions::read(body.get(2..).unwrap_or(&[]), flow),
        // Buttons, and what happens to placed objects: actions somewhere behind other fields.
        7 | 34 | 26 | 70 => addresses(body, flow),
        37 => {
            text_field(body, flow);
        }
        39 if depth < MAX_DEPTH => read(body.get(4..).unwrap_or(&[]), flow, left, depth + 1),
        72 => {
            actions::constants(body, flow);
        }
        82 => {
            let named = body.get(4..).unwrap_or(&[]);
            let end = named.iter().position(|&b| b == 0).map_or(named.len(), |i| i + 1);
            actions::constants(named.get(end..).unwrap_or(&[]), flow);
        }
        77 => properties(&String::from_utf8_lossy(body), flow.found),
        _ => {}
    }
}

/// Adds the whole addresses among any bytes.
fn addresses(bytes: &[u8], flow: &mut TextFlow<'_>) {
    let text: String = bytes.iter().map(|&b| if (b' '..0x7F).contains(&b) { char::from(b) } else { '\n' }).collect();
    urls(&text, |target, _| {
        flow.found.link(LinkKind::Document, target, 0);
    });
}

/// The initial text of a text field, which may be HTML.
fn text_field(body: &[u8], flow: &mut TextFlow<'_>) -> Option<()> {
    let at = 2 + rectangle(body.get(2..)?)?;
    let (first, second) = (*body.get(at)?, *body.get(at + 1)?);
    let mut rest = body.get(at + 2..)?;
    let has_font = first & 1 != 0;
    let has_class = second & 0x80 != 0;
    rest = rest.get(if has_font { 2 } else { 0 }..)?;
    if has_class {
        rest = string(rest)?.1;
    }
    let skipped = if has_font || has_class { 2 } else { 0 }
        + if first & 4 != 0 { 4 } else { 0 }
        + if first & 2 != 0 { 2 } else { 0 }
        + if second & 0x20 != 0 { 9 } else { 0 };
    rest = string(rest.get(skipped..)?)?.1;
    if first & 0x80 != 0 {
        let (text, _) = string(rest)?;
        if second & 2 != 0 { write_page(&text, flow) } else { flow.paragraph(&text.replace('\r', "\n")) }
    }
    Some(())
}

/// A string that ends with a zero, and what follows it.
fn string(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    Some((String::from_utf8_lossy(bytes.get(..end)?).into_owned(), bytes.get(end + 1..).unwrap_or(&[])))
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use orb_page::Document;
    use std::io::Write;

    fn read(bytes: &[u8]) -> Document {
        extract(&Content { bytes, mime: Some("application/octet-stream"), charset: None, url: "" })
    }

    fn tag(code: u16, body: &[u8]) -> Vec<u8> {
        let mut tag = (code << 6 | 0x3F).to_le_bytes().to_vec();
        tag.extend(u32::try_from(body.len()).expect("small").to_le_bytes());
        tag.extend(body);
        tag
    }

    fn film(kind: &[u8; 3], tags: &[u8]) -> Vec<u8> {
        let mut body = vec![0, 0, 1, 1, 0];
        body.extend(tags);
        let mut film = kind.to_vec();
        film.push(9);
        film.extend(u32::try_from(body.len() + 8).expect("small").to_le_bytes());
        if kind == b"CWS" {
            let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&body).expect("to memory");
            film.extend(packed.finish().expect("to memory"));
        } else {
            film.extend(body);
        }
        film
    }

    fn tags() -> Vec<u8> {
        let mut actions = vec![0x83, 25, 0];
        actions.extend(b"http://a.example/x\0_self\0\0");
        actions.extend([0x88, 22, 0, 1, 0]);
        actions.extend(b"http://b.example/y\0\0");
        let mut field = vec![1, 0, 0, 0x80, 2];
        field.extend(b"name\0<p>Read <a href='http://c.example/'>this</a></p>\0");
        let mut script = vec![0, 0, 0, 0, b'n', 0, 16, 0, 46, 0, 0, 0, 0, 2, 17];
        script.extend(b"http://d.example/");
        let sprite = [&[1, 0, 1, 0][..], &tag(12, &actions)].concat();
        [tag(39, &sprite), tag(37, &field), tag(82, &script), vec![0, 0]].concat()
    }

    #[test]
    fn fields_are_text_and_actions_lead_on() {
        for kind in [b"FWS", b"CWS"] {
            let doc = read(&film(kind, &tags()));
            assert_eq!((doc.mime.as_str(), doc.text.as_str()), ("application/x-shockwave-flash", "Read this"));
            let targets: Vec<_> = doc.links.iter().map(|l| l.target.as_str()).collect();
            assert_eq!(
                targets,
                ["http://a.example/x", "http://b.example/y", "http://c.example/", "http://d.example/"],
                "{kind:?}"
            );
        }
    }

    #[test]
    fn bombs_and_endless_tags_end() {
        let bomb = film(b"CWS", &vec![0x40; 100 << 20]);
        assert!(read(&bomb).problems.iter().any(|p| p.code == "truncated"));
        let mut endless = film(b"FWS", &[]);
        endless.extend([0xFF, 0x03, 0xFF, 0xFF, 0xFF, 0xFF]);
        read(&endless);
        let mut nested = Vec::new();
        for _ in 0..2_000 {
            nested = tag(39, &[&[1, 0, 1, 0][..], &nested].concat());
        }
        read(&film(b"FWS", &nested));
        read(b"ZWS\x0D\xFF\xFF\xFF\xFF\x10\0\0\0\x5D\xFF\xFF\xFF\xFF0123456789");
    }
}
