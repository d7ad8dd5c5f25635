//! What do the slides of a binary presentation say?
//!
//! A stream of records in records ([MS-PPT] 2.3.1). Each time it is saved, what has changed is
//! written behind the rest, with a directory of where everything is now: the slides are found by
//! that, and in a damaged file by reading whatever there is.

use super::utf16;
use crate::compound::CompoundFile;
use crate::flow::TextFlow;
use crate::package::{u16_at, u32_at};
use std::collections::HashMap;

const DOCUMENT: u16 = 1000;
const SLIDE: u16 = 1006;
const NOTES: u16 = 1008;
const SLIDE_PERSIST: u16 = 1011;
const MASTER: u16 = 1016;
const OUTLINE: u16 = 4080;
const TEXT_CHARS: u16 = 4000;
const TEXT_BYTES: u16 = 4008;
const STRING: u16 = 4026;
const LINK: u16 = 4055;
const HEADERS: u16 = 4057;
const EDIT: u16 = 4085;
/// Records of later versions, among them comments.
const TAGGED: u16 = 5003;
const DIRECTORY: u16 = 6002;
const COMMENT: u16 = 12_000;

/// How deep records are opened.
const MAX_DEPTH: usize = 32;
/// Maximum number of saved versions.
const MAX_EDITS: usize = 1_000;
/// Maximum number of objects.
const MAX_OBJECTS: usize = 100_000;

/// A record.
#[derive(Clone, Copy)]
struct SlideRecord<'a> {
    kind: u16,
    instance: u16,
    is_container: bool,
    body: &'a [u8],
}

/// The records one after another.
fn records(bytes: &[u8]) -> impl Iterator<Item = SlideRecord<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (head, kind, len) = (u16_at(rest, 0)?, u16_at(rest, 2)?, u32_at(rest, 4)? as usize);
        let body = rest.get(8..)?;
        let (body, after) = body.split_at_checked(len).unwrap_or((body, &[]));
        rest = after;
        Some(SlideRecord { kind, instance: head >> 4, is_container: head & 15 == 15, body })
    })
}

/// Reads a presentation; false if it is encrypted.
pub(super) fn read(file: &CompoundFile<'_>, flow: &mut TextFlow<'_>) -> bool {
    let Some(stream) = file.stream("PowerPoint Document") else { return true };
    let user = file.stream("Current User").unwrap_or_default();
    if u32_at(&user, 12) == Some(0xF3D1_C4DF) {
        return false;
    }
    let mut show = SlideShow { stream: &stream, places: HashMap::new() };
    let document = u32_at(&user, 16).and_then(|at| show.directory(at as usize));
    let slides = document.and_then(|at| show.object(at)).filter(|d| d.kind == DOCUMENT).map(|d| show.document(d, flow));
    if slides.is_none_or(|count| count == 0) {
        for record in records(&stream).filter(|r| matches!(r.kind, DOCUMENT | SLIDE | NOTES)) {
            texts(record.body, flow, 0);
        }
    }
    true
}

struct SlideShow<'a> {
    stream: &'a [u8],
    /// Where the objects are, by their numbers.
    places: HashMap<u32, usize>,
}

impl<'a> SlideShow<'a> {
    /// Reads where everything is, from the last version back, and returns the document's number.
    fn directory(&mut self, last: usize) -> Option<u32> {
        let mut document = None;
        let mut at = last;
        for _ in 0..MAX_EDITS {
            let Some(edit) = self.record(at).filter(|r| r.kind == EDIT) else { break };
            document = document.or(u32_at(edit.body, 16));
            let directory = u32_at(edit.body, 12).and_then(|at| self.record(at as usize));
            if let Some(directory) = directory.filter(|d| d.kind == DIRECTORY) {
                self.add(directory.body);
            }
            let before = u32_at(edit.body, 8).unwrap_or(0) as usize;
            if before == 0 || before >= at {
                break;
            }
            at = before;
        }
        document
    }

    fn add(&mut self, mut rest: &[u8]) -> Option<()> {
        while self.places.len() < MAX_OBJECTS {
            let head = u32_at(rest, 0)?;
            let (first, count) = (head & 0xF_FFFF, head >> 20);
            for i in 0..count {
                let place = u32_at(rest, 4 + i as usize * 4)? as usize;
                self.places.entry(first + i).or_insert(place);
            }
            rest = rest.get(4 + count as usize * 4..)?;
        }
        Some(())
    }

