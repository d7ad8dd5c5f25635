//! What does a PDF say, and where does it point?
//!
//! hayro reads the syntax, the fonts and their tables of characters; here the text operators of the
//! pages are followed and their glyphs put together: into words and rows (`words`), in reading
//! order (`columns`), as text (`lines`). Links come from annotations and bookmarks (`links`), and
//! addresses are looked for in the text. Letters get their accents (`accents`), comments follow the
//! page they are on (`notes`). The files of a portfolio come last (`attached`). Pictures are never
//! decoded, and their decoders are not even linked in.
//!
//! A PDF is a program of sorts. Pages, operators, glyphs, links and text are bounded here; memory,
//! stack and time are bounded by the process in which this runs, because the format is read aside.
//! A page at which the parser fails is left out.

mod accents;
mod attached;
mod columns;
mod content;
mod fonts;
mod layers;
mod lines;
mod links;
mod notes;
mod properties;
mod strings;
#[cfg(test)]
mod tests;
mod words;

use crate::gather::Gather;
use crate::{Extract, TypedContent, text};
use content::{ContentReader, DrawingBudget, Glyph};
use fonts::{Fonts, GlyphTexts};
use hayro_font::kurbo::{Affine, Shape};
use hayro_syntax::object::{Array, Dict, Name, Object, Rect, Stream};
use hayro_syntax::page::Page;
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use layers::Layers;
use orb_page::LinkKind;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum pages that are read.
const MAX_PAGES: usize = 5_000;
/// Maximum length of the text in bytes.
const MAX_TEXT: usize = 4 << 20;
/// Operators and glyphs that a document may spend.
const ALLOWANCE: DrawingBudget = DrawingBudget { operators: 50_000_000, glyphs: 8_000_000 };
/// Annotations that are not shown: hidden, or not for the screen.
const NOT_SHOWN: u32 = 1 << 1 | 1 << 5;

/// Extracts PDF.
#[derive(Debug)]
pub(crate) struct PdfExtractor;

impl Extract for PdfExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        matches!(source.mime, "application/pdf" | "application/x-pdf")
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        // What a panic leaves behind is a document with less in it.
        let read = catch_unwind(AssertUnwindSafe(|| match Pdf::new(source.bytes.to_vec()) {
            Ok(pdf) => read(&pdf, found),
            Err(LoadPdfError::Decryption(why)) => found.problem("encrypted", why_encrypted(why)),
            Err(LoadPdfError::Invalid) => found.problem("pdf-damaged", "no pages could be found in it"),
        }));
        if read.is_err() {
            found.problem("pdf-damaged", "it could not be read to its end");
        }
    }

    fn aside(&self) -> bool {
        true
    }
}

fn why_encrypted(why: DecryptionError) -> &'static str {
    match why {
        DecryptionError::PasswordProtected => "it opens with a password only",
        _ => "it is encrypted in a way that cannot be read",
    }
}

fn read(pdf: &Pdf, found: &mut Gather) {
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    properties::read(pdf, catalog.as_ref(), &mut found.doc);
    let pages = pdf.pages();
    found.doc.page_count = Some(u32::try_from(pages.len()).unwrap_or(u32::MAX));
    let mut reader = PdfReader {
        fonts: Fonts::new(),
        texts: GlyphTexts::default(),
        layers: catalog.as_ref().map(Layers::of).unwrap_or_default(),
        allowance: ALLOWANCE,
    };
    if pages.len() > MAX_PAGES {
        found.problem("too-many-pages", "pages beyond the first 5,000 were left out");
    }
    let mut failed = 0;
    for page in pages.iter().take(MAX_PAGES) {
        let read = catch_unwind(AssertUnwindSafe(|| reader.page(page, found)));
        failed += u32::from(read.is_err());
        if reader.allowance.is_spent() {
            found.problem("pdf-too-complex", "it draws more than is worth reading; the rest was left out");
            break;
        }
        if found.doc.text.len() > MAX_TEXT {
            found.doc.text.truncate(found.doc.text.floor_char_boundary(MAX_TEXT));
            found.problem("text-truncated", "the text beyond the first 4 MB was left out");
            break;
        }
    }
    if failed > 0 {
        found.problem("pdf-damaged", format!("{failed} of {} pages could not be read", pages.len()));
    }
    if let Some(catalog) = &catalog {
        links::of_bookmarks(catalog, found);
        attached::read(catalog, found);
    }
    links_in_text(found);
    found.doc.text.truncate(found.doc.text.trim_end().len());
}

