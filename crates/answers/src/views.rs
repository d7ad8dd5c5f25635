//! How does a comparison read a version of a page?
//!
//! The one place where tracking meets the extractors: `track` asks for texts and blocks, `extract`
//! knows how to read them. A document of a format that is read aside is compared by its text, so
//! that one that was merely generated again is the same; where it has none, by its bytes.

use orb_aside::HelperLimits;
use orb_extract::{Content, WantedPart};
use orb_page::Block;
use orb_track::compare::{ComparedPart, Passage, Views};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

/// Maximum separate lines of a text; the rest is one more.
const MOST_LINES: usize = 200_000;

/// A version of a page, extracted on demand.
#[derive(Debug)]
pub struct PageViews<'a> {
    content: Content<'a>,
    mime: Cow<'a, str>,
    is_aside: bool,
    limits: HelperLimits,
    text: OnceCell<Cow<'a, str>>,
}

impl<'a> PageViews<'a> {
    /// A version with its codings removed; a document is read under these limits.
    pub fn new(content: Content<'a>, limits: HelperLimits) -> Self {
        let mime = orb_extract::sniff(content.bytes, content.mime);
        let is_aside = orb_extract::is_read_aside(&content);
        Self { content, mime, is_aside, limits, text: OnceCell::new() }
    }

    /// Its characters; of a document that is read aside, those of its text.
    pub fn source(&self) -> &str {
        self.text.get_or_init(|| match self.is_aside {
            true => orb_aside::extract(&self.content, self.limits).text.into(),
            false => orb_extract::text_of(&self.content),
        })
    }

    /// Whether it is a document that is read aside, such as a PDF.
    pub fn is_document(&self) -> bool {
        self.is_aside
    }

    fn is_html(&self) -> bool {
        matches!(&*self.mime, "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml")
    }

    /// The lines of a text that is not HTML.
    fn lines(&self) -> Vec<Block> {
        let place: Arc<str> = "line".into();
        let folded = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut lines = self.source().lines();
        let mut out: Vec<Block> = Vec::new();
        for line in lines.by_ref() {
            let text = folded(line);
            if !text.is_empty() {
                out.push(Block::line(text, &place));
            }
            if out.len() == MOST_LINES {
                break;
            }
        }
        let rest = lines.map(folded).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
        out.extend((!rest.is_empty()).then(|| Block::line(rest, &place)));
        out
    }
}

impl Views for PageViews<'_> {
    fn bytes(&self) -> &[u8] {
        self.content.bytes
    }

    fn mime(&self) -> &str {
        &self.mime
    }

    fn is_text(&self) -> bool {
        let mime = &*self.mime;
        if self.is_aside {
            return !self.source().is_empty();
        }
        self.is_html()
            || mime.starts_with("text/")
            || mime.ends_with("+xml")
            || mime.ends_with("+json")
            || matches!(
                mime,
                "application/json" | "application/xml" | "application/javascript" | "application/x-javascript"
            )
    }

    fn passage(&self, part: &ComparedPart<'_>) -> Passage {
        if !self.is_html() {
            return Passage { blocks: self.lines(), matched: true, note: None };
        }
        let ComparedPart { main, mark_around, include, exclude } = *part;
        let is_xml = self.mime != "text/html";
        let selected = orb_extract::select(self.source(), &WantedPart { is_xml, main, mark_around, include, exclude });
        Passage { blocks: selected.blocks, matched: selected.matched, note: selected.note.map(str::to_owned) }
    }

    fn simhash(&self, text: &str) -> u64 {
        orb_extract::simhash(text)
    }
}
