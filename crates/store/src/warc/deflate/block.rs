//! How is a block written?
//!
//! Three ways, of which the shortest is taken: stored, by the code that everyone knows, by a code of its own (RFC 1951, 3.2.3 to 3.2.7).

use super::bits::Bits;
use super::huffman::{self, Code};
use super::matches::{Counts, DISTANCES, END, LENGTH_SYMBOL, LITERALS, Step, Walked, distance_symbol};

/// Those of them that a code of its own may have.
const LITERALS_USED: usize = 286;
/// Four literals of this length and seven bits that wait fit a word.
const LONGEST_LITERAL: u8 = 14;
const LONGEST_DISTANCE: u8 = 15;
/// The most bytes of one stored block.
const STORED: usize = 0xFFFF;

/// The symbols that lengths of codes are written in, in the order their own lengths are.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Blocks shorter than this, such as the record of a request, are written in the codes that everybody knows: to make others takes longer than to write
/// the block.
const SHORT: usize = 600;

/// Extra bits of a length's symbol.
const fn length_extra(symbol: u8) -> u32 {
    if symbol < 8 || symbol == 28 { 0 } else { symbol as u32 / 4 - 1 }
}

/// The bits beside the codes that lengths and distances take.
fn extra_bits(counts: &Counts) -> usize {
    let lengths = (0u8..).zip(&counts.literals[257..LITERALS_USED]);
    let lengths: usize = lengths.map(|(s, &n)| n as usize * length_extra(s) as usize).sum();
    let distances = counts.distances.iter().enumerate();
    let distances: usize = distances.map(|(s, &n)| n as usize * (s / 2).saturating_sub(1)).sum();
    lengths + distances
}

/// Writes blocks.
pub(super) struct Writer {
    bits: Bits,
    literals: [Code; LITERALS],
    distances: [Code; DISTANCES],
}

impl Default for Writer {
    fn default() -> Self {
        Self { bits: Bits::default(), literals: [Code::default(); LITERALS], distances: [Code::default(); DISTANCES] }
    }
}

impl Writer {
    pub(super) fn begin(&mut self, out: &[u8]) {
        self.bits.begin(out);
    }

    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        self.bits.finish_byte(out);
    }

    /// Writes one block, by the way that takes least.
    pub(super) fn block(&mut self, raw: &[u8], walked: &Walked, last: bool, out: &mut Vec<u8>) {
        let (steps, counts) = (walked.steps.as_slice(), &walked.counts);
        let extra = extra_bits(counts);
        let head = (raw.len() >= SHORT).then(|| {
            huffman::code(&counts.literals[..LITERALS_USED], LONGEST_LITERAL, &mut self.literals[..LITERALS_USED]);
            huffman::code(&counts.distances, LONGEST_DISTANCE, &mut self.distances);
            Head::new(&self.literals, &self.distances)
        });
        let own = head.as_ref().map_or(usize::MAX, |head| head.size() + self.size(counts) + extra);
        let stored = raw.len() * 8 + raw.len() / STORED * 40 + 42;
        let known = {
            let literals = counts.literals.iter().enumerate().map(|(s, &n)| n as usize * usize::from(known_len(s)));
            let distances: usize = counts.distances.iter().map(|&n| n as usize * 5).sum();
            literals.sum::<usize>() + distances + extra
        };
        if stored < own.min(known) {
            return self.stored(raw, last, out);
        }
        self.bits.make_room(own.min(known) + 64, out);
        if let Some(head) = head.filter(|_| own < known) {
            self.bits.add(u64::from(last) | 2 << 1, 3);
            head.write(&mut self.bits, out);
        } else {
            self.bits.add(u64::from(last) | 1 << 1, 3);
            self.bits.flush(out);
            self.take_known_codes();
        }
        self.body(raw, steps, out);
    }

    /// Bits that the symbols take, without the extra bits.
    fn size(&self, counts: &Counts) -> usize {
        let sum = |counts: &[u32], codes: &[Code]| -> usize {
            counts.iter().zip(codes).map(|(&n, c)| n as usize * usize::from(c.len)).sum()
        };
        sum(&counts.literals, &self.literals) + sum(&counts.distances, &self.distances)
    }

    fn take_known_codes(&mut self) {
        let mut lengths = [0u16; 16];
        for (symbol, code) in self.literals.iter_mut().enumerate() {
            code.len = known_len(symbol);
            lengths[usize::from(code.len)] += 1;
        }
        huffman::assign(&mut self.literals, &lengths);
        for (code, symbol) in self.distances.iter_mut().zip(0u16..) {
            *code = Code { bits: symbol.reverse_bits() >> 11, len: 5 };
        }
    }

    /// The symbols themselves, and the end of the block.
    fn body(&mut self, raw: &[u8], steps: &[Step], out: &mut [u8]) {
        let lengths = self.length_codes();
        let (literals, distances) = (&self.literals, &self.distances);
        let mut bits = std::mem::take(&mut self.bits);
        let mut at = 0;
        for step in steps {
            let run = &raw[at..at + usize::from(step.literals)];
            let (fours, rest) = run.as_chunks::<4>();
            for four in fours {
                for &byte in four {
                    let code = literals[usize::from(byte)];
                    bits.add(u64::from(code.bits), u32::from(code.len));
                }
                bits.flush(out);
            }
            for &byte in rest {
                let code = literals[usize::from(byte)];
                bits.add(u64::from(code.bits), u32::from(code.len));
            }
            if !rest.is_empty() {
                bits.flush(out);
            }
            at += run.len() + usize::from(step.length);
            if step.length > 0 {
                let (length, len) = lengths[usize::from((step.length - 3) as u8)];
                bits.add(u64::from(length), u32::from(len));
                let (symbol, extra) = distance_symbol(step.distance);
                let code = distances[symbol];
                bits.add(u64::from(code.bits), u32::from(code.len));
                bits.add(u64::from(step.distance) & ((1 << extra) - 1), extra);
                bits.flush(out);
            }
        }
        let end = literals[END];
        bits.add(u64::from(end.bits), u32::from(end.len));
        bits.flush(out);
        self.bits = bits;
    }

    /// For each length less three: its code with the extra bits, and how many bits that is.
    fn length_codes(&self) -> [(u32, u8); 256] {
        let mut lengths = [(0, 0); 256];
        for ((length, symbol), place) in (0u32..).zip(LENGTH_SYMBOL).zip(&mut lengths) {
            let code = self.literals[257 + usize::from(symbol)];
            let extra = length_extra(symbol);
            let value = (length & ((1 << extra) - 1)) << code.len;
            *place = (u32::from(code.bits) | value, code.len + extra as u8);
        }
        lengths
    }

    /// The bytes as they are, in as many blocks as it takes.
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

/// The length of a literal's code in the code that everyone knows.
fn known_len(symbol: usize) -> u8 {
    match symbol {
        0..144 => 8,
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    }
}

/// The head of a block with a code of its own: the lengths of the codes, run-length coded and in a code themselves.
struct Head {
    literals: usize,
    distances: usize,
    /// Symbol, and the value of its extra bits.
    items: [(u8, u8); LITERALS + DISTANCES],
    len: usize,
    codes: [Code; 19],
    written: usize,
}

impl Head {
    fn new(literals: &[Code], distances: &[Code]) -> Self {
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

    /// Writes runs as repetitions (RFC 1951, 3.2.7).
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

    fn write(&self, bits: &mut Bits, out: &mut [u8]) {
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

/// Extra bits of a symbol that stands for a run.
fn extra_of(symbol: u8) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}
