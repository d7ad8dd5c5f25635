//! How is a record compressed in the time there is?
//!
//! DEFLATE (RFC 1951) for pages on their way into the archive, where compressing is the largest cost of all. What makes it quick: one
//! look for each position into a table of two bytes an entry ([`matches`]), the first match taken, codes made for the record
//! ([`huffman`]) and written four literals at a time ([`bits`]). The table lies in the first-level cache and is swept for each record,
//! so that a record's bytes depend on nothing but itself. libdeflate, the fastest library there is, takes about twice the time for
//! pages of 20 kB at its level 1, as it sweeps a table of 128 kB; it serves the levels above (see the bench `encode`).

mod bits;
mod block;
mod huffman;
mod matches;

use block::Writer;
use matches::Finder;

/// Bytes of input that share one code.
const BLOCK: usize = 48 << 10;

/// Compresses records, one after the other. It keeps its tables.
pub(super) struct Deflater {
    finder: Finder,
    writer: Writer,
}

impl Deflater {
    pub(super) fn new() -> Self {
        Self { finder: Finder::new(), writer: Writer::default() }
    }

    /// Appends one gzip member.
    pub(super) fn gzip(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        const HEAD: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 4, 0xFF];
        out.extend_from_slice(&HEAD);
        self.deflate(raw, out);
        let mut crc = libdeflater::Crc::new();
        crc.update(raw);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        // The format keeps the length modulo 2^32.
        out.extend_from_slice(&(raw.len() as u32).to_le_bytes());
    }

    fn deflate(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        self.finder.forget();
        self.writer.begin(out);
        let mut from = 0;
        loop {
            let to = raw.len().min(from + BLOCK);
            let walked = self.finder.walk(raw, from, to);
            self.writer.block(&raw[from..to], walked, to == raw.len(), out);
            from = to;
            if from == raw.len() {
                break;
            }
        }
        self.writer.end(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read as _;

    fn there_and_back(raw: &[u8]) -> usize {
        let mut out = b"before".to_vec();
        Deflater::new().gzip(raw, &mut out);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&out[6..]).read_to_end(&mut back).unwrap();
        assert!(back == raw, "{} bytes came back as {}", raw.len(), back.len());
        // libdeflate is stricter about codes that are not complete.
        let mut again = vec![0; raw.len() + 1];
        let len = libdeflater::Decompressor::new().gzip_decompress(&out[6..], &mut again).unwrap();
        assert_eq!(len, raw.len());
        out.len() - 6
    }

    fn noise(len: usize, mut state: u64) -> Vec<u8> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn what_goes_in_comes_out_whatever_its_length() {
        let text = include_bytes!("mod.rs").repeat(60);
        for len in (0..300).chain([1_000, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7, text.len()]) {
            there_and_back(&text[..len]);
            there_and_back(&noise(len, 1));
            there_and_back(&vec![b'a'; len]);
        }
    }

    #[test]
    fn every_way_in_which_bytes_are_spread_can_be_written() {
        // From one value to all of them, from even to steep: Fibonacci's frequencies make the longest codes there are.
        for values in [1usize, 2, 3, 17, 100, 256] {
            let even: Vec<u8> = noise(30_000, 7).iter().map(|b| (usize::from(*b) % values) as u8).collect();
            there_and_back(&even);
        }
        let (mut a, mut b, mut steep) = (1usize, 1usize, Vec::new());
        for value in 0..24u8 {
            steep.extend(std::iter::repeat_n(value, a));
            (a, b) = (b, a + b);
        }
        let order = noise(steep.len() * 2, 3);
        let mut keyed: Vec<(u16, u8)> =
            order.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]])).zip(steep).collect();
        keyed.sort_unstable();
        there_and_back(&keyed.iter().map(|(_, v)| *v).collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_compressed_grows_by_little() {
        for len in [100, 5_000, 200_000] {
            let size = there_and_back(&noise(len, 5));
            assert!(size <= len + len / 1_000 + 40, "{len} became {size}");
        }
    }

    #[test]
    fn text_becomes_about_as_small_as_with_a_library_at_its_first_level() {
        let text = include_bytes!("../encoder.rs");
        let ours = there_and_back(text);
        let mut libdeflate = libdeflater::Compressor::new(libdeflater::CompressionLvl::new(1).unwrap());
        let mut out = vec![0; text.len() + 100];
        let theirs = libdeflate.gzip_compress(text, &mut out).unwrap();
        assert!(ours * 100 <= theirs * 115, "{ours} bytes, libdeflate {theirs}");
    }

    #[test]
    fn a_record_is_packed_the_same_whatever_came_before() {
        let mut used = Deflater::new();
        used.gzip(&noise(100_000, 9), &mut Vec::new());
        let (mut fresh, mut again) = (Vec::new(), Vec::new());
        let text = include_bytes!("mod.rs");
        Deflater::new().gzip(text, &mut fresh);
        used.gzip(text, &mut again);
        assert!(fresh == again);
    }

    proptest! {
        #[test]
        fn anything_comes_back(pieces in prop::collection::vec(("[a-z<>/= ]{0,12}", 1usize..400), 0..80)) {
            let raw: Vec<u8> = pieces.iter().flat_map(|(text, n)| text.repeat(*n).into_bytes()).collect();
            there_and_back(&raw[..raw.len().min(300_000)]);
        }
    }
}
