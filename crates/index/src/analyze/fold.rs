//! Which letter is meant, ignoring accents and case?
//!
//! Latin letters with diacritics are folded to their base letters, full-width forms to the usual
//! ones. Other scripts are only lower-cased, since their marks make different letters (й is not и).

use super::script::is_joiner;
use std::sync::LazyLock;

/// Base letters for U+00C0 to U+024F and U+1E00 to U+1EFF; `?` if there is no single one.
const LATIN: &[u8; 400] =
    b"aaaaaa?ceeeeiiiidnooooo?ouuuuy??aaaaaa?ceeeeiiiidnooooo?ouuuuy?yaaaaaaccccccccddddeeeeeeeeeegggg\
gggghhhhiiiiiiiiii??jjkkkllllll??llnnnnnn?nnoooooo??rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs\
bb?????ccdd??????ff?????kkl??n??oo??pp??????tttuu?vyyzz??????????????????????aaiioouuuuuuuuuu?aa\
aa????ggkkoooo??j???gg??nnaa??ooaaaaeeeeiiiioooorrrruuuusstt??hh????zzaaeeooooooooyy?????????l??\
???b????????????";
const LATIN_MORE: &[u8; 256] =
    b"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrr\
ssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy?s????aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee\
eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy??????";

/// In [`LETTERS`]: not part of a token, and not to be told by a table.
pub(super) const NO_LETTER: char = '\0';
pub(super) const UNTOLD: char = '\u{1}';

/// The folded form of every character that takes two bytes in UTF-8: Latin, Greek, Cyrillic, Hebrew
/// and Arabic. Asking the standard library about each letter takes several times as long.
pub(super) static LETTERS: LazyLock<Vec<char>> = LazyLock::new(|| (0..0x800).map(told).collect());

fn told(code: u32) -> char {
    let Some(c) = char::from_u32(code).filter(|c| !is_joiner(*c)) else { return UNTOLD };
    if !c.is_alphanumeric() {
        return NO_LETTER;
    }
    let mut folded = String::new();
    fold(c, &mut folded);
    let mut letters = folded.chars();
    letters.next().filter(|_| letters.next().is_none()).unwrap_or(UNTOLD)
}

/// Appends the folded form of a character.
pub(crate) fn fold(c: char, out: &mut String) {
    let code = u32::from(c);
    let letter = match code {
        0..0x80 => Some(c.to_ascii_lowercase()),
        0xc0..0x250 => under(LATIN, code - 0xc0),
        0x1e00..0x1f00 => under(LATIN_MORE, code - 0x1e00),
        0xff01..0xff5f => char::from_u32(code - 0xfee0).map(|c| c.to_ascii_lowercase()),
        _ => None,
    };
    match letter {
        Some(letter) => out.push(letter),
        None => match c {
            'Æ' | 'æ' | 'Ǽ' | 'ǽ' | 'Ǣ' | 'ǣ' => out.push_str("ae"),
            'Œ' | 'œ' => out.push_str("oe"),
            'ß' | 'ẞ' => out.push_str("ss"),
            'Þ' | 'þ' => out.push_str("th"),
            'Ĳ' | 'ĳ' => out.push_str("ij"),
            // A final sigma is the same letter.
            'ς' => out.push('σ'),
            _ => out.extend(c.to_lowercase()),
        },
    }
}

fn under(letters: &[u8], place: u32) -> Option<char> {
    let letter = usize::try_from(place).ok().and_then(|place| letters.get(place)).copied()?;
    (letter != b'?').then(|| char::from(letter))
}
