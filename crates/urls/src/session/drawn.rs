//! Was this word generated at random, or did somebody write it?
//!
//! Session ids are random so that nobody can guess them; names, dates, titles and page numbers are
//! not. A word counts as random when it has enough entropy (its length times the bits of the
//! alphabet it uses) and does not look written by a person: letters and digits alternate often, and
//! the runs between them do not read like words.

/// Minimum entropy of a random word, in bits. Seventeen digits have 56.
const LEAST_BITS: f32 = 55.0;

/// Longer words are not examined.
const LONGEST: usize = 200;

/// With this much entropy a word needs fewer switches between letters, digits and capitals.
const MANY_BITS: f32 = 80.0;

/// People do not write this many digits in one word, whatever letters are mixed in.
const MANY_DIGITS: usize = 14;

/// Character classes of a word, counted.
#[derive(Clone, Copy, Default)]
struct Makeup {
    digits: usize,
    lower: usize,
    upper: usize,
    signs: usize,
    beyond_hex: bool,
}

impl Makeup {
    fn of(word: &str) -> Self {
        let mut makeup = Self::default();
        for byte in word.bytes() {
            match byte {
                b'0'..=b'9' => makeup.digits += 1,
                b'a'..=b'z' => makeup.lower += 1,
                b'A'..=b'Z' => makeup.upper += 1,
                _ => makeup.signs += 1,
            }
            makeup.beyond_hex |= byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit();
        }
        makeup
    }

    const fn letters(self) -> usize {
        self.lower + self.upper
    }

    /// Bits per character of its alphabet.
    fn bits(self) -> f32 {
        match (self.letters() > 0, self.beyond_hex, self.lower > 0 && self.upper > 0) {
            (false, ..) => 3.32,
            (true, false, false) => 4.0,
            (true, true, false) => 5.17,
            (true, _, true) => 5.95,
        }
    }
}

/// The entropy of a word that looks random, judged from one session alone.
pub(super) fn bits(word: &str) -> Option<f32> {
    if !(10..=LONGEST).contains(&word.len()) {
        return None;
    }
    let makeup = Makeup::of(word);
    let count = makeup.letters() + makeup.digits;
    let bits = count as f32 * makeup.bits();
    if bits < LEAST_BITS || makeup.signs * 3 > count || is_date(word) || has_ending(word) {
        return None;
    }
    let least_turns = if bits < MANY_BITS { 3 } else { 2 };
    let drawn = match (makeup.letters(), makeup.digits) {
        (_, MANY_DIGITS..) => true,
        (_, 0) => makeup.lower > 0 && makeup.upper > 0 && bits >= MANY_BITS && turns(word) >= 3 && !is_wordy(word),
        (0, _) => true,
        _ => turns(word) >= least_turns && !is_wordy(word),
    };
    drawn.then_some(bits)
}

/// Whether a word may be an id, given that it changed between two sessions: a number or a code, but
/// not a word or a date.
pub(super) fn may_be_id(word: &str) -> bool {
    let makeup = Makeup::of(word);
    let long_enough = if makeup.digits > 0 { 4 } else { 10 };
    (long_enough..=LONGEST).contains(&word.len()) && !is_wordy(word) && !is_date(word) && !has_ending(word)
}

/// Whether two words may come from the same generator: the same alphabet, the same punctuation at
/// the same offsets, and a similar length.
pub(super) fn alike(a: &str, b: &str) -> bool {
    let (one, two) = (Makeup::of(a), Makeup::of(b));
    let few = |m: Makeup| m.letters() * 8 < m.digits;
    let cases = one.lower.min(two.upper) + one.upper.min(two.lower) > 0;
    let same_case = !cases || (one.lower.min(one.upper) > 0 || two.lower.min(two.upper) > 0);
    let same_letters = (one.letters() == 0) == (two.letters() == 0) || few(one) || few(two);
    same_case
        && same_letters
        && a.len().abs_diff(b.len()) * 4 <= a.len()
        && one.signs.abs_diff(two.signs) * 8 <= a.len()
}

/// Whether two words have the same length and the same punctuation at the same offsets.
pub(super) fn same_form(a: &str, b: &str) -> bool {
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric();
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(x, y)| is_sign(&x) == is_sign(&y) && (!is_sign(&x) || x == y))
}

/// How often letters and digits alternate, or a capital follows a lower-case letter.
fn turns(word: &str) -> usize {
    let pairs = word.as_bytes().windows(2);
    let turns = |a: u8, b: u8| {
        (a.is_ascii_digit() && b.is_ascii_alphabetic())
            || (a.is_ascii_alphabetic() && b.is_ascii_digit())
            || (a.is_ascii_lowercase() && b.is_ascii_uppercase())
    };
    pairs.filter(|pair| turns(pair[0], pair[1])).count()
}

