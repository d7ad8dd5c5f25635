//! Which number does a paragraph of a numbered list have?
//!
//! The text of a Word document does not contain the numbers of its lists; people see them, and
//! refer to them. `numbering.xml` has abstract lists of nine levels, each with a format and a
//! pattern such as `%1.%2)`, and lists that are based on them (ECMA-376-1, 17.9).

use crate::package::{Onward, XmlNode, XmlTag, walk_xml};
use std::collections::HashMap;

/// How many levels a list has.
const LEVELS: usize = 9;
/// Maximum number of lists.
const MAX_LISTS: usize = 20_000;
/// Maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 200;
/// The largest number that is written with letters or in the Roman way.
const MAX_SPELT: u32 = 3_999;

/// The lists of a document, and how far each of them has been counted.
#[derive(Debug, Default)]
pub(super) struct ListNumbers {
    patterns: HashMap<u32, Vec<ListLevel>>,
    /// The abstract list of each list, and where its levels begin instead.
    lists: HashMap<u32, (u32, [Option<u32>; LEVELS])>,
    /// The numbers of each abstract list so far.
    counts: HashMap<u32, [Option<u32>; LEVELS]>,
    /// The lists whose own beginnings have been used.
    begun: HashMap<u32, [bool; LEVELS]>,
}

/// How a level counts and what it shows.
#[derive(Clone, Debug, Default)]
struct ListLevel {
    start: u32,
    format: String,
    pattern: String,
}

/// Where in `numbering.xml` the reader is.
#[derive(Default)]
struct ListPlace {
    pattern: Option<u32>,
    list: Option<u32>,
    level: usize,
}

impl ListNumbers {
    /// The lists in `numbering.xml`.
    pub(super) fn of(xml: &str) -> Self {
        let mut numbers = Self::default();
        let mut place = ListPlace::default();
        walk_xml(xml, |node| {
            match node {
                XmlNode::Open(tag) => numbers.open(tag, &mut place),
                XmlNode::Close("abstractNum") => place.pattern = None,
                XmlNode::Close("num") => place.list = None,
                _ => {}
            }
            Onward::Read
        });
        numbers
    }

