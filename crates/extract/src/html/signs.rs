//! Which elements hold the name of an author?
//!
//! `<a rel=author>`, `itemprop=author` and classes such as `byline`, most of them on elements
//! within a line, which the outline does not see. The text of such an element is collected while
//! it is open. What stands in a comment is not excluded here: whoever asks knows what is around.

use super::hints::{Declared, Hint, SignedText, TagNames};

/// Maximum number of names that are collected, and of such elements within each other.
const MOST: usize = 200;
const DEEPEST: usize = 4;
/// Maximum length of a name with what stands around it, in bytes.
const LONGEST: usize = 200;
/// How much of a class is read.
const CLASS: usize = 200;

/// Parts of the classes of names, and of those that only contain them.
const NAMES: &[&str] = &["author", "byline", "autor", "auteur"];
const OTHERS: &[&str] = &["comment", "avatar", "image", "bio", "form", "box", "authority", "authoriz", "authoris"];

/// An open element that holds a name.
#[derive(Debug)]
struct OpenSign<'a> {
    name: &'a [u8],
    /// Number of open elements of the same name.
    depth: u32,
    is_standard: bool,
    /// Where its text begins.
    from: usize,
    block: usize,
}

/// The open elements that hold names.
#[derive(Debug, Default)]
pub(super) struct Signs<'a> {
    open: Vec<OpenSign<'a>>,
}

impl<'a> Signs<'a> {
    /// Handles the start tag of an element that can hold text, where `from` is the length of the
    /// text so far.
    pub(super) fn start(&mut self, name: &'a [u8], names: &TagNames<'a>, from: usize, block: usize) {
        for sign in self.open.iter_mut().filter(|sign| sign.name.eq_ignore_ascii_case(name)) {
            sign.depth = sign.depth.saturating_add(1);
        }
        let is_named = |hint: Hint| names.has(hint) && has_word(names.get(hint), "author");
        let is_standard = is_named(Hint::Rel) || is_named(Hint::ItemProp);
        if self.open.len() < DEEPEST && (is_standard || (names.has(Hint::Class) && is_sign(names.get(Hint::Class)))) {
            self.open.push(OpenSign { name, depth: 1, is_standard, from, block });
        }
    }

    /// Handles an end tag.
    pub(super) fn end(&mut self, name: &[u8], text: &str, out: &mut Declared<'_>) {
        for sign in self.open.iter_mut().filter(|sign| sign.name.eq_ignore_ascii_case(name)) {
            sign.depth = sign.depth.saturating_sub(1);
        }
        while let Some(sign) = self.open.pop_if(|sign| sign.depth == 0) {
            let said = text.get(sign.from..).unwrap_or("").trim();
            if (1..=LONGEST).contains(&said.len()) && out.signed.len() < MOST {
                let OpenSign { is_standard, block, .. } = sign;
                out.signed.push(SignedText { text: said.to_owned(), is_standard, block });
            }
        }
    }
}

fn has_word(text: &str, wanted: &str) -> bool {
    text.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted))
}

/// Whether a class is one of names.
fn is_sign(classes: &str) -> bool {
    let classes = classes.get(..CLASS).unwrap_or(classes).to_ascii_lowercase();
    let has = |class: &str, parts: &[&str]| parts.iter().any(|part| class.contains(part));
    classes.split_ascii_whitespace().any(|class| has(class, NAMES) && !has(class, OTHERS))
}
