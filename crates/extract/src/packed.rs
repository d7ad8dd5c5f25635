//! What is inside a file that gzip or Zstandard has packed?
//!
//! Sitemaps come as `.xml.gz`, archives as `.tar.gz` and `.tar.zst`. A file is decompressed only if
//! its first bytes turn out to be text or those of a tar file, and up to 50 MB, the maximum size of
//! a sitemap. Anything else, such as a decompression bomb, costs a few kilobytes.

use crate::gather::Gather;
use crate::{Extract, TypedContent, dispatch, sniff};
use flate2::read::MultiGzDecoder;
use std::io::{self, ErrorKind, Read};
use zstd::stream::read::Decoder as ZstdDecoder;

/// Maximum decompressed size.
const CAP: u64 = 50 << 20;
/// How much is decompressed to sniff the type.
const PEEK: u64 = 1_445;
/// Maximum window of a Zstandard frame, 32 MB: what `zstd -20` takes. It is memory.
const WINDOW_LOG: u32 = 25;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackedFormat {
    Gzip,
    Zstandard,
}

impl PackedFormat {
    fn of(mime: &str) -> Option<Self> {
        match mime {
            "application/gzip" | "application/x-gzip" => Some(Self::Gzip),
            "application/zstd" | "application/x-zstd" => Some(Self::Zstandard),
            _ => None,
        }
    }

    /// Its name in problems, and the ending of its files.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Gzip => ("gzip", ".gz"),
            Self::Zstandard => ("zstd", ".zst"),
        }
    }

    /// Reads what is inside, with the memory of a window.
    fn reader(self, bytes: &[u8]) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Self::Gzip => Ok(Box::new(MultiGzDecoder::new(bytes))),
            Self::Zstandard => {
                let mut decoder = ZstdDecoder::with_buffer(bytes)?;
                decoder.window_log_max(WINDOW_LOG)?;
                Ok(Box::new(decoder))
            }
        }
    }

    /// Decompresses up to `cap` bytes; also returns what was wrong with the input.
    fn unpack(self, bytes: &[u8], cap: u64) -> (Vec<u8>, Option<String>) {
        let mut out = Vec::new();
        let (name, _) = self.names();
        let result = self.reader(bytes).and_then(|reader| reader.take(cap).read_to_end(&mut out));
        let failure = match result {
            Ok(_) => None,
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Some(format!("the {name} stream breaks off")),
            Err(e) => Some(format!("the {name} stream is damaged: {e}")),
        };
        (out, failure)
    }
}

/// Extracts text and the names in archives that are packed.
#[derive(Debug)]
pub(crate) struct PackedExtractor;

impl Extract for PackedExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        PackedFormat::of(source.mime).is_some()
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let Some(packing) = PackedFormat::of(source.mime) else { return };
        let (name, ending) = packing.names();
        let (start, _) = packing.unpack(source.bytes, PEEK);
        let mime = sniff(&start, None);
        if !mime.starts_with("text/") && !mime.ends_with("xml") && mime != "application/x-tar" {
            return;
        }
        let (bytes, failure) = packing.unpack(source.bytes, CAP);
        if let Some(failure) = failure {
            found.problem(&format!("{name}-damaged"), failure);
        } else if bytes.len() as u64 == CAP {
            found.problem("truncated", "more than 50 MB when unpacked; the rest was left out");
        }
        // A packed sitemap or page is one; a packed text is an archive with one.
        if mime.ends_with("xml") || mime == "text/html" {
            found.doc.mime = mime.clone().into_owned();
        }
        let url = source.url.strip_suffix(ending).unwrap_or(source.url);
        dispatch(&TypedContent { bytes: &bytes, mime: &mime, charset: None, url }, found);
    }
}

#[cfg(test)]
mod tests {
    use crate::archive::tests::tar_entry;
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
        let bytes = zstd::encode_all(&vec![0; 100 << 20][..], 1).expect("to memory");
        assert_eq!((read(&bytes).mime.as_str(), read(&bytes).text.as_str()), ("application/zstd", ""));
    }

    #[test]
    fn names_in_a_packed_archive_are_its_text() {
        let tar = [tar_entry("a/b.txt", b'0', b"inside"), tar_entry("c.pdf", b'0', b"")].concat();
        let zstandard = zstd::encode_all(&tar[..], 3).expect("to memory");
        for (bytes, mime) in [(packed(&tar), "application/gzip"), (zstandard.clone(), "application/zstd")] {
            let doc = read(&bytes);
            assert_eq!((doc.mime.as_str(), doc.text.as_str()), (mime, "a/b.txt\nc.pdf"));
            assert!(doc.problems.is_empty(), "{:?}", doc.problems);
        }
        let noise: Vec<u8> = (0..50_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let long = [tar_entry("first.txt", b'0', b""), tar_entry("second.bin", b'0', &noise)].concat();
        let mut cut = zstd::encode_all(&long[..], 3).expect("to memory");
        cut.truncate(cut.len() / 2);
        let doc = read(&cut);
        assert!(doc.text.starts_with("first.txt"), "{}", doc.text);
        assert_eq!(doc.problems[0].code, "zstd-damaged");
    }

    #[test]
    fn a_window_is_as_large_as_we_let_it_be() {
        let tar = tar_entry("a.txt", b'0', &[b'x'; 1 << 10]);
        let with_window = |log| {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("an encoder");
            encoder.window_log(log).expect("a window");
            encoder.write_all(&tar).expect("to memory");
            encoder.finish().expect("to memory")
        };
        assert_eq!(read(&with_window(25)).text, "a.txt");
        assert_eq!(read(&with_window(27)).text, "");
    }
}
