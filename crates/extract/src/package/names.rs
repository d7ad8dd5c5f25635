//! How are the names in a zip file spelt?
//!
//! In UTF-8 if they say so or if that is what they are, else in the code page of the first PCs
//! (APPNOTE.TXT, appendix D).

use std::borrow::Cow;

/// The upper half of code page 437.
const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";

/// A name as text, with the separators of zip.
pub(super) fn name(bytes: &[u8]) -> Cow<'_, str> {
    let name = match std::str::from_utf8(bytes) {
        Ok(name) => Cow::Borrowed(name),
        Err(_) => bytes.iter().map(|&b| character(b)).collect::<String>().into(),
    };
    if name.contains('\\') { name.replace('\\', "/").into() } else { name }
}

fn character(byte: u8) -> char {
    match byte.checked_sub(0x80) {
        None => char::from(byte),
        Some(place) => UPPER.chars().nth(usize::from(place)).unwrap_or('\u{FFFD}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_utf8_or_in_the_old_code_page() {
        assert_eq!(UPPER.chars().count(), 128);
        assert_eq!(name("a\\ü".as_bytes()), "a/ü");
        assert_eq!(name(b"B\x81ro\xFF"), "Büro\u{A0}");
    }
}
