//! Where does a PDF point?
//!
//! URI actions (ISO 32000-2, 12.6.4.8) of annotations and bookmarks. Jumps within the document, to
//! other files and to programs are not addresses. What a script does is searched for addresses.

use super::content::{Glyph, turned};
use super::fonts::GlyphTexts;
use super::{lines, strings, turns, words};
use crate::gather::{Gather, MAX_ANCHOR, MAX_LINKS};
use crate::prose::cut;
use crate::script;
use hayro_font::kurbo::Point;
use hayro_syntax::object::{Array, Dict, Name, Object, Rect};
use orb_page::LinkKind;

/// How many actions may follow each other.
const MAX_ACTIONS: usize = 16;
/// How many bookmarks are read, and how deep.
const MAX_BOOKMARKS: usize = 20_000;
const MAX_DEPTH: u32 = 32;
/// How many comparisons of links with glyphs a page is worth.
const MAX_COMPARED: usize = 4_000_000;

/// The links of a page's annotations, with the text that stands under them. The text of the page
/// begins at `start`.
pub(super) fn of_page(page: &Dict<'_>, start: usize, (glyphs, texts): (&[Glyph], &GlyphTexts), found: &mut Gather) {
    let Some(annotations) = page.get::<Array<'_>>(b"Annots") else { return };
    let mut compared = 0;
    for annotation in annotations.iter::<Dict<'_>>().take(MAX_LINKS) {
        let before = found.doc.links.len();
        if let Some(action) = annotation.get::<Dict<'_>>(b"A") {
            follow(action, start, found);
        }
        compared += glyphs.len();
        if found.doc.links.len() == before || compared > MAX_COMPARED {
            continue;
        }
        let anchor = annotation.get::<Rect>(b"Rect").map(|rect| text_in(&rect, glyphs, texts)).unwrap_or_default();
        for link in &mut found.doc.links[before..] {
            link.anchor.clone_from(&anchor);
        }
    }
}

/// The links of bookmarks.
pub(super) fn of_bookmarks(catalog: &Dict<'_>, found: &mut Gather) {
    let mut room = MAX_BOOKMARKS;
    if let Some(first) = catalog.get::<Dict<'_>>(b"Outlines").and_then(|o| o.get::<Dict<'_>>(b"First")) {
        bookmarks(first, 0, &mut room, found);
    }
}

fn bookmarks(first: Dict<'_>, depth: u32, room: &mut usize, found: &mut Gather) {
    let mut next = Some(first);
    while let Some(bookmark) = next.take().filter(|_| *room > 0) {
        *room -= 1;
        let before = found.doc.links.len();
        if let Some(action) = bookmark.get::<Dict<'_>>(b"A") {
            follow(action, 0, found);
        }
        if found.doc.links.len() > before {
            let title = bookmark.get::<hayro_syntax::object::String<'_>>(b"Title");
            let title = title.and_then(|title| strings::line(&title)).unwrap_or_default();
            found.doc.links[before..].iter_mut().for_each(|link| link.anchor.clone_from(&title));
        }
        if let Some(child) = bookmark.get::<Dict<'_>>(b"First").filter(|_| depth < MAX_DEPTH) {
            bookmarks(child, depth + 1, room, found);
        }
        next = bookmark.get::<Dict<'_>>(b"Next");
    }
}

/// The addresses of an action and of those that follow it.
fn follow(first: Dict<'_>, position: usize, found: &mut Gather) {
    let mut waiting = vec![first];
    let mut count = 0;
    while let Some(action) = waiting.pop().filter(|_| count < MAX_ACTIONS) {
        count += 1;
        match action.get::<Name<'_>>(b"S").as_deref() {
            Some(b"URI") => {
                if let Some(uri) = action.get::<hayro_syntax::object::String<'_>>(b"URI") {
                    found.link(LinkKind::Document, &address(&uri), position);
                }
            }
            Some(b"JavaScript") => of_script(&action, position, found),
            _ => {}
        }
        match action.get::<Object<'_>>(b"Next") {
            Some(Object::Dict(next)) => waiting.push(next),
            Some(Object::Array(all)) => waiting.extend(all.iter::<Dict<'_>>().take(MAX_ACTIONS)),
            _ => {}
        }
    }
}

fn of_script(action: &Dict<'_>, position: usize, found: &mut Gather) {
    let code = match action.get::<Object<'_>>(b"JS") {
        Some(Object::String(text)) => strings::decode(&text),
        Some(Object::Stream(stream)) => stream.decoded_data().map(|bytes| strings::decode(&bytes)).unwrap_or_default(),
        _ => return,
    };
    script::urls(&code, |target, _| {
        found.link(LinkKind::ScriptText, target, position);
    });
}

/// The text within a rectangle, as it is read.
fn text_in(rect: &Rect, glyphs: &[Glyph], texts: &GlyphTexts) -> String {
    let (x0, x1) = (rect.x0.min(rect.x1), rect.x0.max(rect.x1));
    let (y0, y1) = (rect.y0.min(rect.y1), rect.y0.max(rect.y1));
    let is_inside = |glyph: &&Glyph| {
        let middle = Point::new(f64::from(glyph.x0 + glyph.x1) / 2.0, f64::from(glyph.y + glyph.size * 0.3));
        let at = turned(middle, (360 - glyph.turn) % 360);
        (x0..=x1).contains(&at.x) && (y0..=y1).contains(&at.y)
    };
    let inside: Vec<Glyph> = glyphs.iter().filter(is_inside).take(4 * MAX_ANCHOR).copied().collect();
    let mut text = String::new();
    for turn in turns(&inside) {
        for row in words::rows(&inside, turn) {
            if !text.is_empty() {
                text.push(' ');
            }
            lines::spell(&row, &inside, texts, &mut text);
        }
    }
    cut(&mut text, MAX_ANCHOR);
    text
}

/// An address as it was written: in ASCII by the standard, in UTF-8 by some programs.
fn address(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_ascii() => text.trim_start_matches('\u{FEFF}').to_owned(),
        _ => strings::decode(bytes),
    }
}
