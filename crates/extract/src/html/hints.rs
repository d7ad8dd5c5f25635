//! What does a page declare about itself and its elements, besides its text?
//!
//! The attributes that [`super::sketch`] needs, for one tag at a time, and the declarations it
//! passes on the way: `<meta>`, JSON-LD, `<time>`. Everything is a slice of the source; nothing is
//! decoded before somebody asks.

use super::name::{LONG, NameKey, Tag, key};
use super::scan::Attributes;
use std::ops::Range;

/// Maximum number of declarations of each kind.
const MOST: usize = 500;
/// Maximum length of one JSON-LD script in bytes.
const LONGEST_SCRIPT: usize = 1 << 20;

/// An attribute that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Hint {
    Id,
    Class,
    Role,
    ItemProp,
    Style,
    Hidden,
    AriaHidden,
    Href,
    Content,
    Name,
    Property,
    Datetime,
    Type,
    Lang,
    Encoding,
    Rel,
    /// An attribute that makes a `<font>` break out of SVG.
    Font,
}

const COUNT: usize = Hint::Font as usize + 1;

/// The attributes of the current tag. The first of two with the same name counts.
#[derive(Debug)]
pub(super) struct TagNames<'a> {
    src: &'a str,
    present: u32,
    values: [(u32, u32); COUNT],
}

impl<'a> TagNames<'a> {
    pub(super) fn new(src: &'a str) -> Self {
        Self { src, present: 0, values: [(0, 0); COUNT] }
    }

    pub(super) fn has(&self, hint: Hint) -> bool {
        self.present & (1 << hint as u32) != 0
    }

    /// The value of an attribute as written; empty if it is absent.
    pub(super) fn get(&self, hint: Hint) -> &'a str {
        let (start, end) = self.values[hint as usize];
        if self.has(hint) { self.src.get(start as usize..end as usize).unwrap_or("") } else { "" }
    }

    /// Whether the tag hides its element.
    pub(super) fn hides(&self) -> bool {
        let styled = || {
            let mut style = self.get(Hint::Style).to_ascii_lowercase();
            style.retain(|c| !c.is_ascii_whitespace());
            style.contains("display:none") || style.contains("visibility:hidden")
        };
        self.has(Hint::Hidden)
            || (self.has(Hint::AriaHidden) && self.get(Hint::AriaHidden).eq_ignore_ascii_case("true"))
            || (self.has(Hint::Style) && styled())
    }
}

impl Attributes for TagNames<'_> {
    fn clear(&mut self) {
        self.present = 0;
    }

    fn attribute(&mut self, key: NameKey, name: Range<usize>, value: Range<usize>) {
        let Some(hint) = hint(key, || self.src.as_bytes().get(name).unwrap_or(&[])) else { return };
        if !self.has(hint)
            && let (Ok(start), Ok(end)) = (u32::try_from(value.start), u32::try_from(value.end))
        {
            self.present |= 1 << hint as u32;
            self.values[hint as usize] = (start, end);
        }
    }
}

macro_rules! hints {
    ($($variant:ident $name:literal,)*) => {
        #[allow(non_upper_case_globals, reason = "named like the variants, so that a match on them is one switch")]
        mod hint_keys { $(pub(super) const $variant: super::NameKey = super::key($name);)* }

        fn hint<'n>(written: NameKey, name: impl FnOnce() -> &'n [u8]) -> Option<Hint> {
            match written {
                $(hint_keys::$variant => Some(Hint::$variant),)*
                FONT_COLOR | FONT_FACE | FONT_SIZE => Some(Hint::Font),
                LONG if name().eq_ignore_ascii_case(b"aria-hidden") => Some(Hint::AriaHidden),
                _ => None,
            }
        }
    };
}

const FONT_COLOR: NameKey = key("color");
const FONT_FACE: NameKey = key("face");
const FONT_SIZE: NameKey = key("size");

hints! {
    Id "id",
    Class "class",
    Role "role",
    ItemProp "itemprop",
    Style "style",
    Hidden "hidden",
    Href "href",
    Content "content",
    Name "name",
    Property "property",
    Datetime "datetime",
    Type "type",
    Lang "lang",
    Encoding "encoding",
    Rel "rel",
}

/// A date in the markup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeElement<'a> {
    /// Its `datetime`, as written.
    pub(crate) datetime: &'a str,
    /// Its `itemprop` and classes.
    pub(crate) names: [&'a str; 2],
    /// Number of blocks before it.
    pub(crate) block: usize,
}

/// A text that the markup calls the name of an author.
#[derive(Clone, Debug)]
pub(crate) struct SignedText {
    pub(crate) text: String,
    /// Whether the markup says so by a standard (`rel`, `itemprop`) rather than by a class.
    pub(crate) is_standard: bool,
    /// Number of blocks before it.
    pub(crate) block: usize,
}

/// What a page declares, as written.
#[derive(Debug, Default)]
pub(crate) struct Declared<'a> {
    /// The names and contents of its `<meta>` elements.
    pub(crate) metas: Vec<(&'a str, &'a str)>,
    /// Its JSON-LD.
    pub(crate) scripts: Vec<&'a str>,
    /// Its `<time>` elements.
    pub(crate) times: Vec<TimeElement<'a>>,
    /// What its elements call authors, in the order in which they end.
    pub(crate) signed: Vec<SignedText>,
    /// The blocks that hold what its elements call the price of an offer.
    pub(crate) prices: Vec<usize>,
    /// The language of its root element.
    pub(crate) lang: &'a str,
}

/// Whether an element is called the price of an offer.
fn is_price(names: &TagNames<'_>) -> bool {
    names.has(Hint::ItemProp) && names.get(Hint::ItemProp).eq_ignore_ascii_case("price")
}

impl<'a> Declared<'a> {
    /// Handles a start tag after `block` blocks.
    pub(super) fn start(&mut self, tag: Tag, is_time: bool, names: &TagNames<'a>, block: usize) {
        match tag {
            Tag::Meta if names.has(Hint::Content) && self.metas.len() < MOST => {
                let name = [Hint::Property, Hint::Name, Hint::ItemProp].into_iter().find(|hint| names.has(*hint));
                if let Some(name) = name {
                    self.metas.push((names.get(name), names.get(Hint::Content)));
                }
            }
            Tag::Html if self.lang.is_empty() => self.lang = names.get(Hint::Lang),
            _ if is_time && names.has(Hint::Datetime) && self.times.len() < MOST => {
                let datetime = names.get(Hint::Datetime);
                let names = [names.get(Hint::ItemProp), names.get(Hint::Class)];
                self.times.push(TimeElement { datetime, names, block });
            }
            _ if self.prices.len() < MOST && is_price(names) => self.prices.push(block),
            _ => {}
        }
    }

    /// Adds the text of a script if it is JSON-LD.
    pub(super) fn script(&mut self, kind: &str, text: &'a str) {
        let is_linked = || kind.trim().to_ascii_lowercase().starts_with("application/ld+json");
        if kind.len() >= 11 && text.len() <= LONGEST_SCRIPT && self.scripts.len() < MOST && is_linked() {
            self.scripts.push(text);
        }
    }

    /// The content of the first non-empty `<meta>` with one of these names, in order of the names.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&'a str> {
        let of = |name: &&str| {
            let mut found = self.metas.iter().filter(|(written, _)| written.trim().eq_ignore_ascii_case(name));
            found.find(|(_, content)| !content.trim().is_empty()).map(|(_, content)| *content)
        };
        names.iter().find_map(of)
    }
}
