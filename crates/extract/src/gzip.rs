//! What is inside a gzip file?
//!
//! Sitemaps come as `.xml.gz`. A file is decompressed only if its first bytes turn out to be text
//! or those of a tar file, and up to 50 MB, the maximum size of a sitemap. Anything else, such as a
//! decompression bomb, costs a few kilobytes.

use crate::gather::Gather;
use crate::{Extract, TypedContent, dispatch, sniff};
use flate2::read::MultiGzDecoder;
use std::io::{ErrorKind, Read};

/// Maximum decompressed size.
const CAP: u64 = 50 << 20;
/// How much is decompressed to sniff the type.
const PEEK: u64 = 1_445;

/// Extracts text compressed with gzip.
#[derive(Debug)]
pub(crate) struct GzipExtractor;

impl Extract for GzipExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        matches!(source.mime, "application/gzip" | "application/x-gzip")
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let (start, _) = unpack(source.bytes, PEEK);
        let mime = sniff(&start, None);
        if !mime.starts_with("text/") && !mime.ends_with("xml") && mime != "application/x-tar" {
            return;
        }
        let (bytes, failure) = unpack(source.bytes, CAP);
        if let Some(failure) = failure {
            found.problem("gzip-damaged", failure);
        } else if bytes.len() as u64 == CAP {
            found.problem("truncated", "more than 50 MB when unpacked; the rest was left out");
        }
        found.doc.mime = mime.clone().into_owned();
        let url = source.url.strip_suffix(".gz").unwrap_or(source.url);
        dispatch(&TypedContent { bytes: &bytes, mime: &mime, charset: None, url }, found);
    }
}

/// Decompresses up to `cap` bytes; also returns what was wrong with the input.
fn unpack(bytes: &[u8], cap: u64) -> (Vec<u8>, Option<String>) {
    let mut out = Vec::new();
    let result = MultiGzDecoder::new(bytes).take(cap).read_to_end(&mut out);
    let failure = match result {
        Ok(_) => None,
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Some("the gzip stream breaks off".to_owned()),
        Err(e) => Some(format!("the gzip stream is damaged: {e}")),
    };
    (out, failure)
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use orb_page::Document;
    use std::io::Write;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).expect("to memory");
        encoder.finish().expect("to memory")
    }

    fn read(bytes: &[u8]) -> Document {
        extract(&Content {
            bytes,
            mime: Some("application/octet-stream"),
            charset: None,
            url: "http://a.example/s.xml.gz",
        })
    }

    #[test]
    fn a_packed_sitemap_is_read() {
        let bytes = packed(b"<urlset><url><loc>http://a.example/1</loc></url></urlset>");
        assert_eq!(read(&bytes).links[0].target, "http://a.example/1");
        let bytes = packed(b"<?xml version='1.0'?><urlset><url><loc>http://a.example/1</loc></url></urlset>");
        let doc = read(&bytes);
        assert_eq!((doc.links[0].target.as_str(), doc.mime.as_str()), ("http://a.example/1", "application/xml"));
    }

    #[test]
    fn what_breaks_off_is_read_as_far_as_it_goes() {
        let mut content = b"<?xml version='1.0'?><urlset>".to_vec();
        for i in 0..20_000u32 {
            content.extend_from_slice(
                format!("<url><loc>http://a.example/{}</loc></url>", i.wrapping_mul(2_654_435_761)).as_bytes(),
            );
        }
        let mut bytes = packed(&content);
        bytes.truncate(bytes.len() / 2);
        let doc = read(&bytes);
        assert!(doc.links.len() > 1_000, "{}", doc.links.len());
        assert_eq!(doc.problems[0].code, "gzip-damaged");
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let bytes = packed(&vec![0; 100 << 20]);
        let doc = read(&bytes);
        assert_eq!((doc.mime.as_str(), doc.links.len()), ("application/gzip", 0));
    }
}
