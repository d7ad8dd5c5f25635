//! Which blocks does a page have, and which elements contain them?
//!
//! The visible text as [`super::reader`] sees it, split at block boundaries, each block with its
//! enclosing elements. Computed on demand for tracking, never during a crawl. As in the reader, no
//! tree is built: a stack of open block elements is enough, with implied end tags inserted where
//! they matter (13.1.2.4). Bounded to a stack of 128, 200,000 blocks and 2 MB of text; the rest
//! becomes one last block that holds its hash, so no change goes unnoticed.

use super::name::Tag;
use super::sketch::Sketch;
use crate::simhash::{hash, mix};
use orb_page::Block;
use std::sync::Arc;

/// Maximum length of an id or class in characters.
const NAME: usize = 32;
/// Multiplier that mixes the bits of a path.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// An element that contains text.
#[derive(Debug)]
pub(crate) struct OutlineElement {
    /// Index of its parent.
    pub(crate) parent: Option<usize>,
    pub(crate) tag: Tag,
    /// Its id and classes, in lower case.
    pub(crate) names: String,
    /// Whether it is marked as the main content.
    pub(crate) is_main: bool,
    path: u64,
    named: bool,
    place: Arc<str>,
    /// The nearest ancestor with a name.
    anchor: Option<Arc<str>>,
}

/// A start tag as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartTag<'a> {
    pub(super) tag: Tag,
    pub(super) name: &'a str,
    pub(super) id: &'a str,
    pub(super) class: &'a str,
    pub(super) role: &'a str,
}

impl OutlineElement {
    /// An element inside another.
    pub(super) fn new(written: &StartTag<'_>, parent: Option<usize>, frames: &[Self]) -> Self {
        let StartTag { tag, name, id, class, role } = *written;
        let mut label = name.to_ascii_lowercase();
        let plain = label.len();
        if let Some(id) = steady(id) {
            label = format!("{label}#{id}");
        }
        for class in class.split_ascii_whitespace().filter_map(steady).take(2) {
            label = format!("{label}.{class}");
        }
        let own = label.len() > plain;
        let above = parent.and_then(|p| frames.get(p));
        let anchor = if own { Some(Arc::from(label.as_str())) } else { above.and_then(|f| f.anchor.clone()) };
        let place = match &anchor {
            Some(anchor) if !own => format!("{anchor} {label}").into(),
            _ => Arc::from(label.as_str()),
        };
        let bytes = label.as_bytes();
        Self {
            parent,
            tag,
            names: format!("{id} {class}").chars().take(200).collect::<String>().to_ascii_lowercase(),
            is_main: tag == Tag::Main || role.eq_ignore_ascii_case("main"),
            path: mix(above.map_or(0, |f| f.path).rotate_left(5) ^ hash(bytes, 0, bytes.len()), SPREAD),
            named: own || matches!(tag, Tag::Aside | Tag::Footer | Tag::Nav) || above.is_some_and(|f| f.named),
            place,
            anchor,
        }
    }
}

/// A block and the index of its element.
#[derive(Debug)]
pub(crate) struct OutlineBlock {
    pub(crate) frame: usize,
    pub(crate) text: String,
    /// How many of its bytes are link text.
    pub(crate) linked: usize,
}

/// A page as blocks in elements.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) frames: Vec<OutlineElement>,
    pub(crate) pieces: Vec<OutlineBlock>,
    pub(super) title: Option<String>,
}

impl Outline {
    /// Parses a page.
    pub(crate) fn of(html: &str, is_xml: bool) -> Self {
        Sketch::new(html, is_xml).run()
    }

    /// Its title and all its blocks.
    pub(crate) fn blocks(self) -> Vec<Block> {
        let title = self.title.iter().filter(|t| !t.is_empty()).map(|text| Block {
            path: hash(b"title", 0, 5),
            named: true,
            place: "title".into(),
            text: text.clone(),
        });
        let mut out: Vec<Block> = title.collect();
        out.extend(self.pieces.into_iter().map(|piece| block(piece, &self.frames)));
        out
    }

    /// The blocks that a predicate selects.
    pub(crate) fn chosen(self, mut chosen: impl FnMut(&OutlineBlock) -> bool) -> Vec<Block> {
        let Self { frames, pieces, .. } = self;
        pieces.into_iter().filter(|p| chosen(p)).map(|piece| block(piece, &frames)).collect()
    }
}

fn block(piece: OutlineBlock, frames: &[OutlineElement]) -> Block {
    let text = piece.text;
    match frames.get(piece.frame) {
        Some(frame) => Block { path: frame.path, named: frame.named, place: Arc::clone(&frame.place), text },
        None => Block { path: 0, named: false, place: "page".into(), text },
    }
}

/// The part of an id or class that is likely to be stable: everything before the first component
/// with a digit (`ad-b04e` is `ad`). If the first component has one, its leading letters count if
/// only digits follow: `ad17` is `ad`, `b04e` is nothing.
fn steady(name: &str) -> Option<String> {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    let digit = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (before, rest) = name.split_at(digit);
    let kept = match before.rfind(|c: char| !c.is_alphanumeric()) {
        Some(end) if !rest.is_empty() => &before[..end],
        _ if rest.chars().take_while(|c| c.is_alphanumeric()).all(|c| c.is_ascii_digit()) => before,
        _ => "",
    };
    let kept = kept.trim_end_matches(|c: char| !c.is_alphanumeric());
    (!kept.is_empty()).then(|| kept.chars().take(NAME).collect::<String>().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::steady;

    #[test]
    fn what_is_drawn_anew_for_every_answer_is_no_part_of_a_name() {
        for (name, kept) in [
            ("ad-b04e", "ad"),
            ("ad-fb1f7d", "ad"),
            ("top_ad-7f3a", "top_ad"),
            ("ad17", "ad"),
            ("Header_title__3xK9a", "header_title"),
            ("col-md-6", "col-md"),
            ("--menu--", "menu"),
            ("b04e", ""),
            ("7f", ""),
            ("ad-é1", "ad"),
            ("", ""),
        ] {
            assert_eq!(steady(name).unwrap_or_default(), kept, "{name}");
        }
    }
}