/// For each letter `a` to `z`, the letters that follow it in words of European languages.
const FOLLOWERS: [&str; 26] = [
    "bcdgilmnprstuvwy",
    "aeilorsuy",
    "aehikloruty",
    "aeiorsudy",
    "acdeflmnprstvwxy",
    "aefiorut",
    "aehiloruy",
    "aeiorty",
    "acdefglmnoprstvz",
    "aoue",
    "eins",
    "adeiklosuyt",
    "abeimpouy",
    "acdegikostu",
    "bcdfiklmnoprstuvw",
    "aehiloprtus",
    "u",
    "acdegiklmnorstuy",
    "aceihkmopstuw",
    "aehilorstuwy",
    "bcdegilmnprst",
    "aeio",
    "aehino",
    "acptie",
    "eos",
    "aeo",
];

/// Whether a text reads like words: letters follow each other as they do in words, with few digits
/// or capitals in between.
fn is_wordy(word: &str) -> bool {
    let (mut pairs, mut spoken) = (0, 0);
    for pair in word.as_bytes().windows(2) {
        let (first, second) = (pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase());
        let turns = pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        if first.is_ascii_lowercase() && second.is_ascii_lowercase() && !turns {
            pairs += 1;
            let followers = FOLLOWERS.get(usize::from(first - b'a')).copied().unwrap_or_default();
            spoken += usize::from(followers.as_bytes().contains(&second));
        }
    }
    let count = word.bytes().filter(u8::is_ascii_alphanumeric).count();
    pairs * 3 >= count && spoken * 10 >= pairs * 7 && turns(word) * 5 < count
}

/// Whether it ends in a file extension.
fn has_ending(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=5).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
            && ending.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

/// Whether it starts with a date of the 20th or 21st century, such as `20240131` or `2024-01-31`,
/// followed only by digits and punctuation.
fn is_date(word: &str) -> bool {
    let digits: Vec<u8> = word.bytes().filter(u8::is_ascii_digit).take(8).map(|b| b - b'0').collect();
    let pair = |at: usize| digits.get(at).zip(digits.get(at + 1)).map(|(a, b)| a * 10 + b);
    let in_range = |at, most| pair(at).is_none_or(|n| (1..=most).contains(&n));
    !word.bytes().any(|b| b.is_ascii_alphabetic() && b != b'T' && b != b'Z')
        && matches!(pair(0), Some(19 | 20))
        && in_range(4, 12)
        && in_range(6, 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_real_sites_look_drawn() {
        for id in [
            "002-9355727-0611208",
            "104-5791018-2027935",
            "1PS2V6KKYBZ34F3RK1PJ",
            "15BNH99VVKBB0CDBQGQN",
            "C9204C12657A779A96E8D9A9D4CC5712",
            "a9f771393bd485eb75638d9d77172335",
            "b8138e6a7099286787ff3c62e3b71614",
            "M1BMILU43NQKTKGL4L2SFEQ",
            "lit3py55t21z5v55vlm25s55",
            "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
            "q3k9x0zt2mab",
            "7hG2kLp0QzR4",
        ] {
            assert!(bits(id).is_some(), "{id}");
            assert!(may_be_id(id), "{id}");
        }
    }

    #[test]
    fn what_people_write_does_not_look_drawn() {
        for word in [
            "left-nav",
            "sign-in-secure.html",
            "ATVPDKIKX0DER",
            "163187901",
            "2024-01-31",
            "20240131235959123",
            "978-0-306-40615-7",
            "internationalisation",
            "UserInfoSetVariables",
            "whatsNewController.jsp",
            "windows-11-pro-64-bit-german",
            "playstation5-slim-bundle2",
            "a-longer-title-with-2-words",
            "amb_link_29290301_30",
            "redirect-to-external-url",
            "3f2a9c1b7d.css",
            "1700000000123",
        ] {
            assert_eq!(bits(word), None, "{word}");
        }
    }

    #[test]
    fn words_and_dates_are_no_ids_even_when_they_change() {
        for word in
            ["winter", "2024-01-31", "20240131", "2024", "news-of-today", "index.html", "de", "12", "top10-charts"]
        {
            assert!(!may_be_id(word), "{word}");
        }
        for id in ["48213", "x7f3", "hgtrwqzpkbvc"] {
            assert!(may_be_id(id), "{id}");
        }
    }

    #[test]
    fn ids_of_one_maker_are_alike() {
        assert!(alike("002-9355727-0611208", "104-5791018-2027935"));
        assert!(alike("1PS2V6KKYBZ34F3RK1PJ", "15BNH99VVKBB0CDBQGQN"));
        assert!(!alike("48213", "a9f771393bd485eb75638d9d77172335"));
        assert!(!alike("A9F771393BD485EB", "a9f771393bd485eb"));
        assert!(same_form("002-9355727-0611208", "104-5791018-2027935"));
        assert!(!same_form("002-9355727-0611208", "104-57910182-027935"));
    }
}
