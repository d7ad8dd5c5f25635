//! Which parts of a page does its own markup call navigation, footer or the like?
//!
//! A hint that costs next to nothing while the page is read, for the text index: the learnt model
//! ([`crate::MainContent`]) knows better and takes several times as long as the rest of reading. An
//! element counts by its tag, its role, or a word of its `id` and `class`, which web authors write
//! in English nearly everywhere. What holds most of the page, or its `<main>`, does not count,
//! whatever it is called.

use super::attributes::Slots;
use super::name::{Attr, Tag};

/// Maximum number of parts that are open at once, and per document.
const MOST_OPEN: usize = 64;
const MOST: usize = 10_000;
/// How many bytes of a name are looked at, and the longest word that matters.
const LONGEST: usize = 120;
const LONGEST_WORD: usize = 24;

/// A part that is open.
#[derive(Debug)]
struct OpenPart {
    tag: Tag,
    /// Open elements of the same tag inside it.
    nested: u32,
    start: usize,
    /// Whether it contains the main part of the page.
    holds_main: bool,
}

/// The parts found so far.
#[derive(Debug, Default)]
pub(super) struct Furniture {
    open: Vec<OpenPart>,
    found: Vec<(usize, usize)>,
}

impl Furniture {
    /// An element begins; `at` is the length of the text so far.
    #[inline]
    pub(super) fn start(&mut self, tag: Tag, attrs: &Slots<'_>, at: usize) {
        if !is_container(tag) {
            return;
        }
        if is_main(tag, attrs) {
            self.open.iter_mut().for_each(|part| part.holds_main = true);
        }
        if self.open.len() < MOST_OPEN && self.found.len() < MOST && is_furniture(tag, attrs) {
            self.open.push(OpenPart { tag, nested: 0, start: at, holds_main: false });
        } else if let Some(part) = self.open.iter_mut().rfind(|part| part.tag == tag) {
            part.nested += 1;
        }
    }

    /// An element ends.
    #[inline]
    pub(super) fn end(&mut self, tag: Tag, at: usize) {
        if self.open.is_empty() {
            return;
        }
        let Some(last) = self.open.iter().rposition(|part| part.tag == tag) else { return };
        match self.open[last].nested {
            0 => self.close(last, at),
            _ => self.open[last].nested -= 1,
        }
    }

    /// Closes a part and everything inside it.
    fn close(&mut self, from: usize, at: usize) {
        let closed = self.open.drain(from..).filter(|part| !part.holds_main && part.start < at);
        self.found.extend(closed.map(|part| (part.start, at)));
    }

    /// The parts of a text of this length: disjoint, in order, none of them most of it.
    pub(super) fn finish(mut self, text: usize) -> Vec<(u32, u32)> {
        self.close(0, text);
        self.found.iter_mut().for_each(|(_, end)| *end = (*end).min(text));
        self.found.retain(|(start, end)| start < end && (end - start) * 2 <= text);
        self.found.sort_unstable();
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(self.found.len());
        for (start, end) in self.found {
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else { break };
            match out.last_mut() {
                Some((_, last)) if start <= *last => *last = end.max(*last),
                _ => out.push((start, end)),
            }
        }
        out
    }
}

/// Whether an element groups others and has an end tag of its own.
#[inline]
fn is_container(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Div
            | Tag::Section
            | Tag::Nav
            | Tag::Aside
            | Tag::Footer
            | Tag::Header
            | Tag::Main
            | Tag::Article
            | Tag::Ul
            | Tag::Ol
            | Tag::Table
            | Tag::Form
            | Tag::Menu
            | Tag::Dialog
            | Tag::Search
    )
}

fn is_main(tag: Tag, attrs: &Slots<'_>) -> bool {
    tag == Tag::Main || attrs.written(Attr::Role).is_some_and(|role| role.eq_ignore_ascii_case("main"))
}

fn is_furniture(tag: Tag, attrs: &Slots<'_>) -> bool {
    const ROLES: &[&str] = &["navigation", "contentinfo", "complementary", "banner", "search", "menu", "menubar"];
    match tag {
        Tag::Nav | Tag::Aside | Tag::Footer | Tag::Menu | Tag::Dialog | Tag::Search => true,
        Tag::Main | Tag::Article => false,
        _ => {
            let role = attrs.written(Attr::Role);
            if role.is_some_and(|role| ROLES.iter().any(|known| role.eq_ignore_ascii_case(known))) {
                return true;
            }
            let is_called = |attr: Attr, is: fn(&str) -> bool| attrs.written(attr).is_some_and(is);
            is_called(Attr::Class, has_word_of_furniture) || is_called(Attr::Id, is_only_furniture)
        }
    }
}

/// Whether a word of a class means furniture: `sidebar`, `page-footer`, `mainMenu`.
fn has_word_of_furniture(name: &str) -> bool {
    let mut has = false;
    each_word(name, |word| has |= is_word_of_furniture(word) || is_compound(word));
    has
}

/// Whether a word is written together with others: `sphinxsidebar`.
fn is_compound(word: &[u8]) -> bool {
    const PARTS: [&[u8]; 4] = [b"sidebar", b"footer", b"navbar", b"navigation"];
    PARTS.iter().any(|part| word.len() > part.len() && (word.ends_with(part) || word.starts_with(part)))
}

