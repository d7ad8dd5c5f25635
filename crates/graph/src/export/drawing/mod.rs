//! How is a graph drawn as an interactive page?
//!
//! One HTML file without network access. The page, its style and its scripts are separate files
//! here and are inlined; the graph is embedded as JSON. The force-directed layout is ours and runs
//! in the browser ([layout.js](layout.js)). Titles and URLs are untrusted: the JSON contains no
//! `<`, so it cannot close the script element, and a Content-Security-Policy forbids the page to
//! load anything.
//!
//! A server draws the same graph with the same scripts on a page of its own: [`DRAWING_SCRIPTS`]
//! read a [`DrawnGraph`] from the element `graph`.

mod drawn;

pub(super) use drawn::{DrawingDraft, KeptDrawing};
pub use drawn::{DrawnGraph, DrawnMerit, DrawnNode};

use super::vertex::Vertex;
use super::xml::Escaped;
use super::{ArcEnd, GraphSink};
use std::io::{self, Write};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

/// The scripts that draw, in the order in which they are loaded.
pub const DRAWING_SCRIPTS: [&str; 2] = [include_str!("layout.js"), include_str!("page.js")];

/// More vertices than a browser lays out in a few seconds.
pub const MOST_DRAWN: usize = 5_000;

pub(super) struct Drawing<W: Write> {
    out: W,
    title: String,
    draft: DrawingDraft,
}

impl<W: Write> Drawing<W> {
    pub(super) fn new(out: W, title: &str) -> Self {
        Self { out, title: title.to_owned(), draft: DrawingDraft::default() }
    }
}

impl<W: Write> GraphSink for Drawing<W> {
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        self.draft.vertex(vertex)
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        self.draft.arc(from, to);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let graph = serde_json::to_string(&self.draft.finish())?.replace('<', "\\u003c");
        let title = Escaped(&self.title).to_string();
        let mut rest = PAGE;
        // A single pass: inserted text is not searched for placeholders again.
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            self.out.write_all(before.as_bytes())?;
            match name {
                "title" => self.out.write_all(title.as_bytes())?,
                "style" => self.out.write_all(STYLE.as_bytes())?,
                "graph" => self.out.write_all(graph.as_bytes())?,
                _ => DRAWING_SCRIPTS.iter().try_for_each(|script| self.out.write_all(script.as_bytes()))?,
            }
            rest = after;
        }
        self.out.write_all(rest.as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_is_a_script_stays_text() {
        let mut out = Vec::new();
        let mut drawing = Box::new(Drawing::new(&mut out, "</title><script>alert(1)</script>{{graph}}"));
        let vertex = Vertex {
            number: 9,
            name: "http://a.test/</script>",
            title: Some("</script><script>alert(2)</script> {{script}}"),
            merit: None,
        };
        drawing.vertex(&vertex).unwrap();
        drawing.arc(ArcEnd { number: 9, name: "" }, ArcEnd { number: 9, name: "" }).unwrap();
        drawing.finish().unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(!page.contains("<script>alert"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(page.matches("class Layout").count(), 1);
        assert!(page.contains("\"arcs\":[0,0]"));
    }

    #[test]
    fn the_page_asks_nothing_of_any_network() {
        for (part, text) in
            [("page", PAGE), ("style", STYLE), ("layout", DRAWING_SCRIPTS[0]), ("script", DRAWING_SCRIPTS[1])]
        {
            for word in ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
                assert!(!text.contains(word), "{part} has {word}");
            }
        }
        assert!(PAGE.contains("default-src 'none'"));
    }
}
