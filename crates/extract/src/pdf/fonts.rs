//! Which characters do the codes of a font mean, and how far do they advance?
//!
//! Text in a PDF is a string of codes; the font says what they stand for: by its `ToUnicode` table,
//! by the names of its glyphs, by the character collection it belongs to, or by the characters for
//! which its embedded program has the glyph. What was looked up once is kept, because a page shows
//! the same few dozen codes thousands of times.

use super::strings::plain;
use encoding_rs::Encoding;
use hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, StandardFont};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use skrifa::{FontRef, MetadataProvider as _};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// How many characters of a font's program are looked at.
const MAX_MAPPINGS: usize = 100_000;

/// Where a text stands in the table of texts.
pub(super) type TextId = u32;

/// Every text that a glyph stands for, each once.
#[derive(Debug, Default)]
pub(super) struct GlyphTexts {
    texts: Vec<Box<str>>,
    known: HashMap<Box<str>, TextId>,
}

impl GlyphTexts {
    /// The number of a text.
    pub(super) fn id(&mut self, text: &str) -> TextId {
        if let Some(id) = self.known.get(text) {
            return *id;
        }
        let id = TextId::try_from(self.texts.len()).unwrap_or(TextId::MAX);
        self.texts.push(text.into());
        self.known.insert(text.into(), id);
        id
    }

    /// The text with a number.
    pub(super) fn get(&self, id: TextId) -> &str {
        self.texts.get(id as usize).map_or("", Deref::deref)
    }
}

/// What a code of a font stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeMeaning {
    /// Its characters.
    pub(super) text: TextId,
    /// How far it advances along the line, in thousandths of the font size.
    pub(super) advance: f64,
}

/// A font of the document, and what is known of its codes.
pub(super) struct PdfFont<'a> {
    font: Font<'a>,
    /// For fonts of character collections that say nothing else: from codes to their numbers in
    /// the collection, and from there to characters.
    collection: Option<(CMap, CMap)>,
    /// For simple fonts that name a common encoding.
    encoding: Option<&'static Encoding>,
    /// Its font size in the units of its glyphs; 1 but for fonts that are drawn by the document.
    pub(super) em: f64,
    codes: RefCell<HashMap<u32, CodeMeaning>>,
    /// Which characters its program has glyphs for, by glyph; looked up when nothing else is known.
    drawn: OnceCell<HashMap<u32, char>>,
}

/// The fonts of a document.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    programs: FontResolverFn,
    cmaps: CMapResolverFn,
    /// By where their dictionaries stand in the file.
    known: HashMap<usize, Option<Rc<PdfFont<'a>>>>,
    fallback: Option<Rc<PdfFont<'a>>>,
}

impl<'a> Fonts<'a> {
    /// None is known yet.
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            programs: Arc::new(|query| match query {
                FontQuery::Standard(font) => Some(font.get_font_data()),
                FontQuery::Fallback(query) => Some(query.pick_standard_font().get_font_data()),
            }),
            cmaps: Arc::new(load_embedded),
            known: HashMap::new(),
            fallback: None,
        }
    }

    /// The font that a dictionary describes; one that cannot be read is shown in Helvetica.
    pub(super) fn get(&mut self, dict: &Dict<'a>) -> Option<Rc<PdfFont<'a>>> {
        let place = dict.data().as_ptr() as usize;
        if let Some(font) = self.known.get(&place) {
            return font.clone();
        }
        let font = self.cache.font(dict, &self.programs, &self.cmaps).map(|font| {
            let (collection, encoding, em) = (self.collection(dict), encoding(dict), em(dict).unwrap_or(1.0));
            Rc::new(PdfFont { font, collection, encoding, em, codes: RefCell::default(), drawn: OnceCell::new() })
        });
        let font = font.or_else(|| self.fallback());
        self.known.insert(place, font.clone());
        font
    }

    /// What text without a font is shown in.
    pub(super) fn fallback(&mut self) -> Option<Rc<PdfFont<'a>>> {
        if self.fallback.is_none() {
            let font = self.cache.standard_font(StandardFont::Helvetica, &self.programs)?;
            let encoding = Some(encoding_rs::WINDOWS_1252);
            let (codes, drawn) = Default::default();
            self.fallback = Some(Rc::new(PdfFont { font, collection: None, encoding, em: 1.0, codes, drawn }));
        }
        self.fallback.clone()
    }

    /// How the codes of an East Asian font without a `ToUnicode` table map to characters.
    fn collection(&self, dict: &Dict<'a>) -> Option<(CMap, CMap)> {
        if dict.contains_key(b"ToUnicode") || dict.get::<Name<'_>>(b"Subtype")?.as_ref() != b"Type0" {
            return None;
        }
        let parse = |bytes: &[u8]| CMap::parse(bytes, load_embedded);
        let encoding = match dict.get::<Object<'_>>(b"Encoding")? {
            Object::Name(name) => match CMapName::from_bytes(&name) {
                CMapName::IdentityH => CMap::identity_h(),
                CMapName::IdentityV => CMap::identity_v(),
                name => parse(load_embedded(name)?)?,
            },
            Object::Stream(stream) => parse(&stream_bytes(&stream)?)?,
            _ => return None,
        };
        let descendant = dict.get::<Array<'_>>(b"DescendantFonts")?.iter::<Dict<'_>>().next()?;
        let system = descendant.get::<Dict<'_>>(b"CIDSystemInfo")?;
        let named = |key: &[u8]| system.get::<hayro_syntax::object::String<'_>>(key);
        let family = CidFamily::from_registry_ordering(&named(b"Registry")?, &named(b"Ordering")?);
        let unicode = parse(load_embedded(family.ucs2_cmap()?)?)?;
        Some((encoding, unicode))
    }
}

