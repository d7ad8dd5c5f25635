//! Who wrote a page?
//!
//! What declarations claim counts if the text bears it out; failing that, what the markup near the
//! headline calls an author. A byline is taken apart into names: without the words before them, the
//! date and the role behind them.

use super::{Surroundings, meta};
use crate::facts::linked::Claims;
use crate::html::outline::Outline;

/// Maximum length of an author's name in characters.
const NAME: usize = 80;
/// Maximum number of authors.
const MOST: usize = 5;

/// `<meta>` names of authors.
const AUTHORS: &[&str] =
    &["author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "citation_author"];
/// Words before a name in a byline.
const BY: &[&str] = &[
    "by",
    "von",
    "par",
    "por",
    "di",
    "da",
    "door",
    "av",
    "af",
    "text",
    "texte",
    "testo",
    "texto",
    "autor",
    "autorin",
    "author",
    "authors",
    "auteur",
    "autore",
    "words",
    "written",
    "posted",
    "published",
    "publié",
    "écrit",
    "geschrieben",
    "veröffentlicht",
    "verfasst",
    "escrito",
    "interview",
    "reported",
    "post",
    "yazar",
    "автор",
    "作者",
    "文",
];
/// Words between two names.
const AND: &[&str] = &[" and ", " und ", " et ", " y ", " e ", " & ", " en ", " och ", " og ", ";"];
/// Where a name ends.
const ENDS: &[&str] =
    &["|", "·", "•", "–", "—", " - ", "(", "»", " on ", " am ", " le ", " sagt", " says", " schreibt"];
/// Words of what is a role, a place of work or a link rather than a name.
const OTHERS: &[&str] = &[
    "account",
    "posts",
    "post",
    "articles",
    "editor",
    "reporter",
    "writer",
    "correspondent",
    "staff",
    "redakteur",
    "redakteurin",
    "journalist",
    "contributor",
    "profile",
    "profil",
    "more",
    "mehr",
    "view",
    "follow",
    "folgen",
    "read",
    "share",
    "comments",
    "kommentare",
    "log",
    "login",
    "about",
    "über",
    "admin",
    "administrator",
    "webmaster",
    "unknown",
    "anonymous",
    "gast",
    "guest",
    "website",
    "newsletter",
    "contact",
    "kontakt",
    "email",
    "twitter",
    "facebook",
    "author",
    "authors",
    "autor",
    "autoren",
    "byline",
    "redaktion",
    "foto",
    "fotos",
    "photo",
    "artikel",
    "article",
    "published",
    "updated",
];

/// The authors, separated by commas.
pub(super) fn author(outline: &Outline<'_>, claims: &Claims, near: &Surroundings<'_>) -> Option<String> {
    let claimed: Vec<&str> = claims.authors.iter().map(String::as_str).filter(|name| is_name(name)).collect();
    let declared = meta(&outline.declared, AUTHORS).filter(|name| is_name(name));
    let is_said = |name: &str| outline.text.contains(name) || outline.text.contains(&name.to_uppercase());
    let is_believed = |name: &&str| is_said(name) || declared.as_deref() == Some(*name);
    let believed: Vec<&str> = claimed.iter().copied().filter(is_believed).take(MOST).collect();
    if !believed.is_empty() {
        return Some(believed.join(", "));
    }
    let blocks = || near.blocks.iter().filter(|block| block.is_byline).map(|block| (block.text, false));
    let marked = || near.signed.iter().map(|signed| (signed.text.as_str(), signed.is_standard));
    let signed = || {
        // What is marked by a standard comes first.
        let (standard, other): (Vec<_>, Vec<_>) = marked().partition(|(_, is_standard)| *is_standard);
        let standard: Vec<String> = standard.into_iter().flat_map(|(text, _)| names(text, true)).collect();
        let found = if standard.is_empty() {
            other.into_iter().chain(blocks()).map(|(text, _)| names(text, false)).find(|names| !names.is_empty())
        } else {
            Some(standard)
        };
        found.map(distinct)
    };
    declared.filter(|name| is_said(name)).or_else(signed)
}

/// Names, each once.
fn distinct(names: Vec<String>) -> String {
    let mut out: Vec<String> = Vec::new();
    for name in names {
        if !out.contains(&name) && out.len() < MOST {
            out.push(name);
        }
    }
    out.join(", ")
}

/// Whether a text can be a name: not an address, a number or a sentence.
fn is_name(text: &str) -> bool {
    let words = text.split_whitespace().count();
    (1..=6).contains(&words)
        && text.chars().count() <= NAME
        && text.chars().any(char::is_alphabetic)
        && !text.contains("://")
        && !text.contains(['@', '<', '{', '/', ':', '\n'])
        && !text.chars().any(|c| c.is_ascii_digit())
}

/// The names in a byline. One that is a single word is believed only if the markup `is_sure`.
fn names(text: &str, is_sure: bool) -> Vec<String> {
    let mut rest = text.trim();
    while let Some((first, after)) = rest.split_once([' ', '\n', ':', '：']) {
        if !BY.contains(&first.to_lowercase().as_str()) && !first.is_empty() {
            break;
        }
        rest = after.trim_start_matches([' ', '\n', ':', '：']);
    }
    let digit = rest.find(|c: char| c.is_ascii_digit());
    let end = ENDS.iter().filter_map(|end| rest.find(end)).chain(digit).min().unwrap_or(rest.len());
    let mut parts: Vec<&str> = vec![rest.get(..end).unwrap_or("")];
    for and in AND {
        parts = parts.into_iter().flat_map(|part| part.split(and)).collect();
    }
    let mut out: Vec<String> = Vec::new();
    for part in parts {
        // Behind a comma or in the next line stands a second name, a role or a place.
        for (i, name) in part.split([',', '\n']).enumerate() {
            let name = name.trim().trim_end_matches([':', '-', ' ']).trim();
            let is_long = name.split_whitespace().count() >= 2 || is_ideographic(name);
            if is_person(name) && (is_long || (is_sure && i == 0)) {
                out.push(name.to_owned());
            }
        }
    }
    out
}

/// A name in Chinese, Japanese or Korean is a word.
fn is_ideographic(name: &str) -> bool {
    name.chars().all(|c| c.is_alphabetic() && c >= '\u{2E80}') && (2..=5).contains(&name.chars().count())
}

fn is_person(name: &str) -> bool {
    let is_capital = name.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_lowercase());
    let is_other = |word: &str| OTHERS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()));
    is_name(name) && is_capital && !name.to_lowercase().split_whitespace().any(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byline_is_taken_apart_into_names() {
        for (text, found) in [
            ("By Ann Smith", "Ann Smith"),
            ("Von Anna Schmidt und Karl Maier", "Anna Schmidt, Karl Maier"),
            ("Posted by Ann Smith on May 4, 2019", "Ann Smith"),
            ("Ann Smith, Senior Editor", "Ann Smith"),
            ("Markus M. Haefliger, London, Beat Bumbacher", "Markus M. Haefliger, Beat Bumbacher"),
            ("Text: Ann Smith | 12 comments", "Ann Smith"),
            ("Michael Blahm sagt:", "Michael Blahm"),
            ("作者：王小明", "王小明"),
            ("Your Account", ""),
            ("By\nAriel H\n-", "Ariel H"),
            ("Ann Smith\nKarl Maier\nPhilosopher", "Ann Smith, Karl Maier"),
            ("More Posts", ""),
            ("Sandra", ""),
            ("view all posts by", ""),
        ] {
            assert_eq!(names(text, false).join(", "), found, "{text}");
        }
        assert_eq!(names("Sandra", true), ["Sandra"]);
        assert!(names("admin", true).is_empty());
    }
}