    fn record(&self, at: usize) -> Option<SlideRecord<'a>> {
        records(self.stream.get(at..)?).next()
    }

    fn object(&self, number: u32) -> Option<SlideRecord<'a>> {
        self.record(*self.places.get(&number)?)
    }

    /// Reads the document: its slides and notes, links, headers. The number of slides.
    fn document(&self, document: SlideRecord<'a>, flow: &mut TextFlow<'_>) -> u32 {
        let lists: Vec<SlideRecord<'a>> = records(document.body).filter(|r| r.kind == OUTLINE).collect();
        let mut count = 0;
        for list in lists.iter().filter(|l| l.instance == 0) {
            count += self.list(list.body, flow);
        }
        flow.found.doc.page_count = Some(count).filter(|&n| n > 0);
        for list in lists.iter().filter(|l| l.instance == 2) {
            self.list(list.body, flow);
        }
        for record in records(document.body).filter(|r| r.kind != OUTLINE) {
            one(&record, flow, 0);
        }
        count
    }

    /// Reads the slides of a list, each after the texts that its outline has of it.
    fn list(&self, list: &[u8], flow: &mut TextFlow<'_>) -> u32 {
        let mut count = 0;
        let mut current = None;
        for record in records(list) {
            if record.kind == SLIDE_PERSIST {
                self.slide(current.take(), flow);
                current = u32_at(record.body, 0);
                count += 1;
            } else {
                one(&record, flow, 0);
            }
            if flow.is_full() {
                break;
            }
        }
        self.slide(current, flow);
        count
    }

    fn slide(&self, number: Option<u32>, flow: &mut TextFlow<'_>) {
        let slide = number.and_then(|n| self.object(n));
        if let Some(slide) = slide.filter(|s| matches!(s.kind, SLIDE | NOTES | MASTER)) {
            texts(slide.body, flow, 0);
        }
    }
}

fn texts(body: &[u8], flow: &mut TextFlow<'_>, depth: usize) {
    if depth > MAX_DEPTH || flow.is_full() {
        return;
    }
    for record in records(body) {
        one(&record, flow, depth);
    }
}

fn one(record: &SlideRecord<'_>, flow: &mut TextFlow<'_>, depth: usize) {
    match record.kind {
        TEXT_CHARS => paragraphs(&utf16(record.body), flow),
        TEXT_BYTES => paragraphs(&record.body.iter().map(|&b| char::from(b)).collect::<String>(), flow),
        LINK => link(record.body, flow),
        // Who commented, what; and what stands above and below every slide.
        COMMENT | HEADERS => {
            for part in records(record.body).filter(|r| r.kind == STRING && r.instance < 3) {
                flow.paragraph(&utf16(part.body));
            }
        }
        _ if record.is_container || record.kind == TAGGED => texts(record.body, flow, depth + 1),
        _ => {}
    }
}

fn paragraphs(text: &str, flow: &mut TextFlow<'_>) {
    let text: String = text.chars().map(|c| if matches!(c, '\r' | '\u{B}') { '\n' } else { c }).collect();
    flow.paragraph(&text);
}

/// A link: how it is called, and where it leads.
fn link(body: &[u8], flow: &mut TextFlow<'_>) {
    let string =
        |instance: u16| records(body).find(|r| r.kind == STRING && r.instance == instance).map(|r| utf16(r.body));
    let target = string(1).unwrap_or_default();
    if !target.starts_with('#') {
        flow.link(&target, &string(0).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use crate::compound::tests::compound;
    use crate::{Content, extract};

    fn record(kind: u16, head: u16, body: &[u8]) -> Vec<u8> {
        let mut record = head.to_le_bytes().to_vec();
        record.extend(kind.to_le_bytes());
        record.extend(u32::try_from(body.len()).expect("small").to_le_bytes());
        record.extend(body);
        record
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn slides_are_found_by_the_last_directory() {
        let old = record(1006, 15, &record(4008, 0, b"old"));
        let slide = record(1006, 15, &record(0xF00D, 15, &record(4000, 0, &wide("Zwölf\rmore"))));
        let mut persist = vec![2, 0, 0, 0];
        persist.extend([0; 16]);
        let outline = [record(1011, 0, &persist), record(4008, 0, b"Title")].concat();
        let link = record(
            4055,
            15,
            &[record(4026, 0, &wide("here")), record(4026, 0x10, &wide("http://a.example/"))].concat(),
        );
        let document = record(1000, 15, &[record(4080, 15, &outline), record(1033, 15, &link)].concat());
        let slide_at = u32::try_from(old.len()).expect("small");
        let document_at = slide_at + u32::try_from(slide.len()).expect("small");
        let directory_at = document_at + u32::try_from(document.len()).expect("small");
        let directory: Vec<u8> =
            [1 | 2 << 20, document_at, slide_at].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        let directory = record(6002, 0, &directory);
        let edit_at = directory_at + u32::try_from(directory.len()).expect("small");
        let edit: Vec<u8> = [0, 0, 0, directory_at, 1].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        let stream = [old, slide, document, directory, record(4085, 0, &edit)].concat();
        let mut user = vec![0; 16];
        user.extend(edit_at.to_le_bytes());
        let bytes = compound(&[("PowerPoint Document", &stream), ("Current User", &user)]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!((doc.mime.as_str(), doc.page_count), ("application/vnd.ms-powerpoint", Some(1)));
        assert_eq!(doc.text, "Title\nZwölf\nmore");
        assert_eq!((doc.links[0].target.as_str(), doc.links[0].anchor.as_str()), ("http://a.example/", "here"));
        let bytes = compound(&[("PowerPoint Document", &stream)]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.text, "old\nZwölf\nmore\nTitle");
    }
}
