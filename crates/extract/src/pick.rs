//! What does a CSS selector match on a page, and where does that point?
//!
//! For pages that a project's steps pass through, one at a time, never in bulk: `scraper` matches
//! on html5ever's tree. If building the tree would take too long (see [`crate::tame`]), the
//! reason is returned instead.

use crate::tame::is_tame;
use scraper::{ElementRef, Html, Selector};

/// Maximum size of a page in bytes.
const MAX_SIZE: usize = 4 << 20;
/// Maximum depth of the tree.
const MAX_DEPTH: usize = 256;
/// Maximum elements on a page for selectors that inspect other elements.
const MAX_ELEMENTS: usize = 20_000;
/// Maximum links per page.
const MAX_LINKS: usize = 100_000;

/// A compiled CSS selector.
#[derive(Clone, Debug)]
pub struct Picker {
    selector: Selector,
    /// Whether matching one element may inspect many.
    looks_around: bool,
}

/// The matches of a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picked {
    /// Number of matched elements.
    pub elements: usize,
    /// Their link targets, or those inside them, as written and in document order.
    pub targets: Vec<String>,
}

impl Picker {
    /// Compiles a selector; errors are one line.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("'' is not a CSS selector; write it like ol.results a".to_owned());
        }
        let selector = Selector::parse(text).map_err(|error| format!("'{text}' is not a CSS selector: {error}"))?;
        Ok(Self { selector, looks_around: text.contains('~') || text.contains(":has") || text.contains(":nth") })
    }

    /// The matches on a page, or why they cannot be computed.
    pub fn pick(&self, html: &str) -> Result<Picked, &'static str> {
        let tree = self.tree(html)?;
        let mut picked = Picked::default();
        for element in tree.select(&self.selector) {
            picked.elements += 1;
            match target(element) {
                Some(own) => picked.targets.push(own),
                None => {
                    let room = MAX_LINKS.saturating_sub(picked.targets.len());
                    picked.targets.extend(element.descendent_elements().filter_map(target).take(room));
                }
            }
            if picked.targets.len() >= MAX_LINKS {
                break;
            }
        }
        Ok(picked)
    }

    fn tree(&self, html: &str) -> Result<Html, &'static str> {
        if html.len() > MAX_SIZE {
            return Err("the page is too large for selectors");
        }
        if !is_tame(html) {
            return Err("the page is nested too deep for selectors");
        }
        let tree = Html::parse_document(html);
        if self.looks_around && tree.tree.nodes().len() > MAX_ELEMENTS {
            return Err("the page has too many elements for selectors with ~, :has or :nth");
        }
        let deep = tree.tree.nodes().any(|node| node.ancestors().nth(MAX_DEPTH).is_some());
        if deep { Err("the page is nested too deep for selectors") } else { Ok(tree) }
    }
}

/// The link target of an element.
fn target(element: ElementRef<'_>) -> Option<String> {
    let attribute = match element.value().name() {
        "a" | "area" => "href",
        "frame" | "iframe" => "src",
        _ => return None,
    };
    element.attr(attribute).map(|target| crate::gather::trim(target).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(selector: &str, html: &str) -> Picked {
        Picker::new(selector).unwrap().pick(html).unwrap()
    }

    #[test]
    fn links_are_chosen_by_what_they_are_and_by_what_they_stand_in() {
        let html = "<a href=/out>x</a><ol class=r><li><a href=' /1 '>1</a><li><a name=n>no</a><a href='/2?a=1&amp;b=2'>2</a></ol>\
            <map><area href=/m></map><iframe src=/f></iframe>";
        assert_eq!(pick("ol.r a", html), Picked { elements: 3, targets: vec!["/1".into(), "/2?a=1&b=2".into()] });
        assert_eq!(pick("ol.r", html).targets, ["/1", "/2?a=1&b=2"]);
        assert_eq!(pick("area, iframe", html).targets, ["/m", "/f"]);
        assert_eq!(pick("nav a", html), Picked::default());
    }

    #[test]
    fn what_is_no_selector_is_said() {
        for wrong in ["", " ", "a[", "..", "a:nope"] {
            assert!(Picker::new(wrong).is_err_and(|why| why.contains("not a CSS selector")), "{wrong}");
        }
    }

    #[test]
    fn a_page_that_would_take_too_long_is_refused() {
        let picker = Picker::new("a ~ b").unwrap();
        assert!(picker.pick(&"<div>".repeat(100_000)).is_err());
        assert!(picker.pick(&"<b></b>".repeat(30_000)).is_err());
        assert!(picker.pick(&" ".repeat(MAX_SIZE + 1)).is_err());
        assert!(
            Picker::new("a")
                .unwrap()
                .pick(&"<p><a href=x></a></p>".repeat(30_000))
                .is_ok_and(|p| p.targets.len() == 30_000)
        );
    }
}
