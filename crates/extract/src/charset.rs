//! Which character encoding is it in?
//!
//! Runs before any text is read, in the order of HTML 13.2.3.2: byte order mark, then the server's
//! `Content-Type`, then the document's declaration in its first 1,024 bytes, then a UTF-8 validity
//! check, then chardetng's guess from byte frequencies and the top-level domain. Valid UTF-8 is
//! never copied. One step goes beyond the standard so that no character is lost: a document
//! declared as UTF-8 whose bytes mostly are not is passed to the detector, and a problem is
//! recorded.

use crate::html::name::{NameKey, key};
use crate::html::scan::{Attributes, HtmlToken, Scanner};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::memchr;
use orb_page::Problem;
use std::borrow::Cow;
use std::ops::Range;

/// How many bytes the standard prescans for a declaration.
const PRESCAN: usize = 1_024;
/// How many bytes are prescanned if the standard's prescan finds nothing.
const LATE_PRESCAN: usize = 16 << 10;
/// How many bytes the detector sees.
const SAMPLE: usize = 64 << 10;

/// A decoded text and its encoding.
#[derive(Debug)]
pub(crate) struct DecodedText<'a> {
    /// The text.
    pub(crate) text: Cow<'a, str>,
    /// Its encoding.
    pub(crate) encoding: &'static Encoding,
    /// What was wrong with the encoding.
    pub(crate) problem: Option<Problem>,
}

/// Decodes a document, given the server's charset and the document's URL.
pub(crate) fn decode<'a>(bytes: &'a [u8], header: Option<&str>, url: &str) -> DecodedText<'a> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decode_as(bytes.get(length..).unwrap_or(&[]), encoding);
    }
    let said = header.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let declared = said.or_else(|| declared(bytes.get(..PRESCAN).unwrap_or(bytes)));
    match declared {
        Some(encoding) if encoding == UTF_8 => decode_alleged_utf8(bytes, url),
        Some(encoding) => decode_as(bytes, encoding),
        None => decode_undeclared(bytes, url),
    }
}

fn decode_undeclared<'a>(bytes: &'a [u8], url: &str) -> DecodedText<'a> {
    let escapes = memchr(0x1B, bytes.get(..SAMPLE).unwrap_or(bytes)).is_some();
    if !escapes && let Ok(text) = std::str::from_utf8(bytes) {
        return DecodedText { text: Cow::Borrowed(text), encoding: UTF_8, problem: None };
    }
    let late = bytes.get(PRESCAN..).and_then(|_| declared(bytes.get(..LATE_PRESCAN).unwrap_or(bytes)));
    decode_as(bytes, late.unwrap_or_else(|| guess(bytes, url, Utf8Detection::Allow)))
}

/// Decodes a text declared as UTF-8, unless most of its non-ASCII bytes are invalid.
fn decode_alleged_utf8<'a>(bytes: &'a [u8], url: &str) -> DecodedText<'a> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return DecodedText { text: Cow::Borrowed(text), encoding: UTF_8, problem: None };
    }
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes.get(..SAMPLE).unwrap_or(bytes).utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    if bad <= good {
        return decode_as(bytes, UTF_8);
    }
    let encoding = guess(bytes, url, Utf8Detection::Deny);
    let detail = format!("declared as UTF-8, which it is not; read as {}", encoding.name());
    DecodedText { problem: Some(Problem::new("charset-wrong", detail)), ..decode_as(bytes, encoding) }
}

fn decode_as<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> DecodedText<'a> {
    let (text, replaced) = encoding.decode_without_bom_handling(bytes);
    let problem = replaced.then(|| {
        let detail = format!("bytes that are no {} were replaced", encoding.name());
        Problem::new("charset-replaced", detail)
    });
    DecodedText { text, encoding, problem }
}

fn guess(bytes: &[u8], url: &str, utf8: Utf8Detection) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    detector.feed(sample, sample.len() == bytes.len());
    detector.guess(top_level_domain(url).as_ref().map(String::as_bytes), utf8)
}

/// The top-level domain of a URL's host in lower case; `None` if the host is not a plain name.
fn top_level_domain(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let label = host.trim_end_matches('.').rsplit_once('.')?.1;
    let plain = !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    plain.then(|| label.to_ascii_lowercase())
}

/// The encoding of an XML document in UTF-16 that begins with its declaration, if no byte order
/// mark says so. The declaration itself is not read (HTML, prescan, step 2).
pub(crate) fn utf16_declaration(start: &[u8]) -> Option<&'static Encoding> {
    let is_little = start.starts_with(b"<\0?\0x\0");
    let is_big = start.starts_with(b"\0<\0?\0x");
    is_little.then_some(UTF_16LE).or_else(|| is_big.then_some(UTF_16BE))
}

