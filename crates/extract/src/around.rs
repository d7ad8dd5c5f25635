//! Which of a page's text is its own, and which stands around it?
//!
//! For the text index and its snippets, told apart by two hints that are cheap: what the markup
//! calls navigation, footer or the like ([`Document::furniture`]), and menus, lists of chapters and
//! footers that nothing names but which are runs of lines that are hardly more than links. They say
//! what other pages are about, not this one, so they are a field of their own in the index, of
//! little weight; and a word that every page has in its menu is not common for that.

use orb_page::{Document, LinkedItem};
use std::borrow::Cow;
use std::ops::Range;

/// Hundredths of a line that must be links, and the number of links that make a menu.
const LINKED: usize = 60;
const MENU: usize = 4;

/// Labels between the links of a menu: maximum length in bytes, and how many may follow each other.
const LABEL: usize = 40;
const LABELS: usize = 2;

/// The byte ranges of menus in a text, in order. `links` are the ranges of anchor texts, `titles`
/// the offsets of section titles, `items` those that describe links; these two are never part of a
/// menu. All are in order.
fn menus(text: &str, links: &[(u32, u32)], titles: &[usize], items: &[LinkedItem]) -> Vec<Range<usize>> {
    let mut menus = Vec::new();
    let (mut links, mut titles, mut items) = (links, titles, items);
    let mut run: Option<(Range<usize>, usize)> = None;
    let (mut begin, mut labels) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = begin + line.len();
        let (linked, count) = linked_in(&mut links, begin, end);
        let titled = titles.first().is_some_and(|title| *title < end);
        titles = &titles[titles.partition_point(|title| *title < end)..];
        items = &items[items.iter().take_while(|item| item.end as usize <= begin).count()..];
        let titled = titled || items.first().is_some_and(|item| (item.start as usize) + 1 < end);
        if linked * 100 >= line.trim_end().len() * LINKED && count > 0 && !titled {
            let (range, so_far) = run.get_or_insert((begin..end, 0));
            (range.end, *so_far, labels) = (end, *so_far + count, 0);
        } else if line.len() <= LABEL && count == 0 && !titled && labels < LABELS {
            // It belongs to the menu if another link follows.
            labels += 1;
        } else {
            menus.extend(run.take().filter(|(_, count)| *count >= MENU).map(|(range, _)| range));
        }
        begin = end;
    }
    menus.extend(run.filter(|(_, count)| *count >= MENU).map(|(range, _)| range));
    menus
}

/// How many bytes of a line are anchor texts, and of how many links.
fn linked_in(links: &mut &[(u32, u32)], begin: usize, end: usize) -> (usize, usize) {
    let (mut bytes, mut count) = (0, 0);
    while let Some(((from, to), rest)) = links.split_first() {
        let (from, to) = (*from as usize, *to as usize);
        if from >= end {
            break;
        }
        bytes += to.min(end).saturating_sub(from.max(begin));
        count += usize::from(to > begin);
        // One that continues in the next line is seen there again.
        if to > end {
            break;
        }
        *links = rest;
    }
    (bytes, count)
}

/// The text of a page in two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartedText<'a> {
    /// Its own text.
    pub own: Cow<'a, str>,
    /// What stands around it.
    pub around: String,
    /// The pieces of the whole text that are its own: where each begins and ends there, and where
    /// it begins in its own text.
    pieces: Vec<(usize, usize, usize)>,
}

impl<'a> PartedText<'a> {
    /// Divides the text of a document.
    pub fn of(document: &'a Document) -> Self {
        let titles: Vec<usize> =
            document.sections.iter().map(|section| title(&document.text, section.offset)).collect();
        let furniture = document.furniture.iter().map(|(start, end)| *start as usize..*end as usize);
        let menus = menus(&document.text, &document.link_texts, &titles, &document.items);
        Self::without(&document.text, &united(furniture.chain(menus).collect()))
    }

    /// A text without some ranges, which are disjoint and in order.
    fn without(text: &'a str, ranges: &[Range<usize>]) -> Self {
        if ranges.is_empty() {
            return Self { own: Cow::Borrowed(text), around: String::new(), pieces: vec![(0, text.len(), 0)] };
        }
        let (mut own, mut around) = (String::with_capacity(text.len()), String::new());
        let (mut begin, mut pieces) = (0, Vec::with_capacity(ranges.len() + 1));
        for range in ranges {
            pieces.push((begin, range.start, own.len()));
            own.push_str(text.get(begin..range.start).unwrap_or(""));
            around.push_str(text.get(range.clone()).unwrap_or(""));
            begin = range.end;
            [&mut own, &mut around].into_iter().for_each(end_line);
        }
        pieces.push((begin, text.len(), own.len()));
        own.push_str(text.get(begin..).unwrap_or(""));
        Self { own: Cow::Owned(own), around, pieces }
    }

