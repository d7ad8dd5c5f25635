//! Which paragraph styles of a Word document are headings?
//!
//! A style is a heading by its outline level, by the name that Word gives it in every language, or
//! because it is based on one that is.

use crate::package::{Onward, XmlNode, walk_xml};
use std::collections::HashMap;

/// How long a chain of styles is followed.
const MAX_CHAIN: usize = 16;
/// Maximum number of styles.
const MAX_STYLES: usize = 20_000;

/// The heading levels of styles.
#[derive(Debug, Default)]
pub(super) struct HeadingStyles {
    levels: HashMap<String, u8>,
    /// The lists to which paragraphs of a style belong, and their levels.
    lists: HashMap<String, (u32, u32)>,
}

#[derive(Default)]
struct StyleFacts {
    id: String,
    based_on: Option<String>,
    level: Option<u8>,
    list: Option<u32>,
    list_level: u32,
}

impl HeadingStyles {
    /// The levels that a document's `styles.xml` gives.
    pub(super) fn of(xml: &str) -> Self {
        let mut styles: HashMap<String, StyleFacts> = HashMap::new();
        let mut current = StyleFacts::default();
        walk_xml(xml, |node| {
            match node {
                XmlNode::Open(tag) => match tag.name() {
                    "style" => {
                        current = StyleFacts {
                            id: tag.attr("styleId").unwrap_or_default().into_owned(),
                            ..StyleFacts::default()
                        };
                    }
                    "name" => current.level = current.level.or(tag.attr("val").and_then(|n| heading_by_name(&n))),
                    "basedOn" => current.based_on = tag.attr("val").map(Into::into),
                    "numId" => current.list = tag.number("val"),
                    "ilvl" => current.list_level = tag.number("val").unwrap_or(0),
                    "outlineLvl" => current.level = outline(tag.number("val")).or(current.level),
                    "rPr" | "tblPr" => return Onward::Skip,
                    _ => {}
                },
                XmlNode::Close("style") if styles.len() < MAX_STYLES => {
                    let style = std::mem::take(&mut current);
                    styles.insert(style.id.clone(), style);
                }
                _ => {}
            }
            Onward::Read
        });
        let levels = styles.keys().filter_map(|id| Some((id.clone(), level(&styles, id)?))).collect();
        let list = |id: &String| {
            let own = chain(&styles, id).find_map(|style| Some((style.list?, style.list_level)))?;
            Some((id.clone(), own))
        };
        Self { levels, lists: styles.keys().filter_map(list).collect() }
    }

    /// The list to which paragraphs of a style belong, and their level in it.
    pub(super) fn list(&self, style: &str) -> Option<(u32, u32)> {
        self.lists.get(style).copied()
    }

    /// The level of a style, if it is a heading.
    pub(super) fn level(&self, style: &str) -> Option<u8> {
        self.levels.get(style).copied()
    }
}

fn level(styles: &HashMap<String, StyleFacts>, id: &str) -> Option<u8> {
    chain(styles, id).find_map(|style| style.level)
}

/// A style, and those that it is based on.
fn chain<'s>(styles: &'s HashMap<String, StyleFacts>, id: &str) -> impl Iterator<Item = &'s StyleFacts> {
    let based_on = |style: &&'s StyleFacts| styles.get(style.based_on.as_deref()?);
    std::iter::successors(styles.get(id), based_on).take(MAX_CHAIN)
}

/// The level of a style that is a heading by its name.
pub(crate) fn heading_by_name(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(1);
    }
    name.strip_prefix("heading ")?.parse().ok().filter(|n| (1..=9).contains(n)).map(|n: u8| n.min(6))
}

/// The level of an outline level; 9 is that of ordinary text.
pub(super) fn outline(level: Option<u32>) -> Option<u8> {
    level.filter(|&l| l < 9).and_then(|l| u8::try_from(l + 1).ok()).map(|l| l.min(6))
}
