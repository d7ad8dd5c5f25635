//! What does a page say, apart from its own URL?
//!
//! Auto-generated pages (soft 404s, counters, calendars, pages behind session ids) differ from each
//! other only in numbers and in the URL they repeat. The gist of a short text is a hash of all its
//! other words; the gist of a long text is its SimHash, which a few words hardly change. Two pages
//! are near-duplicates if their gists differ in few bits.

use crate::simhash::{hash, mix};

/// Texts up to this many bytes are short: the SimHash of so few words changes with each of them.
const SHORT: usize = 2_000;

/// The gist of a page with this title, text and SimHash.
pub fn gist(title: &str, text: &str, url: &str, simhash: u64) -> u64 {
    if text.len() > SHORT {
        return simhash;
    }
    let words = title.split_ascii_whitespace().chain(text.split_ascii_whitespace());
    let words = words.map(|w| w.trim_matches(|c: char| c.is_ascii_punctuation()));
    let telling = words.filter(|w| !w.is_empty() && !w.bytes().any(|b| b.is_ascii_digit()) && !url.contains(w));
    telling.fold(0, |gist, w| mix(u64::rotate_left(gist, 5) ^ hash(w.as_bytes(), 0, w.len()), 0x9E37_79B9_7F4A_7C15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{distance, simhash};

    fn of(text: &str, url: &str) -> u64 {
        gist("", text, url, simhash(text))
    }

    #[test]
    fn numbers_and_the_pages_own_address_make_no_difference() {
        let missing = |path: &str| of(&format!("Sorry, {path} is not here. Try again."), &format!("http://h{path}"));
        assert_eq!(missing("/soft/abc"), missing("/soft/xyz/"));
        assert_eq!(of("Page 17 of many: next", "http://h/"), of("Page 18 of many: next", "http://h/"));
        assert_ne!(of("November", "http://h/"), of("December", "http://h/"));
        assert_ne!(gist("One", "", "http://h/", 0), gist("Two", "", "http://h/", 0));
    }

    #[test]
    fn long_pages_that_differ_in_a_word_are_near_and_others_are_far() {
        let prose = |n: u32, word: &str| {
            let words = (0..600).map(|i: u32| format!("w{} ", i.wrapping_mul(2_654_435_761 + n) % 5_000));
            words.collect::<String>() + word
        };
        let url = "http://h/";
        assert!(distance(of(&prose(0, "one"), url), of(&prose(0, "two"), url)) <= 6);
        assert!(distance(of(&prose(0, "one"), url), of(&prose(2, "one"), url)) > 16);
    }
}
