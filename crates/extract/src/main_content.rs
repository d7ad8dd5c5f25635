//! Which part of a page is its main content, and which is boilerplate?
//!
//! First what the page declares: `<main>`, or articles that contain most of its words. Otherwise
//! the element with most of the running text, scored as in Readability: blocks of some length that
//! are not mostly links count fully for their parent element and half for its parent. Navigation,
//! footers, asides, and anything named as an advertisement or menu are always excluded.

use crate::html::name::Tag;
use crate::html::outline::{Outline, OutlineBlock, OutlineElement};
use orb_page::Block;

/// Shorter text is a label, not prose.
const PROSE: usize = 25;

/// Elements whose id or class contains one of these are boilerplate.
const AROUND: &[&str] = &[
    "advert",
    "banner",
    "breadcrumb",
    "comment",
    "consent",
    "cookie",
    "footer",
    "menu",
    "modal",
    "navbar",
    "navigation",
    "newsletter",
    "pagination",
    "popup",
    "promo",
    "recommend",
    "related",
    "share",
    "sidebar",
    "social",
    "sponsor",
    "subscribe",
    "toolbar",
    "widget",
];

/// The same, but only as a whole word.
const AROUND_WORDS: &[&str] = &["ad", "ads", "nav", "aside", "skip"];

/// The blocks of the main content, or all blocks if it cannot be determined.
pub(crate) fn main_content(outline: Outline) -> Vec<Block> {
    let around = inherited(&outline.frames, is_around);
    let inside = |flags: &[bool], piece: &OutlineBlock| flags.get(piece.frame).copied().unwrap_or(false);
    let content = |piece: &OutlineBlock| !inside(&around, piece);
    let said = |flags: &[bool]| -> usize {
        let chosen = outline.pieces.iter().filter(|p| content(p) && inside(flags, p));
        chosen.map(|p| p.text.len()).sum()
    };
    let mains = inherited(&outline.frames, |f| f.is_main);
    let articles = inherited(&outline.frames, |f| f.tag == Tag::Article);
    let all: usize = outline.pieces.iter().filter(|p| content(p)).map(|p| p.text.len()).sum();
    let chosen = if said(&mains) > 0 {
        mains
    } else if said(&articles) * 2 >= all && all > 0 {
        articles
    } else {
        match densest(&outline, &around) {
            Some(best) => below(&outline.frames, best),
            None if all > 0 => vec![true; outline.frames.len()],
            None => return outline.chosen(|_| true),
        }
    };
    outline.chosen(|piece| inside(&chosen, piece) && !inside(&around, piece))
}

/// For each element, whether it or an ancestor satisfies a predicate.
fn inherited(frames: &[OutlineElement], is: impl Fn(&OutlineElement) -> bool) -> Vec<bool> {
    let mut out: Vec<bool> = Vec::with_capacity(frames.len());
    for frame in frames {
        let above = frame.parent.and_then(|p| out.get(p).copied()).unwrap_or(false);
        out.push(above || is(frame));
    }
    out
}

/// For each element, whether it is this one or a descendant of it.
fn below(frames: &[OutlineElement], root: usize) -> Vec<bool> {
    let mut out: Vec<bool> = Vec::with_capacity(frames.len());
    for (i, frame) in frames.iter().enumerate() {
        out.push(i == root || frame.parent.and_then(|p| out.get(p).copied()).unwrap_or(false));
    }
    out
}

fn is_around(frame: &OutlineElement) -> bool {
    if matches!(frame.tag, Tag::Body | Tag::Html | Tag::Main | Tag::Article) {
        return false;
    }
    matches!(frame.tag, Tag::Nav | Tag::Aside | Tag::Footer | Tag::Dialog | Tag::Menu)
        || AROUND.iter().any(|word| frame.names.contains(word))
        || frame.names.split(|c: char| !c.is_alphabetic()).any(|word| AROUND_WORDS.contains(&word))
}

/// The element with most of the running text.
fn densest(outline: &Outline, around: &[bool]) -> Option<usize> {
    let mut scores = vec![0usize; outline.frames.len()];
    for piece in outline.pieces.iter().filter(|p| p.text.len() >= PROSE && p.linked * 2 < p.text.len()) {
        if around.get(piece.frame).copied().unwrap_or(true) {
            continue;
        }
        // A paragraph counts for the element that contains it.
        let own = outline.frames.get(piece.frame);
        let holder = own.and_then(|f| if f.tag == Tag::Div || f.tag == Tag::Td { Some(piece.frame) } else { f.parent });
        let outer = holder.and_then(|h| outline.frames.get(h)?.parent);
        for (frame, share) in [(holder, 2), (outer, 1)] {
            if let Some(score) = frame.and_then(|f| scores.get_mut(f)) {
                *score += piece.text.len() * share;
            }
        }
    }
    let best = scores.iter().enumerate().max_by_key(|(i, score)| (**score, std::cmp::Reverse(*i)))?;
    (*best.1 > 0).then_some(best.0)
}