    /// Where in its own text something begins that begins here in the whole text; of what stands
    /// around, where it would, and `false`.
    pub fn place(&self, document: &Document, offset: usize) -> (usize, bool) {
        let offset = title(&document.text, offset);
        let next = self.pieces.partition_point(|(begin, ..)| *begin <= offset);
        let Some((begin, end, own)) = self.pieces.get(next.saturating_sub(1)).copied() else { return (0, true) };
        let is_last = next == self.pieces.len();
        (own + offset.min(end).saturating_sub(begin), offset < end || (is_last && offset == end))
    }
}

/// Something begins with its first word, not with the end of the line before.
fn title(text: &str, offset: usize) -> usize {
    offset + usize::from(text.as_bytes().get(offset).is_some_and(u8::is_ascii_whitespace))
}

/// What stood on two sides of something else is not one word.
fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Ranges without overlaps, in order.
fn united(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let overlaps = next.start <= last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, extract};

    /// A text in which `[…]` are links, and `#` begins a title.
    fn arranged(marked: &str) -> (String, Vec<usize>) {
        let (mut text, mut links, mut titles, mut from) = (String::new(), Vec::new(), Vec::new(), 0);
        for c in marked.chars() {
            match c {
                '[' => from = text.len() as u32,
                ']' => links.push((from, text.len() as u32)),
                '#' => titles.push(text.len()),
                c => text.push(c),
            }
        }
        let menus = menus(&text, &links, &titles, &[]);
        let parted = PartedText::without(&text, &menus);
        let document = Document { text: text.clone(), ..Document::default() };
        let titles = titles.iter().map(|title| parted.place(&document, *title).0).collect();
        (format!("{}|{}", parted.own, parted.around).replace('\n', "/"), titles)
    }

    #[test]
    fn menus_are_apart_and_titles_keep_their_places() {
        let (text, titles) = arranged(
            "[Home]\n[News]\n[Shop]\n[About] us\n#Title\nSome [text] here.\n#Next\n[alpha] | [beta] | [gamma] | [delta]\nend",
        );
        assert_eq!(text, "Title/Some text here./Next/end|Home/News/Shop/About us/alpha | beta | gamma | delta/");
        assert_eq!(titles, [0, 22]);
    }

    #[test]
    fn a_few_links_or_a_linked_title_are_no_menu_but_labels_belong_to_one() {
        assert_eq!(arranged("[One]\n[Two]\n[Three]\ntext").0, "One/Two/Three/text|");
        assert_eq!(arranged("[One]\n[Two]\n#[Three]\n[Four]\n").0, "One/Two/Three/Four/|");
        assert_eq!(
            arranged("[One]\n(new)\n[Two]\n[Three]\nMore:\n[Four]\nend").0,
            "end|One/(new)/Two/Three/More:/Four/"
        );
        assert_eq!(arranged("").0, "|");
    }

    #[test]
    fn furniture_is_apart_with_its_sections() {
        let html = "<h1>Title</h1><p>Some text of the page.<nav><h2>Menu</h2>Home</nav><h2>More</h2>and more text
            <aside><h3>By the way</h3>x</aside>";
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: None, url: "http://a/" };
        let document = extract(&content);
        let parted = PartedText::of(&document);
        let PartedText { own, around, .. } = &parted;
        assert_eq!(own, "Title\nSome text of the page.\n\nMore\nand more text\n");
        assert_eq!(around, "\nMenu\nHome\n\nBy the way\nx\n");
        let of = |section: &orb_page::PageSection| {
            let (at, is_own) = parted.place(&document, section.offset);
            (own.get(at..).unwrap_or("").split('\n').next(), is_own)
        };
        let told: Vec<_> = document.sections.iter().map(of).collect();
        assert_eq!(told, [(Some("Title"), true), (Some(""), false), (Some("More"), true), (Some(""), false)]);
    }

    #[test]
    fn the_line_before_a_title_belongs_to_its_menu() {
        let html = "<ul><li><a href=1>One</a><li><a href=2>Two</a><li><a href=3>Three</a><li><a href=4>Four</a></ul>
            <h1>Title</h1>text";
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: None, url: "http://a/" };
        assert_eq!(PartedText::of(&extract(&content)).own, "Title\ntext");
    }
}
