//! What do the bytes say once their content coding is removed?
//!
//! The archive stores bodies as transferred; everybody else reads the output of this module. It
//! never fails: truncated streams give what could be decoded, and a decompression bomb is cut at
//! the cap. gzip, the coding of most of the web, is decompressed by libdeflate in one shot if its
//! trailer promises a size within the cap (three times as fast as a streaming inflater), and by a
//! streaming decoder otherwise or if that fails. Bodies that need not be in memory at once are
//! decoded by [`decode_stream`].

mod stream;

pub use stream::decode_stream;

use brotli_decompressor::Decompressor as Brotli;
use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use libdeflater::Decompressor;
use orb_page::{Body, Problem};
use std::cell::RefCell;
use std::io::{self, Read};

/// Maximum number of nested codings.
const NESTED: usize = 3;
/// zstd windows larger than 8 MB are not allowed on the web (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;
/// The maximum expansion ratio of deflate.
const DEFLATE_RATIO: usize = 1_032;

/// A decoded body.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// What could be decoded, up to the cap.
    pub bytes: Bytes,
    /// Whether there was more than the cap.
    pub truncated: bool,
    /// What was wrong with the coding: `coding-broken`, `coding-unknown` or `coding-nested`.
    pub problem: Option<Problem>,
}

/// A supported coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// How a stream ended.
enum StreamEnd {
    Whole,
    Cut,
    Broken(String),
}

/// Decodes a body by its `Content-Encoding`, up to `cap` bytes.
pub fn decode(body: &Body, encodings: &str, cap: u64) -> Decoded {
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    let whole = match body.read(u64::MAX) {
        Ok(bytes) => bytes,
        Err(error) => return broken(Bytes::new(), format!("the spooled body cannot be read: {error}")),
    };
    let codings = match codings(encodings) {
        Ok(codings) => codings,
        Err(problem) => return Decoded { problem: Some(problem), ..plain(&whole, cap) },
    };
    if codings.is_empty() || whole.is_empty() {
        return plain(&whole, cap);
    }
    let (mut bytes, mut cut) = (whole, false);
    for coding in codings.iter().rev() {
        let mut out = Vec::new();
        match coding.decode(&bytes, cap, &mut out) {
            StreamEnd::Whole => (),
            StreamEnd::Cut => cut = true,
            // Output cut at the cap on one level is a truncated input on the next.
            StreamEnd::Broken(_) if cut => (),
            // Many servers announce a coding that they did not apply.
            StreamEnd::Broken(_) if out.is_empty() && !coding.looks_right(&bytes) => {
                let why = format!("announced as {coding:?} and is not");
                return Decoded { problem: Some(Problem::new("coding-broken", why)), ..plain(&bytes, cap) };
            }
            StreamEnd::Broken(why) => return broken(out.into(), format!("{coding:?} stream: {why}")),
        }
        bytes = out.into();
    }
    let decoded = plain(&bytes, cap);
    Decoded { truncated: cut || decoded.truncated, ..decoded }
}

fn plain(bytes: &Bytes, cap: usize) -> Decoded {
    Decoded { truncated: bytes.len() > cap, bytes: bytes.slice(..bytes.len().min(cap)), problem: None }
}

fn broken(bytes: Bytes, why: String) -> Decoded {
    Decoded { bytes, truncated: false, problem: Some(Problem::new("coding-broken", why)) }
}

/// The codings in the order in which they were applied.
fn codings(encodings: &str) -> Result<Vec<Coding>, Problem> {
    let mut found = Vec::new();
    for name in encodings.split(',').map(|n| n.trim().to_ascii_lowercase()) {
        found.push(match name.as_str() {
            "" | "identity" | "none" | "utf-8" => continue,
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" => Coding::Deflate,
            "br" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            _ => {
                let shown: String = name.chars().take(40).collect();
                return Err(Problem::new("coding-unknown", format!("content coding {shown:?} is not known")));
            }
        });
        if found.len() > NESTED {
            return Err(Problem::new("coding-nested", format!("more than {NESTED} content codings")));
        }
    }
    Ok(found)
}

impl Coding {
    /// Decodes into `out`, which holds what could be decoded in any case.
    fn decode(self, input: &[u8], cap: usize, out: &mut Vec<u8>) -> StreamEnd {
        match self {
            Self::Gzip => gunzip(input, cap, out),
            Self::Deflate => inflate(input, cap, out),
            Self::Brotli => read_all(Brotli::new(input, 8 * 1024), cap, out),
            Self::Zstd => match zstd_reader(input) {
                Ok(reader) => read_all(reader, cap, out),
                Err(error) => StreamEnd::Broken(error.to_string()),
            },
        }
    }

