//! Where on the page does which character stand?
//!
//! The part of a content stream's language that places text (ISO 32000-2, 9): matrices, the text
//! state, the operators that show strings, forms drawn inside, marked content. Paths, colours,
//! patterns and pictures are read over. What it costs is bounded by the number of operators over
//! the whole document, because a form may draw another one many times.

use super::fonts::{Fonts, GlyphTexts, PdfFont, TextId};
use super::layers::Layers;
use super::strings;
use hayro_font::kurbo::{Affine, Point, Vec2};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Rect, Stream, dict_or_stream};
use hayro_syntax::page::Resources;
use std::rc::Rc;

/// How deep forms may be drawn in forms.
const MAX_NESTING: u32 = 16;
/// How many graphics states may be saved at once.
const MAX_SAVED: usize = 512;
/// How deep marked content may be nested.
const MAX_MARKED: usize = 1_024;
/// How many bytes of a form cost as much as an operator.
const BYTES_AN_OPERATOR: u64 = 16;

/// A piece of text with its place on the page, along its own line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    /// Its characters.
    pub(super) text: TextId,
    /// The direction of its line in degrees, counter-clockwise from left to right.
    pub(super) turn: i16,
    /// Where it begins along the line.
    pub(super) x0: f32,
    /// Where it ends.
    pub(super) x1: f32,
    /// The height of its baseline.
    pub(super) y: f32,
    /// Its font size on the page.
    pub(super) size: f32,
    /// Whether it is white space.
    pub(super) is_space: bool,
}

/// What may still be spent on a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawingBudget {
    /// Operators of content streams.
    pub(super) operators: u64,
    /// Glyphs.
    pub(super) glyphs: u64,
}

impl DrawingBudget {
    /// Takes some operators; `false` if there are not enough left.
    fn take(&mut self, operators: u64) -> bool {
        let enough = self.operators >= operators;
        self.operators = self.operators.saturating_sub(operators);
        enough
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.operators == 0 || self.glyphs == 0
    }
}

/// The part of the graphics state that matters to text.
#[derive(Clone)]
struct TextState<'a> {
    to_page: Affine,
    font: Option<Rc<PdfFont<'a>>>,
    size: f64,
    char_space: f64,
    word_space: f64,
    /// Horizontal scaling; 1 is the font's own width.
    stretch: f64,
    leading: f64,
    rise: f64,
}

/// Marked content that is open.
struct Marked {
    /// Whether what is inside is shown.
    is_visible: bool,
    /// What it says instead of its glyphs, and how many there were before.
    replaced: Option<(String, usize)>,
}

/// Reads the content streams of a page.
pub(super) struct ContentReader<'r, 'a> {
    fonts: &'r mut Fonts<'a>,
    texts: &'r mut GlyphTexts,
    layers: &'r Layers,
    allowance: &'r mut DrawingBudget,
    state: TextState<'a>,
    saved: Vec<TextState<'a>>,
    text_matrix: Affine,
    line_matrix: Affine,
    marked: Vec<Marked>,
    nesting: u32,
    /// What is outside is not seen.
    paper: Option<Rect>,
    glyphs: Vec<Glyph>,
}

impl<'r, 'a> ContentReader<'r, 'a> {
    /// A reader at the beginning of a page.
    pub(super) fn new(
        fonts: &'r mut Fonts<'a>,
        texts: &'r mut GlyphTexts,
        layers: &'r Layers,
        allowance: &'r mut DrawingBudget,
        paper: Option<Rect>,
    ) -> Self {
        Self {
            fonts,
            texts,
            layers,
            allowance,
            state: TextState {
                to_page: Affine::IDENTITY,
                font: None,
                size: 1.0,
                char_space: 0.0,
                word_space: 0.0,
                stretch: 1.0,
                leading: 0.0,
                rise: 0.0,
            },
            saved: Vec::new(),
            text_matrix: Affine::IDENTITY,
            line_matrix: Affine::IDENTITY,
            marked: Vec::new(),
            nesting: 0,
            paper,
            glyphs: Vec::new(),
        }
    }

