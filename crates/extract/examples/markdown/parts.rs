//! What does a page consist of, as far as Markdown can say it?

use scraper::{ElementRef, Html, Node};
use std::collections::HashMap;
use url::Url;

/// The kinds of parts that are compared.
pub(crate) const KINDS: [&str; 7] = ["words", "headings", "links", "items", "terms", "cells", "code"];

/// What is not read by anybody, or is a sign rather than a text.
const SILENT: [&str; 14] = [
    "script", "style", "template", "title", "svg", "select", "textarea", "button", "iframe", "object", "video",
    "audio", "dialog", "noscript",
];

/// The parts of a page, by kind, each with the number of its occurrences.
pub(crate) struct PageParts {
    parts: [HashMap<String, usize>; KINDS.len()],
}

impl PageParts {
    pub(crate) fn of(html: &str, place: &str) -> Self {
        let tree = Html::parse_document(html);
        let mut out = Self { parts: Default::default() };
        let base = Url::parse(place).ok();
        for element in tree.root_element().descendent_elements() {
            if is_silent(element) {
                continue;
            }
            match element.value().name() {
                "body" => {
                    let text = said(element, &[]);
                    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
                    words.for_each(|word| out.add(0, word.to_owned()));
                }
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                    let level = element.value().name();
                    out.add_text(1, said(element, &[]), |text| format!("{level} {text}"));
                }
                "a" => {
                    let target = element.attr("href").and_then(|href| base.as_ref()?.join(href.trim()).ok());
                    if let Some(target) = target.filter(|target| target.scheme() != "javascript") {
                        out.add_text(2, said(element, &[]), |text| format!("{text} {target}"));
                    }
                }
                "li" => out.add_text(3, said(element, &["ul", "ol", "dl", "pre", "table"]), |text| text),
                "dt" => out.add_text(4, said(element, &[]), |text| text),
                "td" | "th" if is_data(element) => out.add_text(5, said(element, &[]), |text| text),
                "pre" => out.add_text(6, said(element, &[]), |text| text),
                _ => {}
            }
        }
        out
    }

    fn add_text(&mut self, kind: usize, text: String, part: impl FnOnce(String) -> String) {
        if text.contains(char::is_alphanumeric) {
            self.add(kind, part(text));
        }
    }

    fn add(&mut self, kind: usize, part: String) {
        *self.parts[kind].entry(part).or_default() += 1;
    }

    /// How many parts of each kind are in both, and how many there are here.
    pub(crate) fn common(&self, other: &Self) -> [(usize, usize); KINDS.len()] {
        std::array::from_fn(|kind| {
            let both =
                |(part, count): (&String, &usize)| (*count).min(other.parts[kind].get(part).copied().unwrap_or(0));
            (self.parts[kind].iter().map(both).sum(), self.parts[kind].values().sum())
        })
    }
}

impl PageParts {
    /// The first part of a kind, in the order of the alphabet, of which fewer are in the other.
    pub(crate) fn lost(&self, other: &Self, kind: usize) -> Option<String> {
        let is_lost = |(part, count): &(&String, &usize)| other.parts[kind].get(*part).copied().unwrap_or(0) < **count;
        self.parts[kind].iter().filter(is_lost).map(|(part, _)| part.clone()).min()
    }
}

/// The letters and digits of an element, outside some elements: signs and spaces are set
/// differently by everyone.
fn said(element: ElementRef<'_>, outside: &[&str]) -> String {
    let mut out = String::new();
    let mut next = vec![*element];
    while let Some(node) = next.pop() {
        match node.value() {
            Node::Text(text) => out.push_str(text),
            Node::Element(inner) => {
                let name = inner.name();
                let is_own = node.id() == element.id();
                if !is_own && (SILENT.contains(&name) || outside.contains(&name)) {
                    continue;
                }
                let is_apart = matches!(name, "br" | "td" | "th" | "li" | "p" | "div" | "dd" | "dt" | "tr");
                out.push_str(if is_apart { " " } else { "" });
                next.extend(node.children().rev());
            }
            _ => {}
        }
    }
    let words = out.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn is_silent(element: ElementRef<'_>) -> bool {
    let mut up = element.ancestors().filter_map(ElementRef::wrap);
    SILENT.contains(&element.value().name()) || up.any(|above| SILENT.contains(&above.value().name()))
}

/// Whether a cell belongs to a table of data: several rows and columns, no table inside.
fn is_data(cell: ElementRef<'_>) -> bool {
    let Some(table) = cell.ancestors().filter_map(ElementRef::wrap).find(|up| up.value().name() == "table") else {
        return false;
    };
    let (mut rows, mut cells) = (0, 0);
    for inner in table.descendent_elements().skip(1) {
        match inner.value().name() {
            "table" | "pre" | "h1" | "h2" | "h3" => return false,
            "tr" => rows += 1,
            "td" | "th" => cells += 1,
            _ => {}
        }
    }
    rows >= 2 && cells >= rows * 2
}