    fn open(&mut self, tag: &XmlTag<'_>, place: &mut ListPlace) {
        let level = || tag.number("ilvl").and_then(|l| usize::try_from(l).ok()).unwrap_or(0).min(LEVELS - 1);
        match tag.name() {
            "abstractNum" if self.patterns.len() < MAX_LISTS => {
                let id = tag.number("abstractNumId").unwrap_or(0);
                self.patterns.insert(id, vec![ListLevel::default(); LEVELS]);
                place.pattern = Some(id);
            }
            "num" if self.lists.len() < MAX_LISTS => {
                let id = tag.number("numId").unwrap_or(0);
                self.lists.insert(id, (u32::MAX, [None; LEVELS]));
                place.list = Some(id);
            }
            "lvl" | "lvlOverride" => place.level = level(),
            "abstractNumId" => {
                if let Some(list) = place.list.and_then(|id| self.lists.get_mut(&id)) {
                    list.0 = tag.number("val").unwrap_or(u32::MAX);
                }
            }
            "startOverride" => {
                if let Some(list) = place.list.and_then(|id| self.lists.get_mut(&id)) {
                    list.1[place.level] = tag.number("val");
                }
            }
            "start" | "numFmt" | "lvlText" => {
                let levels = place.pattern.and_then(|id| self.patterns.get_mut(&id));
                let Some(level) = levels.and_then(|levels| levels.get_mut(place.level)) else { return };
                let said = tag.attr("val").unwrap_or_default();
                match tag.name() {
                    "start" => level.start = said.parse().unwrap_or(0),
                    "numFmt" => level.format = said.into_owned(),
                    _ if said.len() <= MAX_PATTERN => level.pattern = said.into_owned(),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The number of the next paragraph of a list at a level; empty if it shows none.
    pub(super) fn next(&mut self, list: u32, level: u32) -> String {
        let level = usize::try_from(level).unwrap_or(0).min(LEVELS - 1);
        let Some((pattern, starts)) = self.lists.get(&list) else { return String::new() };
        let Some(levels) = self.patterns.get(pattern) else { return String::new() };
        let counts = self.counts.entry(*pattern).or_default();
        let begun = self.begun.entry(list).or_default();
        let own = starts[level].filter(|_| !std::mem::replace(&mut begun[level], true));
        counts[level] = Some(match (own, counts[level]) {
            (Some(start), _) => start,
            (None, Some(number)) => number.saturating_add(1),
            (None, None) => levels[level].start,
        });
        counts[level + 1..].fill(None);
        let mut shown = String::new();
        let mut chars = levels[level].pattern.chars();
        while let Some(c) = chars.next() {
            match (c, chars.as_str().chars().next().and_then(|c| c.to_digit(10))) {
                ('%', Some(digit)) if digit > 0 => {
                    chars.next();
                    let at = usize::try_from(digit - 1).unwrap_or(0);
                    let number = counts[at].unwrap_or(levels[at].start);
                    shown.push_str(&spelt(number, &levels[at].format));
                }
                _ => shown.push(c),
            }
        }
        // A bullet is a picture.
        if levels[level].format == "bullet" { String::new() } else { shown }
    }
}

/// A number in one of the formats (ECMA-376-1, 17.18.59); in digits if it is another one.
fn spelt(number: u32, format: &str) -> String {
    let is_small = (1..=MAX_SPELT).contains(&number);
    match format {
        "none" => String::new(),
        "lowerLetter" if is_small => letters(number),
        "upperLetter" if is_small => letters(number).to_uppercase(),
        "lowerRoman" if is_small => roman(number).to_lowercase(),
        "upperRoman" if is_small => roman(number),
        "decimalZero" => format!("{number:02}"),
        "ordinal" => format!("{number}{}", ending(number)),
        _ => number.to_string(),
    }
}

/// The ending of an ordinal number in English.
fn ending(number: u32) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// `a` to `z`, `aa` to `zz`: the same letter again and again.
fn letters(number: u32) -> String {
    let letter = char::from_u32(u32::from(b'a') + (number - 1) % 26).unwrap_or('a');
    std::iter::repeat_n(letter, usize::try_from((number - 1) / 26 + 1).unwrap_or(1)).collect()
}

fn roman(mut number: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1_000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut out = String::new();
    for (value, sign) in SIGNS {
        while number >= value {
            out.push_str(sign);
            number -= value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &str = "<w:numbering>\
        <w:abstractNum w:abstractNumId='7'>\
        <w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:start w:val='3'/><w:numFmt w:val='lowerRoman'/><w:lvlText w:val='%1-%2)'/></w:lvl>\
        <w:lvl w:ilvl='2'><w:start w:val='1'/><w:numFmt w:val='bullet'/><w:lvlText w:val='o'/></w:lvl></w:abstractNum>\
        <w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>\
        <w:num w:numId='2'><w:abstractNumId w:val='7'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='9'/></w:lvlOverride></w:num>\
        </w:numbering>";

    #[test]
    fn levels_count_on_and_begin_anew_below_each_other() {
        let mut lists = ListNumbers::of(LISTS);
        let asked = [(1, 0), (1, 1), (1, 1), (1, 2), (1, 0), (1, 1), (2, 0), (2, 0), (3, 0), (1, 99)];
        let told: Vec<String> = asked.iter().map(|&(list, level)| lists.next(list, level)).collect();
        assert_eq!(told, ["1.", "1-iii)", "1-iv)", "", "2.", "2-iii)", "9.", "10.", "", ""]);
    }

    #[test]
    fn numbers_are_spelt_in_several_ways() {
        let told: Vec<String> = [
            (28, "lowerLetter"),
            (3, "upperLetter"),
            (1994, "upperRoman"),
            (4, "decimalZero"),
            (5, "chicago"),
            (0, "lowerRoman"),
        ]
        .iter()
        .map(|&(number, format)| spelt(number, format))
        .collect();
        assert_eq!(told, ["bb", "C", "MCMXCIV", "04", "5", "0"]);
        assert_eq!(spelt(u32::MAX, "lowerLetter"), "4294967295");
    }
}
