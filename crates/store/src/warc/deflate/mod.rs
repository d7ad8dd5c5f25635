//! How is a record compressed in the time available?
//!
//! DEFLATE (RFC 1951) for pages on their way into the archive, where compression is the largest
//! cost of all. What makes it fast: one hash table access per position with two bytes per entry
//! ([`matches`]), greedy matching, and output written at once with a code learnt from an earlier
//! record ([`learnt`]); periodically, and when that code does not fit, the record gets its own
//! ([`codes`], [`block`]). The table fits in the L1 cache and is cleared for each record.
//! libdeflate, the fastest library there is, takes about twice the time for pages of 20 kB at its
//! level 1, since it clears a table of 128 kB; it serves the levels above (see the bench `encode`).

mod bits;
mod block;
mod codes;
mod huffman;
mod learnt;
mod matches;

use bits::BitBuffer;
use block::BlockWriter;
use codes::SymbolCounts;
use learnt::{Learnt, SORTS};
use matches::MatchFinder;

/// Bytes of input per dynamic block.
const BLOCK: usize = 48 << 10;
/// Shorter records, such as that of a request, use the fixed codes: a dynamic header takes more
/// than it saves.
const SHORT: usize = 600;
/// Longer records are written block by block.
const LONG: usize = 256 << 10;

/// Compresses one record after another. It keeps its tables, and what it has learnt.
pub(super) struct Deflater {
    finder: MatchFinder,
    writer: BlockWriter,
    learnt: [Option<Box<Learnt>>; SORTS],
    /// Scratch buffer for a record of unknown compressed length.
    room: Vec<u8>,
}

impl Deflater {
    pub(super) fn new() -> Self {
        Self {
            finder: MatchFinder::new(),
            writer: BlockWriter::default(),
            learnt: Default::default(),
            room: Vec::new(),
        }
    }

    /// Appends one gzip member.
    pub(super) fn gzip(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        const HEAD: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 4, 0xFF];
        out.extend_from_slice(&HEAD);
        match raw.len() {
            0..SHORT => self.short(raw, out),
            SHORT..LONG => self.alike(raw, out),
            _ => drop(self.thorough(raw, out)),
        }
        let mut crc = libdeflater::Crc::new();
        crc.update(raw);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        // The format keeps the length modulo 2^32.
        out.extend_from_slice(&(raw.len() as u32).to_le_bytes());
    }

    /// One block with the fixed codes.
    fn short(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        self.finder.forget();
        self.room.resize(self.room.len().max(2 * SHORT + 64), 0);
        let mut bits = BitBuffer::default();
        bits.add(1 | 1 << 1, 3);
        let len = self.finder.write(raw, &self.writer.known, bits, &mut self.room).close(&mut self.room);
        if len <= raw.len() {
            out.extend_from_slice(&self.room[..len]);
        } else {
            self.thorough(raw, out);
        }
    }

    /// With a code learnt from a record of its class; otherwise with its own, which is learnt in
    /// turn.
    fn alike(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        let sort = learnt::sort(raw);
        if let Some(learnt) = self.learnt[sort].as_deref_mut().filter(|learnt| learnt.is_fresh()) {
            self.finder.forget();
            if learnt.pack(raw, &mut self.finder, &mut self.room, out) {
                return;
            }
        }
        let from = out.len();
        let counts = self.thorough(raw, out);
        self.learnt[sort] = Some(Box::new(Learnt::new(counts, raw.len(), out.len() - from)));
    }

    /// In blocks with their own codes; returns the symbols of the first.
    fn thorough(&mut self, raw: &[u8], out: &mut Vec<u8>) -> SymbolCounts {
        self.finder.forget();
        self.writer.begin(out);
        let (mut from, mut first) = (0, SymbolCounts::default());
        loop {
            let to = raw.len().min(from + BLOCK);
            let walked = self.finder.walk(raw, from, to);
            self.writer.block(&raw[from..to], walked, to == raw.len(), out);
            if from == 0 {
                first = walked.counts.clone();
            }
            from = to;
            if from == raw.len() {
                self.writer.end(out);
                return first;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read as _;

    fn there_and_back(raw: &[u8]) -> usize {
        by(&mut Deflater::new(), raw)
    }

    /// Compresses, checks that the bytes come back, and returns the compressed length.
    fn by(deflater: &mut Deflater, raw: &[u8]) -> usize {
        let mut out = b"before".to_vec();
        deflater.gzip(raw, &mut out);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&out[6..]).read_to_end(&mut back).unwrap();
        assert!(back == raw, "{} bytes came back as {}", raw.len(), back.len());
        // libdeflate is stricter about incomplete codes.
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
        // From one value to all of them, from uniform to steep: Fibonacci frequencies give the
        // longest possible codes.
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
    fn a_record_in_a_learnt_code_is_nearly_as_short_as_in_its_own() {
        let pages = [&include_bytes!("mod.rs")[..], include_bytes!("matches.rs"), include_bytes!("block.rs")];
        let mut used = Deflater::new();
        let all = |pack: &mut dyn FnMut(&[u8]) -> usize| pages.iter().map(|page| pack(page)).sum::<usize>();
        all(&mut |page| by(&mut used, page));
        let (learnt, own) = (all(&mut |page| by(&mut used, page)), all(&mut there_and_back));
        assert!(learnt != own && learnt * 100 <= own * 103, "{learnt} bytes, {own} with codes of their own");
    }

    #[test]
    fn a_record_unlike_those_before_it_gets_a_code_of_its_own() {
        let mut used = Deflater::new();
        by(&mut used, &include_bytes!("mod.rs")[..]);
        // Only letters, as in a text, but none of those that were frequent in it.
        let odd: Vec<u8> = noise(30_000, 7).iter().map(|b| b"QXZ#@~^|"[usize::from(b % 8)]).collect();
        assert_eq!(by(&mut used, &odd), there_and_back(&odd));
        for len in [SHORT - 1, 5_000, LONG - 1, LONG] {
            assert_eq!(by(&mut used, &noise(len, 5)), there_and_back(&noise(len, 5)), "{len} bytes of noise");
        }
    }

    #[test]
    fn records_of_every_sort_come_back_one_after_the_other() {
        let mut used = Deflater::new();
        let text = include_bytes!("mod.rs").repeat(40);
        let scripts = ["Žluťoučký kůň ", "Съешь ещё этих мягких булок ", "いろはにほへと", "<b>bold</b> "];
        for round in 0..100 {
            for script in scripts {
                let len = [SHORT - 1, SHORT, 3_000, 20_000, BLOCK + 1, LONG - 1][round % 6];
                by(&mut used, &script.as_bytes().repeat(len / script.len() + 1)[..len]);
                by(&mut used, &text[round..][..len]);
                by(&mut used, &noise(len.min(3_000), round as u64));
            }
        }
    }

    proptest! {
        #[test]
        fn anything_comes_back(pieces in prop::collection::vec(("[a-z<>/= ]{0,12}", 1usize..400), 0..80)) {
            let raw: Vec<u8> = pieces.iter().flat_map(|(text, n)| text.repeat(*n).into_bytes()).collect();
            let raw = &raw[..raw.len().min(300_000)];
            let mut used = Deflater::new();
            by(&mut used, raw);
            by(&mut used, raw);
            by(&mut used, include_bytes!("mod.rs"));
            by(&mut used, raw);
        }
    }
}
