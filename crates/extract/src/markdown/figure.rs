//! Which pictures belong to the main content?
//!
//! Main content is made of blocks of text, and a picture has none, or a caption that says little. A
//! figure between two of its blocks belongs to it if the element around the figure holds such a
//! block, too: the one below a headline does, those of further articles do not.

use super::tree::{MarkupTree, NodeId, ROOT};
use crate::html::name::Tag;
use std::ops::Range;

/// So many elements that hold nothing else may be around a figure.
const WRAPPERS: usize = 3;
/// Maximum size of a figure in bytes of source.
const LARGEST: usize = 20_000;
/// Maximum number of nodes in a figure, and of figures that are looked at.
const MOST_NODES: usize = 200;
const MOST_FIGURES: usize = 500;

/// The ranges of the source to write, with those of the figures that belong to them.
pub(super) fn with_figures(tree: &MarkupTree<'_>, end: usize, only: &[Range<usize>]) -> Vec<Range<usize>> {
    let whole = only.first().map_or(0, |first| first.start)..only.last().map_or(0, |last| last.end);
    let figures = tree.below(ROOT).filter(|id| tree.tag(*id) == Some(Tag::Figure)).take(MOST_FIGURES);
    let figures = figures.filter(|id| shows_picture(tree, *id) && has_kept_beside(tree, end, only, *id));
    let mut all: Vec<Range<usize>> = figures.map(|id| extent(tree, end, id)).collect();
    all.retain(|figure| whole.contains(&figure.start) && (1..=LARGEST).contains(&figure.len()));
    all.extend(only.iter().cloned());
    all.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// Where a node and everything below it is.
fn extent(tree: &MarkupTree<'_>, end: usize, id: NodeId) -> Range<usize> {
    tree.node(id).at..tree.after(id).map_or(end, |after| tree.node(after).at)
}

/// Whether a figure has a picture that says what it shows, and no headline of its own, as one that
/// leads to another page has.
fn shows_picture(tree: &MarkupTree<'_>, id: NodeId) -> bool {
    let is_described = |node: NodeId| tree.attribute(node, "alt").is_some_and(|alt| !alt.trim().is_empty());
    let mut shows = false;
    for node in tree.below(id).take(MOST_NODES) {
        match tree.tag(node) {
            Some(Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 | Tag::Table | Tag::Pre) => return false,
            Some(Tag::Img | Tag::Image) => shows |= is_described(node),
            _ => {}
        }
    }
    shows
}

/// Whether the element around a figure, without those that hold it alone, holds what is written.
fn has_kept_beside(tree: &MarkupTree<'_>, end: usize, only: &[Range<usize>], id: NodeId) -> bool {
    let mut inner = id;
    for _ in 0..=WRAPPERS {
        let outer = tree.parent(inner);
        if outer == inner {
            return false;
        }
        let around = extent(tree, end, outer);
        let first = only.partition_point(|range| range.end <= around.start);
        if only.get(first).is_some_and(|range| range.start < around.end) {
            return true;
        }
        let is_blank = |node: NodeId| tree.tag(node).is_none() && tree.text(node).trim().is_empty();
        if !tree.children(outer).all(|child| child == inner || is_blank(child)) {
            return false;
        }
        inner = outer;
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::{MarkdownRequest, markdown};

    /// What is written of a page whose main content is these two texts.
    fn written(html: &str) -> String {
        let only = ["First.", "Last."].map(|text| html.find(text).map_or(0..0, |at| at..at + text.len()));
        markdown(html, &MarkdownRequest { url: Some("http://a.test/"), only: Some(&only) })
    }

    const FIGURE: &str = "<figure><img src=b.jpg alt=Bridge><figcaption>At dawn</figcaption></figure>";

    #[test]
    fn a_figure_beside_the_text_belongs_to_it() {
        let kept = "First.\n\n![Bridge](http://a.test/b.jpg)\n\n*At dawn*\n\nLast.\n";
        for page in [
            format!("<article><p>First.<p>By Ann{FIGURE}<p>Share<p>Last.</article>"),
            format!("<main><header><p>First.</header><div> <div>{FIGURE}</div></div><p>Share<p>Last.</main>"),
        ] {
            assert_eq!(written(&page), kept, "{page}");
        }
    }

    #[test]
    fn a_figure_of_something_else_does_not() {
        let bare = "First.\n\nLast.\n";
        for page in [
            format!("<p>First.<aside><p>More{FIGURE}</aside><p>Last."),
            format!("<p>First.<ul><li><a href=x>{FIGURE}</a>Another</ul><p>Last."),
            format!("{FIGURE}<p>First.<p>Share<p>Last.{FIGURE}"),
            "<p>First.<p>x<figure><img src=b.jpg alt=''></figure><p>Last.".to_owned(),
            "<p>First.<p>x<figure><img src=b.jpg alt=B><h3>Another</h3></figure><p>Last.".to_owned(),
        ] {
            assert_eq!(written(&page), bare, "{page}");
        }
    }
}
