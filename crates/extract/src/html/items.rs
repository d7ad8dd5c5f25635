//! Which items of lists and tables say what a link leads to?
//!
//! A row of a table, an item of a list, or a term with its definition that begins with a link and
//! goes on in words: "`sqrt` computes the square root". Whoever made the list describes the page
//! that the link leads to, often in plainer words than the page itself, and the text index makes
//! use of that.

use super::name::Tag;
use orb_page::LinkedItem;

/// Maximum number of items, and the length of one in bytes.
const MOST: usize = 5_000;
const LONGEST: usize = 400;
/// How many bytes must follow the link, and how many may precede it: a bullet, a number.
const SHORTEST: usize = 12;
const BEFORE: usize = 6;

/// The item that is open: where it begins, and its first link.
#[derive(Clone, Copy, Debug)]
struct OpenItem {
    start: usize,
    /// The number of the link, and where its text begins and ends.
    link: Option<(usize, usize, usize)>,
}

/// The items found so far.
#[derive(Debug, Default)]
pub(super) struct Items {
    open: Option<OpenItem>,
    found: Vec<LinkedItem>,
}

impl Items {
    /// An element begins; `at` is the length of the text so far.
    #[inline]
    pub(super) fn start(&mut self, tag: Tag, at: usize) {
        if matches!(tag, Tag::Tr | Tag::Li | Tag::Dt) {
            self.close(at);
            self.open = Some(OpenItem { start: at, link: None });
        }
    }

    /// An element ends.
    #[inline]
    pub(super) fn end(&mut self, tag: Tag, at: usize) {
        if matches!(tag, Tag::Tr | Tag::Li | Tag::Dl | Tag::Table | Tag::Ul | Tag::Ol) {
            self.close(at);
        }
    }

    /// A link with this number was read.
    #[inline]
    pub(super) fn link(&mut self, number: usize, start: usize, end: usize) {
        if let Some(item) = self.open.as_mut().filter(|item| item.link.is_none()) {
            item.link = Some((number, start, end));
        }
    }

    fn close(&mut self, at: usize) {
        let Some(OpenItem { start, link: Some((link, begin, end)) }) = self.open.take() else { return };
        let is_first = begin >= start && begin - start <= BEFORE;
        let is_described = at >= end + SHORTEST && at - start <= LONGEST;
        if is_first
            && is_described
            && self.found.len() < MOST
            && let (Ok(link), Ok(start), Ok(end)) = (u32::try_from(link), u32::try_from(start), u32::try_from(at))
        {
            self.found.push(LinkedItem { link, start, end });
        }
    }

    /// All of them in a text of this length.
    pub(super) fn finish(mut self, text: usize) -> Vec<LinkedItem> {
        self.close(text);
        self.found.retain(|item| item.end as usize <= text);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};

    fn items(html: &str) -> Vec<String> {
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: None, url: "http://a/" };
        let document = extract(&content);
        let told = |item: &orb_page::LinkedItem| {
            let text = document.text[item.start as usize..item.end as usize].trim();
            format!("{}: {}", document.links[item.link as usize].target, text.replace('\n', "/"))
        };
        document.items.iter().map(told).collect()
    }

    #[test]
    fn rows_items_and_definitions_describe_their_first_link() {
        let html = "<p><a href=0>no</a> item at all, only a text<table><tr><td><div><a href=1>sqrt</a></div>
            <td>computes the square root<tr><td>something<td><a href=2>y</a> is too late to be first</table>
            <ul><li><a href=3>one</a>, the first of <a href=x>all</a><li><a href=4>two</a></ul>
            <dl><dt><a href=5>term</a><dd>and its definition</dl>";
        assert_eq!(
            items(html),
            ["1: sqrt/computes the square root", "3: one, the first of all", "5: term/and its definition"]
        );
    }

    #[test]
    fn an_item_ends_where_the_next_begins() {
        let html = "<ul><li><a href=1>outer</a><ul><li><a href=2>inner</a> with some words</ul>more words here</ul>";
        assert_eq!(items(html), ["2: inner with some words"]);
        assert_eq!(items("<li><a href=1>open</a> to the very end"), ["1: open to the very end"]);
        assert_eq!(items(&format!("<li><a href=1>long</a> {}", "word ".repeat(100))), Vec::<String>::new());
    }
}
