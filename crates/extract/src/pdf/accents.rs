//! Which accents belong to which letters?
//!
//! Fonts with few characters, such as those that TeX uses by default, have no letters with accents:
//! the accent is a glyph of its own, drawn over or under its letter, mostly before it. Read one
//! after the other, `für` would be `f¨ur`, which nobody finds.

use super::content::Glyph;
use super::fonts::{GlyphTexts, TextId};
use unicode_normalization::char::compose;

/// How far an accent may be raised over its letter, in font sizes: that of a capital letter is
/// higher up.
const MAX_RAISE: f32 = 0.6;
/// The part of the narrower glyph that must lie over the other one.
const MIN_COMMON: f32 = 0.5;

/// Puts accents and the letters they are drawn over together.
pub(super) fn compose_all(glyphs: &mut Vec<Glyph>, texts: &mut GlyphTexts) {
    let mut kept = 0_usize;
    let mut at = 0;
    while let Some(glyph) = glyphs.get(at).copied() {
        at += 1;
        if let Some(mark) = combining(texts.get(glyph.text)) {
            if let Some(letter) = glyphs.get(at).copied()
                && let Some(whole) = composed(&letter, &glyph, mark, texts)
            {
                glyphs[at].text = whole;
                continue;
            }
            let before = kept.checked_sub(1).and_then(|last| glyphs.get(last).copied());
            if let Some(letter) = before
                && let Some(whole) = composed(&letter, &glyph, mark, texts)
            {
                glyphs[kept - 1].text = whole;
                continue;
            }
        }
        glyphs[kept] = glyph;
        kept += 1;
    }
    glyphs.truncate(kept);
}

/// The combining form of an accent that stands for itself.
fn combining(text: &str) -> Option<char> {
    Some(match text {
        "`" | "\u{2CB}" => '\u{300}',
        "\u{B4}" | "\u{2CA}" => '\u{301}',
        "^" | "\u{2C6}" => '\u{302}',
        "~" | "\u{2DC}" => '\u{303}',
        "\u{AF}" | "\u{2C9}" => '\u{304}',
        "\u{2D8}" => '\u{306}',
        "\u{2D9}" => '\u{307}',
        "\u{A8}" => '\u{308}',
        "\u{2DA}" | "\u{B0}" => '\u{30A}',
        "\u{2DD}" => '\u{30B}',
        "\u{2C7}" => '\u{30C}',
        "\u{B8}" => '\u{327}',
        "\u{2DB}" => '\u{328}',
        _ => return None,
    })
}

/// A letter and the accent that is drawn over it as one character, if there is such a character.
fn composed(letter: &Glyph, accent: &Glyph, mark: char, texts: &mut GlyphTexts) -> Option<TextId> {
    if letter.turn != accent.turn || (letter.y - accent.y).abs() > MAX_RAISE * letter.size.max(accent.size) {
        return None;
    }
    let common = letter.x1.min(accent.x1) - letter.x0.max(accent.x0);
    let narrower = (letter.x1 - letter.x0).min(accent.x1 - accent.x0);
    if narrower <= 0.0 || common < MIN_COMMON * narrower {
        return None;
    }
    let mut characters = texts.get(letter.text).chars();
    let base = match (characters.next()?, characters.next()) {
        ('\u{131}', None) => 'i',
        ('\u{237}', None) => 'j',
        (base, None) => base,
        _ => return None,
    };
    let whole = compose(base, mark)?;
    Some(texts.id(whole.encode_utf8(&mut [0; 4])))
}
