//! Which blocks does a page have, and which elements contain them?
//!
//! The visible text as [`super::reader`] sees it, split at block boundaries, each block with its
//! enclosing elements. Computed on demand for tracking and for the main content. As in the reader,
//! no tree is built: a stack of open block elements is enough, with implied end tags inserted where
//! they matter (13.1.2.4). Bounded to a stack of 128, 200,000 blocks and 2 MB of text; the rest
//! becomes one last block that holds its hash, so no change goes unnoticed. Names are slices of the
//! source; what identifies a block for people ([`super::place`]) is computed when it is asked for.

use super::hints::Declared;
use super::name::Tag;
use super::place::{ElementPlace, places};
use super::sketch::Sketch;
use crate::simhash::hash;
use orb_page::Block;
use std::ops::Range;
use std::sync::Arc;

/// An element that contains text.
#[derive(Debug)]
pub(crate) struct OutlineElement<'a> {
    /// Index of its parent.
    pub(crate) parent: Option<usize>,
    pub(crate) tag: Tag,
    /// Its name as written.
    pub(crate) name: &'a str,
    pub(crate) id: &'a str,
    pub(crate) class: &'a str,
    pub(crate) role: &'a str,
    pub(crate) itemprop: &'a str,
    /// Whether an attribute of its tag hides it.
    pub(crate) is_hidden: bool,
}

/// A block and the index of its element.
#[derive(Debug)]
pub(crate) struct OutlineBlock {
    pub(crate) frame: usize,
    /// Where its text is in the text of the page.
    pub(crate) text: Range<usize>,
    /// Where its text is in the source, with the markup inside it.
    pub(crate) source: Range<usize>,
    /// How many of its bytes are link text.
    pub(crate) linked: usize,
    /// How many of its bytes are marked as code.
    pub(crate) coded: usize,
    /// Number of images between the previous block and the end of this one.
    pub(crate) images: usize,
    /// Whether it begins in small or emphasised text.
    pub(crate) is_emphasised: bool,
}

/// A page as blocks in elements.
#[derive(Debug, Default)]
pub(crate) struct Outline<'a> {
    pub(crate) frames: Vec<OutlineElement<'a>>,
    pub(crate) pieces: Vec<OutlineBlock>,
    /// The texts of the blocks, each on a line.
    pub(crate) text: String,
    pub(crate) title: Option<String>,
    /// Whether the last block stands for everything beyond the limits.
    pub(crate) is_cut: bool,
    pub(crate) declared: Declared<'a>,
}

impl<'a> Outline<'a> {
    /// Parses a page.
    pub(crate) fn of(html: &'a str, is_xml: bool) -> Self {
        Sketch::new(html, is_xml).run()
    }

    /// The text of a block.
    pub(crate) fn said(&self, piece: &OutlineBlock) -> &str {
        self.text.get(piece.text.clone()).unwrap_or("")
    }

    /// Its title and all its blocks.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let title = self.title.iter().filter(|t| !t.is_empty()).map(|text| Block {
            path: hash(b"title", 0, 5),
            named: true,
            place: "title".into(),
            text: text.clone(),
            around: false,
        });
        let mut out: Vec<Block> = title.collect();
        out.extend(self.chosen(|_| true));
        out
    }

    /// The same, with those marked that lie around the main content.
    pub(crate) fn marked(&self, around: &[bool]) -> Vec<Block> {
        let mut blocks = self.blocks();
        // The title comes first where there is one, and is never marked.
        let title = blocks.len().saturating_sub(self.pieces.len());
        for (block, around) in blocks.iter_mut().skip(title).zip(around) {
            block.around = *around;
        }
        blocks
    }

    /// The blocks whose index a predicate selects.
    pub(crate) fn chosen(&self, mut chosen: impl FnMut(usize) -> bool) -> Vec<Block> {
        let places = places(&self.frames);
        let pieces = self.pieces.iter().enumerate().filter(|(i, _)| chosen(*i));
        pieces.map(|(_, piece)| block(self.said(piece).to_owned(), places.get(piece.frame))).collect()
    }
}

fn block(text: String, place: Option<&ElementPlace>) -> Block {
    match place {
        Some(at) => Block { path: at.path, named: at.named, place: Arc::clone(&at.place), text, around: false },
        None => Block { path: 0, named: false, place: "page".into(), text, around: false },
    }
}