/// Addresses in the text, but for those that annotations lead to anyway.
fn links_in_text(found: &mut Gather) {
    let known: HashSet<String> = found.doc.links.iter().map(|link| link.target.clone()).collect();
    let text = std::mem::take(&mut found.doc.text);
    text::urls(&text, |target, at| {
        if !known.contains(target) {
            found.link(LinkKind::Text, target, at);
        }
    });
    found.doc.text = text;
}

/// What is kept from page to page.
struct PdfReader<'a> {
    fonts: Fonts<'a>,
    texts: GlyphTexts,
    layers: Layers,
    allowance: DrawingBudget,
}

impl<'a> PdfReader<'a> {
    fn page(&mut self, page: &Page<'a>, found: &mut Gather) {
        let start = found.doc.text.len();
        let glyphs = self.glyphs(page);
        for turn in turns(&glyphs) {
            for block in columns::blocks(words::rows(&glyphs, turn)) {
                lines::write(&block, &glyphs, &self.texts, &mut found.doc.text);
            }
        }
        notes::write(page.raw(), &mut found.doc.text);
        links::of_page(page.raw(), start, (&glyphs, &self.texts), found);
    }

    /// The glyphs of a page and of what its annotations show.
    fn glyphs(&mut self, page: &Page<'a>) -> Vec<Glyph> {
        let paper = Some(page.media_box()).filter(|paper| paper.x1 - paper.x0 >= 1.0 && paper.y1 - paper.y0 >= 1.0);
        let mut reader = ContentReader::new(&mut self.fonts, &mut self.texts, &self.layers, &mut self.allowance, paper);
        reader.read(page.typed_operations(), page.resources());
        let annotations = page.raw().get::<Array<'_>>(b"Annots").unwrap_or_default();
        for annotation in annotations.iter::<Dict<'_>>() {
            if let Some((appearance, place)) = appearance(&annotation) {
                reader.form(&appearance, page.resources(), place);
            }
        }
        let mut glyphs = reader.finish();
        accents::compose_all(&mut glyphs, &mut self.texts);
        glyphs
    }
}

/// What an annotation looks like, and where it is placed (ISO 32000-2, 12.5.5).
fn appearance<'a>(annotation: &Dict<'a>) -> Option<(Stream<'a>, Affine)> {
    if annotation.get::<u32>(b"F").unwrap_or(0) & NOT_SHOWN != 0 {
        return None;
    }
    let stream = match annotation.get::<Dict<'_>>(b"AP")?.get::<Object<'_>>(b"N")? {
        Object::Stream(stream) => stream,
        Object::Dict(states) => states.get::<Stream<'_>>(annotation.get::<Name<'_>>(b"AS")?.as_ref())?,
        _ => return None,
    };
    let rect = annotation.get::<Rect>(b"Rect")?;
    let own = stream.dict().get::<[f64; 4]>(b"BBox")?;
    let matrix = stream.dict().get::<[f64; 6]>(b"Matrix").map_or(Affine::IDENTITY, Affine::new);
    let own = hayro_font::kurbo::Rect::new(own[0], own[1], own[2], own[3]).abs();
    let seen = (matrix * own.to_path(0.1)).bounding_box();
    let scale = |to: f64, from: f64| if from > 0.0 { to / from } else { 1.0 };
    let (width, height) = (scale(rect.x1 - rect.x0, seen.width()), scale(rect.y1 - rect.y0, seen.height()));
    let (right, up) = (rect.x0 - width * seen.x0, rect.y0 - height * seen.y0);
    Some((stream, Affine::new([width, 0.0, 0.0, height, right, up])))
}

/// The directions of the lines on a page, the most frequent one first.
fn turns(glyphs: &[Glyph]) -> Vec<i16> {
    let mut counts = [0_u32; 360];
    for glyph in glyphs {
        counts[glyph.turn.rem_euclid(360) as usize] += 1;
    }
    let mut turns: Vec<i16> = (0..360).filter(|turn| counts[*turn as usize] > 0).collect();
    turns.sort_by_key(|turn| std::cmp::Reverse(counts[*turn as usize]));
    turns
}
