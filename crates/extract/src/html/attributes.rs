//! What does a tag carry?
//!
//! The attributes the reader acts upon, for one tag at a time: one slot per attribute and a bit
//! mask of those present. Unknown attributes cost nothing and are not stored. The first of two
//! attributes with the same name wins, as in a browser, without comparing names, so a tag with a
//! million attributes takes linear time.

use super::name::{Attr, NameKey};
use super::scan::Attributes;
use crate::entity::{self, ReferenceContext};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum event handlers kept per tag.
const MAX_HANDLERS: usize = 16;

/// The attributes of the current tag.
#[derive(Debug)]
pub(crate) struct Slots<'a> {
    src: &'a str,
    present: u64,
    values: [(u32, u32); Attr::COUNT],
    handlers: Vec<(NameKey, Range<usize>)>,
}

impl Attributes for Slots<'_> {
    #[inline]
    fn clear(&mut self) {
        self.present = 0;
        self.handlers.clear();
    }

    #[inline]
    fn attribute(&mut self, key: NameKey, name: Range<usize>, value: Range<usize>) {
        let bytes = self.src.as_bytes().get(name).unwrap_or(&[]);
        if let Some(attr) = Attr::of(key, bytes) {
            if self.present & attr.bit() == 0
                && let (Ok(start), Ok(end)) = (u32::try_from(value.start), u32::try_from(value.end))
            {
                self.present |= attr.bit();
                self.values[attr as usize] = (start, end);
            }
        } else if bytes.len() > 2 && bytes.get(..2).is_some_and(|on| on.eq_ignore_ascii_case(b"on")) {
            self.handler(bytes, value);
        }
    }
}

impl<'a> Slots<'a> {
    /// Slots for the tags of this document.
    pub(crate) fn new(src: &'a str) -> Self {
        Self { src, present: 0, values: [(0, 0); Attr::COUNT], handlers: Vec::new() }
    }

    #[cold]
    fn handler(&mut self, name: &[u8], value: Range<usize>) {
        let hash =
            name.iter().fold(0, |h: NameKey, b| h.wrapping_mul(31).wrapping_add(NameKey::from(b.to_ascii_lowercase())));
        if self.handlers.len() < MAX_HANDLERS && self.handlers.iter().all(|(h, _)| *h != hash) {
            self.handlers.push((hash, value));
        }
    }

    /// Whether any attribute of a set, or an event handler, is present.
    #[inline]
    pub(crate) fn any_of(&self, set: u64) -> bool {
        self.present & set != 0 || !self.handlers.is_empty()
    }

    /// Whether an attribute is present.
    #[inline]
    pub(crate) fn has(&self, attr: Attr) -> bool {
        self.present & attr.bit() != 0
    }

    /// The raw value of an attribute.
    #[inline]
    pub(crate) fn written(&self, attr: Attr) -> Option<&'a str> {
        if !self.has(attr) {
            return None;
        }
        let (start, end) = self.values[attr as usize];
        self.src.get(start as usize..end as usize)
    }

    /// The value of an attribute with its references expanded.
    #[inline]
    pub(crate) fn get(&self, attr: Attr) -> Option<Cow<'a, str>> {
        self.written(attr).map(|v| entity::unescape(v, ReferenceContext::Attribute))
    }

    /// The value of an attribute; empty if absent.
    pub(crate) fn text(&self, attr: Attr) -> String {
        self.get(attr).map_or_else(String::new, Cow::into_owned)
    }

    /// The value of an attribute, trimmed and in lower case.
    pub(crate) fn lower(&self, attr: Attr) -> String {
        self.get(attr).map_or_else(String::new, |v| v.trim().to_ascii_lowercase())
    }

    /// The tokens of an attribute in lower case, separated by single spaces.
    pub(crate) fn tokens(&self, attr: Attr) -> String {
        let Some(written) = self.get(attr) else { return String::new() };
        let mut tokens = String::with_capacity(written.len());
        for token in written.split_ascii_whitespace() {
            if !tokens.is_empty() {
                tokens.push(' ');
            }
            tokens.push_str(token);
        }
        tokens.make_ascii_lowercase();
        tokens
    }

    /// The value of an attribute as a number of pixels.
    pub(crate) fn pixels(&self, attr: Attr) -> Option<u32> {
        let value = self.written(attr)?.trim_ascii_start();
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        let rest = value.get(digits..)?.trim_ascii_start();
        if rest.starts_with('%') { None } else { value.get(..digits)?.parse().ok() }
    }

    /// The values of inline event handlers.
    pub(crate) fn handlers(&self) -> impl Iterator<Item = Cow<'a, str>> {
        let values = self.handlers.iter().filter_map(|(_, range)| self.src.get(range.clone()));
        values.map(|v| entity::unescape(v, ReferenceContext::Attribute))
    }
}
