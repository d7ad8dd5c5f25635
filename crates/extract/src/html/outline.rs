//! Which blocks does a page have, and in which elements do they stand?
//!
//! The visible text as [`super::reader`] sees it, cut where a block begins or ends, each block with the elements it stands in. Made on
//! demand, for tracking, never on the crawl's way. As there, no tree is built: a stack of the block elements that are open is enough, with
//! the end tags that HTML leaves out put in where they matter (13.1.2.4). Bounded: a stack of 128, 200,000 blocks, 2 MB of text; what
//! comes later is one last block, its hash, so that no change is overlooked.

use super::name::Tag;
use super::sketch::Sketch;
use crate::simhash::{hash, mix};
use orb_page::Block;
use std::sync::Arc;

/// Characters kept of an id or a class.
const NAME: usize = 32;
/// Spreads the bits of a path.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// An element in which text stands.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The number of the element it stands in.
    pub(crate) parent: Option<usize>,
    pub(crate) tag: Tag,
    /// Its id and classes, in lower case.
    pub(crate) names: String,
    /// Whether it says that it is the main content.
    pub(crate) is_main: bool,
    path: u64,
    named: bool,
    place: Arc<str>,
    /// The nearest element with a name.
    anchor: Option<Arc<str>>,
}

/// A start tag as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written<'a> {
    pub(super) tag: Tag,
    pub(super) name: &'a str,
    pub(super) id: &'a str,
    pub(super) class: &'a str,
    pub(super) role: &'a str,
}

impl Frame {
    /// An element within another.
    pub(super) fn new(written: &Written<'_>, parent: Option<usize>, frames: &[Self]) -> Self {
        let Written { tag, name, id, class, role } = *written;
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

/// A block and the number of its element.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) frame: usize,
    pub(crate) text: String,
    /// Bytes of it that are links.
    pub(crate) linked: usize,
}

/// A page as blocks in elements.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) frames: Vec<Frame>,
    pub(crate) pieces: Vec<Piece>,
    pub(super) title: Option<String>,
}

impl Outline {
    /// Reads a page.
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

    /// Those of its blocks that are chosen.
    pub(crate) fn chosen(self, mut chosen: impl FnMut(&Piece) -> bool) -> Vec<Block> {
        let Self { frames, pieces, .. } = self;
        pieces.into_iter().filter(|p| chosen(p)).map(|piece| block(piece, &frames)).collect()
    }
}

fn block(piece: Piece, frames: &[Frame]) -> Block {
    let text = piece.text;
    match frames.get(piece.frame) {
        Some(frame) => Block { path: frame.path, named: frame.named, place: Arc::clone(&frame.place), text },
        None => Block { path: 0, named: false, place: "page".into(), text },
    }
}

/// What of an id or a class is likely to stay: what stands before the first part with a digit in it (`ad-b04e` is `ad`). Of a name that
/// begins with such a part the letters stay, if nothing but digits is behind them: `ad17` is `ad`, `b04e` is nothing.
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