/// The encoding that a simple font names.
fn encoding(dict: &Dict<'_>) -> Option<&'static Encoding> {
    match dict.get::<Name<'_>>(b"Subtype")?.as_ref() {
        b"Type0" => return None,
        // Their glyphs have made-up names, but letters mostly have their own codes.
        b"Type3" => return Some(encoding_rs::WINDOWS_1252),
        b"TrueType" if !dict.contains_key(b"Encoding") => return Some(encoding_rs::WINDOWS_1252),
        _ => {}
    }
    let name = dict.get::<Name<'_>>(b"Encoding").or_else(|| dict.get::<Dict<'_>>(b"Encoding")?.get(b"BaseEncoding"))?;
    match name.as_ref() {
        b"WinAnsiEncoding" => Some(encoding_rs::WINDOWS_1252),
        b"MacRomanEncoding" => Some(encoding_rs::MACINTOSH),
        _ => None,
    }
}

/// The font size of a Type 3 font in its own units. Nothing says how large its letters are, but
/// letters are about half as wide as high.
fn em(dict: &Dict<'_>) -> Option<f64> {
    if dict.get::<Name<'_>>(b"Subtype")?.as_ref() != b"Type3" {
        return None;
    }
    let matrix = dict.get::<[f64; 6]>(b"FontMatrix")?;
    let widths = dict.get::<Array<'_>>(b"Widths")?;
    let (count, sum) = widths.iter::<f64>().filter(|w| *w > 0.0).fold((0.0, 0.0), |(n, sum), w| (n + 1.0, sum + w));
    let em = 2.0 * sum / count * matrix[0].abs();
    (em.is_finite() && em > 0.0).then_some(em)
}

fn stream_bytes(stream: &Stream<'_>) -> Option<Vec<u8>> {
    stream.decoded_data().ok().map(Cow::into_owned)
}

impl PdfFont<'_> {
    /// Reads the code at an offset, and how many bytes it has.
    pub(super) fn read(&self, bytes: &[u8], offset: usize) -> (u32, usize) {
        let (code, length) = self.font.read_code(bytes, offset);
        (code, length.max(1))
    }

    /// Whether its lines run from left to right, not from top to bottom.
    pub(super) fn is_horizontal(&self) -> bool {
        self.font.is_horizontal()
    }

    /// What a code stands for.
    pub(super) fn meaning(&self, code: u32, texts: &mut GlyphTexts) -> CodeMeaning {
        if let Some(known) = self.codes.borrow().get(&code) {
            return *known;
        }
        let advance = self.font.code_advance(code);
        let advance = if self.is_horizontal() { advance.x } else { -advance.y };
        let meaning = CodeMeaning { text: texts.id(&self.characters(code)), advance };
        self.codes.borrow_mut().insert(code, meaning);
        meaning
    }

    fn characters(&self, code: u32) -> String {
        let glyph = self.font.glyph(self.font.map_code(code), code);
        let told = match &glyph {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let spelt = |told| match told {
            BfString::Char(c) => plain(&c.to_string()),
            BfString::String(text) => plain(&text),
        };
        // A table may say that a code means nothing, and another one know better.
        let known = |text: &String| !text.is_empty();
        told.map(spelt)
            .filter(known)
            .or_else(|| self.collected(code).map(spelt).filter(known))
            .or_else(|| self.drawn(&glyph).map(spelt).filter(known))
            .or_else(|| self.encoded(code).map(spelt))
            .unwrap_or_default()
    }

    /// By what the font's program draws this glyph for.
    fn drawn(&self, glyph: &FontGlyph<'_>) -> Option<BfString> {
        let FontGlyph::Outline(glyph) = glyph else { return None };
        let drawn = self.drawn.get_or_init(|| {
            let program = glyph.font_data().map(|program| program.data);
            let font = program.as_ref().and_then(|data| FontRef::new((**data).as_ref()).ok());
            let mappings = font.iter().flat_map(|font| font.charmap().mappings()).take(MAX_MAPPINGS);
            let mut drawn: HashMap<u32, char> = HashMap::new();
            for (character, glyph) in mappings {
                if let Some(c) = char::from_u32(character).filter(|c| !('\u{E000}'..='\u{F8FF}').contains(c)) {
                    drawn.entry(glyph.to_u32()).or_insert(c);
                }
            }
            drawn
        });
        drawn.get(&glyph.glyph_id().to_u32()).map(|c| BfString::Char(*c))
    }

    /// By the encoding that the font names.
    fn encoded(&self, code: u32) -> Option<BfString> {
        let byte = u8::try_from(code).ok().filter(|byte| *byte > b' ')?;
        let (text, _) = self.encoding?.decode_without_bom_handling(std::slice::from_ref(&byte));
        text.chars().next().map(BfString::Char)
    }

    /// By the character collection.
    fn collected(&self, code: u32) -> Option<BfString> {
        let (encoding, unicode) = self.collection.as_ref()?;
        let cid = (1..=4).find_map(|bytes| encoding.lookup_cid_code(code, bytes))?;
        unicode.lookup_bf_string(cid)
    }
}
