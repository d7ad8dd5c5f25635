//! What do the slides of a binary presentation say?
//!
//! A stream of records in records ([MS-PPT] 2.3.1). Each time it is saved, what has changed is
//! written behind the rest, with a directory of where everything is now: the slides are found by
//! that, and in a damaged file by reading whatever there is.

use super::utf16;
use crate::compound::CompoundFile;
use crate::flow::TextFlow;
use crate::nested;
use crate::package::{u16_at, u32_at};
use flate2::read::ZlibDecoder;
use std::collections::{HashMap, HashSet};
use std::io::Read;

const DOCUMENT: u16 = 1000;
const SLIDE: u16 = 1006;
const NOTES: u16 = 1008;
const SLIDE_PERSIST: u16 = 1011;
const MASTER: u16 = 1016;
/// What is drawn on a slide: the drawing, its container, groups of shapes, a shape.
const DRAWING: u16 = 1036;
const DRAWING_CONTAINER: u16 = 0xF002;
const SHAPES: u16 = 0xF003;
const SHAPE: u16 = 0xF004;
/// What a shape is to its slide, and the record in it of one that awaits a text.
const SHAPE_DATA: u16 = 0xF011;
const PLACEHOLDER: u16 = 3011;
const OBJECTS: u16 = 1033;
const TEXT_HEADER: u16 = 3999;
/// An embedded object in a compound file.
const OBJECT: u16 = 4113;
const OUTLINE: u16 = 4080;
const TEXT_CHARS: u16 = 4000;
const TEXT_BYTES: u16 = 4008;
const STRING: u16 = 4026;
const LINK_NUMBER: u16 = 4051;
const LINK: u16 = 4055;
const HEADERS: u16 = 4057;
/// Which characters of the text before it a click belongs to.
const CLICK_RANGE: u16 = 4063;
/// What a click does, and the record in it that says so.
const CLICK: u16 = 4082;
const CLICK_ATOM: u16 = 4083;
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
/// Maximum size of an embedded object.
const MAX_OBJECT: u64 = 16 << 20;
/// Maximum number of links in a text.
const MAX_RANGES: usize = 10_000;

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
    let document = document.and_then(|at| show.object(at)).filter(|d| d.kind == DOCUMENT);
    let mut texts = SlideTexts::default();
    let slides = document.map(|d| {
        texts.learn_links(d.body, 0);
        show.document(d, &mut texts, flow)
    });
    if slides.is_none_or(|count| count == 0) {
        let whole = || records(&stream).filter(|r| matches!(r.kind, DOCUMENT | SLIDE | NOTES));
        whole().for_each(|record| texts.learn_links(record.body, 0));
        whole().for_each(|record| texts.read(record.body, flow, 0));
    }
    texts.finish(flow);
    show.write_objects(flow);
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
    fn document(&self, document: SlideRecord<'a>, texts: &mut SlideTexts, flow: &mut TextFlow<'_>) -> u32 {
        let lists: Vec<SlideRecord<'a>> = records(document.body).filter(|r| r.kind == OUTLINE).collect();
        let mut count = 0;
        for list in lists.iter().filter(|l| l.instance == 0) {
            count += self.list(list.body, texts, flow);
        }
        flow.found.doc.page_count = Some(count).filter(|&n| n > 0);
        for list in lists.iter().filter(|l| l.instance == 2) {
            self.list(list.body, texts, flow);
        }
        for list in lists.iter().filter(|l| l.instance == 1) {
            self.masters(list.body, texts, flow);
        }
        for record in records(document.body).filter(|r| r.kind != OUTLINE) {
            texts.one(&record, flow, 0);
        }
        texts.end_text(flow);
        count
    }

    /// Reads the slides of a list, each after the texts that its outline has of it.
    fn list(&self, list: &[u8], texts: &mut SlideTexts, flow: &mut TextFlow<'_>) -> u32 {
        let mut count = 0;
        let mut current = None;
        for record in records(list) {
            if record.kind == SLIDE_PERSIST {
                texts.end_text(flow);
                self.slide(current.take(), texts, flow);
                current = u32_at(record.body, 0);
                count += 1;
            } else {
                texts.one(&record, flow, 0);
            }
            if flow.is_full() {
                break;
            }
        }
        texts.end_text(flow);
        self.slide(current, texts, flow);
        count
    }

    /// Reads what the masters of a list show on every slide.
    fn masters(&self, list: &[u8], texts: &mut SlideTexts, flow: &mut TextFlow<'_>) {
        let mut seen = HashSet::new();
        let numbers = records(list).filter(|r| r.kind == SLIDE_PERSIST).filter_map(|r| u32_at(r.body, 0));
        for master in numbers.filter(|number| seen.insert(*number)).filter_map(|number| self.object(number)) {
            if flow.is_full() {
                break;
            }
            texts.read_master(master.body, flow, 0);
        }
    }

    /// Writes what embedded documents say: sheets, charts, texts.
    fn write_objects(&self, flow: &mut TextFlow<'_>) {
        let mut places: Vec<usize> = self.places.values().copied().collect();
        places.sort_unstable();
        places.dedup();
        for object in places.into_iter().filter_map(|at| self.record(at)).filter(|r| r.kind == OBJECT) {
            match object.instance {
                0 => nested::write_file(object.body, flow),
                _ => nested::write_file(&inflated(object.body), flow),
            }
        }
    }

    fn slide(&self, number: Option<u32>, texts: &mut SlideTexts, flow: &mut TextFlow<'_>) {
        let slide = number.and_then(|n| self.object(n));
        if let Some(slide) = slide.filter(|s| matches!(s.kind, SLIDE | NOTES | MASTER)) {
            texts.read(slide.body, flow, 0);
        }
    }
}

