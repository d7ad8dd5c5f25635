//! What is it really?
//!
//! The media type, from the server's `Content-Type` and the first bytes: the parts of the WHATWG
//! MIME Sniffing standard that matter to a crawler. The server is believed except where servers are
//! known to be wrong: a missing or meaningless type, `text/plain` for everything, feeds and
//! sitemaps served as HTML, and files with an unmistakable signature.

mod containers;
mod mail;
mod signatures;

pub(crate) use containers::{
    COMPOUND, EXCEL, OUTLOOK, POWERPOINT, PROTECTED, SPREADSHEET_XML, WORD, WORD_PARTS_XML, WORD_XML, compound_kind,
    is_office,
};

use memchr::memmem;
use signatures::SIGNATURES;
use std::borrow::Cow;

/// How many bytes are examined.
const HEADER: usize = 1_445;

/// Signatures of at most this length are too weak to overrule the server.
const WEAK: usize = 4;

/// The tags that identify HTML, as listed in the standard.
const HTML_TAGS: &[&str] = &[
    "<!doctype html",
    "<html",
    "<head",
    "<script",
    "<iframe",
    "<h1",
    "<div",
    "<font",
    "<table",
    "<a",
    "<style",
    "<title",
    "<b",
    "<body",
    "<br",
    "<p",
];

/// The media type of a document by the server's header, if any, and its first bytes: lower case,
/// without parameters. Of a container it is the type of what is inside.
pub fn sniff<'a>(bytes: &[u8], header: Option<&'a str>) -> Cow<'a, str> {
    let start = bytes.get(..HEADER).unwrap_or(bytes);
    let given = header.map(|h| h.split(';').next().unwrap_or("").trim()).unwrap_or("");
    let given = if given.bytes().any(|b| b.is_ascii_uppercase()) {
        given.to_ascii_lowercase().into()
    } else {
        Cow::from(given)
    };
    let mime = by_start(start, given);
    // What is a web page or a style sheet to its server is not looked into any further.
    if mime.starts_with("text/") && mime != "text/plain" { mime } else { containers::refine(bytes, start, mime) }
}

fn by_start<'a>(start: &[u8], given: Cow<'a, str>) -> Cow<'a, str> {
    match &*given {
        "" | "unknown/unknown" | "application/unknown" | "*/*" | "content/unknown" => unknown(start).into(),
        mime if !mime.contains('/') => unknown(start).into(),
        "text/plain" => if is_binary(start) {
            strong_signature(start).unwrap_or("application/octet-stream")
        } else {
            sitemap(start).unwrap_or("text/plain")
        }
        .into(),
        "application/octet-stream"
        | "binary/octet-stream"
        | "application/x-download"
        | "application/download"
        | "application/force-download" => {
            if is_binary(start) { signature(start) } else { plain(start) }.map_or(given, Cow::from)
        }
        "text/html" => {
            strong_signature(start).or_else(|| feed(start)).or_else(|| sitemap(start)).map_or(given, Cow::from)
        }
        mime if mime.starts_with("image/") && mime != "image/svg+xml" => {
            signature(start).filter(|s| s.starts_with("image/")).map_or(given, Cow::from)
        }
        mime if is_office(mime) && strong_signature(start).is_none() && !is_binary(start) => {
            // Servers call tables in HTML and CSV sheets, so that a click opens them in one.
            unknown(start).into()
        }
        mime if is_binary_type(mime) => {
            strong_signature(start).filter(|kind| !VAGUE.contains(kind)).map_or(given, Cow::from)
        }
        _ => given,
    }
}

/// The type of a text whose server does not know it: only what is unmistakable.
fn plain(start: &[u8]) -> Option<&'static str> {
    let is_xml = || start.trim_ascii_start().starts_with(b"<?xml");
    strong_signature(start).or_else(|| mail::kind(start)).or_else(|| is_xml().then(|| unknown(start)))
}

/// Types by signature that say less than a server may know.
const VAGUE: [&str; 7] = [
    "application/zip",
    "application/gzip",
    "application/ogg",
    "application/octet-stream",
    COMPOUND,
    "video/mp4",
    "video/webm",
];

/// Whether a type is one of files that are no text, so that an unmistakable signature of another
/// type is right and the server wrong.
fn is_binary_type(mime: &str) -> bool {
    let is_text = mime.ends_with("xml") || mime.ends_with("json") || mime.ends_with("javascript");
    !is_text && (mime.starts_with("application/") || mime.starts_with("audio/") || mime.starts_with("video/"))
}

fn unknown(start: &[u8]) -> &'static str {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let trimmed = text.trim_ascii_start();
    if let Some(feed) = feed(text) {
        return feed;
    }
    if trimmed.starts_with(b"<!--") || HTML_TAGS.iter().any(|tag| starts_with_tag(trimmed, tag.as_bytes())) {
        return "text/html";
    }
    if root(text) == Some(b"svg") {
        return "image/svg+xml";
    }
    if trimmed.starts_with(b"<?xml") {
        return if memmem::find(trimmed, b"<html").is_some() { "application/xhtml+xml" } else { "application/xml" };
    }
    match signature(start).or_else(|| mail::kind(start)) {
        Some(mime) => mime,
        None if is_binary(start) => "application/octet-stream",
        None if is_json(trimmed) => "application/json",
        None => "text/plain",
    }
}

