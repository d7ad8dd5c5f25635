//! Which part of a page is an element, however often the page is rewritten?
//!
//! Elements are identified by their names from the outermost inwards, with ids and classes up to
//! what is generated for every response, and independently of their position among siblings.

use super::name::Tag;
use super::outline::OutlineElement;
use crate::simhash::{hash, mix};
use std::sync::Arc;

/// Maximum length of an id or class in characters.
const NAME: usize = 32;
/// Multiplier that mixes the bits of a path.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The place of an element.
#[derive(Debug)]
pub(super) struct ElementPlace {
    /// Hash of its names and those of its ancestors.
    pub(super) path: u64,
    /// Whether one of them has an id or a class.
    pub(super) named: bool,
    /// For people.
    pub(super) place: Arc<str>,
    /// The nearest ancestor with a name.
    anchor: Option<Arc<str>>,
}

/// The places of all elements, in their order.
pub(super) fn places(frames: &[OutlineElement<'_>]) -> Vec<ElementPlace> {
    let mut out: Vec<ElementPlace> = Vec::with_capacity(frames.len());
    for frame in frames {
        let above = frame.parent.and_then(|p| out.get(p));
        let placed = place(frame, above);
        out.push(placed);
    }
    out
}

fn place(element: &OutlineElement<'_>, above: Option<&ElementPlace>) -> ElementPlace {
    let mut label = element.name.to_ascii_lowercase();
    let plain = label.len();
    if let Some(id) = steady(element.id) {
        label = format!("{label}#{id}");
    }
    for class in element.class.split_ascii_whitespace().filter_map(steady).take(2) {
        label = format!("{label}.{class}");
    }
    let own = label.len() > plain;
    let anchor = if own { Some(Arc::from(label.as_str())) } else { above.and_then(|f| f.anchor.clone()) };
    let place = match &anchor {
        Some(anchor) if !own => format!("{anchor} {label}").into(),
        _ => Arc::from(label.as_str()),
    };
    let bytes = label.as_bytes();
    let is_named = own || matches!(element.tag, Tag::Aside | Tag::Footer | Tag::Nav);
    ElementPlace {
        path: mix(above.map_or(0, |f| f.path).rotate_left(5) ^ hash(bytes, 0, bytes.len()), SPREAD),
        named: is_named || above.is_some_and(|f| f.named),
        place,
        anchor,
    }
}

/// The part of an id or class that is likely to be stable: everything before the first component
/// with a digit (`ad-b04e` is `ad`). If the first component has one, its leading letters count if
/// only digits follow: `ad17` is `ad`, `b04e` is nothing.
fn steady(name: &str) -> Option<String> {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    let digit = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (before, rest) = name.split_at(digit);
    let kept = match before.rfind(|c: char| !c.is_alphanumeric()) {
        Some(end) if !rest.is_empty() => &before[..end],
        _ if rest.chars().take_while(|c| c.is_alphanumeric()).all(|c| c.is_ascii_digit()) => before,
        _ => "",
    };
    let kept = kept.trim_end_matches(|c: char| !c.is_alphanumeric());
    (!kept.is_empty()).then(|| kept.chars().take(NAME).collect::<String>().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::steady;

    #[test]
    fn what_is_generated_for_every_answer_is_no_part_of_a_name() {
        for (name, kept) in [
            ("ad-b04e", "ad"),
            ("ad-fb1f7d", "ad"),
            ("top_ad-7f3a", "top_ad"),
            ("ad17", "ad"),
            ("Header_title__3xK9a", "header_title"),
            ("col-md-6", "col-md"),
            ("--menu--", "menu"),
            ("b04e", ""),
            ("7f", ""),
            ("ad-é1", "ad"),
            ("", ""),
        ] {
            assert_eq!(steady(name).unwrap_or_default(), kept, "{name}");
        }
    }
}