    /// Whether bytes begin as this coding does.
    fn looks_right(self, input: &[u8]) -> bool {
        match self {
            Self::Gzip => input.starts_with(b"\x1f\x8b"),
            Self::Deflate => has_zlib_header(input),
            Self::Brotli => false,
            Self::Zstd => input.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
        }
    }
}

fn zstd_reader(input: &[u8]) -> io::Result<impl Read + '_> {
    let mut reader = zstd::stream::read::Decoder::with_buffer(input)?;
    reader.window_log_max(ZSTD_WINDOW_LOG)?;
    Ok(reader)
}

/// Reads a decoder to its end or just beyond the cap.
fn read_all(reader: impl Read, cap: usize, out: &mut Vec<u8>) -> StreamEnd {
    let room = (cap - out.len().min(cap)).saturating_add(1);
    let result = reader.take(room as u64).read_to_end(out);
    match result {
        _ if out.len() > cap => StreamEnd::Cut,
        Ok(_) => StreamEnd::Whole,
        Err(error) => StreamEnd::Broken(error.to_string()),
    }
}

fn gunzip(input: &[u8], cap: usize, out: &mut Vec<u8>) -> StreamEnd {
    if let Some(whole) = gunzip_at_once(input, cap) {
        *out = whole;
        return StreamEnd::Whole;
    }
    let mut rest = input;
    loop {
        let mut member = GzDecoder::new(rest);
        let end = read_all(&mut member, cap, out);
        rest = member.into_inner();
        // Padding and garbage after the last member are common and harmless.
        if !matches!(end, StreamEnd::Whole) || !rest.starts_with(b"\x1f\x8b\x08") {
            return end;
        }
    }
}

/// The content of a single gzip member whose trailer states its size.
fn gunzip_at_once(input: &[u8], cap: usize) -> Option<Vec<u8>> {
    thread_local! {
        static DECOMPRESSOR: RefCell<Decompressor> = RefCell::new(Decompressor::new());
    }
    let size = usize::try_from(u32::from_le_bytes(*input.last_chunk::<4>()?)).ok()?;
    if size > cap || size > input.len().saturating_mul(DEFLATE_RATIO) {
        return None;
    }
    // If there may be a second member, the trailer describes only that one.
    if memchr::memmem::find(input.get(3..)?, b"\x1f\x8b\x08").is_some() {
        return None;
    }
    let mut out = vec![0; size];
    let written = DECOMPRESSOR.with_borrow_mut(|d| d.gzip_decompress(input, &mut out)).ok()?;
    (written == size).then_some(out)
}

/// `deflate` is zlib by the standard and raw deflate in some servers.
fn inflate(input: &[u8], cap: usize, out: &mut Vec<u8>) -> StreamEnd {
    if has_zlib_header(input) {
        let end = read_all(ZlibDecoder::new(input), cap, out);
        if !(matches!(end, StreamEnd::Broken(_)) && out.is_empty()) {
            return end;
        }
    }
    read_all(DeflateDecoder::new(input), cap, out)
}

