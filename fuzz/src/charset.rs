//! Is a text decoded with the encoding that is reported for it?
//!
//! The oracle is encoding_rs with the encoding that the document names.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8};
use orb_extract::{Content, encoded, extract, sniff, text_of};

const LABELS: &[Option<&str>] = &[
    None,
    Some("utf-8"),
    Some("latin1"),
    Some("shift_jis"),
    Some("utf-16le"),
    Some("iso-2022-jp"),
    Some("nonsense"),
    Some("gb18030"),
];

/// A document in any encoding, declared in any way. Input: a byte for the server's header, then the
/// document.
pub fn charset(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let charset = LABELS[usize::from(choice & 7)];
    let mime = Some(if choice & 8 == 0 { "text/html" } else { "text/plain" });
    let content = Content { bytes, mime, charset, url: "http://example.jp/" };
    let doc = extract(&content);
    // A compressed document is decoded as what is inside it.
    let is_packed = matches!(&*sniff(bytes, mime), "application/gzip" | "application/zstd");
    let Some(name) = doc.charset.as_deref().filter(|_| !is_packed) else { return };
    let encoding = Encoding::for_label(name.as_bytes()).unwrap_or(REPLACEMENT);
    assert_eq!(encoding.name(), name);
    let text = text_of(&content);
    let (body, marked) = match Encoding::for_bom(bytes) {
        Some((by_mark, length)) => (&bytes[length..], Some(by_mark)),
        None => (bytes, None),
    };
    assert_eq!(text, encoding.decode_without_bom_handling(body).0, "{name}");
    let said = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    match (marked, said) {
        (Some(by_mark), _) => assert_eq!(by_mark, encoding, "the mark wins"),
        (None, Some(said)) if said != UTF_8 => assert_eq!(said, encoding, "the server wins"),
        _ => {}
    }
    if encoding == UTF_8 && std::str::from_utf8(body).is_ok() {
        assert!(doc.problems.iter().all(|p| !p.code.starts_with("charset")), "{:?}", doc.problems);
    }
    assert!(encoded(&text, name).len() <= 12 * text.len() + 16, "{name}");
}
