//! Which lines of a page only lead elsewhere?
//!
//! Menus, lists of chapters and footers are runs of lines that are hardly more than links. They say
//! what other pages are about, not this one, so they are a field of their own in the index, of
//! little weight. And a word that every page has in its menu is not common for that.

use std::ops::Range;

/// Hundredths of a line that must be links, and the number of links that make a menu.
const LINKED: usize = 60;
const MENU: usize = 4;

/// Labels between the links of a menu: maximum length in bytes, and how many may follow each other.
const LABEL: usize = 40;
const LABELS: usize = 2;

/// The byte ranges of menus in a text, in order. `links` are the ranges of anchor texts, `titles`
/// the offsets of section titles, which are never part of a menu; both in order.
pub(super) fn menus(text: &str, links: &[(u32, u32)], titles: &[usize]) -> Vec<Range<usize>> {
    let mut menus = Vec::new();
    let (mut links, mut titles) = (links, titles);
    let mut run: Option<(Range<usize>, usize)> = None;
    let (mut begin, mut labels) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = begin + line.len();
        let (linked, count) = linked_in(&mut links, begin, end);
        let titled = titles.first().is_some_and(|title| *title < end);
        titles = &titles[titles.partition_point(|title| *title < end)..];
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
        // One that goes on in the next line is seen there again.
        if to > end {
            break;
        }
        *links = rest;
    }
    (bytes, count)
}

/// A text without its menus, these, and the offsets of its section titles.
pub(super) fn without_menus(text: &str, menus: &[Range<usize>], titles: &[usize]) -> (String, String, Vec<usize>) {
    let (mut rest, mut apart) = (String::with_capacity(text.len()), String::new());
    let mut begin = 0;
    for menu in menus {
        rest.push_str(&text[begin..menu.start]);
        apart.push_str(&text[menu.clone()]);
        begin = menu.end;
    }
    rest.push_str(&text[begin..]);
    let before = |title: usize| menus.iter().take_while(|menu| menu.start < title).map(Range::len).sum::<usize>();
    (rest, apart, titles.iter().map(|title| title.saturating_sub(before(*title))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let menus = menus(&text, &links, &titles);
        let (rest, menus, titles) = without_menus(&text, &menus, &titles);
        (format!("{rest}|{menus}").replace('\n', "/"), titles)
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
}