/// The encoding a document declares: XML declaration, `@charset` or `<meta>`.
fn declared(start: &[u8]) -> Option<&'static Encoding> {
    if let Some(encoding) = utf16_declaration(start) {
        return Some(encoding);
    }
    let label = xml_declaration(start).or_else(|| css_charset(start));
    let encoding = label.map_or_else(|| meta(start), Encoding::for_label)?;
    Some(match encoding {
        e if e == X_USER_DEFINED => WINDOWS_1252,
        e if e == UTF_16LE || e == UTF_16BE => UTF_8,
        e => e,
    })
}

fn xml_declaration(start: &[u8]) -> Option<&[u8]> {
    let rest = start.strip_prefix(b"<?xml")?;
    let declaration = rest.get(..memchr(b'>', rest)?)?;
    let at = memchr::memmem::find(declaration, b"encoding")? + 8;
    let value = declaration.get(at..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let quote = *value.first().filter(|b| matches!(b, b'"' | b'\''))?;
    let value = value.get(1..)?;
    value.get(..memchr(quote, value)?)
}

fn css_charset(start: &[u8]) -> Option<&[u8]> {
    let rest = start.strip_prefix(b"@charset \"")?;
    rest.get(..memchr(b'"', rest)?)
}

/// The attributes of a `<meta>` that may declare an encoding.
#[derive(Default)]
struct Declaration {
    charset: Option<Range<usize>>,
    content: Option<Range<usize>>,
    http_equiv: Option<Range<usize>>,
}

impl Attributes for Declaration {
    fn clear(&mut self) {
        *self = Self::default();
    }

    fn attribute(&mut self, name_key: NameKey, name: Range<usize>, value: Range<usize>) {
        let slot = if name_key == key("charset") {
            &mut self.charset
        } else if name_key == key("content") {
            &mut self.content
        } else if name_key == key("http-equiv") && name.len() == 10 {
            &mut self.http_equiv
        } else {
            return;
        };
        slot.get_or_insert(value);
    }
}

fn meta(start: &[u8]) -> Option<&'static Encoding> {
    let mut scanner = Scanner::of_bytes(start);
    let mut found = Declaration::default();
    while let Some(token) = scanner.next(&mut found) {
        if token != HtmlToken::Start || scanner.tag().key != key("meta") {
            continue;
        }
        let value = |range: &Option<Range<usize>>| range.clone().and_then(|r| start.get(r));
        let pragma = value(&found.http_equiv).is_some_and(|v| v.eq_ignore_ascii_case(b"content-type"));
        let by_pragma = || value(&found.content).filter(|_| pragma).and_then(in_content_type);
        let label = value(&found.charset).or_else(by_pragma);
        if let Some(encoding) = label.and_then(Encoding::for_label) {
            return Some(encoding);
        }
    }
    None
}