fn has_zlib_header(input: &[u8]) -> bool {
    matches!(input, [cmf, flags, ..] if cmf & 0x0f == 8 && (u16::from(*cmf) << 8 | u16::from(*flags)) % 31 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    pub(super) fn gz(data: &[u8]) -> Vec<u8> {
        let mut e = GzEncoder::new(Vec::new(), Compression::default());
        e.write_all(data).unwrap();
        e.finish().unwrap()
    }

    pub(super) fn zlib(data: &[u8]) -> Vec<u8> {
        let mut e = ZlibEncoder::new(Vec::new(), Compression::default());
        e.write_all(data).unwrap();
        e.finish().unwrap()
    }

    pub(super) fn raw(data: &[u8]) -> Vec<u8> {
        let mut e = DeflateEncoder::new(Vec::new(), Compression::default());
        e.write_all(data).unwrap();
        e.finish().unwrap()
    }

    pub(super) fn br(data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        brotli::CompressorWriter::new(&mut out, 4096, 5, 20).write_all(data).unwrap();
        out
    }

    pub(super) fn zst(data: &[u8]) -> Vec<u8> {
        zstd::stream::encode_all(data, 3).unwrap()
    }

    fn of(bytes: impl Into<Bytes>, encodings: &str, cap: u64) -> (Vec<u8>, bool, Option<String>) {
        let d = decode(&Body::Memory(bytes.into()), encodings, cap);
        (d.bytes.to_vec(), d.truncated, d.problem.map(|p| p.code))
    }

    #[test]
    fn every_coding_is_taken_off() {
        let text = b"the quick brown fox jumps over the lazy dog ".repeat(500);
        for (bytes, name) in [
            (gz(&text), "gzip"),
            (gz(&text), " X-GZIP "),
            (zlib(&text), "deflate"),
            (raw(&text), "deflate"),
            (br(&text), "br"),
            (zst(&text), "zstd"),
            (text.clone(), "identity"),
            (text.clone(), ""),
            (br(&gz(&text)), "gzip, br"),
            (zst(&br(&gz(&text))), "gzip,br , zstd"),
        ] {
            assert_eq!(of(bytes, name, 1 << 20), (text.clone(), false, None), "{name}");
        }
    }

    #[test]
    fn members_follow_one_another_and_garbage_follows_them() {
        let (one, two) = (gz(b"one "), gz(b"two!"));
        assert_eq!(of([&one[..], &one[..]].concat(), "gzip", 99), (b"one one ".to_vec(), false, None));
        assert_eq!(of([&one[..], &two[..]].concat(), "gzip", 99), (b"one two!".to_vec(), false, None));
        assert_eq!(of([&one[..], b"\0\0\0garbage"].concat(), "gzip", 99), (b"one ".to_vec(), false, None));
    }

    #[test]
    fn a_broken_stream_gives_what_it_had() {
        let text: Vec<u8> = (0..60_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        for (bytes, name) in [(gz(&text), "gzip"), (zlib(&text), "deflate"), (br(&text), "br"), (zst(&text), "zstd")] {
            let (got, truncated, problem) = of(bytes[..bytes.len() / 2].to_vec(), name, 1 << 20);
            assert!(!got.is_empty() && text.starts_with(&got), "{name}: {} bytes", got.len());
            assert_eq!((truncated, problem.as_deref()), (false, Some("coding-broken")), "{name}");
        }
    }

    #[test]
    fn a_coding_that_was_never_applied_is_seen_through() {
        for name in ["gzip", "deflate", "br", "zstd"] {
            let (got, _, problem) = of("<html>plain</html>", name, 99);
            assert_eq!(
                (got.as_slice(), problem.as_deref()),
                (&b"<html>plain</html>"[..], Some("coding-broken")),
                "{name}"
            );
        }
    }

    #[test]
    fn a_bomb_is_cut_at_the_cap() {
        let zeros = vec![0; 50_000_000];
        for (bytes, name) in
            [(gz(&zeros), "gzip"), (gz(&gz(&zeros)), "gzip, gzip"), (zst(&zeros), "zstd"), (br(&zeros), "br")]
        {
            let (got, truncated, problem) = of(bytes, name, 100_000);
            assert_eq!((got.len(), truncated, problem), (100_000, true, None), "{name}");
        }
        assert_eq!(of("abcdef", "", 3), (b"abc".to_vec(), true, None));
    }

    #[test]
    fn unknown_and_endless_codings_leave_the_bytes_alone() {
        assert_eq!(of("abc", "exi", 9), (b"abc".to_vec(), false, Some("coding-unknown".to_owned())));
        let many = "gzip,".repeat(100);
        assert_eq!(of("abc", &many, 9), (b"abc".to_vec(), false, Some("coding-nested".to_owned())));
        assert_eq!(of("", "gzip", 9), (Vec::new(), false, None));
    }

    #[test]
    fn identity_shares_its_bytes() {
        let bytes = Bytes::from(vec![7; 100]);
        let shared = decode(&Body::Memory(bytes.clone()), "identity", 100).bytes;
        assert_eq!(shared.as_ptr(), bytes.as_ptr());
    }

    proptest! {
        #[test]
        fn gzip_round_trips(data: Vec<u8>) {
            prop_assert_eq!(of(gz(&data), "gzip", 1 << 20), (data, false, None));
        }

        #[test]
        fn no_bytes_break_a_decoder(data: Vec<u8>, cap in 0_u64..1_000, cut in 0_usize..200) {
            for name in ["gzip", "deflate", "br", "zstd", "gzip, br"] {
                prop_assert!(of(data.clone(), name, cap).0.len() as u64 <= cap);
                let mut spoilt = gz(&data);
                spoilt.truncate(spoilt.len().saturating_sub(cut));
                prop_assert!(of(spoilt, name, cap).0.len() as u64 <= cap);
            }
        }
    }
}