    /// What was found, in the order in which it is drawn.
    pub(super) fn finish(mut self) -> Vec<Glyph> {
        while !self.marked.is_empty() {
            self.end_marked();
        }
        self.glyphs
    }

    /// Reads a content stream.
    pub(super) fn read(&mut self, mut content: TypedIter<'_>, resources: &Resources<'a>) {
        let (saved, marked) = (self.saved.len(), self.marked.len());
        while let Some(operation) = content.next() {
            if !self.allowance.take(1) {
                break;
            }
            self.obey(&operation, resources, saved);
        }
        while self.saved.len() > saved {
            self.restore(saved);
        }
        while self.marked.len() > marked {
            self.end_marked();
        }
    }

    fn obey(&mut self, operation: &TypedInstruction<'_, '_>, resources: &Resources<'a>, saved: usize) {
        match operation {
            TypedInstruction::SaveState(_) if self.saved.len() < MAX_SAVED => self.saved.push(self.state.clone()),
            TypedInstruction::RestoreState(_) => self.restore(saved),
            TypedInstruction::Transform(m) => self.state.to_page *= matrix([m.0, m.1, m.2, m.3, m.4, m.5]),
            TypedInstruction::SetGraphicsState(name) => self.set_state(resources.get_ext_g_state(name.0)),
            TypedInstruction::XObject(name) => {
                if let Some(stream) = resources.get_x_object(name.0) {
                    self.form(&stream, resources, Affine::IDENTITY);
                }
            }
            TypedInstruction::BeginMarkedContent(_) => self.begin_marked(None, resources),
            TypedInstruction::BeginMarkedContentWithProperties(m) => self.begin_marked(Some(m.1), resources),
            TypedInstruction::EndMarkedContent(_) => self.end_marked(),
            _ => self.obey_text(operation, resources),
        }
    }

    fn obey_text(&mut self, operation: &TypedInstruction<'_, '_>, resources: &Resources<'a>) {
        let state = &mut self.state;
        match operation {
            TypedInstruction::BeginText(_) => self.begin_line(Affine::IDENTITY),
            TypedInstruction::SetTextMatrix(m) => self.begin_line(matrix([m.0, m.1, m.2, m.3, m.4, m.5])),
            TypedInstruction::TextFont(font) => {
                self.state.font = match resources.get_font(font.0) {
                    Some(dict) => self.fonts.get(&dict),
                    None => self.fonts.fallback(),
                };
                self.state.size = font.1.as_f64();
            }
            TypedInstruction::CharacterSpacing(space) => state.char_space = space.0.as_f64(),
            TypedInstruction::WordSpacing(space) => state.word_space = space.0.as_f64(),
            TypedInstruction::HorizontalScaling(scale) => state.stretch = scale.0.as_f64() / 100.0,
            TypedInstruction::TextLeading(leading) => state.leading = leading.0.as_f64(),
            TypedInstruction::TextRise(rise) => state.rise = rise.0.as_f64(),
            TypedInstruction::NextLine(by) => self.next_line(by.0.as_f64(), by.1.as_f64()),
            TypedInstruction::NextLineAndSetLeading(by) => {
                state.leading = -by.1.as_f64();
                self.next_line(by.0.as_f64(), by.1.as_f64());
            }
            TypedInstruction::NextLineUsingLeading(_) => self.next_line(0.0, -self.state.leading),
            TypedInstruction::ShowText(text) => self.show(text.0),
            TypedInstruction::NextLineAndShowText(text) => {
                self.next_line(0.0, -self.state.leading);
                self.show(text.0);
            }
            TypedInstruction::ShowTextWithParameters(text) => {
                state.word_space = text.0.as_f64();
                state.char_space = text.1.as_f64();
                self.next_line(0.0, -self.state.leading);
                self.show(text.2);
            }
            TypedInstruction::ShowTexts(parts) => self.show_all(parts.0),
            _ => {}
        }
    }

    fn restore(&mut self, down_to: usize) {
        if self.saved.len() > down_to
            && let Some(state) = self.saved.pop()
        {
            self.state = state;
        }
    }

