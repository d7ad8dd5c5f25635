//! How is a block written?
//!
//! In the shortest of three ways: stored, with the fixed Huffman code, or with a dynamic one (RFC
//! 1951, 3.2.3 to 3.2.7).

use super::bits::BitBuffer;
use super::codes::{Codes, DISTANCES, END, LITERALS, LITERALS_USED};
use super::huffman::{self, Code};
use super::matches::{MatchStep, Walked};

/// Maximum bytes of one stored block.
const STORED: usize = 0xFFFF;

/// The code length alphabet, in the order in which its own lengths are sent.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Writes blocks.
pub(super) struct BlockWriter {
    bits: BitBuffer,
    own: Codes,
    pub(super) known: Codes,
}

impl Default for BlockWriter {
    fn default() -> Self {
        Self { bits: BitBuffer::default(), own: Codes::default(), known: Codes::known() }
    }
}

impl BlockWriter {
    pub(super) fn begin(&mut self, out: &[u8]) {
        self.bits.begin(out);
    }

    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        self.bits.finish_byte(out);
    }

    /// Writes one block in the shortest way.
    pub(super) fn block(&mut self, raw: &[u8], walked: &Walked, last: bool, out: &mut Vec<u8>) {
        let (steps, counts) = (walked.steps.as_slice(), &walked.counts);
        let extra = counts.extra_bits();
        self.own.fit(counts);
        let head = DynamicHeader::new(&self.own);
        let own = head.size() + self.own.size(counts) + extra;
        let stored = raw.len() * 8 + raw.len() / STORED * 40 + 42;
        let known = counts.known_size() + extra;
        if stored < own.min(known) {
            return self.stored(raw, last, out);
        }
        self.bits.make_room(own.min(known) + 64, out);
        let codes = if own < known {
            head.write(last, &mut self.bits, out);
            &self.own
        } else {
            self.bits.add(u64::from(last) | 1 << 1, 3);
            self.bits.flush(out);
            &self.known
        };
        self.bits = body(raw, steps, codes, std::mem::take(&mut self.bits), out);
    }

    /// Stores the bytes as they are, in as many blocks as needed.
    fn stored(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) {
        let mut rest = raw;
        loop {
            let (block, after) = rest.split_at(rest.len().min(STORED));
            self.bits.make_room(64, out);
            self.bits.add(u64::from(last && after.is_empty()), 3);
            self.bits.finish_byte(out);
            let len = block.len() as u16;
            self.bits.bytes(&len.to_le_bytes(), out);
            self.bits.bytes(&(!len).to_le_bytes(), out);
            self.bits.bytes(block, out);
            rest = after;
            if rest.is_empty() {
                return;
            }
        }
    }
}

/// The symbols themselves, and the end of the block.
fn body(raw: &[u8], steps: &[MatchStep], codes: &Codes, mut bits: BitBuffer, out: &mut [u8]) -> BitBuffer {
    let mut at = 0;
    for step in steps {
        let run = &raw[at..at + usize::from(step.literals)];
        let (fours, rest) = run.as_chunks::<4>();
        for four in fours {
            four.iter().for_each(|&byte| codes.add_literal(usize::from(byte), &mut bits));
            bits.flush(out);
        }
        rest.iter().for_each(|&byte| codes.add_literal(usize::from(byte), &mut bits));
        if !rest.is_empty() {
            bits.flush(out);
        }
        at += run.len() + usize::from(step.length);
        if step.length > 0 {
            codes.add_match(step.length, step.distance, &mut bits);
            bits.flush(out);
        }
    }
    codes.add_literal(END, &mut bits);
    bits.flush(out);
    bits
}

/// The header of a dynamic block: the code lengths, run-length coded and Huffman coded themselves.
pub(super) struct DynamicHeader {
    literals: usize,
    distances: usize,
    /// Symbol, and the value of its extra bits.
    items: [(u8, u8); LITERALS + DISTANCES],
    len: usize,
    codes: [Code; 19],
    written: usize,
}

impl DynamicHeader {
    pub(super) fn new(codes: &Codes) -> Self {
        let (literals, distances) = (&codes.literals, &codes.distances);
        let used =
            |codes: &[Code], least: usize| codes.iter().rposition(|c| c.len > 0).map_or(least, |at| least.max(at + 1));
        let mut head = Self {
            literals: used(&literals[..LITERALS_USED], 257),
            distances: used(distances, 1),
            items: [(0, 0); LITERALS + DISTANCES],
            len: 0,
            codes: [Code::default(); 19],
            written: 0,
        };
        let mut lengths = [0u8; LITERALS + DISTANCES];
        let all = literals[..head.literals].iter().chain(&distances[..head.distances]);
        lengths.iter_mut().zip(all).for_each(|(len, code)| *len = code.len);
        head.shorten(&lengths[..head.literals + head.distances]);
        let mut counts = [0u32; 19];
        head.items[..head.len].iter().for_each(|(symbol, _)| counts[usize::from(*symbol)] += 1);
        huffman::code(&counts, 7, &mut head.codes);
        head.written = ORDER.iter().rposition(|&s| head.codes[s].len > 0).map_or(4, |at| (at + 1).max(4));
        head
    }

    /// Encodes runs as repetitions (RFC 1951, 3.2.7).
    fn shorten(&mut self, lengths: &[u8]) {
        let mut rest = lengths;
        while let Some(&value) = rest.first() {
            let run = rest.iter().take_while(|&&l| l == value).count();
            let taken = match (value, run) {
                (0, 11..) => self.item(18, run.min(138), 11),
                (0, 3..) => self.item(17, run, 3),
                (_, 4..) if value > 0 => {
                    self.item(value, 0, 0);
                    1 + self.item(16, (run - 1).min(6), 3)
                }
                _ => {
                    self.item(value, 0, 0);
                    1
                }
            };
            rest = &rest[taken..];
        }
    }

    fn item(&mut self, symbol: u8, run: usize, least: usize) -> usize {
        self.items[self.len] = (symbol, (run - least) as u8);
        self.len += 1;
        run
    }

    fn size(&self) -> usize {
        let items = self.items[..self.len].iter();
        let items: usize =
            items.map(|(s, _)| usize::from(self.codes[usize::from(*s)].len) + extra_of(*s) as usize).sum();
        3 + 14 + 3 * self.written + items
    }

    /// Writes it, preceded by the block type and the final-block bit.
    pub(super) fn write(&self, last: bool, bits: &mut BitBuffer, out: &mut [u8]) {
        bits.add(u64::from(last) | 2 << 1, 3);
        bits.add((self.literals - 257) as u64, 5);
        bits.add((self.distances - 1) as u64, 5);
        bits.add((self.written - 4) as u64, 4);
        bits.flush(out);
        for &symbol in &ORDER[..self.written] {
            bits.add(u64::from(self.codes[symbol].len), 3);
            bits.flush(out);
        }
        for &(symbol, extra) in &self.items[..self.len] {
            let code = self.codes[usize::from(symbol)];
            bits.add(u64::from(code.bits), u32::from(code.len));
            bits.add(u64::from(extra), extra_of(symbol));
            bits.flush(out);
        }
    }
}

/// Extra bits of a repeat symbol.
fn extra_of(symbol: u8) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}
