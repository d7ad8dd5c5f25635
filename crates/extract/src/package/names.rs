//! How are the names in a zip file spelt?
//!
//! In UTF-8 if they say so or if that is what they are, else in the code page of the first PCs
//! (APPNOTE.TXT, appendix D), or, in East Asia, of the PC on which they were packed: that is
//! guessed from all names together.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS};
use std::borrow::Cow;

/// How much of the names is looked at.
const ENOUGH: usize = 64 << 10;

/// The upper half of code page 437.
const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";

/// The East Asian encoding of names that are not in UTF-8, if that is what they are in.
pub(super) fn encoding<'a>(names: impl Iterator<Item = &'a [u8]>) -> Option<&'static Encoding> {
    let mut all: Vec<u8> = Vec::new();
    for name in names.filter(|name| std::str::from_utf8(name).is_err()) {
        all.extend_from_slice(name);
        all.push(b'\n');
        if all.len() > ENOUGH {
            break;
        }
    }
    if all.is_empty() {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&all, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let is_one = [BIG5, EUC_JP, EUC_KR, GBK, SHIFT_JIS].contains(&guess);
    (is_one && !guess.decode_without_bom_handling(&all).1).then_some(guess)
}

/// A name as text, with the separators of zip.
pub(super) fn name<'a>(bytes: &'a [u8], encoding: Option<&'static Encoding>) -> Cow<'a, str> {
    let name = match (std::str::from_utf8(bytes), encoding) {
        (Ok(name), _) => Cow::Borrowed(name),
        (Err(_), Some(encoding)) => encoding.decode_without_bom_handling(bytes).0,
        (Err(_), None) => bytes.iter().map(|&b| character(b)).collect::<String>().into(),
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
        assert_eq!(name("a\\ü".as_bytes(), None), "a/ü");
        assert_eq!(encoding([&b"B\x81ro\xFF"[..]].into_iter()), None);
        assert_eq!(name(b"B\x81ro\xFF", None), "Büro\u{A0}");
    }

    #[test]
    fn names_from_east_asia_are_told_by_all_of_them() {
        for (text, own) in [("集团邮件审计系统自动巡检需求文档", GBK), ("これは日本語の文章です", SHIFT_JIS)]
        {
            let (bytes, _, _) = own.encode(text);
            let told = encoding([&bytes[..], b"plain.txt"].into_iter());
            assert_eq!(told, Some(own), "{text}");
            assert_eq!(name(&bytes, told), text);
        }
        assert_eq!(encoding([&b"plain.txt"[..]].into_iter()), None);
    }
}