/// An embedded object that was packed: its size, and a stream of zlib.
fn inflated(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let packed = body.get(4..).unwrap_or(&[]);
    // What could be unpacked of a broken one is read.
    let _ = ZlibDecoder::new(packed).take(MAX_OBJECT).read_to_end(&mut out);
    out
}

/// A link of the document: how it is called, where it leads, and whether a text has it.
struct ShowLink {
    name: String,
    target: String,
    is_used: bool,
}

/// Reads texts. Which of their characters are links is said behind them.
#[derive(Default)]
struct SlideTexts {
    links: HashMap<u32, ShowLink>,
    /// The text that was met last, until what is said of it is known.
    text: Option<Vec<u16>>,
    /// The links of its characters: from, to, number.
    ranges: Vec<(usize, usize, u32)>,
    /// The link whose place comes next.
    link: Option<u32>,
}

impl SlideTexts {
    /// Notes the links of a document.
    fn learn_links(&mut self, body: &[u8], depth: usize) {
        for record in records(body) {
            if record.kind == LINK && self.links.len() < MAX_OBJECTS {
                let string = |instance: u16| {
                    let text = records(record.body).find(|r| r.kind == STRING && r.instance == instance);
                    text.map(|r| utf16(r.body)).unwrap_or_default()
                };
                let number = records(record.body).find(|r| r.kind == LINK_NUMBER).and_then(|r| u32_at(r.body, 0));
                // One without a number cannot be referred to.
                let number = number.unwrap_or(u32::MAX - u32::try_from(self.links.len()).unwrap_or(0));
                let link = ShowLink { name: string(0), target: string(1), is_used: false };
                self.links.insert(number, link);
            } else if record.kind == OBJECTS && depth == 0 {
                self.learn_links(record.body, 1);
            }
        }
    }

    fn read(&mut self, body: &[u8], flow: &mut TextFlow<'_>, depth: usize) {
        if depth > MAX_DEPTH || flow.is_full() {
            return;
        }
        for record in records(body) {
            self.one(&record, flow, depth);
        }
        self.end_text(flow);
    }

    /// Reads the shapes of a master, but for placeholders: they prompt for a text.
    fn read_master(&mut self, body: &[u8], flow: &mut TextFlow<'_>, depth: usize) {
        if depth > MAX_DEPTH || flow.is_full() {
            return;
        }
        for record in records(body) {
            match record.kind {
                DRAWING | DRAWING_CONTAINER | SHAPES => self.read_master(record.body, flow, depth + 1),
                SHAPE if !is_placeholder(record.body) => self.read(record.body, flow, depth + 1),
                _ => {}
            }
        }
    }

    fn one(&mut self, record: &SlideRecord<'_>, flow: &mut TextFlow<'_>, depth: usize) {
        match record.kind {
            TEXT_CHARS | TEXT_BYTES => {
                self.end_text(flow);
                let units = record.body.chunks_exact(2).filter_map(|two| u16_at(two, 0));
                self.text = Some(match record.kind {
                    TEXT_CHARS => units.collect(),
                    _ => record.body.iter().map(|&b| u16::from(b)).collect(),
                });
            }
            TEXT_HEADER => self.end_text(flow),
            CLICK => {
                let atom = records(record.body).find(|r| r.kind == CLICK_ATOM);
                self.link = atom.and_then(|atom| u32_at(atom.body, 4));
            }
            CLICK_RANGE => {
                let range = (u32_at(record.body, 0), u32_at(record.body, 4), self.link.take());
                if let (Some(from), Some(to), Some(link)) = range
                    && self.ranges.len() < MAX_RANGES
                {
                    self.ranges.push((from as usize, to as usize, link));
                }
            }
            // Who commented, what; and what stands above and below every slide.
            COMMENT | HEADERS => {
                for part in records(record.body).filter(|r| r.kind == STRING && r.instance < 3) {
                    flow.paragraph(&utf16(part.body));
                }
            }
            _ if record.is_container || record.kind == TAGGED => self.read(record.body, flow, depth + 1),
            _ => {}
        }
    }