/// Whether a text begins like JSON: with an object or an array of them.
fn is_json(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"[").unwrap_or(text).trim_ascii_start();
    inside.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""))
}

fn starts_with_tag(text: &[u8], tag: &[u8]) -> bool {
    text.get(..tag.len()).is_some_and(|t| t.eq_ignore_ascii_case(tag))
        && matches!(text.get(tag.len()), Some(b' ' | b'>'))
}

/// The type of a binary format by its signature.
fn signature(start: &[u8]) -> Option<&'static str> {
    if let Some(container) = container(start) {
        return Some(container);
    }
    SIGNATURES.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, mime)| mime)
}

/// The same, ignoring signatures with which text may begin.
fn strong_signature(start: &[u8]) -> Option<&'static str> {
    container(start).or_else(|| {
        let mut strong = SIGNATURES
            .iter()
            .filter(|(magic, _)| magic.len() >= WEAK || *magic == b"\x1F\x8B\x08" || *magic == b"\xFF\xD8\xFF");
        strong.find(|(magic, _)| start.starts_with(magic)).map(|&(_, mime)| mime)
    })
}

/// Formats whose signature is not at offset 0.
fn container(start: &[u8]) -> Option<&'static str> {
    match (start.get(..4)?, start.get(4..8)?, start.get(8..12)?) {
        (b"RIFF", _, b"WEBP") => Some("image/webp"),
        (b"RIFF", _, b"AVI ") => Some("video/avi"),
        (b"RIFF", _, b"WAVE") => Some("audio/wave"),
        (b"FORM", _, b"AIFF") => Some("audio/aiff"),
        (_, b"ftyp", b"avif" | b"avis") => Some("image/avif"),
        (b"FORM", _, b"AIFC") => Some("audio/aiff"),
        (_, b"ftyp", b"heic" | b"heix" | b"heim" | b"heis" | b"hevc") => Some("image/heic"),
        (_, b"ftyp", b"mif1" | b"msf1") => Some("image/heif"),
        (_, b"ftyp", b"qt  ") => Some("video/quicktime"),
        (_, b"ftyp", b"M4A " | b"M4B ") => Some("audio/mp4"),
        (_, b"ftyp", b"M4V " | b"avc1" | b"MSNV" | b"dash" | b"f4v ") => Some("video/mp4"),
        (_, b"ftyp", brand) if brand.starts_with(b"3g") => Some("video/3gpp"),
        (_, b"ftyp", brand) if brand.starts_with(b"mp4") || brand.starts_with(b"iso") => Some("video/mp4"),
        _ if start.get(257..262) == Some(b"ustar") || is_old_tar(start) => Some("application/x-tar"),
        _ => None,
    }
}

/// Whether it begins like a tar file from before they had a signature: with a name and a header
/// whose checksum is right (POSIX.1-1988, 10.1.1).
fn is_old_tar(start: &[u8]) -> bool {
    let Some(header) = start.get(..512).filter(|header| header[0] > b' ') else { return false };
    let digits = header[148..156].trim_ascii_start().iter().take_while(|b| (b'0'..=b'7').contains(*b));
    let (told, count) = digits.fold((0u32, 0), |(sum, n), b| (sum * 8 + u32::from(b - b'0'), n + 1));
    let sum = |range: &[u8]| range.iter().map(|b| u32::from(*b)).sum::<u32>();
    count >= 3 && told == sum(&header[..148]) + 8 * u32::from(b' ') + sum(&header[156..])
}

/// RSS or Atom, by the first tag that is not a comment, declaration or processing instruction.
fn feed(start: &[u8]) -> Option<&'static str> {
    match root(start)? {
        b"rss" => Some("application/rss+xml"),
        b"feed" => Some("application/atom+xml"),
        b"rdf:RDF" if memmem::find(start, b"http://purl.org/rss/1.0/").is_some() => Some("application/rss+xml"),
        _ => None,
    }
}

/// A sitemap, which programs make whose authors never look at its type.
fn sitemap(start: &[u8]) -> Option<&'static str> {
    matches!(root(start)?, b"urlset" | b"sitemapindex").then_some("application/xml")
}

/// The name of XML's root element, as written.
pub(crate) fn root(start: &[u8]) -> Option<&[u8]> {
    let mut rest = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    loop {
        rest = rest.trim_ascii_start();
        let inside = rest.strip_prefix(b"<")?;
        let end: &[u8] = match inside.first()? {
            b'!' if inside.starts_with(b"!--") => b"-->",
            b'!' if has_subset(inside) => b"]",
            b'!' | b'?' => b">",
            _ => {
                let len = inside.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/'))?;
                return inside.get(..len);
            }
        };
        rest = rest.get(memmem::find(rest, end)? + end.len()..)?;
        // The `]` that ends the internal subset does not end the doctype.
        while end == b"]" && !rest.trim_ascii_start().starts_with(b">") {
            rest = rest.get(memmem::find(rest, end)? + end.len()..)?;
        }
        rest = if end == b"]" { rest.trim_ascii_start().get(1..)? } else { rest };
    }
}