/// The `charset=` parameter of a content type, quoted or not (HTML, 2.7.6).
pub(crate) fn in_content_type(value: &[u8]) -> Option<&[u8]> {
    let mut rest = value;
    loop {
        let at = rest.windows(7).position(|w| w.eq_ignore_ascii_case(b"charset"))?;
        rest = rest.get(at + 7..)?;
        let Some(label) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let label = label.trim_ascii_start();
        return match label.first()? {
            quote @ (b'"' | b'\'') => {
                let inner = label.get(1..)?;
                inner.get(..memchr(*quote, inner)?)
            }
            _ => label.split(|b| b.is_ascii_whitespace() || *b == b';').next(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], header: Option<&str>, encoding: &str, text: &str) {
        let decoded = decode(bytes, header, "http://a.example/");
        assert_eq!((decoded.encoding.name(), &*decoded.text), (encoding, text));
    }

    #[test]
    fn a_byte_order_mark_wins_over_everything() {
        check(b"\xEF\xBB\xBF\xC3\xA9", Some("iso-8859-1"), "UTF-8", "é");
        check(b"\xFF\xFEa\0", None, "UTF-16LE", "a");
        check(b"\xFE\xFF\0a", None, "UTF-16BE", "a");
    }

    #[test]
    fn the_server_wins_over_the_document() {
        check(b"<meta charset=utf-8>\xE9", Some(" Latin1 "), "windows-1252", "<meta charset=utf-8>é");
        check(b"<meta charset=koi8-r>\xC1", Some("nonsense"), "KOI8-R", "<meta charset=koi8-r>а");
    }

    #[test]
    fn documents_declare_their_encoding_in_many_ways() {
        for start in [
            "<meta charset='shift_jis'>",
            "<!-- <meta charset=utf-8> --><META\tCHARSET=Shift_JIS >",
            "<meta content='text/html; charset=shift_jis' http-equiv=content-type>",
            "<meta http-equiv=Content-Type content='text/html;charset = \"shift_jis\"'>",
            "<?xml version='1.0' encoding='shift_jis'?>",
            "@charset \"shift_jis\";",
        ] {
            let bytes = [start.as_bytes(), b"\x82\xA0"].concat();
            check(&bytes, None, "Shift_JIS", &format!("{start}あ"));
        }
        check(b"<meta charset=utf-16>a", None, "UTF-8", "<meta charset=utf-16>a");
        check(b"<meta content='charset=koi8-r'>\xC3\xA9", None, "UTF-8", "<meta content='charset=koi8-r'>é");
    }

    #[test]
    fn an_xml_declaration_in_utf_16_is_one_without_a_mark_too() {
        let text = "<?xml version='1.0' encoding='latin1'?><html>é</html>";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        check(&little, None, "UTF-16LE", text);
        check(&big, None, "UTF-16BE", text);
        // The server wins, and three characters are needed. Nothing else is looked for.
        assert_eq!(decode(&little, Some("koi8-r"), "").encoding.name(), "KOI8-R");
        for other in ["<?XML version='1.0'?>", "<?p?>", " <?xml?>", "<!doctype html><meta charset=utf-16>"] {
            let bytes: Vec<u8> = other.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_ne!(decode(&bytes, None, "").encoding.name(), "UTF-16LE", "{other}");
        }
        assert_eq!(decode(b"<\0?\0x", None, "").encoding.name(), "UTF-8");
    }

    #[test]
    fn a_late_declaration_still_counts_before_a_guess() {
        let late = [" ".repeat(2000).as_bytes(), b"<meta charset=koi8-r>\xC1"].concat();
        assert_eq!(decode(&late, None, "").encoding.name(), "KOI8-R");
    }

    #[test]
    fn undeclared_text_is_utf_8_or_guessed() {
        check("é".as_bytes(), None, "UTF-8", "é");
        let russian = "Все люди рождаются свободными и равными в своём достоинстве и правах.";
        let (bytes, ..) = encoding_rs::WINDOWS_1251.encode(russian);
        let decoded = decode(&bytes, None, "http://a.ru/");
        assert_eq!((decoded.encoding.name(), &*decoded.text), ("windows-1251", russian));
    }

    #[test]
    fn a_document_called_utf_8_that_is_not_loses_no_character() {
        let decoded = decode(b"caf\xE9 na\xEFve", Some("utf-8"), "");
        assert_eq!((&*decoded.text, decoded.problem.map(|p| p.code)), ("café naïve", Some("charset-wrong".into())));
        let decoded = decode("éàü\u{20AC}".as_bytes().get(..8).unwrap_or(&[]), Some("utf-8"), "");
        assert_eq!((&*decoded.text, decoded.problem.map(|p| p.code)), ("éàü\u{FFFD}", Some("charset-replaced".into())));
    }

    #[test]
    fn valid_utf_8_is_not_copied() {
        assert!(matches!(decode("é".as_bytes(), Some("utf-8"), "").text, Cow::Borrowed(_)));
    }

    #[test]
    fn hosts_of_any_shape_give_a_domain_or_none() {
        for (url, tld) in [
            ("http://u:p@A.B.RU:80/x.y", Some("ru")),
            ("http://a.jp.", Some("jp")),
            ("http://[::1]/", None),
            ("http://é.ü/", None),
            ("x", None),
            ("http://./", None),
        ] {
            assert_eq!(top_level_domain(url).as_deref(), tld, "{url}");
        }
    }

    #[test]
    fn declarations_are_read_as_html5lib_expects() {
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/html5lib");
        let (mut ran, mut failures) = (0, Vec::new());
        for file in ["encoding1.dat", "encoding2.dat"] {
            let bytes = std::fs::read(data.join(file)).expect("the data");
            let text = WINDOWS_1252.decode_without_bom_handling(&bytes).0.into_owned();
            for case in text.split("#data\n").skip(1) {
                let (document, expected) = case.rsplit_once("\n#encoding\n").expect("an answer");
                let (document, ..) = WINDOWS_1252.encode(document);
                let marked = Encoding::for_bom(&document).map(|(e, _)| e);
                let early = || declared(document.get(..PRESCAN).unwrap_or(&document));
                let found = marked.or_else(early).or_else(|| declared(&document)).unwrap_or(WINDOWS_1252).name();
                let needs_a_browser = memchr::memmem::find(&document, b"document.write").is_some();
                ran += 1;
                if !needs_a_browser && !found.eq_ignore_ascii_case(expected.trim()) {
                    failures.push(format!("{found}, not {}: {}", expected.trim(), String::from_utf8_lossy(&document)));
                }
            }
        }
        assert!(failures.is_empty() && ran > 80, "{} of {ran} failed:\n{}", failures.len(), failures.join("\n"));
    }
}