    /// Takes the font from a dictionary of graphics state.
    fn set_state(&mut self, dict: Option<Dict<'a>>) {
        let Some(font) = dict.and_then(|dict| dict.get::<Array<'a>>(b"Font")) else { return };
        let mut parts = font.iter::<Object<'a>>();
        if let (Some(Object::Dict(font)), Some(Object::Number(size))) = (parts.next(), parts.next()) {
            self.state.font = self.fonts.get(&font);
            self.state.size = size.as_f64();
        }
    }

    /// Reads a form, placed by a matrix; a picture is no form.
    pub(super) fn form(&mut self, stream: &Stream<'a>, resources: &Resources<'a>, place: Affine) {
        let dict = stream.dict();
        let is_form = dict.get::<Name<'_>>(b"Subtype").is_none_or(|kind| kind.as_ref() == b"Form");
        let is_shown = self.is_visible() && self.layers.shows(dict, b"OC");
        if !is_form || !is_shown || self.nesting >= MAX_NESTING {
            return;
        }
        let Ok(content) = stream.decoded_data() else { return };
        if !self.allowance.take(content.len() as u64 / BYTES_AN_OPERATOR) {
            return;
        }
        let own = dict.get::<Dict<'a>>(b"Resources").map(Resources::new);
        let before = (self.state.clone(), self.text_matrix, self.line_matrix);
        let matrix = dict.get::<[f64; 6]>(b"Matrix").map_or(Affine::IDENTITY, Affine::new);
        self.state.to_page = self.state.to_page * place * matrix;
        self.nesting += 1;
        self.read(TypedIter::new(&content), own.as_ref().unwrap_or(resources));
        self.nesting -= 1;
        (self.state, self.text_matrix, self.line_matrix) = before;
    }

    fn begin_marked(&mut self, properties: Option<&Object<'_>>, resources: &Resources<'a>) {
        if self.marked.len() >= MAX_MARKED {
            return;
        }
        let mut marked = Marked { is_visible: self.is_visible(), replaced: None };
        let mut note = |dict: &Dict<'_>| {
            let text = dict.get::<hayro_syntax::object::String<'_>>(b"ActualText");
            marked.replaced = text.map(|text| (strings::decode(&text), self.glyphs.len()));
        };
        match properties {
            Some(Object::Name(name)) => {
                marked.is_visible &= self.layers.shows(&resources.properties, name.as_ref());
                if let Some(dict) = resources.properties.get::<Dict<'_>>(name.as_ref()) {
                    note(&dict);
                }
            }
            Some(object) => {
                if let Some((dict, _)) = dict_or_stream(object) {
                    note(dict);
                }
            }
            None => {}
        }
        self.marked.push(marked);
    }

    /// Replaces the glyphs of marked content that says what they mean.
    fn end_marked(&mut self) {
        let Some((text, from)) = self.marked.pop().and_then(|marked| marked.replaced) else { return };
        let (Some(first), Some(last)) = (self.glyphs.get(from).copied(), self.glyphs.last().copied()) else { return };
        self.glyphs.truncate(from);
        let same_line = first.turn == last.turn && (first.y - last.y).abs() < first.size;
        let x1 = if same_line { last.x1.max(first.x1) } else { first.x1 };
        let text = strings::plain(&text);
        let words = text.split(' ').enumerate().filter(|(_, word)| !word.is_empty());
        for (number, word) in words {
            if number > 0 {
                self.glyphs.push(Glyph { is_space: true, ..first });
            }
            self.glyphs.push(Glyph { text: self.texts.id(word), x1, ..first });
        }
        if text.ends_with(' ') {
            self.glyphs.push(Glyph { is_space: true, ..first });
        }
    }

    fn is_visible(&self) -> bool {
        self.marked.last().is_none_or(|marked| marked.is_visible)
    }

    fn begin_line(&mut self, matrix: Affine) {
        (self.text_matrix, self.line_matrix) = (matrix, matrix);
    }

    fn next_line(&mut self, right: f64, up: f64) {
        self.begin_line(self.line_matrix * Affine::translate((right, up)));
    }

    fn show_all(&mut self, parts: &Array<'_>) {
        for part in parts.iter::<Object<'_>>() {
            match part {
                Object::String(text) => self.show(&text),
                Object::Number(number) => self.move_by(-number.as_f64() / 1_000.0 * self.state.size),
                _ => {}
            }
        }
    }

    /// Moves along the line, in units of text space before scaling.
    fn move_by(&mut self, distance: f64) {
        let horizontal = self.state.font.as_ref().is_none_or(|font| font.is_horizontal());
        let by = if horizontal { (distance * self.state.stretch, 0.0) } else { (0.0, distance) };
        self.text_matrix *= Affine::translate(by);
    }

    fn show(&mut self, bytes: &[u8]) {
        if self.state.font.is_none() {
            self.state.font = self.fonts.fallback();
        }
        let Some(font) = self.state.font.clone() else { return };
        let horizontal = font.is_horizontal();
        let is_visible = self.is_visible();
        let mut at = 0;
        while at < bytes.len() && self.allowance.glyphs > 0 {
            self.allowance.glyphs -= 1;
            let (code, length) = font.read(bytes, at);
            at += length;
            let meaning = font.meaning(code, self.texts);
            let width = meaning.advance / 1_000.0;
            if is_visible {
                self.place(meaning.text, width, &font);
            }
            let word_space = if code == 32 && length == 1 { self.state.word_space } else { 0.0 };
            // Lines of vertical writing run downwards, but spaces point upwards (9.3.2).
            let step = if horizontal { width } else { -width } * self.state.size;
            self.move_by(step + self.state.char_space + word_space);
        }
    }

    /// Notes a glyph of this width, in font sizes.
    fn place(&mut self, text: TextId, width: f64, font: &PdfFont<'_>) {
        let (state, horizontal) = (&self.state, font.is_horizontal());
        let own = Affine::new([state.size * state.stretch, 0.0, 0.0, state.size, 0.0, state.rise]);
        let to_page = state.to_page * self.text_matrix * own;
        let (along, up) = if horizontal { ((1.0, 0.0), (0.0, 1.0)) } else { ((0.0, -1.0), (1.0, 0.0)) };
        let origin = to_page * Point::ZERO;
        let along = to_page * Point::new(along.0, along.1) - origin;
        let up = to_page * Point::new(up.0, up.1) - origin;
        if !(along.hypot() > 0.0 && along.is_finite() && up.is_finite() && origin.is_finite()) {
            return;
        }
        let far = origin + along * width + up;
        let sees = |from: f64, to: f64, least: f64, most: f64| from.max(to) >= least && from.min(to) <= most;
        if self.paper.as_ref().is_some_and(|paper| {
            !sees(origin.x, far.x, paper.x0, paper.x1) || !sees(origin.y, far.y, paper.y0, paper.y1)
        }) {
            return;
        }
        let turn = turn_of(along);
        let start = turned(origin, turn);
        let characters = self.texts.get(text);
        if characters.is_empty() {
            return;
        }
        let is_space = characters.chars().all(|c| c == ' ');
        let size = ((up.hypot() * font.em) as f32).max(0.01);
        let (x0, y) = (start.x as f32, start.y as f32);
        let x1 = (start.x + along.hypot() * width) as f32;
        self.glyphs.push(Glyph { text, turn, x0, x1: x1.max(x0), y, size, is_space });
    }
}

/// A matrix as a content stream writes it.
fn matrix(numbers: [Number; 6]) -> Affine {
    Affine::new(numbers.map(|number| number.as_f64()))
}

/// The direction of a line in whole degrees.
fn turn_of(along: Vec2) -> i16 {
    if along.y == 0.0 && along.x > 0.0 {
        return 0;
    }
    (along.y.atan2(along.x).to_degrees().round() as i16).rem_euclid(360)
}

/// A point in the coordinates of lines in this direction.
pub(super) fn turned(point: Point, turn: i16) -> Point {
    if turn == 0 {
        return point;
    }
    let (sin, cos) = f64::from(turn).to_radians().sin_cos();
    Point::new(point.x * cos + point.y * sin, point.y * cos - point.x * sin)
}