/// Whether a doctype has an internal subset.
fn has_subset(inside: &[u8]) -> bool {
    let declared = memmem::find(inside, b"[").unwrap_or(usize::MAX);
    inside.starts_with(b"!DOCTYPE") && declared < memmem::find(inside, b">").unwrap_or(usize::MAX)
}

/// Whether there are bytes that do not occur in text (MIME Sniffing, 7.2); a byte order mark makes
/// it text.
fn is_binary(start: &[u8]) -> bool {
    let marked = start.starts_with(b"\xFE\xFF") || start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xEF\xBB\xBF");
    !marked && start.iter().any(|b| matches!(b, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_type_is_told_from_the_bytes() {
        for (bytes, mime) in [
            (&b"\n <!DOCTYPE html><p>"[..], "text/html"),
            (b"<HTML lang=x>", "text/html"),
            (b"<!-- x --><q>", "text/html"),
            (b"<pre>", "text/plain"),
            (b"<?xml version='1.0'?><urlset>", "application/xml"),
            (b"<?xml version='1.0'?><!DOCTYPE html><html xmlns='x'>", "application/xhtml+xml"),
            (b"<?xml version='1.0'?><!-- c --><rss version='2'>", "application/rss+xml"),
            (b"<feed xmlns='x'>", "application/atom+xml"),
            (b"%PDF-1.4", "application/pdf"),
            (b"\x1F\x8B\x08\0", "application/gzip"),
            (b"PK\x03\x04", "application/zip"),
            (b"\x89PNG\r\n\x1A\n", "image/png"),
            (b"RIFF0000WEBPVP8 ", "image/webp"),
            (b"PK\x07\x08PK\x03\x04", "application/zip"),
            (b"<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'>", SPREADSHEET_XML),
            (
                b"<?xml version='1.0'?><w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml'>",
                WORD_XML,
            ),
            (b"<?xml version='1.0'?><!-- c --><svg xmlns='x'>", "image/svg+xml"),
            (b"<svg width='1'>", "image/svg+xml"),
            (b"plain", "text/plain"),
            (b"pl\0ain", "application/octet-stream"),
            (b"", "text/plain"),
        ] {
            assert_eq!(sniff(bytes, None), mime, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn an_old_tar_file_is_known_by_its_checksum() {
        let mut tar = [0u8; 1_024];
        tar[..5].copy_from_slice(b"a.txt");
        tar[148..156].copy_from_slice(b"        ");
        let sum: u32 = tar[..512].iter().map(|b| u32::from(*b)).sum();
        tar[148..156].copy_from_slice(format!("{sum:>6o}\0 ").as_bytes());
        assert_eq!(sniff(&tar, None), "application/x-tar");
        tar[0] = b'b';
        assert_eq!(sniff(&tar, None), "application/octet-stream");
    }

    #[test]
    fn a_given_type_is_believed_within_reason() {
        for (bytes, given, mime) in [
            (&b"<html>"[..], "text/plain", "text/plain"),
            (b"a\0b", "Text/Plain; charset=x", "application/octet-stream"),
            (b"\xFF\xFEa\0", "text/plain", "text/plain"),
            (b"%PDF-1.4", "text/html", "application/pdf"),
            (b"BM is a nice car", "text/html", "text/html"),
            (b"<rss version='2'>", "text/html", "application/rss+xml"),
            (b"<?xml version='1.0'?>\n<urlset xmlns='x'>", "text/html", "application/xml"),
            (b"<sitemapindex>", "text/plain", "application/xml"),
            (b"GIF89a", "image/png", "image/gif"),
            (b"<svg>", "image/svg+xml", "image/svg+xml"),
            (b"\x1F\x8B\x08", "application/octet-stream", "application/gzip"),
            (b"xyz", "application/octet-stream", "application/octet-stream"),
            (b"<html>", "application/xml", "application/xml"),
            (b"<html>", "nonsense", "text/html"),
            (b"<html >", "*/*", "text/html"),
        ] {
            assert_eq!(sniff(bytes, Some(given)), mime, "{given}");
        }
    }

    #[test]
    fn the_name_of_an_office_document_says_that_it_is_one() {
        let names = ["msword", "vnd.ms-excel", "vnd.oasis.opendocument.text", "pdf", "epub+zip"];
        let parts = ["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"];
        let parts = parts.map(|part| format!("vnd.openxmlformats-officedocument.{part}"));
        for name in names.into_iter().chain(parts.iter().map(String::as_str)) {
            assert!(crate::is_document_type(&format!("application/{name}")), "{name}");
        }
        assert!(!["text/html", "image/png", "application/json"].into_iter().any(crate::is_document_type));
    }
}