/// Whether an `id` is nothing but the name of furniture: `left-menu`, not `cookie-objects`, as the
/// section on them may be called.
fn is_only_furniture(name: &str) -> bool {
    let (mut has, mut only) = (false, true);
    each_word(name, |word| {
        let is_furniture = is_word_of_furniture(word);
        has |= is_furniture;
        only &= is_furniture || says_where(word);
    });
    has && only
}

/// Calls back with the words of a name in lower case.
fn each_word(name: &str, mut tell: impl FnMut(&[u8])) {
    let (mut word, mut len) = ([0u8; LONGEST_WORD + 1], 0);
    let mut was_lower = false;
    for byte in name.bytes().take(LONGEST).chain([b' ']) {
        let begins = byte.is_ascii_uppercase() && was_lower;
        if (begins || !byte.is_ascii_alphabetic()) && len > 0 {
            tell(word.get(..len).unwrap_or(&[]));
            len = 0;
        }
        if byte.is_ascii_alphabetic() {
            // A longer word is cut to one that is in no list.
            word[len.min(LONGEST_WORD)] = byte.to_ascii_lowercase();
            len = (len + 1).min(LONGEST_WORD + 1);
        }
        was_lower = byte.is_ascii_lowercase();
    }
}

/// Words that only say where something is, or that it is something.
fn says_where(word: &[u8]) -> bool {
    matches!(
        word,
        b"left"
            | b"right"
            | b"top"
            | b"bottom"
            | b"upper"
            | b"lower"
            | b"main"
            | b"primary"
            | b"secondary"
            | b"global"
            | b"local"
            | b"site"
            | b"page"
            | b"sub"
            | b"mw"
            | b"box"
            | b"bar"
            | b"block"
            | b"list"
            | b"links"
            | b"panel"
            | b"area"
            | b"wrap"
            | b"wrapper"
            | b"container"
            | b"inner"
            | b"outer"
    )
}

/// The words. What may also hold what a page is about (`header`, `comment`, `widget`) is not among
/// them.
fn is_word_of_furniture(word: &[u8]) -> bool {
    matches!(
        word,
        b"nav"
            | b"navbar"
            | b"navi"
            | b"navigation"
            | b"subnav"
            | b"sidenav"
            | b"topnav"
            | b"menu"
            | b"menubar"
            | b"submenu"
            | b"dropdown"
            | b"breadcrumb"
            | b"breadcrumbs"
            | b"crumbs"
            | b"pagination"
            | b"pager"
            | b"toolbar"
            | b"topbar"
            | b"sidebar"
            | b"footer"
            | b"colophon"
            | b"copyright"
            | b"masthead"
            | b"cookie"
            | b"cookies"
            | b"consent"
            | b"gdpr"
            | b"newsletter"
            | b"subscribe"
            | b"signup"
            | b"login"
            | b"share"
            | b"sharing"
            | b"social"
            | b"ad"
            | b"ads"
            | b"advert"
            | b"adverts"
            | b"advertisement"
            | b"sponsor"
            | b"sponsored"
            | b"promo"
            | b"related"
            | b"recommended"
            | b"popup"
            | b"modal"
            | b"overlay"
            | b"toc"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, extract};

    /// The text of a page, with what its markup calls furniture in brackets.
    fn marked(html: &str) -> String {
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: None, url: "http://a/" };
        let document = extract(&content);
        let mut out = document.text.clone();
        for (start, end) in document.furniture.iter().rev() {
            out.insert(*end as usize, ']');
            out.insert(*start as usize, '[');
        }
        out.replace('\n', "/")
    }

    #[test]
    fn elements_are_known_by_tag_role_and_name() {
        assert_eq!(
            marked("<nav>Home</nav><p>Some text of the page.<div class='page-footer'>Imprint<div>x</div>y</div>z"),
            "[Home]/Some text of the page.[/Imprint/x/y]/z"
        );
        assert_eq!(
            marked("<div role=navigation>a</div><ul id=mainMenu><li>b</ul>text of the page<aside>c</aside>"),
            "[a/b]/text of the page[/c]"
        );
        assert_eq!(marked("<div class=navigate>a</div><div class=shadow>b</div>"), "a/b");
    }

    #[test]
    fn what_holds_the_page_is_no_furniture() {
        assert_eq!(marked("<div class=sidebar><p>All there is to say.</p></div><p>End"), "All there is to say./End");
        assert_eq!(
            marked("<div class='with-sidebar'><main>x</main><nav>y</nav></div> and so on and so on"),
            "x[/y]/and so on and so on"
        );
    }

    #[test]
    fn parts_end_where_their_elements_do() {
        assert_eq!(
            marked("<div class=menu>a<div><div>b</div></div><ul class=nav><li>c</ul>d</div>text that goes on<nav>e"),
            "[a/b/c/d]/text that goes on[/e]"
        );
        assert_eq!(marked("<nav>a<div>b</nav>c and a longer text</div>"), "[a/b]/c and a longer text");
    }

    #[test]
    fn words_of_names_are_told_apart() {
        let is = has_word_of_furniture;
        assert!(is("mainMenu") && is("x_nav-2") && is("Footer"));
        assert!(!is("footnote") && !is("badge") && !is("") && !is("advertisementsxyz") && is("sphinxsidebar"));
        assert!(is_only_furniture("left-menu") && is_only_furniture("mainNav2") && is_only_furniture("footer"));
        assert!(!is_only_furniture("cookie-objects") && !is_only_furniture("page") && !is_only_furniture(""));
    }
}
