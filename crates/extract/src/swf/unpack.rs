//! How is a film unpacked?

use crate::gather::Gather;
use crate::package::u32_at;
use flate2::read::ZlibDecoder;
use lzma_rs::decompress::{Options, UnpackedSize};
use std::borrow::Cow;
use std::io::{self, Read, Write};

/// Maximum size of an unpacked film…
const CAP: usize = 64 << 20;
/// … and in multiples of its packed size, beyond the first megabyte.
const MAX_RATIO: usize = 200;
const FREE: usize = 1 << 20;
/// Where the packed part begins.
const HEADER: usize = 8;
/// Where it begins in a film packed with LZMA: its size and the properties of the coder come first.
const LZMA_HEADER: usize = 12;

/// What follows the first eight bytes, unpacked.
pub(super) fn body<'a>(film: &'a [u8], found: &mut Gather) -> Cow<'a, [u8]> {
    let packed = film.get(HEADER..).unwrap_or(&[]);
    let cap = packed.len().saturating_mul(MAX_RATIO).clamp(FREE, CAP);
    let out = match film.first() {
        Some(b'C') => {
            let mut out = Vec::new();
            // What breaks off is read as far as it goes.
            let _ = ZlibDecoder::new(packed).take(cap as u64).read_to_end(&mut out);
            out
        }
        Some(b'Z') => lzma(film, cap),
        _ => return packed.into(),
    };
    if out.len() >= cap {
        found.problem("truncated", "the film unpacks to more than is read of one; the rest was left out");
    }
    out.into()
}

fn lzma(film: &[u8], cap: usize) -> Vec<u8> {
    let size = u32_at(film, 4).map(|size| u64::from(size).saturating_sub(HEADER as u64));
    let mut out = CappedOutput { out: Vec::new(), cap };
    let options =
        Options { unpacked_size: UnpackedSize::UseProvided(size), memlimit: Some(cap), allow_incomplete: true };
    let mut packed = film.get(LZMA_HEADER..).unwrap_or(&[]);
    let _ = lzma_rs::lzma_decompress_with_options(&mut packed, &mut out, &options);
    out.out
}

/// Keeps as much as is allowed, then refuses more.
struct CappedOutput {
    out: Vec<u8>,
    cap: usize,
}

impl Write for CappedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.cap.saturating_sub(self.out.len()).min(bytes.len());
        if room == 0 && !bytes.is_empty() {
            return Err(io::Error::other("enough"));
        }
        self.out.extend_from_slice(bytes.get(..room).unwrap_or(&[]));
        Ok(room)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