    /// Writes the last text, with its links.
    fn end_text(&mut self, flow: &mut TextFlow<'_>) {
        let Some(text) = self.text.take() else { return };
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.sort_unstable();
        flow.line();
        let mut at = 0;
        for (from, to, number) in ranges {
            let (from, to) = (from.min(text.len()), to.min(text.len()));
            let Some(link) = self.links.get_mut(&number).filter(|link| leads_out(&link.target)) else { continue };
            if from < at || from >= to {
                continue;
            }
            link.is_used = true;
            write(&text[at..from], flow);
            flow.begin_link(&link.target);
            write(&text[from..to], flow);
            flow.end_link();
            at = to;
        }
        write(&text[at..], flow);
        flow.line();
    }

    /// Adds the links that no text has: those of shapes.
    fn finish(self, flow: &mut TextFlow<'_>) {
        let mut rest: Vec<(u32, ShowLink)> = self.links.into_iter().filter(|(_, link)| !link.is_used).collect();
        rest.sort_unstable_by_key(|(number, _)| *number);
        for (_, link) in rest.iter().filter(|(_, link)| leads_out(&link.target)) {
            flow.link(&link.target, &link.name);
        }
    }
}

fn is_placeholder(shape: &[u8]) -> bool {
    let data = records(shape).filter(|r| r.kind == SHAPE_DATA);
    data.flat_map(|r| records(r.body)).any(|r| r.kind == PLACEHOLDER)
}

/// Whether a target is not in the presentation itself.
fn leads_out(target: &str) -> bool {
    !target.is_empty() && !target.starts_with('#')
}

fn write(units: &[u16], flow: &mut TextFlow<'_>) {
    let text: String = char::decode_utf16(units.iter().copied())
        .map(|c| match c.unwrap_or('\u{FFFD}') {
            '\r' | '\u{B}' => '\n',
            c => c,
        })
        .collect();
    flow.lines(&text);
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
        let click = record(4082, 15, &record(4083, 0, &[0, 0, 0, 0, 7, 0, 0, 0]));
        let range = record(4063, 0, &[6, 0, 0, 0, 10, 0, 0, 0]);
        let text = [record(4000, 0, &wide("Zwölf\rmore to say")), click, range].concat();
        let slide = record(1006, 15, &record(0xF00D, 15, &text));
        let mut persist = vec![2, 0, 0, 0];
        persist.extend([0; 16]);
        let outline = [record(1011, 0, &persist), record(4008, 0, b"Title")].concat();
        let link = record(
            4055,
            15,
            &[
                record(4051, 0, &[7, 0, 0, 0]),
                record(4026, 0, &wide("here")),
                record(4026, 0x10, &wide("http://a.example/")),
            ]
            .concat(),
        );
        let shape = record(
            4055,
            15,
            &[record(4051, 0, &[8, 0, 0, 0]), record(4026, 0, &wide("picture")), record(4026, 0x10, &wide("x.html"))]
                .concat(),
        );
        let objects = record(1033, 15, &[link, shape].concat());
        let mut third = vec![3, 0, 0, 0];
        third.extend([0; 16]);
        let masters = record(4080, 0x1F, &record(1011, 0, &third));
        let document = record(1000, 15, &[masters, record(4080, 15, &outline), objects].concat());
        let shape = |data: &[u8], text: &[u8]| {
            let text = record(0xF00D, 15, &record(4008, 0, text));
            record(0xF004, 15, &[record(0xF011, 15, data), text].concat())
        };
        let shapes = [shape(&record(3011, 0, &[0; 8]), b"Click to edit"), shape(&[], b"Company")].concat();
        let master = record(1016, 15, &record(1036, 15, &record(0xF002, 15, &record(0xF003, 15, &shapes))));
        let master_at = u32::try_from(old.len()).expect("small");
        let old = [old, master].concat();
        let slide_at = u32::try_from(old.len()).expect("small");
        let document_at = slide_at + u32::try_from(slide.len()).expect("small");
        let directory_at = document_at + u32::try_from(document.len()).expect("small");
        let directory: Vec<u8> =
            [1 | 3 << 20, document_at, slide_at, master_at].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        let directory = record(6002, 0, &directory);
        let edit_at = directory_at + u32::try_from(directory.len()).expect("small");
        let edit: Vec<u8> = [0, 0, 0, directory_at, 1].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
        let stream = [old, slide, document, directory, record(4085, 0, &edit)].concat();
        let mut user = vec![0; 16];
        user.extend(edit_at.to_le_bytes());
        let bytes = compound(&[("PowerPoint Document", &stream), ("Current User", &user)]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!((doc.mime.as_str(), doc.page_count), ("application/vnd.ms-powerpoint", Some(1)));
        assert_eq!(doc.text, "Title\nZwölf\nmore to say\nCompany");
        let links: Vec<_> = doc.links.iter().map(|l| (l.target.as_str(), l.anchor.as_str())).collect();
        assert_eq!(links, [("http://a.example/", "more"), ("x.html", "picture")]);
        let bytes = compound(&[("PowerPoint Document", &stream)]);
        let doc = extract(&Content { bytes: &bytes, mime: None, charset: None, url: "" });
        assert_eq!(doc.text, "old\nZwölf\nmore to say\nTitle");
    }
}
