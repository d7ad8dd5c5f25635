//! Of which parts does a page consist, and by which CSS selectors are they chosen?
//!
//! For people who want to compare a part of a page: they recognise it by how its text begins and
//! need not know its markup. A part is an element that its author named, by an id, a class or a tag
//! that says what it is for; elements with the same name are one part. Computed on demand for a
//! page that somebody looks at.

use crate::select::tree;
use scraper::{ElementRef, Node};
use std::collections::HashMap;

/// Parts that are given at most, in document order.
const MOST: usize = 80;

/// Characters of a part's beginning.
const BEGINNING: usize = 160;

/// Tags that say what an element is for.
const TELLING: [&str; 14] = [
    "main", "article", "section", "aside", "nav", "header", "footer", "h1", "table", "form", "figure", "address", "ul",
    "ol",
];

/// Elements whose text nobody sees.
const UNSEEN: [&str; 5] = ["script", "style", "noscript", "template", "title"];

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePart {
    /// What matches it.
    pub selector: String,
    /// How many elements it matches.
    pub elements: usize,
    /// How the first of them begins.
    pub text: String,
}

/// The parts of a page that have text, or why they cannot be told.
pub fn parts(html: &str) -> Result<Vec<PagePart>, &'static str> {
    let tree = tree(html, false)?;
    let (mut parts, mut known): (Vec<PagePart>, HashMap<String, usize>) = Default::default();
    for element in tree.root_element().descendent_elements() {
        let Some(selector) = selector(element) else { continue };
        if let Some(place) = known.get(&selector) {
            parts[*place].elements += 1;
            continue;
        }
        let text = beginning(element);
        if parts.len() < MOST && !text.is_empty() {
            known.insert(selector.clone(), parts.len());
            parts.push(PagePart { selector, elements: 1, text });
        }
    }
    Ok(parts)
}

/// What its author called an element: by id, by classes, or by its tag.
fn selector(element: ElementRef<'_>) -> Option<String> {
    let name = element.value().name();
    if matches!(name, "html" | "head" | "body") || UNSEEN.contains(&name) {
        return None;
    }
    if let Some(id) = element.value().id().filter(|id| is_plain(id)) {
        return Some(format!("#{id}"));
    }
    let mut classes: Vec<&str> = element.value().classes().filter(|class| is_plain(class)).collect();
    classes.sort_unstable();
    let classes: String = classes.iter().map(|class| format!(".{class}")).collect();
    let is_named = !classes.is_empty() || TELLING.contains(&name);
    is_named.then(|| format!("{name}{classes}"))
}

/// Whether a name needs no escaping, and was not made up for this one page.
fn is_plain(name: &str) -> bool {
    let is_made_up = name.bytes().filter(u8::is_ascii_digit).count() >= 4;
    let begins = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    begins && is_word && !is_made_up && name.len() <= 60
}

/// How the visible text of an element begins, with white space collapsed.
fn beginning(element: ElementRef<'_>) -> String {
    let mut out = String::new();
    let texts = element.descendants().filter_map(|node| {
        let Node::Text(text) = node.value() else { return None };
        let mut within = node.ancestors().filter_map(ElementRef::wrap).take_while(|a| a.id() != element.id());
        let is_seen = within.all(|a| !UNSEEN.contains(&a.value().name()));
        is_seen.then_some(&**text)
    });
    for word in texts.flat_map(str::split_whitespace) {
        let separator = if out.is_empty() { "" } else { " " };
        if out.chars().count() + word.chars().count() > BEGINNING {
            out.push('…');
            break;
        }
        out.push_str(separator);
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_their_author_named_and_their_selectors_match_them() {
        let html = "<title>t</title><body><nav><a class=x href=/>Home</a></nav><div id=news><p class='lead big'>First</p>\
            <p class='lead big'>Second</p></div><div id=u12345>made up</div><div>plain</div><aside></aside>\
            <footer>Seen <b>17</b> times<script>no()</script></footer>";
        let found = parts(html).unwrap();
        let told: Vec<(&str, usize, &str)> =
            found.iter().map(|part| (part.selector.as_str(), part.elements, part.text.as_str())).collect();
        assert_eq!(
            told,
            [
                ("nav", 1, "Home"),
                ("a.x", 1, "Home"),
                ("#news", 1, "First Second"),
                ("p.big.lead", 2, "First"),
                ("footer", 1, "Seen 17 times"),
            ]
        );
        for part in &found {
            assert!(crate::check_selector(&part.selector).is_ok(), "{}", part.selector);
        }
        assert!(parts(&"<div>".repeat(100_000)).is_err());
        let long = format!("<main>{}</main>", "word ".repeat(1_000));
        assert!(parts(&long).unwrap()[0].text.chars().count() <= BEGINNING + 1);
    }
}
